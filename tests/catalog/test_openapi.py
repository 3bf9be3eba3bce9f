import json
import os
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from tests.support.catalogs import read_data, read_json, read_text
from tests.support.catalogs import read_openapi as read
from toolscope_core.catalog import referenced_files
from toolscope_core.catalog.formats.openapi import find_inferred
from toolscope_core.catalog.isolation import read_files
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.source_words import OPENAPI_META
from toolscope_core.catalog.sources import Source, load_paths
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
    with pytest.raises(CatalogError, match=r"1\.2"):
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


PARTS = {
    "api.yaml": """
openapi: 3.0.3
info: {title: Harbor}
paths:
  /boats:
    get: {$ref: 'parts/list_boats.yml'}
    post:
      $ref: parts/add%20boat.yml#/operations/add
  /berths: {$ref: "parts/berths.json"}
components: {schemas: {Name: {type: string}}}
""",
    "parts/list_boats.yml": """
operationId: listBoats
parameters: {$ref: parameters.yml}
responses: {$ref: '../answers.yml'}
""",
    "parts/parameters.yml": "[{$ref: '#/1'}, {name: port, in: query, schema: {$ref: 'name.yml'}}]",
    "parts/name.yml": "{$ref: '../api.yaml#/components/schemas/Name'}",
    "parts/add boat.yml": """
operations:
  add:
    operationId: addBoat
    requestBody:
      content: {application/json: {schema: {$ref: '#/boat'}}}
boat: {type: object, properties: {name: {$ref: name.yml}}}
""",
    "parts/berths.json": '{"get": {"operationId": "berths", "parameters": [{"$ref": "parameters.yml#/1"}]}}',
    "answers.yml": "{'200': {content: {application/json: {schema: {$ref: parts/name.yml}}}}}",
}


def written(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("given", ["api.yaml", "."])
@pytest.mark.parametrize("version", ["openapi: 3.0.3", "swagger: '2.0'"])
def test_what_stands_in_other_files_is_read_from_the_folder(tmp_path, given, version):
    parts = {**PARTS, "api.yaml": PARTS["api.yaml"].replace("openapi: 3.0.3", version)}
    if version.startswith("swagger"):
        parts["api.yaml"] = parts["api.yaml"].replace("components: {schemas: {Name", "x: {y: {Name")
        parts["parts/name.yml"] = "{$ref: '../api.yaml#/x/y/Name'}"
        parts["parts/add boat.yml"] = """
operations: {add: {operationId: addBoat, parameters: [{in: body, schema: {$ref: '#/boat'}}]}}
boat: {type: object, properties: {name: {$ref: name.yml}}}
"""
    catalog = read_files([written(tmp_path, parts) / given])
    tools = {tool.name: tool.schema for tool in catalog.tools}
    assert {name: [*schema["properties"]] for name, schema in tools.items()} == {
        "listBoats": ["port"],
        "addBoat": ["name"],
        "berths": ["port"],
    }
    assert {"type": "string"} in tools["listBoats"]["$defs"].values()
    sources = load_paths([tmp_path / "api.yaml"])
    assert {tool.name: tool.schema for tool in read_catalog(sources).tools} == tools
    alone = [replace(source, files={}) for source in sources]
    with pytest.raises(CatalogError, match=r"parts/berths\.json"):
        read_catalog(alone)


@pytest.mark.parametrize(
    "written_as",
    [
        "parts/a.yml # comment", "parts/a.yml\t# comment", "'parts/a.yml' # comment", ">-\n        parts/a.yml",
        "|- # comment\n        parts/a.yml", "\n        parts/a.yml", "!!str parts/a.yml", "&a parts/a.yml",
        "&a !!str 'parts/a.yml'", "parts/a.yml#/x # comment",
    ],
)  # fmt: skip
def test_a_reference_is_found_however_yaml_writes_it(tmp_path, written_as):
    operation = "operationId: read\nx: {operationId: read}\n"
    api = f"openapi: 3.0.0\ninfo: {{title: S}}\npaths:\n  /a:\n    get:\n      $ref: {written_as}\n"
    folder = written(tmp_path, {"api.yaml": api, "parts/a.yml": operation})
    assert [tool.name for tool in read_files([folder / "api.yaml"]).tools] == ["read"]


@pytest.mark.parametrize("own", ["api.yaml", "./api.yaml", "parts/../api.yaml"])
def test_a_file_that_names_itself_is_read(tmp_path, own):
    number = {"name": "n", "in": "query", "schema": {"$ref": f"{own}#/components/schemas/N"}}
    api = {
        "paths": {"/a": {"get": {"operationId": "a", "parameters": [number]}}},
        "components": {"schemas": {"N": {"type": "integer", "maximum": 7}}},
    }
    text = json.dumps({"openapi": "3.0.0", "info": {"title": "S"}, **api})
    (tool,) = read_files([written(tmp_path, {"api.yaml": text}) / "api.yaml"]).tools
    assert [*tool.schema["$defs"].values()] == [{"type": "integer", "maximum": 7}]


GONE = {"$ref": "gone.yml"}


@pytest.mark.case(62, 92)
@pytest.mark.parametrize("version", ["openapi", "swagger"])
@pytest.mark.parametrize(
    "operation",
    [
        GONE,
        {"operationId": "do", "parameters": GONE},
        {"operationId": "do", "parameters": [GONE]},
        {"operationId": "do", "requestBody": GONE},
        {"operationId": "do", "requestBody": {"content": GONE}},
        {"operationId": "do", "requestBody": {"content": {"application/json": GONE}}},
        {"operationId": "do", "requestBody": {"content": {"application/json": {"schema": GONE}}}},
        {"operationId": "do", "responses": {"200": GONE}},
    ],
)
def test_no_part_that_is_not_there_makes_an_empty_tool(version, operation):
    paths = {"/x": {"post": operation}, "/y": GONE, "/ok": {"get": {"operationId": "ok"}}}
    number = {"openapi": "3.0.0", "swagger": "2.0"}[version]
    catalog = read_json({version: number, "info": {"title": "S"}, "paths": paths})
    assert [tool.name for tool in catalog.tools] == ["ok"]
    assert all("refers to 'gone.yml'" in problem.reason for problem in catalog.problems)
    assert len(catalog.problems) == 2


@pytest.mark.case(90)
@pytest.mark.parametrize(
    "reference",
    [
        "../secret.yml", "%2e%2e/secret.yml", "parts/../../secret.yml", "link.yml", "linked/secret.yml",
        "{outside}/secret.yml", "file://{outside}/secret.yml", "https://example.test/secret.yml",
        "//example.test/secret.yml", "..\\secret.yml", "parts/pipe.yml", "secret.txt", "parts", "none.yml",
        "parts/broken.yml", "parts/deep.json", "parts/large.yml", "parts/text.yml", "api.yaml", "parts/circle.yml",
        "#/paths", "", "parts/ok.yml#/nowhere", "parts/ok.yml#anchor",
    ],
)  # fmt: skip
def test_no_reference_leads_out_of_the_folder_and_each_is_a_problem(
    tmp_path, reference, monkeypatch
):
    monkeypatch.setattr(referenced_files, "MAX_BYTES", 30_000)
    secret = "operationId: secret\nsummary: secret\n"
    written(tmp_path, {"secret.yml": secret, "api/secret.txt": secret})
    folder = tmp_path / "api"
    reference = reference.replace("{outside}", str(tmp_path))
    api = {"paths": {"/a": {"get": {"$ref": reference}}, "/b": {"get": {"operationId": "ok"}}}}
    written(folder, {
        "api.yaml": json.dumps({"openapi": "3.0.0", "info": {"title": "S"}, **api}),
        "parts/ok.yml": "operationId: fine", "parts/broken.yml": "a: [", "parts/text.yml": "secret",
        "parts/deep.json": "[" * 20_000, "parts/large.yml": secret + "#" * 30_000,
        "parts/circle.yml": "{$ref: circle.yml}",
    })  # fmt: skip
    (folder / "link.yml").symlink_to(tmp_path / "secret.yml")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "parts" / "pipe.yml")
    catalog = read_catalog(load_paths([folder / "api.yaml"]))
    assert [tool.name for tool in catalog.tools] == ["ok"]
    assert len(catalog.problems) == 1
    assert "(GET /a)" in catalog.problems[0].reason
