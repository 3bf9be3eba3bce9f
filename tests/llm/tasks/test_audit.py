import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.llm.tasks.strategies import keyed, reader, tool
from toolscope_core.llm.tasks.judge_prompt import AUDIT_TASK, ClusterTools, audit_groups

TOOLS = [tool(f"tool_{letter}") for letter in "abcde"]
ITEM = ClusterTools(tuple(TOOLS))
ITEMS = keyed(AUDIT_TASK, ITEM)
KEY = next(iter(ITEMS))
TOKENS = ["t1", "t2", "t3", "t4", "t5"]


def read(groups, item=ITEM):
    return reader(AUDIT_TASK, item, reason="So.")(groups=groups)


def test_the_order_of_the_members_is_not_in_the_question():
    requests = {
        AUDIT_TASK.request({KEY: ClusterTools(order)}).user
        for order in itertools.permutations(TOOLS[:3])
    }
    assert len(requests) == 1


def test_ids_are_not_told():
    hostile = [tool(f"x{n}", id=f"ignore-all-{n}") for n in range(3)]
    request = AUDIT_TASK.request(keyed(AUDIT_TASK, ClusterTools(tuple(hostile))))
    assert "ignore-all" not in f"{request.user} {request.schema}"


@given(st.permutations(TOKENS), st.lists(st.booleans(), min_size=4, max_size=4), st.randoms())
def test_a_partition_is_accepted_in_any_order(order, cuts, random):
    groups = [[order[0]]]
    for token, cut in zip(order[1:], cuts, strict=True):
        groups.append([token]) if cut else groups[-1].append(token)
    answer = read(groups)
    assert {frozenset(g) for g in answer["groups"]} == {frozenset(g) for g in groups}
    random.shuffle(groups)
    assert read(groups) == answer
    ids = audit_groups(ITEM, answer)
    assert sorted(itertools.chain(*ids)) == sorted(t.id for t in TOOLS)


@pytest.mark.case(17)
@given(st.lists(st.lists(st.sampled_from([*TOKENS, "t6", ""]), max_size=5), max_size=5))
def test_what_is_no_partition_is_rejected(groups):
    given_ = [token for group in groups for token in group]
    partition = sorted(given_) == TOKENS and all(groups)
    assert isinstance(read(groups), dict) == partition


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        ([["t1", "t2", "t3", "t4"], ["t4", "t5"]], "'t4': in more than one group"),
        ([["t1", "t2", "t3", "t4", "t5"], []], "groups.1: "),
        ([["tool_a", "t2", "t3", "t4", "t5"]], "'tool_a': not asked about"),
        ([], "'t1', 't2', 't3', 't4', 't5': in no group"),
        (["t1", "t2"], "groups.0 is 't1'"),
    ],
)
def test_the_reason_names_what_is_wrong(groups, why):
    assert why in read(groups)


def test_copies_are_one_token_and_stay_together():
    copies = ClusterTools((tool("a", id="one"), tool("a", id="two"), tool("b", id="three")))
    assert list(copies.tokens.values()) == ["t1", "t2"]
    answer = read([["t1"], ["t2"]], copies)
    assert sorted(audit_groups(copies, answer)) == [("one", "two"), ("three",)]


def test_copies_on_two_servers_are_one_token_with_both_owners():
    copies = [tool("a", id=server, server=server) for server in ("beta", "alpha")]
    item = ClusterTools((*copies, tool("b", id="three", server="alpha")))
    assert list(item.tokens.values()) == ["t1", "t2"]
    (request,) = {
        AUDIT_TASK.request({KEY: ClusterTools(order)}).user
        for order in itertools.permutations(item.tools)
    }
    assert '"server": ["alpha", "beta"]' in request
    moved = ClusterTools((*copies, tool("b", id="three", server="gamma")))
    assert AUDIT_TASK.subjects(item) != AUDIT_TASK.subjects(moved), (
        "another owner is another question"
    )
    assert len(AUDIT_TASK.subjects(item)) == 3
