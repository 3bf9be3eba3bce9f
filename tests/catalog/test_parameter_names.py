import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.support.catalogs import accepting
from tests.support.catalogs import accepting as obj
from tests.support.properties import examples
from toolscope_core.catalog.calls import map_call, unmap_call
from toolscope_core.catalog.formats.foreign_formats import GEMINI as FORMAT
from toolscope_core.catalog.formats.parameter_names import plain_object, property_names, renaming
from toolscope_core.merging.former_names import NewNames, composed
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove, NestedRename
from toolscope_core.model.tool import canonical_json

GEMINI = FORMAT.rules.parameter_rule
TEXT = {"type": "string"}


def nested(schema):
    return [(item.source, item.target) for item in renaming(schema, GEMINI).nested]


def test_names_are_free_fitting_and_stable():
    schema = obj(**{name: {} for name in ("a b", "a-b", "a_b", "1", "翻", "x" * 70, "$", "ok")})
    found = renaming(schema, GEMINI)
    assert found.names.keys() == {"a b", "a-b", "1", "翻", "x" * 70, "$"}
    assert re.fullmatch(r"a_b_[0-9a-f]{8}", found.names["a b"])
    assert (found.names["1"], found.names["翻"], found.names["x" * 70]) == (
        "arg_1",
        "Fan",
        "x" * 64,
    )
    assert re.fullmatch(r"arg_[0-9a-f]{8}", found.names["$"])
    assert len({name.casefold() for name in found.names.values()}) == 6
    assert all(re.fullmatch(GEMINI, name) for name in found.names.values())
    assert found.top == found.names
    assert found.nested == ()
    backwards = obj(**dict(reversed(schema["properties"].items())))
    assert renaming(backwards, GEMINI).names == found.names
    assert renaming(obj(ok={}), GEMINI).names == {}


def test_places_below_the_top_are_pointers_outer_ones_first():
    schema = obj(
        **{
            "the filter": obj(**{"from/to": TEXT, "deep": {"items": obj(**{"x y": TEXT})}}),
            "map": {"additionalProperties": obj(**{"x y": TEXT})},
        }
    )
    found = renaming(schema, GEMINI)
    assert found.top == {"the filter": "the_filter"}
    assert nested(schema) == [
        ("/map/*/x y", "/map/*/x_y"),
        ("/the_filter/from~1to", "/the_filter/from_to"),
        ("/the_filter/deep/*/x y", "/the_filter/deep/*/x_y"),
    ]
    assert found.schema["properties"]["the_filter"]["properties"].keys() == {"from_to", "deep"}


def test_every_word_on_a_name_follows():
    part = {
        **obj(**{"a b": TEXT, "c": TEXT}),
        "required": ["a b", "c"],
        "dependentRequired": {"c": ["a b"], "a b": []},
        "dependentSchemas": {"a b": {"required": ["c"]}},
        "default": {"a b": [{"a b": 1}]},
    }
    new = renaming(obj(x=part), GEMINI).schema["properties"]["x"]
    assert "a b" not in canonical_json(new)
    assert new["required"] == ["a_b", "c"]
    assert new["dependentRequired"] == {"c": ["a_b"], "a_b": []}


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"patternProperties": {"^a": {}}}, "'patternProperties'"),
        ({"propertyNames": {"maxLength": 3}}, "'propertyNames'"),
        ({"enum": [{"a b": 1}]}, "allowed value"),
        ({"const": [{"a b": 1}]}, "allowed value"),
        (
            {"properties": {"a b": {"type": "object"}, "c": {"$ref": "#/$defs/t/properties/a b"}}},
            "contains the name",
        ),
        ({"properties": {"a b": TEXT, "next": {"$ref": "#/$defs/t"}}}, "refer to themselves"),
    ],
)
def test_where_a_name_cannot_change_safely_nothing_does(part, said):
    whole = {**obj(**{"a b": TEXT}), **part}
    schema = {**obj(x={"$ref": "#/$defs/t"}), "$defs": {"t": whole}}
    found = renaming(schema, GEMINI)
    assert said in found.obstacle
    assert (found.names, found.nested) == ({}, ())


def test_one_definition_used_twice_has_two_places(monkeypatch):
    schema = {
        **obj(x={"$ref": "#/$defs/t"}, y={"anyOf": [{"type": "null"}, {"$ref": "#/$defs/t"}]}),
        "$defs": {"t": obj(**{"a b": TEXT})},
    }
    assert nested(schema) == [("/x/a b", "/x/a_b"), ("/y/a b", "/y/a_b")]
    monkeypatch.setattr("toolscope_core.catalog.formats.parameter_names.MAX_STEPS", 3)
    assert "too large" in renaming(schema, GEMINI).obstacle


def test_a_property_at_two_places_that_overlap_has_its_new_name_once():
    renames = (NestedRename("/x/*/a b", "/x/*/a_b"), NestedRename("/x/y/a b", "/x/y/a_b"))
    alpha = ArgumentMap("t", "t", nested=renames)
    done = map_call(alpha, {"x": {"y": {"a b": 1}, "z": {"a b": 2}}})
    assert done.arguments == {"x": {"y": {"a_b": 1}, "z": {"a_b": 2}}}
    assert done.losses == ()
    back = unmap_call(alpha, done.arguments, {})
    assert back.arguments == {"x": {"y": {"a b": 1}, "z": {"a b": 2}}}


NAMES = ("a b", "c", "d/e~", "*", "-", "type", "properties", "items")


def objects(inner):
    """Schemas of objects, each with a value of declared and of further properties."""
    return st.builds(
        _object, st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=3),
        st.sets(st.sampled_from(NAMES)), st.none() | inner,
    )  # fmt: skip


def _object(parts, given_names, more):
    schema = {
        **obj(**{name: part for name, (part, _) in parts.items()}),
        "required": sorted(given_names & parts.keys()),
        "additionalProperties": more[0] if more else False,
    }
    value = {name: value for name, (_, value) in parts.items() if name in given_names}
    return schema, {**({"further": more[1]} if more else {}), **value}


def _one_of(parts):
    return {"anyOf": [schema for schema, _ in parts]}, parts[-1][1]


def _pair(parts):
    schemas, values = zip(*parts, strict=True)
    return {"type": "array", "prefixItems": [*schemas]}, [*values]


SEVERAL = {"min_size": 1, "max_size": 2}
CALLS = st.recursive(
    st.sampled_from(
        [(TEXT, "t"), ({"type": "integer", "default": 2}, 7), ({"description": "d"}, None)]
    ),
    lambda inner: (
        objects(inner)
        | inner.map(lambda one: ({"type": "array", "items": one[0]}, [one[1]]))
        | st.lists(inner, **SEVERAL).map(_one_of)
        | st.lists(inner, **SEVERAL).map(_pair)
    ),
    max_leaves=8,
)


@examples(100)
@given(objects(objects(CALLS) | CALLS))
def test_old_calls_map_validate_and_map_back(drawn):
    schema, call = drawn
    found = renaming(schema, GEMINI)
    assert not found.obstacle
    new_schema = found.schema
    assert all(re.fullmatch(GEMINI, name) for name in property_names(new_schema))
    jsonschema.Draft202012Validator(schema).validate(call)
    identity = ArgumentMap("t", "t", tuple(ArgumentMove(n, n) for n in schema["properties"]))
    alpha = composed(identity, NewNames(found.top, found.nested))
    done = map_call(alpha, call)
    assert done.losses == ()
    jsonschema.Draft202012Validator(new_schema).validate(done.arguments)
    assert unmap_call(alpha, done.arguments, {}).arguments == call


WHOLE = {"type": "integer"}


def test_alternatives_stand_among_the_properties():
    schema = {
        **accepting(a=TEXT),
        "required": ["a"],
        "anyOf": [
            {"properties": {"b": TEXT, "c": TEXT}, "required": ["b", "c"]},
            {"properties": {"b": WHOLE, "a": WHOLE}, "required": ["b"]},
        ],
        "not": {"required": ["z"]},
    }
    both = accepting(a=TEXT, b={"anyOf": [TEXT, WHOLE]}, c=TEXT)
    assert plain_object(schema) == {**both, "required": ["a", "b"]}


def test_parts_that_all_hold_require_what_any_of_them_does():
    schema = {
        "type": "object",
        "allOf": [
            {"properties": {"a": TEXT}, "required": ["a"]},
            {"$ref": "#/$defs/more"},
            True,
            {"oneOf": [{"properties": {"c": WHOLE}}, {}]},
        ],
        "$defs": {"more": {"properties": {"a": {"minLength": 2}}, "required": ["b"]}},
    }
    both = accepting(a={"allOf": [TEXT, {"minLength": 2}]}, c=WHOLE)
    assert plain_object(schema) == {**both, "required": ["a", "b"], "$defs": schema["$defs"]}


def test_what_is_plain_stays_and_what_is_pointed_into_cannot_go():
    plain = accepting(a={"anyOf": [TEXT, WHOLE]})
    assert plain_object(plain) is plain
    assert plain_object({**accepting(), "enum": [{}]}) == accepting()
    inside = {**accepting(a={"$ref": "#/anyOf/0"}), "anyOf": [TEXT]}
    assert plain_object(inside) is None
    circle = {"type": "object", "anyOf": [{"$ref": "#"}, {"properties": {"a": TEXT}}]}
    assert plain_object(circle)["properties"] == {"a": TEXT}


branches = st.fixed_dictionaries(
    {"properties": st.dictionaries(st.sampled_from("abc"), st.sampled_from([TEXT, WHOLE, {}]))},
    optional={"required": st.lists(st.sampled_from("abc"), unique=True)},
)


@given(
    branches,
    st.sampled_from(["anyOf", "oneOf", "allOf"]),
    st.lists(branches, min_size=1, max_size=3),
    st.data(),
)
def test_a_call_of_declared_arguments_that_was_valid_stays_valid(base, key, parts, data):
    schema = {"type": "object", **base, key: parts}
    chosen = parts if key == "allOf" else [data.draw(st.sampled_from(parts))]
    declared = sorted({name for part in (base, *chosen) for name in part["properties"]})
    names = st.sampled_from(declared or ["none"])
    call = data.draw(st.dictionaries(names, st.sampled_from(["x", 1]), max_size=len(declared)))
    if all(Draft202012Validator(part).is_valid(call) for part in (schema, *chosen)):
        Draft202012Validator(plain_object(schema)).validate(call)
