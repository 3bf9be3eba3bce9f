import pytest

from tests.support.catalogs import answer, component, operation_tool
from toolscope_core.catalog.schema.walking import without_marked

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
