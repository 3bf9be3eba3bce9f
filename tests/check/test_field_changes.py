"""Which change of a tool breaks a caller, by hand and against random calls."""

import json
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry

from tests.check.test_accepted_values import branching
from tests.merging.strategies import calls, like_tools, tools
from toolscope_core.catalog.formats.format_table import OUTPUTS
from toolscope_core.catalog.formats.writers import write_record
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.check.change_kinds import CHANGE_KINDS
from toolscope_core.check.field_changes import FieldChange, field_changes
from toolscope_core.model.tool import Tool

LIMIT = {"type": "integer", "minimum": 1, "maximum": 100, "description": "How many."}
KIND = {"type": "string", "enum": ["note", "file"]}
FILTER = {"type": "object", "properties": {"tag": {"type": "string"}}}


def schema(*required, **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


def find(*required, **properties):
    return Tool("s/find", "find", "Find it.", "s", schema(*required, **properties))


def seen(old, new):
    """Field path to whether it breaks a caller."""
    return {change.field: bool(change.breaking) for change in field_changes(old, new)}


OLD = find("query", query={"type": "string"}, limit=LIMIT, kind=KIND, only=FILTER)
IN = "schema/properties"


def changed(*required, **properties):
    known = dict(OLD.schema["properties"]) | properties
    return find(*(required or ("query",)), **{k: v for k, v in known.items() if v is not None})


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (changed(limit={**LIMIT, "maximum": 50}), {f"{IN}/limit/maximum": True}),
        (changed(limit={**LIMIT, "maximum": 200}), {f"{IN}/limit/maximum": False}),
        (changed(limit={**LIMIT, "description": "Most."}), {f"{IN}/limit/description": False}),
        (changed(limit={**LIMIT, "default": 7}), {f"{IN}/limit/default": False}),
        (changed(limit={**LIMIT, "type": "number"}), {f"{IN}/limit/type": False}),
        (changed(limit={**LIMIT, "type": "string"}), {f"{IN}/limit/type": True}),
        (changed(limit={**LIMIT, "multipleOf": 5}), {f"{IN}/limit/multipleOf": True}),
        (changed(kind={**KIND, "enum": ["file"]}), {f"{IN}/kind/enum": True}),
        (changed(kind={**KIND, "enum": ["note", "file", "task"]}), {f"{IN}/kind/enum": False}),
        (changed(kind=None), {f"{IN}/kind": True}),
        (changed(sort={"type": "string"}), {f"{IN}/sort": False}),
        (
            changed("query", "sort", sort={"type": "string"}),
            {f"{IN}/sort": False, "schema/required/sort": True},
        ),
        (changed("query", "limit"), {"schema/required/limit": True}),
        (find(**OLD.schema["properties"]), {"schema/required/query": False}),
        (changed(only=FILTER | {"required": ["tag"]}), {f"{IN}/only/required/tag": True}),
        (
            changed(only={"type": "object", "properties": {"tag": {"type": ["string", "null"]}}}),
            {f"{IN}/only/properties/tag/type": False},
        ),
        (changed(only={"type": "object", "properties": {}}), {f"{IN}/only/properties/tag": True}),
        (
            changed(query={"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            {f"{IN}/query/type": False, f"{IN}/query/anyOf": False},
        ),
        (
            replace(OLD, schema={**OLD.schema, "additionalProperties": False}),
            {"schema/additionalProperties": False},
        ),
        (
            replace(OLD, schema={**changed(kind=None).schema, "additionalProperties": False}),
            {f"{IN}/kind": True, "schema/additionalProperties": True},
        ),
        (replace(OLD, description="Find all."), {"description": False}),
        (replace(OLD, name="seek", id="s/seek"), {"name": True}),
        (replace(OLD, server="t", id="t/find"), {"server": True}),
        (replace(OLD, id="s/find~1"), {"id": False}),
        (
            replace(OLD, annotations={"destructiveHint": True}),
            {"annotations/destructiveHint": False},
        ),
        (replace(OLD, annotations={"title": "Find"}), {"annotations/title": False}),
        (OLD, {}),
    ],
)
def test_each_change_has_its_path_and_says_whether_it_breaks_callers(new, expected):
    assert seen(OLD, new) == expected


def test_the_same_in_other_words_breaks_nobody():
    """``test_normal_schemas`` has what is the same."""
    before = {"type": ["string", "null"]}
    after = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    old, new = find(k=before, limit=LIMIT), find(k=after, limit=LIMIT)
    assert not any(seen(old, new).values())
    tighter = find(k=after, limit={**LIMIT, "maximum": 5})
    breaking = [field for field, breaks in seen(old, tighter).items() if breaks]
    assert breaking == [f"{IN}/limit/maximum"]
    results = [replace(OLD, returns=schema(k=side)) for side in (before, after)]
    assert not any(seen(*results).values())


def test_a_tool_that_is_to_be_called_as_a_task_breaks_its_callers():
    kinds = ("optional", "required")
    plain, task = (replace(OLD, raw={"execution": {"taskSupport": kind}}) for kind in kinds)
    assert seen(OLD, task) == {"execution": True} and seen(OLD, plain) == {"execution": False}
    assert seen(plain, task) == seen(task, plain) == {"execution/taskSupport": True}


def test_a_schema_that_closes_is_to_be_looked_at():
    closed = replace(OLD, schema={**OLD.schema, "additionalProperties": False})
    (change,) = field_changes(OLD, closed)
    assert (change.rule, change.breaking) == ("argument-closed", "")


def rules(old, new):
    return {change.field: change.rule for change in field_changes(old, new)}


CITY = {"type": "string", "maxLength": 9}


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (changed(limit={**LIMIT, "default": 7}), OLD, "default-removed"),
        (
            changed(limit={**LIMIT, "default": 7}),
            changed(limit={**LIMIT, "default": 8}),
            "default-changed",
        ),
        (
            changed(only={**FILTER, "default": {"tag": "a"}}),
            changed(only={**FILTER, "default": {"tag": "b"}}),
            "default-changed",
        ),
        (OLD, changed(limit={**LIMIT, "default": 7}), "default-added"),
        (OLD, changed(default=CITY), "argument-added"),
        (OLD, changed(limit={**LIMIT, "maximum": 9}), "argument-limit-tightened"),
        (OLD, changed(kind={**KIND, "enum": ["note"]}), "argument-value-removed"),
        (OLD, changed(kind={**KIND, "anyOf": [{"const": "note"}]}), "argument-narrowed"),
        (OLD, changed(limit={**LIMIT, "description": "Most."}), "argument-words"),
        (OLD, changed("query", "limit"), "argument-required"),
        (
            replace(OLD, annotations={"destructiveHint": False}),
            replace(OLD, annotations={"destructiveHint": True}),
            "destructive-set",
        ),
        (OLD, replace(OLD, annotations={"destructiveHint": True}), "destructive-declared"),
        (replace(OLD, annotations={"idempotentHint": True}), OLD, "idempotent-lost"),
        (
            replace(OLD, returns=schema(city=CITY)),
            replace(OLD, returns=schema()),
            "result-optional-field-removed",
        ),
        (
            replace(OLD, returns=schema(city=CITY)),
            replace(OLD, returns=schema(city={**CITY, "maxLength": 10})),
            "result-limit-loosened",
        ),
        (
            replace(OLD, returns=schema("city", city=CITY)),
            replace(OLD, returns=schema(city=CITY)),
            "result-field-optional",
        ),
        (
            replace(OLD, returns=schema(city={"type": "string"})),
            replace(OLD, returns=schema(city={"type": ["string", "null"]})),
            "result-type-widened",
        ),
        (
            replace(OLD, schema=branching({"type": "integer"}, 14, 4)),
            replace(OLD, schema=branching({"type": "number"}, 14, 4)),
            "not-compared",
        ),
    ],
)
def test_each_change_is_of_a_kind_in_the_table(old, new, rule):
    assert rule in rules(old, new).values()
    assert {*rules(old, new).values()} <= CHANGE_KINDS.keys()


def test_a_field_of_the_result_that_was_promised_breaks_its_readers():
    old = replace(OLD, returns=schema("city", city=CITY))
    new = replace(OLD, returns=schema())
    assert rules(old, new)["returns/properties/city"] == "result-field-removed"


def test_a_tool_that_no_longer_only_reads_is_a_hazard():
    destructive = "annotations/destructiveHint"
    old = replace(OLD, annotations={"readOnlyHint": True, "destructiveHint": True})
    assert seen(
        old, replace(OLD, annotations={"readOnlyHint": False, "destructiveHint": True})
    ) == {"annotations/readOnlyHint": True}
    assert seen(old, replace(old, annotations={"readOnlyHint": True})) == {destructive: False}


def test_a_result_breaks_where_a_reader_would_miss_something():
    city = {"type": "string"}
    old = replace(OLD, returns=schema("city", city=city))
    assert seen(old, replace(OLD, returns=schema("city", city=city, land=city))) == {
        "returns/properties/land": False
    }
    assert seen(old, replace(OLD, returns=schema(land=city))) == {
        "returns/properties/city": True,
        "returns/properties/land": False,
        "returns/required/city": True,
    }
    assert seen(OLD, old) and not any(seen(OLD, old).values())


def test_local_references_are_followed_also_in_a_circle():
    defs = {"$defs": {"n": {"type": "integer"}}}
    old = replace(OLD, schema={**schema(n={"$ref": "#/$defs/n"}), **defs})
    assert seen(old, find(n={"type": "integer"})) == {}
    wider = {"$defs": {"n": {"type": "number"}}}
    assert seen(old, replace(old, schema={**old.schema, **wider})) == {f"{IN}/n/type": False}
    tree = {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}}
    cyclic = schema(tree={"$ref": "#/$defs/tree"})
    old = replace(OLD, schema={**cyclic, "$defs": {"tree": tree}})
    new = replace(OLD, schema={**cyclic, "$defs": {"tree": {**tree, "maxProperties": 0}}})
    of_tree = "schema/$defs/tree"
    assert seen(old, new) == {f"{of_tree}/maxProperties": True}
    new = replace(OLD, schema={**old.schema, "title": "Trees"})
    assert seen(old, new) == {"schema/title": False}


def test_a_parameter_may_bear_the_name_of_a_keyword():
    old = find(properties={"type": "string"}, required={"type": "integer"})
    new = find(properties={"type": "integer"}, required={"type": "number"})
    assert seen(old, new) == {f"{IN}/properties/type": True, f"{IN}/required/type": False}
    assert seen(old, find(properties={"type": "string"})) == {f"{IN}/required": True}


def test_lists_of_things_are_looked_into():
    tags = {"type": "array", "items": {"type": "string", "maxLength": 9}}
    wide = {"type": "array", "items": {"type": "string", "maxLength": 20}}
    assert seen(find(tags=tags), find(tags=wide)) == {f"{IN}/tags/items/maxLength": False}
    assert seen(find(tags=wide), find(tags=tags)) == {f"{IN}/tags/items/maxLength": True}


@given(tools(), st.data())
def test_without_a_breaking_change_every_old_call_is_still_valid(old, data):
    new = data.draw(like_tools(old, old.id))
    assume(not any(change.breaking for change in field_changes(old, new)))
    call = data.draw(calls(old))
    assert Draft202012Validator(new.schema or {}, registry=Registry()).is_valid(call)


@given(tools(), tools())
def test_the_other_way_round_the_same_fields_differ(old, new):
    there, back = field_changes(old, new), field_changes(new, old)
    assert [(c.field, c.old, c.new) for c in there] == [(c.field, c.new, c.old) for c in back]
    assert field_changes(old, old) == ()


def read(record, forced=None):
    return read_catalog([Source("x.json", json.dumps([record]).encode())], forced).tools[0]


MCP = {
    "name": "find",
    "title": "Find",
    "description": "Find it.",
    "icons": [{"src": "a.png"}],
    "inputSchema": {"type": "object", "properties": {"limit": LIMIT}},
    "annotations": {"readOnlyHint": True, "audience": ["user"]},
    "_meta": {"since": 2, "by": {"team": "a"}},
}


def test_unknown_fields_are_rows_of_their_own_and_break_nobody():
    new = {
        **{key: value for key, value in MCP.items() if key != "title"},
        "icons": [{"src": "b.png"}],
        "annotations": {"readOnlyHint": True, "audience": ["assistant"]},
        "_meta": {"since": 2, "by": {"team": "b"}},
        "execution": {},
    }
    assert field_changes(read(MCP), read(new)) == (
        FieldChange("_meta/by/team", "changed", "a", "b", "record-changed"),
        FieldChange("annotations/audience", "changed", ["user"], ["assistant"], "record-changed"),
        FieldChange("execution", "added", None, {}, "record-changed"),
        FieldChange("icons", "changed", [{"src": "a.png"}], [{"src": "b.png"}], "record-changed"),
        FieldChange("title", "removed", "Find", None, "record-changed"),
    )


def test_what_known_fields_say_is_not_said_again():
    new = {
        **MCP,
        "description": "Find it now.",
        "inputSchema": {"type": "object", "properties": {}},
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": False, "audience": ["user"]},
    }
    assert [change.field for change in field_changes(read(MCP), read(new))] == [
        "description",
        "schema/properties/limit",
        "returns/type",
        "annotations/readOnlyHint",
    ]
    silent = {**MCP, "description": None, "summary": None}
    assert seen(read(silent), read(MCP)) == {"description": False}


@pytest.mark.parametrize("format", OUTPUTS)
def test_another_format_alone_is_no_change_of_a_tool(format):
    plain = Tool("find", "find", "Find it.", "", {"type": "object", "properties": {}})
    rows = [write_record(replace(plain, raw={}), format) for format in (format, "anthropic")]
    old, new = (replace(plain, raw=row) for row in rows)
    assert set(seen(old, new)) <= {"strict"}, "which only the Responses API has"


def test_openai_fields_inside_the_function():
    old = {"type": "function", "function": {"name": "f", "strict": True, "parameters": None}}
    new = {**old, "function": {"name": "g", "strict": False}}
    assert seen(replace(read(old), id="f"), replace(read(new), id="f")) == {
        "name": True,
        "function/strict": False,
    }
    flat = {"name": "f", "parameters": {"a": "int"}, "required": ["a"], "note": "x"}
    assert seen(read(flat), read({**flat, "required": [], "note": "y"})) == {
        "schema/required/a": False,
        "note": False,
    }
