"""Queries of a model, from the questions to the rows of a query file."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.support.analyses import asking
from tests.support.fakes import ScriptedModel, WordEmbedder
from tests.support.replies import writing
from tests.ui.services.small_workspace import TOOLS as DESK_TOOLS
from tests.ui.services.small_workspace import catalog
from toolscope_core.evaluation.query_sets import Query, queries_of
from toolscope_core.llm.request_workers import RunBudget
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.configuration import QueryGeneration
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool
from toolscope_core.tool2vec.query_checks import QueryChecks
from toolscope_core.tool2vec.query_writing import (
    ALIKE,
    NONE_FIT,
    TOOLS,
    WrittenQuery,
    as_queries,
    checked_queries,
    draft_questions,
    example_queries_of,
    queries_of_model,
    query_counts,
    query_rows,
    tool_samples,
)
from toolscope_core.wording.tool_text import tool_text

DESK = catalog(*DESK_TOOLS)
PEOPLE = tuple(
    Query(str(n), f"Please do thing number {n}", (frozenset({"alpha/list_files"}),))
    for n in range(8)
)


def asked(count=4, people=(), seed=0, own=DESK, **more):
    vectors = WordEmbedder().encode([tool_text(one) for one in own.tools])
    return draft_questions(own, vectors, people, QueryGeneration(count, seed), **more)


def written(reply, count=4, budget=None, ledger=None):
    terms = {"budget": budget or RunBudget(), "concurrency": 1}
    return queries_of_model(asked(count), asking(ScriptedModel(reply), ledger, **terms))


def test_equal_arguments_give_equal_questions_with_five_examples_each():
    questions = asked(people=PEOPLE)
    assert questions == asked(people=PEOPLE) != asked(people=PEOPLE, seed=1)
    texts = [[one.text for one in question.examples] for question in questions]
    assert all(len(set(own)) == 5 for own in texts) and texts[0] != texts[1]
    leaders = [question.tools[0].id for question in questions]
    assert "alpha/list_files" not in leaders, "it has eight queries already"


def test_examples_come_from_the_bundle_only_where_people_have_none():
    bundled = [Query("b", "Is there room left?", (frozenset({"x/y", "a/b"}),))]
    silent = [Query("s", "no answer"), replace(PEOPLE[0], text="x" * 601)]
    (question, *_) = asked(people=silent, bundled=bundled)
    assert [(one.text, one.tools) for one in question.examples] == [
        ("Is there room left?", ("a/b",))
    ]
    assert len(asked(people=PEOPLE[:1], bundled=bundled)[0].examples) == 1


def test_examples_need_several_tools_where_there_are_enough_of_them():
    two = (frozenset({"a"}), frozenset({"b"}))
    several = [Query(str(n), f"Both of {n}", two) for n in range(6)]
    assert len(example_queries_of([*PEOPLE, *several])) == 6
    assert len(example_queries_of([*PEOPLE, *several[:5]])) == 13


def test_a_query_is_polished_and_has_the_tools_that_were_chosen():
    for question, one in zip(asked(), written(writing()), strict=True):
        assert one.text == f"Could you help me? {one.draft}" and not one.reason
        assert one.tools[0] != one.tools[1]
        assert {*one.tools} <= {tool.id for tool in question.tools}


def test_what_fails_is_a_value_with_its_reason():
    def draft(tools, due):
        names = {tool["name"] for tool in tools.values()}
        if "get_weather" in names and tools[due]["name"] == "get_weather":
            return {"tools": [], "request": ""}
        if tools[due]["name"] == "send_mail":
            return {"tools": [1, 99], "request": "Something that somebody wants."}
        return {"tools": [1, 2], "request": f"I want {due} things of you, my friend."}

    def polish(text):
        return "I want things of you."

    all_of_them = written(writing(draft, polish))
    assert len(all_of_them) == 4 and not any(one.is_open for one in all_of_them)
    reasons = {one.reason for one in all_of_them if not one.text}
    assert NONE_FIT in reasons and any("use 1 to" in reason for reason in reasons)
    drafts = [one for one in all_of_them if one.text]
    assert drafts and all(one.text == one.draft for one in drafts)
    assert all("is missing" in one.reason for one in drafts)
    flaws = [one.flaws for one in checked_queries(QueryChecks(DESK), drafts)]
    assert all(own[-1].code == "polish" for own in flaws)
    edited = [replace(one, text="Mail me the weather of Oslo.") for one in drafts[:1]]
    assert checked_queries(QueryChecks(DESK), edited)[0].is_clean


def test_a_question_that_comes_again_is_one():
    assert len(asked(9)) == 9 and len(written(writing(), count=9)) == 4, "of four different tools"


def test_a_copy_of_what_people_asked_is_pointed_out():
    queries = [
        WrittenQuery(str(n), ("alpha/send_mail", "alpha/get_weather"), text, text)
        for n, text in enumerate(("Tell Ann how warm it is in Oslo", "Is Ann told of the cold?"))
    ]
    checked = checked_queries(
        QueryChecks(DESK), [*queries, WrittenQuery("x", reason="no")], ["is ann told of the cold"]
    )
    assert [one.is_clean for one in checked] == [True, False, False]
    assert [flaw.code for flaw in checked[1].flaws] == ["copy"] and checked[2].flaws == ()


def test_exact_copies_of_a_tool_answer_unless_the_server_is_named():
    queries = [
        WrittenQuery("a" * 64, ("beta/send_mail", "alpha/list_files"), "", "Mail my list."),
        WrittenQuery("b" * 64, ("beta/send_mail", "gone"), "", "Mail it with beta, please."),
    ]
    rows = query_rows(DESK, queries)
    mails = ["alpha/send_mail", "beta/send_mail", "gamma/send_mail"]
    assert rows[0] == {
        "id": "g-aaaaaaaaaaaa",
        "query": "Mail my list.",
        "gold": [mails, ["alpha/list_files", "alpha/list_files-2"]],
    }
    assert rows[1]["gold"] == ["beta/send_mail", "gone"]
    again = queries_of("\n".join(map(json.dumps, rows)).encode(), "q.jsonl").queries
    assert again == as_queries(DESK, queries)
    counts = query_counts(again)
    assert counts["beta/send_mail"] == 2 and counts["gamma/send_mail"] == 1


@pytest.mark.parametrize(("count", "seed"), [(0, 0), (5_001, 0), (1, -1)])
def test_numbers_that_make_no_sense_are_refused(count, seed):
    with pytest.raises(ConfigError):
        QueryGeneration(count, seed)


def test_a_catalog_of_one_tool_is_refused():
    with pytest.raises(ConfigError, match="two to five"):
        draft_questions(
            Catalog(DESK_TOOLS[:1]), np.ones((1, 2), np.float32), (), QueryGeneration(1)
        )


# Which tools are shown together: all get their turn, and those of a server go together.


def tool(server, number, about=""):
    name = f"{server or 'tool'}{number:02}"
    return Tool(f"{server}/{name}", name, about or f"{server} does {name} for {number}", server)


SERVERS = Catalog(
    tuple(tool(server, number) for server in ("bank", "mail", "zoo") for number in range(8))
)


def vectors(catalog):
    return WordEmbedder().encode([tool_text(one) for one in catalog.tools])


def ids(samples):
    return [[one.id for one in sample] for sample in samples]


def drawn(count, catalog=SERVERS, **more):
    return tool_samples(catalog, vectors(catalog), count, **more)


def test_every_tool_leads_once_before_any_leads_again():
    leaders = Counter(sample[0].id for sample in drawn(2 * len(SERVERS.tools)))
    assert set(leaders.values()) == {2} and len(leaders) == len(SERVERS.tools)
    order = [sample[0].id for sample in drawn(2 * len(SERVERS.tools))]
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    assert len(set(first)) == len(first) and sorted(first) != first != second


def test_a_sample_is_ten_different_tools_most_of_one_server():
    for sample in drawn(24):
        assert len({one.id for one in sample}) == TOOLS
        own = sum(one.server == sample[0].server for one in sample)
        assert 6 <= own < TOOLS, "its server's come first, and others are there too"


def test_a_smaller_count_is_the_beginning_of_a_larger_and_a_seed_changes_it():
    assert ids(drawn(30))[:7] == ids(drawn(7))
    assert ids(drawn(7, seed=1)) != ids(drawn(7))
    turned = Catalog(SERVERS.tools, SERVERS.servers, "mcp")
    assert ids(drawn(7, turned)) == ids(drawn(7))


def test_tools_without_a_query_lead_first():
    have = {one.id: 2 for one in SERVERS.tools if one.server != "zoo"}
    leaders = [sample[0] for sample in drawn(32, queries=have)]
    assert [one.server for one in leaders[:16]] == ["zoo"] * 16, "two turns alone"
    assert {one.server for one in leaders[16:]} == {"bank", "mail", "zoo"}


def test_copies_and_blocked_tools_are_not_shown():
    copy = replace(SERVERS.tools[0], id="elsewhere", server="other")
    bad = Finding("mail/mail03", "block", "code", "name", "words")
    catalog = Catalog((*SERVERS.tools, copy), findings=(bad,))
    shown = {one for sample in ids(drawn(48, catalog)) for one in sample}
    assert shown == {one.id for one in SERVERS.tools} - {"mail/mail03"}


def test_without_servers_the_nearest_go_together():
    catalog = Catalog(
        tuple(
            replace(tool("", number, f"{word} {word} {word} {number}"), id=f"{word}{number}")
            for word in ("bread", "stone", "cloud", "piano", "river", "engine", "candle")
            for number in range(12)
        )
    )
    rows = vectors(catalog)
    near = np.mean(
        [
            [one.id[:5] == sample[0].id[:5] for one in sample[1:]]
            for sample in tool_samples(catalog, rows, 40)
        ]
    )
    assert near > 2 / 7, "more often than chance"


def test_of_tools_that_say_the_same_one_is_shown():
    names = ("a", "b", "c", "d")
    catalog = Catalog(tuple(Tool(one, one, "words") for one in names))
    same = np.zeros((4, 2), dtype=np.float32)
    same[:, 0] = (1, 1, 1, 0)
    same[3, 1] = 1
    for sample in tool_samples(catalog, same, 4):
        own = [one.id for one in sample]
        assert len(own) == 2 and "d" in own
    assert ALIKE < 1.0
    everything_alike = tool_samples(catalog, same[[0, 1, 2, 2]], 1)
    assert len(everything_alike[0]) == 4, "there is nothing else to show"


@pytest.mark.parametrize("tools", [(), (Tool("a", "a"),), (Tool("a", "a"), Tool("b", "a"))])
def test_fewer_than_two_different_tools_are_refused(tools):
    with pytest.raises(ConfigError, match="use a catalog"):
        drawn(1, Catalog(tools))
