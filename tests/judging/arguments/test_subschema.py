import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry

from tests.merging.strategies import SCHEMAS, values
from tests.support.properties import examples
from toolscope_core.judging.arguments.subschema import admits, inline_references

STRING = {"type": "string"}


def valid(schema, value):
    return Draft202012Validator(schema, registry=Registry()).is_valid(value)


@given(SCHEMAS, SCHEMAS)
def test_a_schema_admits_itself_and_an_empty_one_admits_all(one, other):
    assert admits(one, one)
    assert admits({}, other)
    assert admits({"anyOf": [one, other]}, other)


@examples(100)
@given(SCHEMAS.flatmap(lambda s: values(s).map(lambda v: (s, v))), SCHEMAS)
def test_what_is_admitted_validates(narrow_and_value, wide):
    narrow, value = narrow_and_value
    if admits(wide, narrow):
        assert valid(wide, value)


@pytest.mark.parametrize(
    ("wide", "narrow", "answer"),
    [
        ({"type": "number"}, {"type": "integer"}, True),
        ({"type": "integer"}, {"type": "number"}, False),
        ({"type": ["string", "null"]}, STRING, True),
        (STRING, {"type": ["string", "null"]}, False),
        (STRING, {"enum": ["a", "b"]}, True),
        (STRING, {"enum": ["a", 1]}, False),
        ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a"]}, True),
        ({"enum": ["a"]}, STRING, False),
        ({"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 2}, True),
        ({"type": "integer", "minimum": 1}, {"type": "integer"}, False),
        ({"type": "integer", "maximum": 9}, {"type": "integer", "maximum": 10}, False),
        ({"type": "string", "pattern": "^a"}, STRING, False),
        ({"type": "array", "items": STRING}, {"type": "array", "items": {"enum": ["a"]}}, True),
        ({"type": "array", "items": STRING}, {"type": "array"}, False),
        (STRING, {"anyOf": [STRING, {"type": "integer"}]}, False),
        ({"type": ["string", "integer"]}, {"anyOf": [STRING, {"type": "integer"}]}, True),
        (STRING, {}, False),
        ({"type": "string", "format": "date"}, STRING, True),
        (STRING, True, False),
        (True, STRING, True),
        ({"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}, False),
    ],
)
def test_known_answers(wide, narrow, answer):
    assert admits(wide, narrow) is answer


def test_objects_are_compared_member_by_member():
    wide = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
    narrow = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": STRING},
        "required": ["a", "b"],
    }
    assert admits(wide, narrow)
    assert not admits(narrow, wide)
    closed = {**wide, "additionalProperties": False}
    assert not admits(closed, narrow)
    assert admits(closed, {**wide, "additionalProperties": False})
    assert not admits({"type": "object", "properties": {"c": STRING}}, narrow)
    assert admits({**wide, "additionalProperties": True}, narrow)


def test_references_are_inlined_and_their_definitions_go():
    schema = {
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/point", "description": "where"}},
        "$defs": {
            "point": {"type": "array", "items": {"$ref": "#/$defs/number"}},
            "number": STRING,
        },
    }
    assert inline_references(schema) == {
        "type": "object",
        "properties": {"at": {"type": "array", "items": STRING, "description": "where"}},
    }


@pytest.mark.parametrize(
    "target", ["#/$defs/node", "https://example.org/x.json", "file:///etc/passwd", "#/$defs/none"]
)
def test_a_reference_that_cannot_be_followed_leaves_the_schema_alone(target):
    node = {"type": "object", "properties": {"next": {"$ref": target}}}
    schema = {"type": "object", "properties": {"n": node}, "$defs": {"node": node}}
    assert inline_references(schema) == schema


def test_a_keyword_beside_a_reference_does_not_replace_the_one_behind_it():
    """Both hold: reading 100 for the bound would admit calls that the tool refuses."""
    short = {"$ref": "#/$defs/short", "maxLength": 100}
    schema = {
        "type": "object",
        "properties": {"a": short},
        "$defs": {"short": {"type": "string", "maxLength": 10}},
    }
    assert inline_references(schema) == schema


def test_definitions_that_multiply_are_not_followed_for_ever():
    levels = {
        f"d{i}": {"type": "array", "prefixItems": [{"$ref": f"#/$defs/d{i + 1}"}] * 9}
        for i in range(9)
    }
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/d0"}},
        "$defs": {**levels, "d9": STRING},
    }
    assert inline_references(schema) == schema


CLOSED = {"type": "object", "properties": {"a": STRING}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("wide", "narrow", "value"),
    [
        ({"items": STRING}, {"prefixItems": [{"type": "integer"}], "items": STRING}, [1]),
        (
            {"additionalProperties": STRING},
            {"additionalProperties": STRING, "properties": {"b": {"type": "integer"}}},
            {"b": 1},
        ),
        (CLOSED, {**CLOSED, "patternProperties": {"^x": {}}}, {"x1": 1}),
        ({"properties": {"b": STRING}}, {"type": "object"}, {"b": 1}),
        (
            {"unevaluatedProperties": False, "properties": {}},
            {"unevaluatedProperties": False, "properties": {"a": STRING}},
            {"a": "x"},
        ),
        ({"contains": STRING, "minContains": 2}, {"contains": STRING, "minContains": 0}, []),
        (
            {"properties": {"a": STRING}},
            {"properties": {"a": STRING}, "anyOf": [{"properties": {"a": {}}}]},
            {"a": "x"},
        ),
        ({"enum": None}, STRING, "x"),
        ({"type": "integer", "minimum": "1"}, {"type": "integer", "minimum": "1", "maximum": 3}, 1),
        ({"required": 7}, {"type": "object"}, {}),
    ],
)
def test_what_cannot_be_shown_is_not_admitted(wide, narrow, value):
    assert not admits(wide, narrow) or valid(wide, value)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["a", "string", "object"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)
KEYS = "type enum required properties items minimum maxLength additionalProperties anyOf".split()


@given(*[st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=3)] * 2)
@example({}, {"type": [[]]})
@example({"type": [{}]}, {"type": "string"})
def test_malformed_schemas_get_an_answer(one, other):
    assert admits(one, other) in (True, False)


@pytest.mark.parametrize("size", [90, 250, 1000])
def test_a_long_ring_of_definitions_stays_as_it_is(size):
    ring = {
        f"d{i}": {"properties": {"next": {"$ref": f"#/$defs/d{(i + 1) % size}"}}}
        for i in range(size)
    }
    schema = {"properties": {"first": {"$ref": "#/$defs/d0"}}, "$defs": ring}
    assert inline_references(schema) == schema
    assert not admits(inline_references(schema), schema)
