import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.catalog.test_parameter_names import CALLS
from tests.support.catalogs import accepting
from tests.support.properties import examples
from toolscope_core.catalog.formats.foreign_formats import BFCL, flat_parameters
from toolscope_core.catalog.schema.declarations import (
    UNDECLARED,
    RecordError,
    read_parameters,
    read_returns,
)
from toolscope_core.model.tool import canonical_json

EMPTY = accepting()


def properties(value):
    return read_parameters(value)["properties"]


def test_nothing_said_is_another_thing_than_no_parameters():
    for nothing in (None, UNDECLARED, {**UNDECLARED, "type": "dict"}):
        assert read_parameters(nothing) is None
    for none in (
        {},
        [],
        EMPTY,
        {"type": "object"},
        {"type": "dict"},
        {**EMPTY, "properties": []},
        {**EMPTY, "properties": None},
    ):
        assert read_parameters(none) == EMPTY


@pytest.mark.parametrize(
    ("native", "json"),
    [
        ("dict", {"type": "object"}),
        ("str", {"type": "string"}),
        ("int", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("bool", {"type": "boolean"}),
        ("tuple", {"type": "array"}),
        ("ARRAY", {"type": "array"}),
        ("any", {}),
        ("List[str]", {"type": "array", "items": {"type": "string"}}),
        ("list", {"type": "array"}),
        ("string[]", {"type": "array", "items": {"type": "string"}}),
        ("Dict[str, int]", {"type": "object", "additionalProperties": {"type": "integer"}}),
        ("Optional[int]", {"type": ["integer", "null"]}),
        (
            "typing.Optional[typing.List[int]]",
            {"type": ["array", "null"], "items": {"type": "integer"}},
        ),
        ("Union[str, None]", {"type": ["string", "null"]}),
        ("str | NoneType", {"type": ["string", "null"]}),
        ("integer, or null", {"type": ["integer", "null"]}),
        ("int or None", {"type": ["integer", "null"]}),
        ("string?", {"type": ["string", "null"]}),
        ("nullable string", {"type": ["string", "null"]}),
        ("<class 'str'>", {"type": "string"}),
        ("Literal['a', 'b']", {"type": "string", "enum": ["a", "b"]}),
        (
            "Optional[Literal['a']]",
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
        ),
        (
            "Union[List[int], Dict[str, str]]",
            {
                "anyOf": [
                    {"type": "array", "items": {"type": "integer"}},
                    {"type": "object", "additionalProperties": {"type": "string"}},
                ]
            },
        ),
        ("Optional[Port]", {}),
        ("Port", {}),
        ("string (a date)", {"type": "string"}),
        ("[" * 300, {}),
        ("string|null", {"type": ["string", "null"]}),
        ("int or float", {"type": ["integer", "number"]}),
        (["str", "any"], {}),
        (None, {}),
    ],
)
def test_types(native, json):
    assert properties(accepting(x={"type": native})) == {"x": json}


def test_types_are_normalised_where_schemas_stand_and_nowhere_else():
    text = {"type": "str"}
    schema = {
        "type": "dict",
        "$schema": "kept",
        "properties": {
            "a": {"type": "list", "items": [text, True], "default": {"type": "str"}},
            "b": {"anyOf": [text, {"type": "null"}], "nullable": True, "enum": ["str"]},
            "c": {"additionalProperties": text, "$defs": {"d": text}, "not": text},
            "d": {"items": "int"},
        },
    }
    string = {"type": "string"}
    parts = accepting(
        a={"type": "array", "prefixItems": [string, True], "default": {"type": "str"}},
        b={"anyOf": [string, {"type": "null"}], "nullable": True, "enum": ["str"]},
        c={"additionalProperties": string, "$defs": {"d": string}, "not": string},
        d={"items": {"type": "integer"}},
    )
    assert read_parameters(schema) == {"$schema": "kept", **parts}


def test_required_is_gathered_sorted_and_left_out_when_empty():
    flags = {"b": {"required": True}, "a": {"required": False}, "c": {}}
    gathered = read_parameters({**accepting(**flags), "required": ["c", "c", 5]})
    assert gathered == {**accepting(a={}, b={}, c={}), "required": ["b", "c"]}
    assert read_parameters({"x": "int"}, ["x"])["required"] == ["x"]
    assert "required" not in read_parameters({"properties": {"x": {}}, "required": []})


def test_lists_are_required_unless_they_say_otherwise():
    def required(*entries):
        return read_parameters(list(entries)).get("required", [])

    assert required({"name": "a", "optional": True}, {"name": "b"}, "c") == ["b", "c"]
    assert required({"name": "a", "required": True}, {"name": "b"}) == ["a"]
    nested = {"type": "object", "properties": [{"name": "x", "type": "int"}]}
    assert read_parameters(nested) == {**accepting(x={"type": "integer"}), "required": ["x"]}


@pytest.mark.parametrize(
    "flat",
    [
        {"type": {"type": "string"}},
        {"description": {"type": "string"}, "items": {"type": "array"}},
        {"properties": {"type": "dict", "description": "Which."}},
        {"city": "Name of the city", "days": None},
        {"type": "string", "unit": {"type": "string"}},
    ],
)
def test_parameters_named_like_keywords(flat):
    assert set(properties(flat)) == set(flat)


@pytest.mark.parametrize(
    "value",
    [
        5,
        {"type": "string", "description": "A name."},
        [{"type": "str"}],
        ["a", "a"],
        {"x": 5},
        {"type": "object", "properties": 5},
        accepting(x={"type": {"a": 1}}),
        accepting(x={"type": [1]}),
        {"anyOf": [7]},
    ],
)
def test_refused(value):
    with pytest.raises(RecordError, match="; "):
        read_parameters(value)


def test_long_values_are_cut_in_reasons():
    with pytest.raises(RecordError, match=r"a{59}…; use"):
        read_parameters("a" * 1000)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (None, None),
        (7, None),
        ("any", {}),
        ("bool", {"type": "boolean"}),
        ("A receipt.", {"description": "A receipt."}),
        ({"description": "A receipt."}, {"description": "A receipt."}),
        ({"type": "list", "items": "int"}, {"type": "array", "items": {"type": "integer"}}),
        ({"$ref": "#/x"}, {"x-invalid": {"reference": "#/x"}}),
        ({"n": "int"}, {"type": "object", "properties": {"n": {"type": "integer"}}}),
    ],
)
def test_returns(value, schema):
    assert read_returns(value) == schema


NAMES = st.sampled_from(["a", "b", "type", "x y"])
schemas = st.dictionaries(NAMES, CALLS, max_size=4).map(
    lambda parts: read_parameters(accepting(**{name: part for name, (part, _) in parts.items()}))
)


@examples(40)
@given(schemas)
def test_reading_a_normal_schema_changes_nothing_and_dialects_lead_back(schema):
    assert canonical_json(read_parameters(schema)) == canonical_json(schema)
    assert read_parameters(BFCL.with_schema({}, ("schema",), schema)["schema"]) == schema
    flat = flat_parameters(schema)
    if flat is not None:
        assert read_parameters(flat, schema.get("required")) == schema


def test_flat_form_only_where_nothing_is_lost():
    assert flat_parameters(accepting(x={"type": "integer"})) == {"x": {"type": "int"}}
    assert flat_parameters(EMPTY) == {}
    for odd in (
        {**EMPTY, "additionalProperties": False},
        accepting(x=True),
        accepting(x={"type": 5}),
    ):
        assert flat_parameters(odd) is None
