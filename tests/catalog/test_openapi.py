import pytest
from jsonschema import Draft202012Validator

from tests.support.catalogs import read_data, read_text
from tests.support.catalogs import read_openapi as read
from toolscope_core.catalog.formats.openapi import find_inferred
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.source_words import OPENAPI_META
from toolscope_core.catalog.sources import Source
from toolscope_core.model.catalog import Server
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.tool import Tool


def operation(**more):
    return {"/x": {"post": {"operationId": "do", **more}}}


def arguments(**more):
    return read(operation(**more)).tools[0].schema


def test_a_yaml_document_becomes_mcp_tools():
    catalog = read_data("documents/openapi_31.yaml")
    assert (catalog.format, catalog.files[0].format) == ("mcp", "openapi")
    assert catalog.servers == (Server("Mill", "Grinds grain."),)
    tools = {tool.name: tool for tool in catalog.tools}
    names = "read_sack read_sack_2 Throw_a_sack_away PUT_sackssack GET_sacks".split()
    assert tools.keys() == {*names}
    assert tools["GET_sacks"].description == "Executes GET /sacks"
    assert tools["GET_sacks"].schema == {"type": "object", "properties": {}}
    read_sack = tools["read_sack_2"]
    assert set(read_sack.schema["properties"]) == {"sack__path", "sack__query", "limit"}
    assert read_sack.schema["required"] == ["sack__path"]
    assert read_sack.raw["_meta"][OPENAPI_META]["arguments"]["sack__query"] == ["query", "sack"]
    assert read_sack.returns["properties"]["inside"]["items"] == {"$ref": "#/$defs/Sack"}
    assert read_sack.annotations == {"readOnlyHint": True}
    gone = tools["Throw_a_sack_away"]
    assert gone.annotations == {"readOnlyHint": False, "destructiveHint": True}
    put = tools["PUT_sackssack"].schema
    assert put["required"] == ["kilos", "note", "sack"]
    assert put["properties"]["tare"] == {"type": "number", "exclusiveMinimum": 0}
    assert tools["read_sack"].schema["properties"]["body"]["type"] == "array"
    assert "required" not in tools["read_sack"].schema
    assert [problem.position for problem in catalog.problems] == ["openapi_31.yaml: tool 3"]
    assert "(PATCH /sacks) refers to 'https://elsewhere" in catalog.problems[0].reason
    inferred = {item.tool_id for item in catalog.findings if item.code == "inferred-hint"}
    assert inferred == {"Mill/GET_sacks", "Mill/Throw_a_sack_away", "Mill/read_sack_2"}
    for tool in catalog.tools:
        Draft202012Validator.check_schema(tool.schema)


def test_openapi_3_0_words():
    catalog = read_data("documents/openapi_30.json")
    milk = catalog.by_id["Dairy/add_milk"].schema
    assert milk["properties"]["litres__header"] == {"type": "number", "exclusiveMinimum": 0}
    assert milk["properties"]["litres"] == {"type": ["number", "null"]}
    assert milk["required"] == ["litres"]
    assert catalog.by_id["Dairy/peek_milk_now"].annotations == {"readOnlyHint": True}


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (operation(parameters=[{"in": "query"}]), "has a parameter without a name"),
        (operation(parameters=[{"$ref": "#/nowhere"}]), "refers to '#/nowhere', which is not in"),
        (operation(parameters=[{"$ref": "#/paths/~1x/post/parameters/0"}]),
         "refers to itself in a circle"),
        (operation(parameters=[{"name": "a", "in": "query", "schema": {"$ref": "file:///etc/passwd"}}]),
         "only local references are read"),
        (operation(parameters=[{"name": "a__query", "in": "header"}, {"name": "a", "in": "query"}],
                   requestBody={"content": {"application/json": {"schema": {"properties": {
                       "a": {}, "a__query": {}}}}}}), "has two arguments 'a__query'; rename one"),
        (operation(parameters=[{"name": "a", "in": "query"}, {"name": "a", "in": "header"},
                               {"name": "a__query", "in": "query"}]),
         "has two arguments 'a__query'"),
    ],
)  # fmt: skip
def test_an_operation_that_cannot_be_read_is_a_problem(paths, reason):
    good = {"/ok": {"get": {"operationId": "ok"}}}
    catalog = read({**good, **paths, "/none": 5})
    none, problem = catalog.problems
    assert reason in problem.reason
    assert "(/none) is 5, not an object" in none.reason
    assert [tool.name for tool in catalog.tools] == ["ok"]


def test_bodies_and_parameters():
    assert arguments(requestBody={"content": {}}) == {"type": "object", "properties": {}}
    form = {"content": {"text/plain": {"schema": {"type": "string"}}}, "required": True}
    assert arguments(requestBody=form)["required"] == ["body"]
    closed = {"allOf": [{"properties": {"a": {}}}, {"additionalProperties": False}]}
    body = {"content": {"application/json": {"schema": closed}}}
    assert set(arguments(requestBody=body)["properties"]) == {"body"}
    by_content = {"name": "a", "in": "query", "description": "Told.",
                  "content": {"application/json": {"schema": {"type": "array"}}}}  # fmt: skip
    listed = {"type": "array", "description": "Told."}
    assert arguments(parameters=[by_content])["properties"]["a"] == listed
    odd = {"name": "a", "in": "query", "schema": 5}
    assert arguments(parameters=[odd])["properties"] == {"a": {}}


def test_equal_names_in_different_places_of_the_document_stay_apart():
    schema = {"properties": {"x": {"$ref": "#/components/schemas/A"}}}
    parts = {"schemas": {"A": {"type": "string"}}, "headers": {"A": {"type": "integer"}}}
    body = {"content": {"application/json": {"schema": schema}}}
    listed = [{"name": "y", "in": "query", "schema": {"$ref": "#/components/headers/A"}}]
    paths = operation(requestBody=body, parameters=listed)
    schema = read(paths, components=parts).tools[0].schema
    assert {sub["type"] for sub in schema["$defs"].values()} == {"string", "integer"}


def test_what_is_no_openapi_3():
    with pytest.raises(CatalogError, match=r"is OpenAPI \(Swagger\) 1.2; convert it"):
        read_text('{"swagger": "1.2", "paths": {}}')
    with pytest.raises(CatalogError, match="is no OpenAPI document"):
        read_catalog([Source("a.json", b'{"name": "a"}')], "openapi")
    with pytest.raises(CatalogError, match="has the key 'get' twice"):
        read_text('{"openapi": "3.0.0", "paths": {"/a": {"get": {}, "get": {}}}}')


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"deprecated": True}, "deprecated-operation"),
        ({"parameters": [{"name": "Authorization", "in": "header"}]}, "ignored-parameter"),
        ({"operationId": "a" * 60}, "cut-name"),
        ({}, ""),
    ],
)
def test_what_an_operation_says_and_its_tool_does_not_is_told(more, code):
    (tool,) = read(operation(**more)).tools
    assert [item.code for item in find_inferred(tool)] == ([code] if code else [])
    assert "Authorization" not in tool.schema["properties"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "nullable": True},
        {"nullable": True, "enum": ["a"]},
        {"nullable": True, "$ref": "#/components/schemas/T"},
        {"nullable": True, "allOf": [{"$ref": "#/components/schemas/T"}]},
        {"nullable": True, "oneOf": [{"type": "string"}]},
    ],
)
def test_what_is_nullable_takes_null_in_the_record_itself(schema):
    body = {"content": {"application/json": {"schema": {"properties": {"a": schema}}}}}
    parts = {"schemas": {"T": {"type": "string", "maxLength": 1}}}
    (tool,) = read(operation(requestBody=body), components=parts).tools
    for written in (tool.schema, tool.raw["inputSchema"]):
        assert Draft202012Validator(written).is_valid({"a": None})
        assert Draft202012Validator(written).is_valid({"a": "a"})
        assert not Draft202012Validator(written).is_valid({"a": 5})


def test_hints_are_told_only_where_the_record_says_so():
    assert find_inferred(Tool("a", "a")) == ()
    assert find_inferred(Tool("a", "a", raw={"_meta": {OPENAPI_META: {"inferred": 5}}})) == ()
