"""Tools that differ in nothing but the words of an argument: which of them one can stand for."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.judging.arguments.test_alignment import text, tool
from toolscope_core.judging.arguments.alignment import argument_map
from toolscope_core.judging.arguments.argument_words import difference, silent_changes, told_once
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.merging.clusters import build_clusters
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Group
from toolscope_core.model.decision import Constraints
from toolscope_core.model.tool import Parameter, Tool

PLANTED = Path(__file__).with_name("argument_words.jsonl")
"""Written by somebody who had not read the code: 40 that would break calls, 40 that would not."""


def planted(harm):
    rows = map(json.loads, PLANTED.read_text("utf-8").splitlines())
    return [(tool_of(row, "left"), tool_of(row, "right")) for row in rows if row["harm"] is harm]


def tool_of(row, side):
    one = row[side]
    name, server = one["name"], row["server"]
    return Tool(f"{server}/{name}", name, one["description"], server, one["inputSchema"])


def cluster_of(two):
    catalog = Catalog(tuple(sorted(two, key=lambda one: one.id)))
    group = Group(tuple(one.id for one in catalog.tools), weakest_edge=1.0)
    (cluster,) = build_clusters(catalog, [group], Constraints(), {}, 0.9)
    return cluster


@pytest.mark.case(93)
def test_no_pair_that_would_break_calls_is_safe_or_a_drop_in():
    for two in planted(harm=True):
        cluster = cluster_of(two)
        assert cluster.kind == "gateway", (two[0].id, cluster.reasons)
        assert len(cluster.reasons) > 1  # the card says which words


def test_other_words_for_the_same_stay_safe():
    safe = [cluster_of(two).safe for two in planted(harm=False)]
    assert len(safe) == 40
    assert sum(safe) >= 38


UUID = "UUID of the issue (not its identifier like 'ENG-123')"
KEY = "Issue identifier, e.g. ENG-123"


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (UUID, KEY, "a UUID, not a key"),
        ("End, inclusive", "End (exclusive)", "inclusive, not exclusive"),
        ("Page, counted from 0", "1-based page", "counted from 0, not counted from 1"),
        ("IDs, separated by commas", "IDs, one per line", "values separated by commas, not one"),
        ("Country as a two-letter code", "Three-letter country code", "two letters, not a code of"),
        ("Start, in UTC", "Start, in the user's time zone", "UTC, not the account's time"),
        ("State: open, closed or all", "One of 'active', 'archived'", "no value in common"),
        ("The id of the label", "Label ID, e.g. L-1", ""),
        ("ISO 8601 date (YYYY-MM-DD)", "Date as YYYY-MM-DD", ""),
        (UUID, "The issue", ""),
    ],
)
def test_what_both_say_and_do_not_agree_on(one, other, apart):
    left, right = (Parameter("x", True, text(words)) for words in (one, other))
    assert apart in difference(left, right)
    assert bool(apart) == bool(difference(left, right)) == bool(difference(right, left))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The expression, such as (3 + 4) * 2.", "Expression, such as 12 / (5 - 2)."),
        ("The expression, such as 7 * 3", "Expression, e.g. 2 * (9 - 1) / 4"),
        ("Rows (9 - 1), newest first", "Rows, newest first"),
    ],
)
def test_an_expression_is_no_range_and_no_form(one, other):
    two = [
        Tool(name, "get", "Gets it.", schema=takes(x=text(words), y=text()))
        for name, words in (("a", one), ("b", other))
    ]
    assert not difference(Parameter("x", True, text(one)), Parameter("x", True, text(other)))
    assert not list(silent_changes(*two, argument_map(*two).moves))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The issue", "UUID of the issue"),
        ("Ids, separated by commas", "Id of the issue"),
        ("How many", "How many, at most 50"),
        ("Order of the list", "Order of the list: asc or desc"),
        ("Path of the file", "Absolute path of the file"),
        ("In the format 'City, State' or 'City, Country'", "In the format 'City, State'"),
    ],
)
def test_the_tool_that_stays_may_not_ask_for_more(one, other):
    wide = Tool("a", "list_all", "Lists the issues.", schema=takes(x=text(one), y=text()))
    narrow = Tool("b", "list", "Lists what is there.", schema=takes(x=text(other), y=text("Z")))
    back, there = argument_map(narrow, wide), argument_map(wide, narrow)
    assert there.lossy
    assert back.lossless
    assert list(silent_changes(narrow, wide, back.moves))


def takes(**properties):
    return {"type": "object", "properties": properties, "required": ["x"]}


@pytest.mark.parametrize(
    ("name", "one", "other", "apart"),
    [
        ("page", {"minimum": 0}, {"minimum": 1}, "counted from 0, not counted from 1"),
        (
            "page_number",
            {"default": 1},
            {"description": "Zero-based"},
            "from 1, not counted from 0",
        ),
        ("start_line", {"minimum": 1}, {}, ""),
        ("per_page", {"minimum": 0}, {"minimum": 1}, ""),
        ("limit", {"minimum": 0}, {"minimum": 1}, ""),
    ],
)
def test_a_schema_says_where_pages_begin(name, one, other, apart):
    left, right = (Parameter(name, True, {"type": "integer", **more}) for more in (one, other))
    assert apart in difference(left, right)
    assert bool(apart) == bool(difference(left, right))


def test_what_only_one_says_is_quoted_as_it_stands():
    said = text("The film to look up. Of the xyzzy archive, not the main one.")
    (told,) = said_by_one(said, text("The film to look up."))
    assert told.endswith("“Of the xyzzy archive, not the main one.”")


def test_one_name_and_several_are_told_of():
    several, one = text("Names of the main actors in the film"), text("Name of the main actor")
    (told, *more) = said_by_one(several, one)
    assert "only a" in told and "several" in told and "names" in told
    assert not more
    assert not said_by_one(text("Author to find films by"), text("Author to find a film by"))


def said_by_one(one, other):
    two = tool("a", "a", ["x"], x=one, y=text()), tool("b", "b", ["x"], x=other, y=text("Y"))
    moves = argument_map(*two).moves
    return [words for words in silent_changes(*two, moves) if "`x`" in words]


def test_what_several_tools_do_not_say_is_told_of_once():
    target = tool("t", "t", ["x"], x=text("UUID of the issue"), y=text())
    others = [tool(one, one, ["x"], x=text("The issue"), y=text("Y")) for one in "ab"]
    every = [words for one in others for words in argument_map(one, target).lossy]
    assert len(every) == 2
    (told,) = told_once([*every, *every])
    assert "UUID" in told and told.endswith("a and b")
    assert told_once(["is so", *every[:1], "is so"]) == ("is so", every[0])


def test_an_argument_that_is_not_the_same_is_told_of_once():
    two = tool("a", "a", x=text("Start date")), tool("b", "b", x=text("Start date and time"))
    assert len(argument_map(*two).lossy) == 1


def test_a_field_inside_an_argument_has_words_too():
    window = [
        {"type": "object", "properties": {"to": text(words)}}
        for words in ("End, inclusive", "End, exclusive")
    ]
    two = [tool(one, one, window=schema) for one, schema in zip("ab", window, strict=True)]
    assert not argument_map(*two).lossless


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (text("Channel, e.g. 'C024BE91L'"), text("Channel, e.g. 'general'")),
        (text("Issue", examples=["ENG-123"]), text("Issue", examples=["7d8f0c1e-1111-2222-333344445555"])),
        (text(title="Issue UUID"), text(title="Issue key")),
        ({"anyOf": [text("UUID of it"), {"type": "null"}]}, {"anyOf": [text("Key, like ENG-1"), {"type": "null"}]}),
        (text("Data", contentEncoding="base64"), text("Data")),
        (text("1 (urgent) to 5 (low)"), text("1 (low) to 5 (urgent)")),
        (text("Written day.month.year"), text("Written month.day.year")),
        (text("Branch to merge from"), text("Branch to merge into")),
        (text("The payer of the bill"), text("The payee of the bill")),
        (text("User who follows others"), text("User who is followed by others")),
        (text("Issue. Compulsory"), text("Issue")),
    ],
)  # fmt: skip
def test_words_that_no_list_has_and_those_in_other_places_keep_two_apart(one, other):
    two = [
        Tool(f"s/{name}", name, "Gets it.", "s", {"type": "object", "properties": {"x": schema}})
        for name, schema in (("fetch_it", one), ("get_it", other))
    ]
    assert not cluster_of(two).safe
    same = [replace(tool, schema=two[0].schema) for tool in two]
    assert cluster_of(same).safe


def test_descriptions_that_two_arguments_have_the_other_way_round_are_told():
    first, second = text("First file"), text("Other file")
    two = (tool("a", "a", x=first, y=second), tool("b", "b", x=second, y=first))
    assert not argument_map(*two).lossless


def test_one_of_two_that_must_be_given_is_a_required_argument_in_disguise():
    free = tool("a", "a", id=text("Its id"), key=text("Its key"))
    choice = "Exactly one of id and key must be given."
    bound = tool("b", "b", id=text(f"Id of the team. {choice}"), key=text("Key of the team"))
    assert argument_map(free, bound).lossy
    assert argument_map(bound, free).lossless
    always = tool("c", "c", ["id"], id=text("Id of the team"))
    assert argument_map(always, bound).lossless


def test_a_text_that_may_name_several_is_no_list_of_one():
    listed = tool("b", "b", ["issues"], issues={"type": "array", "items": {"type": "string"}})
    one = tool("a", "a", ["issue"], issue=text("Key of the issue"))
    assert argument_map(one, listed).moves[0].op == "wrap"
    for words in ("Keys, separated by commas", "One or more keys", "Issue key(s)"):
        several = tool("a", "a", ["issue"], issue=text(words))
        assert not argument_map(several, listed).lossless


def test_a_name_that_both_have_means_no_other_argument():
    left = tool("a", "a", fields=text("Fields to set, as JSON"))
    right = tool("b", "b", fields={"type": "object"}, resolution=text("Fields to set, as JSON"))
    assert match_parameters(left, right) == ()
