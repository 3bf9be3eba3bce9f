import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, SchemaError

from toolscope_core.catalog.keywords import INVALID, VALID, find_invalid
from toolscope_core.catalog.schemas import RecordError, read_parameters, read_returns
from toolscope_core.datamodel import Tool

ODD = (
    None, True, 0, -1, 2, 2.0, 0.5, "", "a", "(", "#", "#x", "12", [], [1], ["a", "a"], ["a"],
    [{}], [True], [[]], {}, {"a": {}}, {"a": 1}, {"(": {}}, {"a": ["b", "b"]}, {"a": ["b"]},
    {"a": True}, {"a": []},
)  # fmt: skip
ASIDE = {"$vocabulary", "$recursiveRef", "$recursiveAnchor", "$dynamicRef", "pattern"}


def accepts(schema):
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return False
    return True


@pytest.mark.parametrize("keyword", sorted(VALID.keys() - ASIDE))
def test_keywords_are_valid_where_the_meta_schema_says_so(keyword):
    for value in ODD:
        if keyword == "patternProperties" and isinstance(value, dict) and "(" in value:
            continue  # a pattern that cannot be compiled; the meta-schema does not look
        assert VALID[keyword](value) == accepts({keyword: value}), value


names = st.sampled_from(sorted(VALID))
values = st.recursive(
    st.sampled_from(ODD),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "type", *sorted(VALID)]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=400)
@given(st.dictionaries(names, values, max_size=5))
def test_every_schema_that_is_read_is_valid(keywords):
    """Issue 3, schemas: whatever a record says, what is kept passes the meta-schema."""
    for read in (read_parameters, read_returns):
        try:
            schema = read({"type": "object", "properties": {"a": keywords}, **keywords})
        except RecordError:
            continue
        Draft202012Validator.check_schema(schema)
        assert read(schema) == schema


def test_what_is_invalid_is_kept_aside_and_told():
    schema = read_parameters(
        {"properties": {"a": {"type": "str", "minLength": "many", "pattern": "("}}}
    )
    assert schema["properties"]["a"] == {
        "type": "string",
        INVALID: {"minLength": "many", "pattern": "("},
    }
    tool = Tool("t", "t", schema=schema, returns={"anyOf": [{INVALID: {"title": 1}}]})
    found = find_invalid(tool)
    assert [(item.severity, item.code, item.field) for item in found] == [
        ("warn", "invalid-schema", "schema/properties/a"),
        ("warn", "invalid-schema", "returns/anyOf/0"),
    ]
    assert "minLength, pattern" in found[0].message
    assert find_invalid(Tool("t", "t")) == ()


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "string", "nullable": True, "enum": ["a"]},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        ({"type": ["string", "null"], "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": False}, {"type": "string", "nullable": False}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": True}, {"exclusiveMaximum": 1}),
        ({"minItems": "3"}, {"minItems": 3}),
        ({"examples": "a"}, {"examples": ["a"]}),
        ({"items": [{"type": "str"}], "additionalItems": False},
         {"prefixItems": [{"type": "string"}], "items": False}),
        ({"items": []}, {}),
    ],
)  # fmt: skip
def test_older_drafts_openapi_and_gemini(said, read):
    assert read_parameters({"properties": {"a": said}})["properties"]["a"] == read
