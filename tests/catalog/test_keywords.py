from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, SchemaError
from jsonschema_specifications import REGISTRY

from tests.support.catalogs import accepting
from tests.support.properties import examples
from toolscope_core.catalog.schema.declarations import RecordError, read_parameters, read_returns
from toolscope_core.catalog.schema.keywords import INVALID, find_invalid, split_invalid
from toolscope_core.model.tool import Tool

DRAFT = "https://json-schema.org/draft/2020-12/schema"
ODD = (
    None, True, 0, -1, 2, 2.0, 0.5, "", "a", "(", "#", "#x", "12", [], [1], ["a", "a"], ["a"],
    [{}], [True], [[]], {}, {"a": {}}, {"a": 1}, {"(": {}}, {"a": ["b", "b"]}, {"a": ["b"]},
    {"a": True}, {"a": []},
)  # fmt: skip
VOCABULARIES = Draft202012Validator.META_SCHEMA["allOf"]
KEYWORDS = sorted(
    {"$ref", "$vocabulary", "$recursiveRef", "$dynamicRef", "dependencies", "definitions"}
    | {
        keyword
        for part in VOCABULARIES
        for keyword in REGISTRY.contents(urljoin(DRAFT, part["$ref"]))["properties"]
    }
)
TEXT, TEXT_OR_NULL = {"type": "string"}, {"type": ["string", "null"]}
STRICTER = {"$vocabulary", "$recursiveRef", "$recursiveAnchor", "$dynamicRef", "$dynamicAnchor"}


def accepts(schema):
    checker = Draft202012Validator.FORMAT_CHECKER
    try:
        Draft202012Validator.check_schema(schema, format_checker=checker)
    except SchemaError:
        return False
    return True


@pytest.mark.parametrize("keyword", sorted({*KEYWORDS} - STRICTER))
def test_keywords_are_valid_where_the_meta_schema_says_so(keyword):
    """jsonschema, the slow and well-worn one, is the judge of the fast one."""
    for value in ODD:
        assert (split_invalid({keyword: value}) == {keyword: value}) == accepts({keyword: value})


@pytest.mark.parametrize("keyword", sorted(STRICTER))
def test_what_makes_a_schema_depend_on_others_is_set_aside(keyword):
    assert split_invalid({"not": {keyword: "#a"}}) == {"not": {INVALID: {keyword: "#a"}}}


def test_every_wrong_keyword_is_moved_where_it_stands():
    schema = {
        "properties": {"a": {"anyOf": [True, {"minLength": -1, "maxLength": "x", "title": "t"}]}},
        "items": {"required": [1, 1], INVALID: {"type": "odd"}},
        "enum": 3,
    }
    assert split_invalid(schema) == {
        "properties": {
            "a": {"anyOf": [True, {"title": "t", INVALID: {"minLength": -1, "maxLength": "x"}}]}
        },
        "items": {INVALID: {"type": "odd", "required": [1, 1]}},
        INVALID: {"enum": 3},
    }


names = st.sampled_from(KEYWORDS)
values = st.recursive(
    st.sampled_from(ODD),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "type", *KEYWORDS]), inner, max_size=3)
    ),
    max_leaves=8,
)


@examples(100)
@given(st.dictionaries(names, values, max_size=5))
def test_every_schema_that_is_read_is_valid(keywords):
    """Whatever a record declares, what is kept passes the meta-schema."""
    for read in (read_parameters, read_returns):
        try:
            schema = read({"type": "object", "properties": {"a": keywords}, **keywords})
        except RecordError:
            continue
        Draft202012Validator.check_schema(schema)
        assert read(schema) == schema


def test_what_is_invalid_is_kept_aside_and_told():
    schema = read_parameters(accepting(a={"type": "str", "minLength": "many", "pattern": "("}))
    invalid = {"type": "string", INVALID: {"minLength": "many", "pattern": "("}}
    assert schema["properties"]["a"] == invalid
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
        ({"nullable": True, **TEXT, "enum": ["a"]}, {**TEXT_OR_NULL, "enum": ["a", None]}),
        ({**TEXT_OR_NULL, "nullable": True}, TEXT_OR_NULL),
        ({**TEXT, "nullable": False}, {**TEXT, "nullable": False}),
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


def test_a_pattern_that_a_later_python_may_read_otherwise_is_no_error():
    schema = accepting(a={"type": "string", "pattern": "[[a]"})
    assert read_parameters(schema) == schema
