"""Queries of a model, from the questions to the rows of a query file."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.support.analyses import asking
from tests.support.fakes import ScriptedModel, WordEmbedder
from tests.support.replies import writing
from tests.ui.services.small_workspace import TOOLS, catalog
from toolscope_core.evaluation.query_sets import Query, queries_of
from toolscope_core.llm.requests.request_workers import RunBudget
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import QueryGeneration
from toolscope_core.model.errors import ConfigError
from toolscope_core.tool2vec.query_checks import QueryChecks
from toolscope_core.tool2vec.query_writing import (
    NONE_FIT,
    WrittenQuery,
    as_queries,
    checked_queries,
    draft_questions,
    example_queries_of,
    queries_of_model,
    query_counts,
    query_rows,
)
from toolscope_core.wording.tool_text import tool_text

DESK = catalog(*TOOLS)
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
    assert NONE_FIT in reasons and any("from 1 to" in reason for reason in reasons)
    drafts = [one for one in all_of_them if one.text]
    assert drafts and all(one.text == one.draft for one in drafts)
    assert all("is gone" in one.reason for one in drafts)
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
        draft_questions(Catalog(TOOLS[:1]), np.ones((1, 2), np.float32), (), QueryGeneration(1))
