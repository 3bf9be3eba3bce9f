import pytest

from toolscope_core.catalog.readers import FINDERS
from toolscope_core.catalog.schema.contradictions import find_contradictions
from toolscope_core.model.tool import Tool

TEXT = {"type": "string"}


def found(**schema):
    tool = Tool("t", "t", schema={"type": "object", **schema})
    return [(item.severity, item.code, item.field) for item in find_contradictions(tool)]


@pytest.mark.parametrize(
    ("schema", "row"),
    [
        ({"properties": {"a": TEXT}, "required": ["a", "b"]},
         ("warn", "ghost-required", "schema/required")),
        ({"properties": {"a": {"properties": {}, "required": ["b"]}}},
         ("warn", "ghost-required", "schema/properties/a/required")),
        ({"properties": {"a": {"type": "array", "enum": ["x", "y"]}}},
         ("warn", "impossible-enum", "schema/properties/a/enum")),
        ({"properties": {"a": {"type": "integer", "enum": [1, "2"]}}},
         ("info", "impossible-enum", "schema/properties/a/enum")),
        ({"properties": {"a": {"type": "string", "enum": ["x"], "default": "all"}}},
         ("info", "impossible-default", "schema/properties/a/default")),
        ({"properties": {"a": {"type": "integer", "maximum": 5, "default": 9}}},
         ("info", "impossible-default", "schema/properties/a/default")),
    ],
)  # fmt: skip
def test_each_contradiction_at_its_place(schema, row):
    assert found(**schema) == [row]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": TEXT}, "required": ["a"]},
        {"properties": {"a": TEXT}, "required": ["b"], "patternProperties": {"^b": TEXT}},
        {"properties": {"a": TEXT}, "oneOf": [{"properties": {"b": TEXT}, "required": ["a", "b"]}]},
        {"properties": {"a": TEXT}, "required": ["b"], "anyOf": [{"properties": {"b": TEXT}}]},
        {"properties": {"a": TEXT}, "required": ["b"], "allOf": [{"$ref": "#/$defs/B"}],
         "$defs": {"B": {"properties": {"b": TEXT}}}},
        {"properties": {"a": TEXT}, "required": ["b"], "allOf": [{"$ref": "#/$defs/None"}]},
        {"properties": {"a": {"type": "string", "default": None}, "b": {"default": 5}}},
        {"properties": {"a": {"type": ["string", "null"], "enum": ["x", None]}}},
    ],
)  # fmt: skip
def test_what_can_be_met_is_not_found(schema):
    assert found(**schema) == []


def test_a_closed_schema_with_a_ghost_takes_no_call():
    closed = {"properties": {}, "required": ["b"], "additionalProperties": False}
    (item,) = find_contradictions(Tool("t", "t", schema=closed))
    assert "no call is valid" in item.message and find_contradictions in FINDERS
