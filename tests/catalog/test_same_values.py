"""A schema as it is read accepts what it accepted as it was written."""

import json
import random

import pytest
from jsonschema.validators import Draft202012Validator, validator_for

from tests.support.catalogs import accepting as parameters
from tests.support.catalogs import read_schemas as read
from toolscope_core.catalog.schema.keywords import INVALID

TEXT = {"type": "string"}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def accepts(schema, value):
    return validator_for(schema, Draft202012Validator)(schema).is_valid(value)


def defining(schema, **definitions):
    return {**schema, "$defs": definitions}


SAME = [
    (defining({"$ref": "#/$defs/A", "then": {"required": ["x"]}}, A={"if": {"required": ["y"]}}),
     {"y": 1}),
    (defining({"$ref": "#/$defs/A", "properties": {"b": {}}},
              A={"type": "object", "additionalProperties": {"type": "string"}}), {"b": 1}),
    (parameters(a={"allOf": [parameters(z={"type": "string"}), {"title": "q"}]},
                b={"$ref": "#/properties/a/allOf/0/properties/z"}), {"b": 1}),
    ({"$schema": DRAFT_7, "$ref": "#/definitions/A", "required": ["zz"],
      "definitions": {"A": parameters(k={"type": "string"})}}, {"k": "v"}),
    ({"$schema": DRAFT_7, **parameters(a={"items": [{"type": "string"}], "additionalItems": False})},
     {"a": ["x", 1]}),
    ({"$schema": DRAFT_4, **parameters(a={"maximum": 5, "exclusiveMaximum": True})}, {"a": 5}),
    (defining(parameters(a={"$ref": "#named"}), f={"$anchor": "named", "type": "string"}), {"a": 1}),
    (defining(parameters(a={"not": {"$ref": "#x"}}), x={"$anchor": "x", "type": "string"}), {"a": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value"), SAME)
def test_a_value_is_valid_after_reading_as_before(schema, value):
    (tool,) = read(schema).tools
    for one in (value, {}, {"a": ["x"], "b": "x"}):
        assert accepts(tool.schema, one) == accepts(schema, one)


WIDENED = [
    {"not": {"maxLength": -1}},
    {"oneOf": [{"pattern": "("}, {"type": "string"}]},
    {"if": {"pattern": "("}, "then": {"maxLength": 0}},
    {"not": {"type": "date"}},
    {"not": {"$ref": "#/nowhere"}},
    {"not": {"$ref": "#/$defs/broken"}},
    {"type": "array", "contains": {"$ref": "#/nowhere"}, "maxContains": 0},
]


@pytest.mark.parametrize("part", WIDENED)
def test_what_cannot_be_used_refuses_no_value(part):
    (tool,) = read(defining(parameters(a=part), broken={"minLength": "x"})).tools
    for value in ("x", 1, ["x"], None):
        if "array" not in str(part) or isinstance(value, list):
            assert accepts(tool.schema, {"a": value}), value


def test_what_stands_beside_a_reference_of_draft_7_is_named():
    parts = {"a": {"$ref": "#/definitions/A", "description": "Mine.", "minLength": 3}}
    definitions = {"A": {"type": "string"}}
    catalog = read({"$schema": DRAFT_7, **parameters(**parts), "definitions": definitions})
    part = catalog.tools[0].schema["properties"]["a"]
    assert part[INVALID] == {"minLength": 3}
    assert part["description"] == "Mine.", "words have no effect on values, and are wanted"
    assert any("minLength" in finding.message for finding in catalog.findings)


LEAVES = [
    *({"type": word} for word in ("string", "integer", "object")),
    *({"minLength": 2}, {"enum": ["x", 3]}, {"required": ["k"]}, {"title": "T"}, {"$ref": "#A"}),
    *({"$ref": "#/$defs/p"}, {"$ref": "#/$defs/q"}, {"$ref": "#/$defs/p/allOf/0"}),
    *({"additionalProperties": False}, {"properties": {"k": {"type": "string"}}}),
    *({"items": {"type": "string"}}, {"prefixItems": [{"type": "integer"}]}, {"maxContains": 1}),
    *({"contains": {"type": "integer"}}, {"then": {"minLength": 1}}, {"if": {"type": "string"}}),
]
VALUES = ["", "xyz", 3, {"k": "v"}, {"k": 1}, {}, [1], ["x"], [1, 1, "x"]]


def random_schema(random, depth=3):
    parts = random.sample(LEAVES, k=random.randint(1, 3))
    schema = {key: value for part in parts for key, value in part.items()}
    if depth and random.random() < 0.7:
        key = random.choice(["allOf", "allOf", "anyOf", "oneOf", "not"])
        options = [random_schema(random, depth - 1) for _ in range(random.randint(1, 3))]
        schema[key] = options[0] if key == "not" else options
    return schema


def test_random_schemas_accept_what_they_accepted():
    source = random.Random(5)
    compared = 0
    for _ in range(120):
        definitions = {
            "p": {"allOf": [random.Random(1).choice(LEAVES[:8]), {"minLength": 1}]},
            "q": {"type": ["string", "array", "object"], "additionalProperties": TEXT},
            "r": {"$anchor": "A", "type": ["string", "array", "integer"]},
        }
        schema = defining(parameters(a=random_schema(source)), **definitions)
        (tool,) = read(schema).tools
        for value in VALUES:
            before, after = accepts(schema, {"a": value}), accepts(tool.schema, {"a": value})
            assert before == after, (json.dumps(schema), value)
            compared += before
    assert compared > 100, "enough of them accept something"
