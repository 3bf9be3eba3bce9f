"""Nothing of a record is dropped without a word, whatever its dialect."""

import pytest

from tests.support.catalogs import accepting, read_json, unmerged
from toolscope_core.catalog.formats.format_table import OFFERED, find_unread
from toolscope_core.catalog.formats.writers import write_toolset
from toolscope_core.model.tool import Tool

PORT = {"type": "string", "description": "Which."}
SCHEMA = {**accepting(port=PORT), "required": ["port"]}
FLAT = {"port": {"type": "str", "description": "Which.", "required": True}}
DIALECTS = {
    "langchain": {"args_schema": SCHEMA},
    "api-bank": {"input_parameters": FLAT, "output_parameters": {"done": {"type": "bool"}}},
    "metamcp": {"toolSchema": SCHEMA},
    "cohere": {"parameter_definitions": FLAT},
    "toolbench": {"required_parameters": [{"name": "port", **PORT}], "optional_parameters": []},
}


def record(**parts):
    return {"name": "get_tide", "description": "Gets the tide.", **parts}


@pytest.mark.parametrize("parts", DIALECTS.values(), ids=DIALECTS)
def test_each_dialect_says_its_parameters(parts):
    (tool,) = (catalog := read_json([record(**parts)])).tools
    assert (tool.schema, catalog.findings) == (SCHEMA, ())
    for format in OFFERED:
        again = read_json(write_toolset(unmerged([tool]), (), format))
        assert again.tools[0].schema == SCHEMA


def test_bedrock_wraps_what_it_says():
    spec = record(inputSchema={"json": SCHEMA})
    (tool,) = read_json({"toolConfig": {"tools": [{"toolSpec": spec}]}}).tools
    assert (tool.name, tool.description, tool.schema) == ("get_tide", "Gets the tide.", SCHEMA)


def test_toolbench_calls_the_api_a_tool():
    lists = {"required_parameters": [], "optional_parameters": [{"name": "port", "type": "STRING"}]}
    document = {"tool_name": "Tides", "tool_description": "All.", "api_list": [record(**lists)]}
    (tool,) = read_json(document).tools
    assert (tool.server, tool.name) == ("Tides", "get_tide")
    assert tool.schema == {"type": "object", "properties": {"port": {"type": "string"}}}


@pytest.mark.parametrize("part", [{"a": {"type": "string"}}, [{"name": "a"}], ["a"]])
def test_a_part_that_is_not_read_is_found_at_its_place(part):
    rows = [record(inputs=part), record(inputs=part, parameters=SCHEMA)]
    found = [find_unread(Tool("t", "t", schema=row.get("parameters"), raw=row)) for row in rows]
    assert [one.severity for (one,) in found] == ["warn", "info"]
    assert {(one.code, one.field) for (one,) in found} == {("unread-part", "raw/inputs")}


@pytest.mark.parametrize("key", ["_meta", "icons", "tags", "cache_control", "examples"])
def test_what_is_known_to_hold_no_parameters_is_not_found(key):
    assert find_unread(Tool("t", "t", raw=record(**{key: {"a": 1}}))) == ()
