"""What two versions say alike is equal in one form, and what they say differently is not."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.merging.strategies import calls, tools
from toolscope_core.check.field_changes import normal_schema
from toolscope_core.model.tool import canonical_json

values = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
TEXT, NOTHING = {"type": "string"}, {"type": "null"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, {}),
        ({"title": "A", "x-own": 1, "description": "D."}, {}),
        ({"type": ["string", "null"]}, {"anyOf": [TEXT, NOTHING]}),
        ({"type": ["null", "string"]}, {"oneOf": [TEXT, NOTHING]}),
        ({"type": ["string"]}, TEXT),
        ({"type": ["string", "null"], "maxLength": 5}, {"anyOf": [{**TEXT, "maxLength": 5}, NOTHING]}),
        ({"type": ["string", "null"], "enum": ["a", None]}, {"anyOf": [{**TEXT, "enum": ["a"]}, NOTHING]}),
        ({"const": "a"}, {"enum": ["a"]}),
        ({"const": "a", "type": "string"}, {"enum": ["a"], "type": "string"}),
        ({"enum": ["b", "a"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"enum": ["a", "b"]}, {"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}),
        ({"type": "string", "anyOf": [{"enum": ["a"]}, {"const": "b"}]}, {"enum": ["b", "a"]}),
        ({"allOf": [TEXT], "required": []}, {"allOf": [{**TEXT, "examples": ["a"]}]}),
        ({"properties": {"a": True}}, {"properties": {"a": {}}}),
        ({"anyOf": [TEXT]}, TEXT),
    ],
)  # fmt: skip
def test_the_same_in_other_words(one, other):
    assert normal_schema(one) == normal_schema(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (TEXT, {}),
        ({"type": ["string", "null"]}, TEXT),
        ({"anyOf": [{**TEXT, "maxLength": 5}, {**TEXT, "minLength": 2}]}, {**TEXT, "maxLength": 5}),
        ({"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b"]}]}, {"enum": ["a", "b"]}),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, {"type": ["integer", "number"]}),
        ({"enum": [1]}, {"enum": [True]}),
        ({"type": "integer", "enum": ["a"]}, {"enum": ["a"]}),
        ({"anyOf": [TEXT], "type": "integer"}, TEXT),
        (False, {}),
    ],
)
def test_what_differs_stays_different(one, other):
    assert canonical_json(normal_schema(one)) != canonical_json(normal_schema(other))


@given(st.data())
def test_the_form_takes_what_the_schema_took(data):
    tool = data.draw(tools())
    assume(tool.schema is not None)
    call = {**data.draw(calls(tool)), **data.draw(st.dictionaries(st.just("limit"), values))}
    sides = (tool.schema, normal_schema(tool.schema))
    assert len({Draft202012Validator(one).is_valid(call) for one in sides}) == 1
