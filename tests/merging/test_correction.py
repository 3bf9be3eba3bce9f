from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.merging.slow_correction import slow_correct
from toolscope_core.merging.contracted_graph import ComponentGroups, RowGraph
from toolscope_core.merging.correction import correct, suspended
from toolscope_core.merging.graph import merge_graph
from toolscope_core.model.cluster import Group
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair

AT = 0.6
IDS = tuple("abcdefg")


def judged(table, default=0.1):
    return lambda pairs: np.array([table.get(pair, default) for pair in pairs])


def groups(table, constraints=None, copies=None, divide=True):
    links = constraints or Constraints()
    edges = {pair: p for pair, p in table.items() if p >= AT}
    return corrected(edges, judged(table), links, copies or {}, divide=divide)


def corrected(edges, judge, links, copies, divide=True, at=AT, ids=()):
    """``correct`` for edges between ids, by default between those that have edges."""
    linked = merge_graph(edges, links).edges
    ids = ids or tuple(sorted({tool for pair in linked for tool in (pair.left, pair.right)}))
    rows = {tool: row for row, tool in enumerate(ids)}
    ends = np.array([(rows[pair.left], rows[pair.right]) for pair in linked], dtype=np.int32)
    left, right = ends.reshape(-1, 2).T
    firsts = np.array([rows[copies.get(tool, tool)] for tool in ids], dtype=np.int32)

    def by_row(left, right):
        return judge([Pair(ids[a], ids[b]) for a, b in zip(left, right, strict=True)])

    return correct(RowGraph(ids, firsts, left, right), by_row, at, links, divide=divide)


@st.composite
def tables(draw):
    return {
        Pair(a, b): draw(st.sampled_from([0.1, 0.3, 0.6, 0.7, 0.8, 0.9]))
        for a in IDS
        for b in IDS
        if a < b and draw(st.booleans())
    }


@pytest.mark.parametrize(
    ("near", "doubtful", "together"),
    [(0.7, 0.46, True), (0.7, 0.44, False), (0.62, 0.5, False)],
    ids=["on average", "one is far", "too low on average"],
)
def test_a_tool_joins_a_part_if_their_pairs_are_merges_on_average(near, doubtful, together):
    table = dict.fromkeys((Pair("a", "b"), Pair("a", "c"), Pair("b", "c")), 0.9)
    table |= {Pair("a", "d"): near, Pair("b", "d"): near, Pair("c", "d"): doubtful}
    assert (groups(table)[0].members == ("a", "b", "c", "d")) is together


@pytest.mark.parametrize(
    ("doubtful", "witnesses", "together"),
    [(0.4, (0.9, 0.8), True), (0.4, (0.9, 0.7), False), (0.1, (0.95, 0.95), False)],
)
def test_a_doubtful_pair_stands_if_a_third_tool_vouches_for_it(doubtful, witnesses, together):
    left, right = witnesses
    table = {Pair("a", "b"): doubtful, Pair("a", "c"): left, Pair("b", "c"): right}
    parts = groups(table)
    assert (parts[0].members == ("a", "b", "c")) is together
    assert parts[0].intransitive is together
    assert parts[0].weakest_edge == (doubtful if together else left)


WISHES = st.lists(st.sets(st.sampled_from(IDS), min_size=2, max_size=3), max_size=2)


def constraints_of(wishes):
    """The first group has to be together, the tools of the second apart where both can hold."""
    must = tuple(frozenset(wish) for wish in wishes[:1])
    apart = {Pair(a, b) for wish in wishes[1:] for a in wish for b in wish if a < b}
    kept = frozenset(p for p in apart if not any({p.left, p.right} <= group for group in must))
    return Constraints(must=must, cannot=kept)


@given(tables(), WISHES)
def test_people_are_obeyed(table, wishes):
    links = constraints_of(wishes)
    parts = groups(table, links)
    for group in links.must:
        assert any(frozenset(g.members) == group and g.decided for g in parts)
    for pair in links.cannot:
        assert not any({pair.left, pair.right} <= set(g.members) for g in parts)


def test_a_chain_is_cut_at_its_weakest_pair_and_marked():
    table = {Pair("a", "b"): 0.95, Pair("b", "c"): 0.7, Pair("c", "d"): 0.9}
    parts = groups(table)
    assert [g.members for g in parts] == [("a", "b"), ("c", "d")]
    assert all(g.split for g in parts)


def test_switched_off_the_chain_stays_and_is_marked():
    table = {Pair("a", "b"): 0.95, Pair("b", "c"): 0.7}
    (whole,) = groups(table, divide=False)
    assert whole.members == ("a", "b", "c")
    assert whole.intransitive
    assert not whole.split


def test_a_component_of_many_tools_is_divided_like_a_small_one():
    ids = tuple(f"t{i:04}" for i in range(1200))
    rows = np.arange(len(ids), dtype=np.int32)
    left = np.delete(rows[:-1], [599, 899])  # chains of 600, 300 and 300
    chains = RowGraph(ids, rows, left, left + 1)
    parts = correct(chains, lambda one, _: np.full(len(one), 0.9), AT, Constraints())
    assert [group.members for group in parts] == [ids[at : at + 3] for at in range(0, 1200, 3)]


def test_copies_stay_together_without_being_judged():
    judged_pairs = []

    def judge(pairs):
        judged_pairs.extend(pairs)
        return np.array([0.9] * len(pairs))

    ids = [f"t{i:02d}" for i in range(50)]
    copies = dict.fromkeys(ids, ids[0])
    edges = {Pair.of(ids[0], other): 1.0 for other in ids[1:]}
    (group,) = corrected(edges, judge, Constraints(), copies)
    assert group.members == tuple(ids)
    assert judged_pairs == []


def test_a_suspended_group_that_nothing_proposes_is_still_shown():
    links = Constraints(stale=(frozenset("ab"), frozenset("cd")))
    proposed = groups({Pair("c", "d"): 0.9})
    (shown,) = suspended(proposed, links, judged({}))
    assert shown.members == ("a", "b")
    assert not shown.decided


@given(
    tables(),
    WISHES,
    st.dictionaries(st.sampled_from("cde"), st.sampled_from("ab"), max_size=2),
    st.booleans(),
)
def test_it_agrees_with_the_slow_way(table, wishes, copies, divide):
    links = constraints_of(wishes)
    edges = {pair: p for pair, p in table.items() if p >= AT}
    edges |= {Pair(first, copy): 1.0 for copy, first in copies.items()}
    linked = merge_graph(edges, links).edges
    firsts = {tool: first for tool, first in copies.items() if Pair(first, tool) in linked}
    expected = slow_correct(linked, judged(table), AT, links, firsts, divide=divide)
    assert corrected(edges, judged(table), links, firsts, divide) == expected


CUTS = st.sampled_from([0.22, 0.28, 0.3, 0.47, 0.6, 0.62, 0.72, 0.78, 0.8, 0.95])


@given(tables(), WISHES, st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=4), CUTS)
def test_at_every_cut_the_groups_are_those_of_the_slow_way(table, wishes, dropped, cut):
    links = constraints_of(wishes)
    gone = {Pair.of(IDS[a], IDS[b]) for a, b in dropped if a != b}
    edges = {pair: p for pair, p in table.items() if p >= cut and pair not in gone}
    expected = slow_correct(merge_graph(edges, links).edges, judged(table), cut, links, {})
    assert corrected(edges, judged(table), links, {}, at=cut, ids=IDS) == expected


def test_groups_of_a_component_are_made_again_where_something_of_it_differs():
    ids, rows = tuple("abcdef"), np.arange(6, dtype=np.int32)
    graph = RowGraph(ids, rows, rows[[0, 1, 3]], rows[[1, 2, 4]])
    made, kept = [], ComponentGroups()

    def make(part):
        tools = {ids[row] for row in (*part.left, *part.right)}
        made.append("".join(sorted(tools)))
        return [Group(own) for own in (("a", "b", "c"), ("d", "e")) if tools >= {*own}]

    whole = (Group(("a", "b", "c")), Group(("d", "e")))
    copied = replace(graph, copies=rows[[0, 0, 2, 3, 4, 5]])
    moved = replace(copied, left=rows[[0, 0, 3]])
    wider = replace(graph, left=rows[[0, 1, 0, 3]], right=rows[[1, 2, 2, 4]])
    for one, cannot, facts, expected in (
        (graph, (), {}, ["abcde"]),
        (graph, (), {}, []),
        (copied, (), {}, ["abc"]),
        (moved, (), {}, ["abc"]),
        (wider, (), {}, ["abc"]),
        (wider, (Pair("d", "e"),), {}, ["de"]),
        (wider, (Pair("d", "e"),), {0: "more"}, ["abc"]),
    ):
        made.clear()
        assert kept.of(one, make, cannot, facts) == whole
        assert made == expected
    assert kept.of(replace(graph, left=rows[:0], right=rows[:0]), make, ()) == ()
