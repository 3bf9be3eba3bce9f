import json
import os
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from tests.support.catalogs import (
    accepting,
    answer,
    component,
    operation_tool,
    read_data,
    read_json,
    read_text,
)
from tests.support.catalogs import read_openapi as read
from toolscope_core.catalog import sources
from toolscope_core.catalog.formats.openapi import find_inferred
from toolscope_core.catalog.isolation import read_files
from toolscope_core.catalog.operation_names import OPENAPI_META
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.model.catalog import Server
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.tool import Tool


def operation(**more):
    return {"/x": {"post": {"operationId": "do", **more}}}


def arguments(components=None, **more):
    return operation_tool(more, components=components or {}).schema


def test_a_yaml_document_becomes_mcp_tools():
    catalog = read_data("documents/openapi_31.yaml")
    assert (catalog.format, catalog.files[0].format) == ("mcp", "openapi")
    assert catalog.servers == (Server("Mill", "Grinds grain."),)
    tools = {tool.name: tool for tool in catalog.tools}
    names = "read_sack read_sack_2 Throw_a_sack_away PUT_sackssack GET_sacks".split()
    assert tools.keys() == {*names}
    assert tools["GET_sacks"].description == "Executes GET /sacks"
    assert tools["GET_sacks"].schema == accepting()
    read_sack = tools["read_sack_2"]
    assert set(read_sack.schema["properties"]) == {"sack__path", "sack__query", "limit"}
    assert read_sack.schema["required"] == ["sack__path"]
    assert read_sack.raw["_meta"][OPENAPI_META]["arguments"]["sack__query"] == ["query", "sack"]
    assert read_sack.returns["properties"]["inside"]["items"] == {"$ref": "#/$defs/Sack"}
    assert read_sack.annotations == {"readOnlyHint": True}
    hints = {"readOnlyHint": False, "destructiveHint": True}
    assert tools["Throw_a_sack_away"].annotations == hints
    put = tools["PUT_sackssack"].schema
    assert put["required"] == ["kilos", "note", "sack"]
    assert put["properties"]["tare"] == {"type": "number", "exclusiveMinimum": 0}
    assert tools["read_sack"].schema["properties"]["body"]["type"] == "array"
    assert "required" not in tools["read_sack"].schema
    assert [problem.position for problem in catalog.problems] == ["openapi_31.yaml: tool 3"]
    assert "(PATCH /sacks)" in catalog.problems[0].reason
    assert "'https://elsewhere" in catalog.problems[0].reason
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
        (operation(parameters=[{"in": "query"}]), "without a name"),
        (operation(parameters=[{"$ref": "#/nowhere"}]), "'#/nowhere'"),
        (operation(parameters=[{"$ref": "#/paths/~1x/post/parameters/0"}]),
         "refers to itself in a circle"),
        (operation(parameters=[{"name": "a", "in": "query", "schema": {"$ref": "file:///etc/passwd"}}]),
         "file:///etc/passwd"),
        (operation(parameters=[{"name": "a__query", "in": "header"}, {"name": "a", "in": "query"}],
                   requestBody={"content": {"application/json": {"schema": {"properties": {
                       "a": {}, "a__query": {}}}}}}), "'a__query'"),
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
    assert arguments(requestBody={"content": {}}) == accepting()
    form = {"content": {"text/plain": {"schema": {"type": "string"}}}, "required": True}
    assert arguments(requestBody=form)["required"] == ["body"]
    closed = {"allOf": [{"properties": {"a": {}}}, {"additionalProperties": False}]}
    assert set(arguments(requestBody=answer(closed))["properties"]) == {"body"}
    listed = {"type": "array", "description": "Told."}
    by_content = {"name": "a", "in": "query", **answer({"type": "array"}), "description": "Told."}
    assert arguments(parameters=[by_content])["properties"]["a"] == listed
    odd = {"name": "a", "in": "query", "schema": 5}
    assert arguments(parameters=[odd])["properties"] == {"a": {}}


def test_equal_names_in_different_places_of_the_document_stay_apart():
    parts = {"schemas": {"A": {"type": "string"}}, "headers": {"A": {"type": "integer"}}}
    body = answer({"properties": {"x": component("A")}})
    listed = [{"name": "y", "in": "query", "schema": {"$ref": "#/components/headers/A"}}]
    schema = arguments(requestBody=body, parameters=listed, components=parts)
    assert {sub["type"] for sub in schema["$defs"].values()} == {"string", "integer"}


def test_what_is_no_openapi_3():
    with pytest.raises(CatalogError, match=r"1\.2"):
        read_json({"swagger": "1.2", "paths": {}})
    with pytest.raises(CatalogError, match="OpenAPI"):
        read_json({"name": "a"}, forced="openapi")


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
    tool = operation_tool(more)
    assert [item.code for item in find_inferred(tool)] == ([code] if code else [])
    assert "Authorization" not in tool.schema["properties"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "nullable": True},
        {"nullable": True, "enum": ["a"]},
        {"nullable": True, **component("T")},
        {"nullable": True, "allOf": [component("T")]},
        {"nullable": True, "oneOf": [{"type": "string"}]},
    ],
)
def test_what_is_nullable_takes_null_in_the_record_itself(schema):
    parts = {"schemas": {"T": {"type": "string", "maxLength": 1}}}
    tool = operation_tool({"requestBody": answer(accepting(a=schema))}, components=parts)
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


def described(paths, **more):
    """The text of a document with these paths."""
    return json.dumps({"openapi": "3.0.0", "info": {"title": "S"}, "paths": paths, **more})


def written(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


@pytest.mark.case(79)
@pytest.mark.parametrize("is_needed", [True, False])
def test_what_a_body_requires_is_required_in_every_call_with_one(is_needed):
    schema = {"type": "object", "properties": {"name": {}, "age": {}}, "required": ["name"]}
    body = {"required": is_needed, "content": {"application/json": {"schema": schema}}}
    text = described({"/a": {"post": {"operationId": "add", "requestBody": body}}})
    (tool,) = read_text(text, "a.json").tools
    assert tool.schema["required"] == ["name"]


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
    with pytest.raises(CatalogError, match=r"berths\.json"):
        read_catalog(alone)


@pytest.mark.parametrize(
    "written_as",
    [
        "parts/a.yml\t# comment", "'parts/a.yml' # comment", ">-\n        parts/a.yml", "\n        parts/a.yml",
        "|- # comment\n        parts/a.yml", "&a !!str 'parts/a.yml'", "parts/a.yml#/x # comment",
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
    paths = {"/a": {"get": {"operationId": "a", "parameters": [number]}}}
    text = described(paths, components={"schemas": {"N": {"type": "integer", "maximum": 7}}})
    (tool,) = read_files([written(tmp_path, {"api.yaml": text}) / "api.yaml"]).tools
    assert [*tool.schema["$defs"].values()] == [{"type": "integer", "maximum": 7}]


GONE = {"$ref": "gone.yml"}


@pytest.mark.case(62, 92)
@pytest.mark.parametrize("version", ["openapi", "swagger"])
@pytest.mark.parametrize(
    "operation",
    [
        GONE,
        {"parameters": GONE},
        {"parameters": [GONE]},
        {"requestBody": GONE},
        {"requestBody": {"content": GONE}},
        {"requestBody": {"content": {"application/json": GONE}}},
        {"requestBody": answer(GONE)},
        {"responses": {"200": GONE}},
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
    monkeypatch.setattr(sources, "MAX_BYTES", 30_000)
    secret = "operationId: secret\nsummary: secret\n"
    folder = written(tmp_path, {"secret.yml": secret, "api/secret.txt": secret}) / "api"
    led = {"$ref": reference.replace("{outside}", str(tmp_path))}
    written(folder, {
        "api.yaml": described({"/a": {"get": led}, "/b": {"get": {"operationId": "ok"}}}),
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
