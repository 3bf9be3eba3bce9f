"""Confusions, over-merging and requests made from descriptions."""

import json
from dataclasses import replace

import pytest

from tests.evaluation.shelf import CATALOG, MERGED, QUERIES, TOOLS
from toolscope_core.evaluation.confusions import (
    Mismatch,
    case_rows,
    confusion_matrix,
    expected_and_actual,
    failed_case,
    is_right,
    pair_confusions,
)
from toolscope_core.evaluation.measured_toolsets import (
    as_it_is,
    forbidden_merges,
    joined_queries,
    of_plan,
)
from toolscope_core.evaluation.query_sets import MOST, Query, queries_of, synthetic_queries
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool


def test_a_pair_is_confused_where_one_stands_above_the_other_that_is_the_answer():
    needs = [("b",), ("b", "d"), ("ac",)]
    queries = [Query(str(at), "", tuple(map(frozenset, own))) for at, own in enumerate(needs)]
    rankings = [["a", "b", "c"], ["a", "b", "x", "d"], ["b", "c", "a"]]
    found = {one.pair: one for one in pair_confusions(queries, rankings)}
    assert found[Pair.of("a", "b")].queries == ("0", "1")
    assert found[Pair.of("a", "b")].cost == 2.0
    assert found[Pair.of("b", "c")].queries == ("2",), "the best of the alternatives"
    assert Pair.of("b", "d") not in found, "both are needed"
    assert found[Pair.of("d", "x")].cost == pytest.approx(1 / 3, abs=1e-6)
    assert [one.cost for one in pair_confusions(queries, rankings)] == [2.0, 1.0, 1.0, 0.333333]


def test_an_answer_that_is_not_found_is_confused_with_all_that_is():
    (one, other) = pair_confusions([Query("", "", (frozenset({"z"}),))], [["a", "b"]])
    assert (one.pair, one.cost) == (Pair.of("a", "z"), 1.0)
    assert (other.pair, other.cost) == (Pair.of("b", "z"), 0.5)


def found(gold, ranking, tools="abcdxyz", equal=None, **query):
    needs = tuple(map(frozenset, gold))
    asked = Query("1", "text", needs, needs_none=not gold, **query)
    mismatches = expected_and_actual(asked, ranking, tools, equal or {})
    return [(one.expected, one.actual) for one in mismatches]


@pytest.mark.parametrize(
    ("gold", "ranking", "instead"),
    [
        (["b"], "ab", [("b", "a")]),
        (["bc"], "cab", [("c", "c")]),
        (["b"], "ac", [("b", "a")]),
        (["b"], "", [("b", "none")]),
        (["q"], "ab", [("not a tool", "a")]),
        ([], "ab", [("none", "a")]),
        ([], "", [("none", "none")]),
        (["a", "b"], "xab", [("a", "a"), ("b", "x")]),
        (["a", "b"], "axyb", [("a", "a"), ("b", "x")]),
        (["ac", "b"], "acb", [("a", "a"), ("b", "b")]),
        (["ab", "a"], "ab", [("a", "a"), ("b", "b")]),
    ],
)
def test_what_is_found_in_the_place_of_what_is_asked_for(gold, ranking, instead):
    assert found(gold, ranking) == instead


def test_what_a_request_allows_stands_in_nobodys_way_and_equal_tools_are_one():
    assert found(["b"], "ab", allowed=frozenset("a")) == [("b", "b")]
    assert found([], "ab", allowed=frozenset("a")) == [("none", "b")]
    equal = {"b": "d", "c": "d", "d": "d"}
    assert found(["b"], "ca", equal=equal) == [("d", "d")]
    assert found(["b", "c"], "cda", equal=equal) == [("d", "d")], "they are one need then"
    assert is_right(Query("1", "", (frozenset("ab"),)), "ba")
    assert not is_right(Query("1", "", (frozenset("ab"),)), "xa")


def test_cells_hold_their_queries_and_cases_what_was_found_instead():
    queries = (*QUERIES[:2], Query("n", "hello", needs_none=True))
    rankings = (("find", "search"), ("find", "search", "mail"), ("mail",))
    assert confusion_matrix(queries, rankings, TOOLS) == {
        Mismatch("find", "find"): (1,),
        Mismatch("mail", "search"): (1,),
        Mismatch("none", "mail"): (2,),
        Mismatch("search", "find"): (0,),
    }
    rows = list(case_rows(queries, rankings, TOOLS))
    assert [row["forbidden"] for row in rows] == [["find"], ["search"], ["mail"]]
    content = "\n".join(map(json.dumps, rows)).encode()
    cases = queries_of(content, "cases.jsonl").queries
    assert [one.gold for one in cases] == [one.gold for one in queries]
    wrong = [failed_case(*both, TOOLS) for both in zip(cases, rankings, strict=True)]
    assert [[one.actual for one in some] for some in wrong] == [["find"], ["search"], ["mail"]]
    assert failed_case(cases[2], ("book",), TOOLS) == (), "only what it forbids"
    equal = {"find": "find", "search": "find"}
    (row, *_) = case_rows(queries, rankings, TOOLS, equal)
    assert (row["gold"], row["forbidden"]) == ([["find", "search"]], [])


def test_merging_what_a_query_needs_or_people_forbid_is_counted():
    merged = of_plan(MERGED, "merged")
    never = [Pair.of("book", "mail"), Pair.of("find", "search")]
    assert joined_queries(QUERIES, merged) == (2,)
    assert forbidden_merges(merged, never) == (Pair.of("find", "search"),)
    gone = replace(merged, phi=dict.fromkeys(TOOLS))
    assert forbidden_merges(gone, never) == (), "left out is not merged"
    same = as_it_is(CATALOG)
    assert joined_queries(QUERIES, same) == ()
    assert forbidden_merges(same, never) == ()


def test_requests_are_made_of_first_sentences_without_the_name():
    tools = (
        Tool("a/send_mail", "send_mail", "This tool allows you to send a mail to a person. More."),
        Tool("b/short", "short", "Too short."),
        Tool("c/none", "none", ""),
    )
    (query,) = synthetic_queries(Catalog(tools))
    assert query.text == "a to a person"
    assert query.gold == (frozenset({"a/send_mail"}),)


def test_of_a_large_catalog_some_are_asked_for_whatever_their_order():
    tools = tuple(
        Tool(f"t{number:04}", f"t{number}", f"Do the thing of number {number} for somebody.")
        for number in range(MOST + 50)
    )
    queries = synthetic_queries(Catalog(tools))
    assert len(queries) == MOST
    ids = [one.id for one in queries]
    assert ids == sorted(ids) == [one.id for one in synthetic_queries(Catalog(tools[::-1]))]
