"""Swagger and Google's discovery documents, as OpenAPI."""

import pytest
from jsonschema import Draft202012Validator

from tests.support.catalogs import accepting, read_json
from toolscope_core.catalog.formats.api_descriptions import as_openapi_3, discovered_api
from toolscope_core.catalog.operation_names import OPENAPI_META
from toolscope_core.model.catalog import Server

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


QUARRY = {
    "kind": "discovery#restDescription",
    "name": "quarry",
    "title": "Quarry API",
    "description": "Stones.",
    "parameters": {"alt": {"type": "string", "location": "query"}},
    "auth": {"oauth2": {"scopes": {"https://q.example": {"description": "All."}}}},
    "schemas": {"Stone": {"id": "Stone", **accepting(
        weight={"type": "integer", "minimum": "0", "format": "int32"},
        parts={"type": "array", "items": {"$ref": "Stone"}},
        etag={"type": "string", "readOnly": True},
        id={"type": "string", "description": "Its own."},
    )}},
    "resources": {
        "pits": {
            "methods": {
                "list": {
                    "id": "quarry.pits.list", "path": "v1/pits", "httpMethod": "GET",
                    "description": "Lists pits.",
                    "parameters": {
                        "kinds": {"type": "string", "location": "query", "repeated": True,
                                  "enum": ["open", "shut"], "enumDescriptions": ["a", "b"]},
                        "max": {"type": "integer", "location": "query", "maximum": "50"},
                    },
                },
            },
            "resources": {"stones": {"methods": {"cut": {
                "id": "quarry.pits.stones.cut", "path": "v1/{+pit}:cut", "httpMethod": "POST",
                "parameters": {"pit": {"type": "string", "location": "path", "required": True}},
                "request": {"$ref": "Stone"}, "response": {"$ref": "Stone"},
            }}}},
        }
    },
}  # fmt: skip


def test_every_method_becomes_a_tool_with_its_arguments():
    catalog = read_json(QUARRY)
    assert catalog.servers == (Server("Quarry API", "Stones."),) and catalog.problems == ()
    tools = {tool.name: tool for tool in catalog.tools}
    assert tools.keys() == {"quarry_pits_list", "quarry_pits_stones_cut"}
    assert tools["quarry_pits_list"].schema["properties"] == {
        "kinds": {"type": "array", "items": {"type": "string", "enum": ["open", "shut"]}},
        "max": {"type": "integer", "maximum": 50},
    }
    cut = tools["quarry_pits_stones_cut"]
    assert set(cut.schema["properties"]) == {"pit", "weight", "parts", "id"}
    assert cut.schema["required"] == ["pit"] and "etag" in cut.returns["properties"]
    inner = {"pit": "a", "parts": [{"weight": 1, "parts": [{"weight": 2}]}]}
    assert Draft202012Validator(cut.schema).is_valid(inner)
    assert not Draft202012Validator(cut.schema).is_valid({"pit": "a", "parts": [{"weight": -1}]})


def test_two_methods_of_one_path_and_verb_are_both_read():
    same = {"path": "v1/a", "httpMethod": "POST"}
    methods = {"one": {"id": "q.one", **same}, "two": {"id": "q.two", **same}}
    catalog = read_json({"kind": QUARRY["kind"], "name": "q", "methods": methods})
    assert [tool.name for tool in catalog.tools] == ["q_one", "q_two"]


def test_tools_beside_the_methods_are_read_too():
    beside = {"name": "own", "description": "Does.", "inputSchema": {"type": "object"}}
    names = {tool.name for tool in read_json({**QUARRY, "tools": [beside]}).tools}
    assert names == {"own", "quarry_pits_list", "quarry_pits_stones_cut"}


@pytest.mark.parametrize("odd", [{"methods": 5}, {"methods": {"a": 5}}, {"resources": {"a": [1]}},
                                 {"schemas": []}, {"methods": {"a": {"parameters": {"b": 5}}}}])  # fmt: skip
def test_odd_discovery_documents_are_converted_without_a_failure(odd):
    assert discovered_api(odd)["openapi"] == "3.0.3"
