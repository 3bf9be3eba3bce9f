import json
from pathlib import Path

import pytest

from tests.support.catalogs import read_json, read_text
from toolscope_core.catalog.source_lines import RecordLine, SourceLines, nearest_place

FILE = Path("tools.json")


def lines(content, name="tools.json"):
    catalog = read_text(content, name)
    places = SourceLines({Path(name): content.encode()}).tools(catalog.tools)
    assert all(place.file == Path(name) for place in places.values())
    return {tool_id: place.line for tool_id, place in places.items()}


def record(name, description, **more):
    return {"name": name, "description": description, **more}


def test_the_line_is_that_of_the_name():
    tools = {"tools": [record("one", "Does one."), record('t"wo é', "Does two.")]}
    assert lines(json.dumps(tools, indent=1)) == {"one": 4, 't"wo é': 8}
    assert lines(json.dumps(tools, indent=1, ensure_ascii=False)) == {"one": 4, 't"wo é': 8}


def test_of_tools_that_share_a_name_each_has_its_own_line():
    servers = [
        {"server": "b", "tools": [record("get", "Gets b.")]},
        {"server": "a", "tools": [record("get", "Gets a."), record("put", "Puts.")]},
    ]
    assert lines(json.dumps(servers, indent=1)) == {"a/get": 15, "a/put": 19, "b/get": 6}


def test_nested_and_line_by_line_records_are_found():
    function = record("f", "Does f.", parameters={"type": "object"})
    nested = [{"type": "function", "function": function}]
    assert lines(json.dumps(nested, indent=1)) == {"f": 5}
    rows = "\n".join(json.dumps(record(name, f"Does {name}.")) for name in ("x", "y"))
    assert lines(rows, "tools.jsonl") == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.yaml", "- name: fold\n  description: Folds.\n- name: iron_it\n"),
        ("t.csv", "name,description\nfold,Folds\niron_it,Irons\n"),
    ],
)
def test_other_files_are_searched_for_the_name(name, content):
    assert lines(content, name)["iron_it"] == 3


def test_a_tool_that_stands_nowhere_has_no_line():
    (tool,) = read_json([record("a", "Does a.")]).tools
    assert SourceLines({FILE: b"[]", Path("x.json"): b"\xff{"}).tools([tool]) == {}


LIMIT = {"type": "integer", "default": 7, "maximum": 50}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = record(
    "find",
    "Finds.",
    inputSchema={"properties": {"city": {}, "limit": LIMIT}, "required": ["city", "limit"]},
    outputSchema=CITY,
)
OPENAPI = """openapi: 3.1.0
info: {title: A, version: "1"}
paths:
  /find:
    get:
      operationId: find
      parameters:
      - name: limit
        in: query
        schema:
          type: integer
          maximum: 50
"""


def part(content, path, name="tools.json"):
    """The text of the line at which a part of the tool ``find`` stands."""
    catalog = read_text(content, name)
    lines = SourceLines({Path(name): content.encode()})
    (tool,) = (tool for tool in catalog.tools if tool.name == "find")
    return lines.text(lines.part(tool, lines.tools([tool])[tool.id], path)).strip()


@pytest.mark.parametrize("indent", [1, "\t"])
@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("schema/properties/limit/maximum", '"maximum": 50'),
        ("schema/properties/limit/minimum", '"limit": {'),
        ("schema/properties/gone", '"properties": {'),
        ("schema/required/limit", '"limit"'),
        ("returns/properties/city/type", '"type": "string"'),
        ("returns/properties/gone", '"properties": {'),
        ("description", '"description": "Finds.",'),
        ("version", '"name": "find",'),
    ],
)
def test_a_part_has_its_line_and_one_that_is_gone_the_nearest(indent, path, line):
    content = json.dumps([record("other", "Is another.", inputSchema=CITY), TOOL], indent=indent)
    assert part(content, path) == line


def test_parts_are_found_in_yaml_and_in_api_descriptions_too():
    assert part(OPENAPI, "schema/properties/limit/maximum", "api.yaml") == "maximum: 50"
    assert part(OPENAPI, "schema/properties/limit/minimum", "api.yaml") == "- name: limit"
    rows = "\n".join(json.dumps(one) for one in (record("a", "Is a."), TOOL))
    assert part(rows, "schema/properties/limit", "tools.jsonl").startswith('{"name": "find"')


def test_a_tool_that_is_gone_has_the_line_of_its_neighbour():
    places = {name: RecordLine(FILE, at) for at, name in enumerate(("a/x", "b/k", "b/m"), 1)}
    found = [nearest_place(gone, places) for gone in ("b/l", "b/a", "c/z")]
    assert [one.line for one in found] == [2, 2, 3]
    assert nearest_place("b/l", {}) is None
