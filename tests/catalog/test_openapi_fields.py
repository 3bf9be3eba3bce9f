"""Fields of OpenAPI that depend: on the direction, and on a discriminator."""

import pytest
from jsonschema import Draft202012Validator

from tests.support.catalogs import accepting, answer, component, operation_tool
from toolscope_core.catalog.formats.openapi import with_children
from toolscope_core.catalog.schema.pointers import ExpansionBudget
from toolscope_core.catalog.schema.walking import without_marked

LOAD = {
    "type": "object",
    "required": ["kind"],
    "discriminator": {"propertyName": "kind"},
    "properties": {"kind": {"type": "string"}},
}


def child(parent, **properties):
    own = {"type": "object", "required": list(properties), "properties": properties}
    return {"allOf": [component(parent), own]}


SCHEMAS = {
    "Load": LOAD,
    "Box": child("Load", wide={"type": "number"}, note={"type": "string"}),
    "Bulk": child("Load", kilos={"type": "number"}, note={"type": "integer"})
    | {"discriminator": "k"},
    "Sand": child("Bulk", grain={"type": "string"}),
}


def schema_of(body, schemas=None):
    components = {"schemas": schemas or SCHEMAS}
    return operation_tool({"requestBody": answer(body)}, components=components).schema


def test_the_fields_of_children_are_arguments_and_none_is_required():
    schema = schema_of(component("Load"))
    assert set(schema["properties"]) == {"kind", "wide", "note", "kilos", "grain"}
    assert schema["properties"]["note"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}


def test_a_child_has_its_own_fields_only():
    for name, own in (("Box", {"wide"}), ("Sand", {"kilos", "grain"})):
        assert schema_of(component(name))["properties"].keys() == {"kind", "note", *own}


def test_a_parent_deeper_inside_shows_them_too():
    schema = schema_of(accepting(loads={"type": "array", "items": component("Load")}))
    assert {"wide", "grain"} <= set(schema["$defs"]["Load"]["properties"])
    assert Draft202012Validator(schema).is_valid({"loads": [{"kind": "Box", "wide": 2}]})
    assert not Draft202012Validator(schema).is_valid({"loads": [{"kind": "Box", "wide": "2"}]})


def test_a_parent_that_lists_its_children_makes_no_circle():
    named = [component(name) for name in ("Box", "Bulk")]
    schema = schema_of(
        {"properties": {"load": component("Load")}}, {**SCHEMAS, "Load": {**LOAD, "oneOf": named}}
    )
    valid = Draft202012Validator(schema)
    assert valid.is_valid({"load": {"kind": "a", "wide": 1, "note": "x"}})
    assert not valid.is_valid({"load": {"kind": "a", "wide": "1", "note": "x"}})


@pytest.mark.parametrize(
    "schemas",
    [5, {"A": 5}, {"A": {"discriminator": {}, "allOf": [component("A")]}},
     {"A": child("B") | {"discriminator": "k"}, "B": child("A") | {"discriminator": "k"}}],
)  # fmt: skip
def test_odd_families_end(schemas):
    document = {"components": {"schemas": schemas}}
    assert with_children(document, ExpansionBudget())["components"].keys() == {"schemas"}


@pytest.mark.case(79)
def test_a_discriminator_leads_only_to_what_is_there():
    mapping = {
        "cat": "#/components/schemas/Cat",
        "ox": "Cat",
        "dog": "#/components/schemas/Dog",
        "x": "y.yml",
    }
    pet = {
        "oneOf": [component("Cat")],
        "discriminator": {"propertyName": "kind", "mapping": mapping},
    }
    schemas = {"Pet": pet, "Cat": accepting(kind={}), "Dog": accepting(kind={})}
    held = schema_of(accepting(pet=component("Pet")), schemas)
    assert held["$defs"]["Pet"]["discriminator"]["mapping"] == dict.fromkeys(
        ["cat", "ox"], "#/$defs/Cat"
    )
    pet["discriminator"]["mapping"] = {"dog": "Dog"}
    held = schema_of(accepting(pet=component("Pet")), schemas)
    assert held["$defs"]["Pet"]["discriminator"] == {"propertyName": "kind"}


def test_what_is_added_is_taken_from_the_budget():
    document = {"components": {"schemas": SCHEMAS}}
    widened = with_children(document, ExpansionBudget(remaining=1))
    added = widened["components"]["schemas"]["Load"]["properties"].keys() - {"kind"}
    assert len(added) == 1
    plain = {"components": {"schemas": {"A": {"type": "object"}}}}
    assert with_children(plain, ExpansionBudget()) is plain


ONLY_READ = {"type": "integer", "readOnly": True}
ONLY_WRITTEN = {"type": "string", "writeOnly": True}
TEXT = {"type": "string"}


def one(schema, place="requestBody", **more):
    content = answer(schema) if place == "requestBody" else {"200": answer(schema)}
    return operation_tool({place: content, **more}, **PARTS)


PARTS = {"components": {"schemas": {"Id": ONLY_READ, "Row": {
    "type": "object", "required": ["id", "name"],
    "properties": {"id": {"$ref": "#/components/schemas/Id"}, "name": TEXT, "key": ONLY_WRITTEN},
}}}}  # fmt: skip
ROW = component("Row")


def test_a_request_has_no_field_that_only_answers_have():
    body = {"type": "object", "required": ["id", "a"], "properties": {"id": ONLY_READ, "a": TEXT}}
    tool = one(body)
    assert set(tool.schema["properties"]) == {"a"}
    assert one({**body, "properties": {"rows": {"type": "array", "items": ROW}}}).schema["$defs"][
        "Row"
    ] == {"type": "object", "required": ["name"], "properties": {"name": TEXT, "key": ONLY_WRITTEN}}
    assert set(one(ROW).schema["properties"]) == {"name", "key"}


def test_an_answer_has_no_field_that_only_requests_have():
    returns = one(ROW, "responses").returns
    assert set(returns["properties"]) == {"id", "name"} and returns["required"] == ["id", "name"]


def test_a_parameter_of_a_path_stays_whatever_its_schema_is_marked():
    listed = [{"name": "id", "in": "path", "required": True,
               "schema": {"$ref": "#/components/schemas/Id"}}]  # fmt: skip
    tool = one({"properties": {"a": {"properties": {"id": ONLY_READ}}}}, parameters=listed)
    assert set(tool.schema["properties"]) == {"id", "a"} and tool.schema["required"] == ["id"]


@pytest.mark.parametrize(
    "required", [{"allOf": [{"required": ["id"]}]}, {"anyOf": [{"required": ["id", "b"]}]}]
)
def test_what_is_gone_is_required_nowhere(required):
    inner = {"properties": {"id": ONLY_READ, "b": TEXT}, **required}
    schema = without_marked({"properties": {"a": inner}}, "readOnly")
    assert '"id"' not in str(schema).replace("'", '"')


def test_names_and_values_that_look_like_marks_stay():
    schema = {"properties": {"a": {"properties": {"readOnly": {"type": "boolean"}}}}}
    assert without_marked(schema, "readOnly") is schema
