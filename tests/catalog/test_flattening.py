from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.support.catalogs import accepting
from toolscope_core.catalog.formats.parameter_names import plain_object

TEXT = {"type": "string"}
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
