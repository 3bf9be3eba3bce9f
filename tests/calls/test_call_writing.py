"""Calls written from schemas and from values that results have shown."""

from dataclasses import replace

import pytest

from toolscope_core.calls.call_writing import SeenValues, open_arguments, written_calls
from toolscope_core.calls.result_columns import columns_of
from toolscope_core.catalog.calls import call_refusals
from toolscope_core.model.tool import Tool


def tool(name="get_thing", required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": [*required]}
    return Tool(f"s/{name}", name, f"Returns {name}.", "s", schema)


def values(of, most=12, seen=None, name="x"):
    calls = written_calls(of, seen or SeenValues(), most)
    return [one[name] for one in calls if name in one]


@pytest.mark.parametrize(
    ("schema", "first"),
    [
        ({"type": "string", "enum": ["b", "a"]}, "b"),
        ({"const": 4}, 4),
        ({"type": "string", "examples": ["E-1"]}, "E-1"),
        ({"type": "string", "default": "d"}, "d"),
        ({"type": "string", "default": "", "format": "date"}, "2026-01-15"),
        ({"type": "string", "description": "A key, for example 'ENG-123'"}, "ENG-123"),
        ({"type": "string", "format": "date"}, "2026-01-15"),
        ({"type": "integer", "minimum": 100}, 100),
        ({"type": "integer", "maximum": 2}, 1),
        ({"type": "boolean"}, True),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, ["a", "b"]),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 3),
        ({"type": "object", "properties": {"n": {"const": 1}}, "required": ["n"]}, {"n": 1}),
    ],
)
def test_the_first_value_is_the_likeliest(schema, first):
    assert values(tool(required=["x"], x=schema))[0] == first


def test_one_argument_changes_at_a_time_and_the_schema_takes_each_call():
    number, flag = {"type": "integer", "minimum": 1, "maximum": 9}, {"type": "boolean"}
    of = tool(required=["x"], x=number, y=flag)
    calls = written_calls(of, SeenValues(), 12)
    assert calls[0] == {"x": 3}
    assert {"x": 3, "y": True} in calls
    assert {"x": 3, "y": False} in calls
    assert {1, 9} <= {one["x"] for one in calls}
    assert not any(call_refusals(of.schema, one) for one in calls)
    assert len(calls) == len({str(sorted(one.items())) for one in calls})
    assert len(written_calls(of, SeenValues(), 2)) == 2


def test_what_the_whole_schema_refuses_is_not_written():
    of = tool(x={"const": 1}, y={"const": 2})
    assert {"x": 1, "y": 2} in written_calls(of, SeenValues(), 12)
    single = replace(of, schema={**of.schema, "maxProperties": 1})
    assert {"x": 1, "y": 2} not in written_calls(single, SeenValues(), 12)


def test_ids_of_one_tools_results_are_arguments_of_another():
    seen = SeenValues()
    listing = tool("list_issues")
    seen.add(listing, columns_of({"issues": [{"id": "ENG-1"}, {"id": "ENG-2"}], "total": 2}))
    of = tool("get_issue", required=["issue_id"], issue_id={"type": "string"})
    assert values(of, seen=seen, name="issue_id")[:2] == ["ENG-1", "ENG-2"]
    # an id of something else is none
    of = tool("get_user", required=["user_id"], user_id={"type": "string"})
    assert "ENG-1" not in values(of, seen=seen, name="user_id")


def test_without_a_value_nothing_is_written():
    assert written_calls(tool(required=["x"], x={"type": "null"}), SeenValues(), 12) == ()
    assert written_calls(tool(), SeenValues(), 12) == ({},)


@pytest.mark.parametrize(
    ("schema", "is_open"),
    [
        ({"type": "string"}, True),
        ({"type": "string", "pattern": "^ENG-[0-9]+$"}, True),
        ({}, True),
        ({"type": "string", "examples": ["E-1"]}, False),
        ({"type": "string", "enum": ["a", "b"]}, False),
        ({"type": "string", "default": "d"}, False),
        ({"type": "string", "format": "date"}, False),
        ({"type": "integer"}, False),
    ],
)
def test_the_arguments_that_the_schema_leaves_open(schema, is_open):
    given = tool(required=("x", "n"), x=schema, n={"type": "integer"}, y={"type": "string"})
    assert open_arguments(given) == (("x",) if is_open else ())
