import pytest
from jsonschema import Draft202012Validator

from tests.support.catalogs import accepting, read_json
from toolscope_core.catalog.formats.api_descriptions import as_openapi_3
from toolscope_core.catalog.operation_names import OPENAPI_META

CRATE = accepting(
    label={"type": "string"},
    inside={"$ref": "#/definitions/Crate"},
    note={"type": "string", "x-nullable": True},
    id={"type": "integer", "readOnly": True},
) | {"required": ["label"]}
SHARED = {"Page": {"name": "page", "in": "query", "type": "integer", "minimum": 1}}


def read(paths, **more):
    return read_json({"swagger": "2.0", "info": {"title": "Yard"}, "paths": paths, **more})


def only_tool(operation, **more):
    (tool,) = read({"/c": {"post": {"operationId": "do", **operation}}}, **more).tools
    return tool


def test_a_body_is_read_with_its_recursion():
    crate = {"$ref": "#/definitions/Crate"}
    body = {"name": "crate", "in": "body", "required": True, "schema": crate}
    tool = only_tool({"parameters": [body]}, definitions={"Crate": CRATE})
    assert tool.schema["required"] == ["label"]
    assert set(tool.schema["properties"]) == {"label", "inside", "note"}
    assert tool.schema["properties"]["note"] == {"type": ["string", "null"]}
    assert tool.schema["properties"]["inside"] == {"$ref": "#/$defs/Crate"}
    assert set(tool.schema["$defs"]["Crate"]["properties"]) == {"label", "inside", "note"}
    assert Draft202012Validator(tool.schema).is_valid({"label": "a", "inside": {"label": "b"}})
    places = tool.raw["_meta"][OPENAPI_META]["arguments"]
    assert places["label"] == ["body", "label"]


@pytest.mark.parametrize(
    ("parameters", "properties", "required"),
    [
        ([{"name": "f", "in": "formData", "type": "file", "required": True, "description": "It."}],
         {"f": {"type": "string", "format": "binary", "description": "It."}}, ["f"]),
        ([{"name": "ids", "in": "query", "type": "array", "collectionFormat": "csv"}],
         {"ids": {"type": "array"}}, None),
        ([{"$ref": "#/parameters/Page"}], {"page": {"type": "integer", "minimum": 1}}, None),
        ([{"name": "Authorization", "in": "header", "type": "string"}], {}, None),
        ([{"name": "rows", "in": "body", "schema": {"type": "array", "items": {"type": "integer"}}}],
         {"body": {"type": "array", "items": {"type": "integer"}}}, None),
    ],
)  # fmt: skip
def test_parameters_by_place(parameters, properties, required):
    schema = only_tool({"parameters": parameters}, parameters=SHARED).schema
    assert schema["properties"] == properties
    assert schema.get("required") == required


def test_parameters_of_a_path_and_answers():
    item = {
        "parameters": [
            {"name": "c", "in": "path", "required": True, "type": "string"},
            {"name": "b", "in": "body", "schema": {"properties": {"x": {"type": "string"}}}},
        ],
        "put": {"operationId": "put", "responses": {"200": {"$ref": "#/responses/Done"}}},
        "get": {"operationId": "get", "responses": {"200": {"schema": {"type": "array"}}}},
    }
    done = {"Done": {"schema": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}}
    catalog = read({"/c/{c}": item}, responses=done)
    put, get = catalog.by_id["Yard/put"], catalog.by_id["Yard/get"]
    assert set(put.schema["properties"]) == {"c", "x"} and put.schema["required"] == ["c"]
    assert put.returns["properties"] == {"ok": {"type": "boolean"}}
    assert get.returns == {"type": "array"}


@pytest.mark.parametrize(
    "paths",
    [None, 5, {"/a": 5}, {"/a": {"get": 5}}, {"/a": {"get": {"parameters": 5, "responses": []}}},
     {"/a": {"get": {"parameters": [5, {"in": "body"}, {"in": "formData"}, {"$ref": "#/no"}]}}}],
)  # fmt: skip
def test_odd_documents_are_converted_without_a_failure(paths):
    assert as_openapi_3({"swagger": "2.0", "paths": paths})["openapi"] == "3.0.3"
