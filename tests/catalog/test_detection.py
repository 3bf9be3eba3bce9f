"""Nothing of a record is dropped without a word, whatever its dialect."""

import json
import time

import pytest

from tests.support.catalogs import accepting, read_json, unmerged
from toolscope_core.catalog.formats.format_table import OFFERED, find_unread
from toolscope_core.catalog.formats.writers import write_toolset
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.model.errors import CatalogError
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


TWO = {**accepting(port=PORT, days={"type": "integer"}), "required": ["port"]}
ROWS = [
    {"name": "port", "description": "Name", "required": True, "type": "string"},
    {"name": "days", "required": False, "type": "integer"},
]
TIDE = {"name": "tide", "description": "Says the tide.", "parameters": TWO}
TEXT = json.dumps(TIDE)
COMPOSIO = {"slug": "TIDE", "name": "Get the tide", "input_parameters": TWO}
COMPONENT = {
    "provider": "p.T",
    "component_type": "tool",
    "version": 1,
    "label": "T",
    "description": "A component.",
}
SOURCE = '''
async def tide(port: Annotated[str, "Name"], days: int | None = None) -> str:
    """Says the tide."""
'''
FUNCTION = {
    **COMPONENT,
    "config": {"name": "tide", "description": "Says the tide.", "source_code": SOURCE},
}
COMPOSED = f"Tool Name: tide\nTool Arguments: {json.dumps(TWO, indent=2)}\nTool Description: Says the tide."
IN_FRAMEWORKS = {
    "Composio": ({"items": [{**COMPOSIO, "toolkit": {"slug": "h"}}]}, ["h/TIDE"]),
    "Semantic Kernel": ([{"name": "tide", "plugin_name": "h", "parameters": [
        {"name": "port", "type_": "str", "is_required": True, "description": "Name", "schema_data": {"type": "string"}},
        {"name": "days", "type_": "int", "is_required": False, "description": "", "schema_data": {"type": "integer"}}]}], ["h/tide"]),
    "PydanticAI": ([{"name": "tide", "parameters_json_schema": TWO, "kind": "function", "sequential": False}], ["tide"]),
    "smolagents": ([{"name": "tide", "output_type": "string", "inputs": {
        "port": PORT, "days": {"type": "integer", "nullable": True}}}], ["tide"]),
    "Azure MCP": ({"status": 200, "results": [{"name": "get", "command": "h tide", "option": ROWS}]}, ["h tide"]),
    "CrewAI": ([{"name": "tide", "description": "Tool Name: tide\nTool Arguments: {'port': {'description': 'Name', "
        "'type': 'str'}, 'days': {'description': None, 'type': 'int'}}\nTool Description: Tide."}], ["tide"]),
    "AI SDK": ({"tide": {"description": "x", "parameters": TWO}, "boat": {"description": "y", "parameters": TWO}}, ["boat", "tide"]),
    "Composio, another case": ([{"slug": "TIDE", "name": "Get the tide", "inputParameters": TWO, "toolkit": {"name": "h"}}], ["h/TIDE"]),
    "Semantic Kernel, .NET": ([{"Name": "tide", "PluginName": "h", "Parameters": [
        {"Name": "port", "IsRequired": True, "Description": "Name", "Schema": {"type": "string"}},
        {"Name": "days", "IsRequired": False, "Schema": {"type": "integer"}}]}], ["h/tide"]),
    "Semantic Kernel, without schemas": ([{"name": "tide", "pluginName": "h", "parameters": [
        {"name": "port", "type_": "str", "is_required": True}, {"name": "days", "type_": "int"}]}], ["h/tide"]),
    "Arcade": ([{"name": "Tide", "toolkit": {"name": "H"}, "input": {"parameters": [
        {"name": "port", "required": True, "value_schema": {"val_type": "string"}},
        {"name": "days", "required": False, "value_schema": {"val_type": "integer"}}]}}], ["H/Tide"]),
    "LlamaIndex": ([{"name": "tide", "fn_schema_str": json.dumps(TWO), "return_direct": False}], ["tide"]),
    "Agents SDK": ([{"name": "tide", "params_json_schema": TWO, "strict_json_schema": True}], ["tide"]),
    "AI SDK, wrapped": ({"tools": {"tide": {"description": "x", "inputSchema": {"jsonSchema": TWO}}}}, ["tide"]),
    "Strands": ([{"name": "tide", "inputSchema": {"json": TWO}}], ["tide"]),
    "CrewAI, schema": ([{"name": "tide", "description": f"Tool Name: tide\nTool Arguments: {json.dumps(TWO)}\nTool Description: Tide."}], ["tide"]),
    "a title beside a slug": ([{"key": "tide", "name": "Get the tide", "inputSchema": TWO}], ["tide"]),
    "xLAM": ({"query": "x", "answers": "[]", "tools": json.dumps([{"name": "tide", "parameters": {
        "port": {"type": "str", "description": "Name"}, "days": {"type": "int, optional", "default": 1}}}])}, ["tide"]),
    "Docker": ({"version": 2, "name": "docker-mcp", "registry": {"h": {"title": "H", "tools": [{"name": "tide", "arguments": ROWS}]}}}, ["h/tide"]),
    "Hermes": ({"id": "1", "conversations": [], "tools": f"[{TEXT}]"}, ["tide"]),
    "When2Call": ({"question": "x", "target_tool": TEXT, "tools": [TEXT]}, ["tide"]),
    "BFCL": ({"id": "simple_0", "question": [[]], "function": [TIDE]}, ["tide"]),
    "AutoGen": ([FUNCTION], ["tide"]),
    "AutoGen, workbench": ({**COMPONENT, "component_type": "workbench", "config": {"tools": [FUNCTION]}}, ["tide"]),
    "AutoGen, agent": ({**COMPONENT, "component_type": "agent", "config": {"name": "a", "description": "An agent.",
        "workbench": [{**COMPONENT, "component_type": "workbench", "config": {"tools": [FUNCTION]}}]}}, ["a/tide"]),
    "AutoGen, MCP": ({**COMPONENT, "config": {"server_params": {"command": "x"}, "tool": {"name": "tide", "inputSchema": TWO}}}, ["tide"]),
    "AutoGen, HTTP": ([{**COMPONENT, "config": {"name": "tide", "json_schema": TWO, "host": "x"}}], ["tide"]),
    "smolagents, saved": ([{"name": "tide", "requirements": ["x"], "code": (
        "class T(Tool):\n    name = 'tide'\n    description = 'Says the tide.'\n    inputs = "
        f"{({'port': PORT, 'days': {'type': 'integer', 'nullable': True}})!r}\n    output_type = 'string'\n")}], ["tide"]),
    "Semantic Kernel, plugin": ({"name": "h", "description": None, "functions": {"tide": {"metadata": {
        "name": "tide", "plugin_name": "h", "parameters": ROWS}}}}, ["h/tide"]),
    "Agents SDK, origin": ([{"name": "tide", "params_json_schema": TWO, "_tool_origin": {"type": "mcp", "mcp_server_name": "h"}}], ["h/tide"]),
    "Agents SDK, namespace": ([{"name": "tide", "params_json_schema": TWO, "_tool_namespace": "h"}], ["h/tide"]),
    "Agents SDK, servers": ({"name": "a", "tools": [], "mcp_servers": [{"name": "h", "tools": [{"name": "tide", "inputSchema": TWO}]}]}, ["h/tide"]),
    "lists by server": ({"h": [{"name": "tide", "params_json_schema": TWO}], "s": [{"name": "tide", "params_json_schema": TWO}]}, ["h/tide", "s/tide"]),
    "listed by an API": ({"output": [{"type": "mcp_list_tools", "server_label": "h", "tools": [{"name": "tide", "input_schema": TWO}]}]}, ["h/tide"]),
    "Azure MCP, all": ({"results": {"tools": [{"name": "h_tide", "command": "h tide", "options": [{**ROWS[0], "name": "--port"}, ROWS[1]]}]}}, ["h_tide"]),
    "Composio, a title of one word": ([{**COMPOSIO, "name": "Tide", "toolkit": {"slug": "h"}}], ["h/TIDE"]),
    "Composio, before slugs": ([{"name": "TIDE", "appName": "h", "parameters": TWO}], ["h/TIDE"]),
    "Pipedream": ({"data": [{"key": "h-tide", "name": "Tide", "configurable_props": [ROWS[0], {"name": "days", "type": "integer", "optional": True}]}]}, ["h-tide"]),
    "Mastra": ({"tide": {"description": "x", "inputSchema": json.dumps({"json": TWO})}}, ["tide"]),
    "CrewAI, now": ([{"name": "Tide of a port", "description": COMPOSED}], ["tide"]),
    "CrewAI, optional": ([{"name": "tide", "description": "Tool Name: tide\nTool Arguments: {'port': {'type': 'str'}, "
        "'days': {'type': 'Union[int, NoneType]'}}\nTool Description: Tide."}], ["tide"]),
    "Letta": ([{"name": "tide", "description": "x", "source_code": SOURCE, "json_schema": TIDE}], ["tide"]),
    "Open WebUI": ([{"name": "Tides", "content": "x", "specs": [TIDE]}], ["Tides/tide"]),
    "Glaive": ({"system": f"SYSTEM: You have these functions -\n{json.dumps(TIDE, indent=4)}\n", "chat": "USER: x"}, ["tide"]),
    "ACEBench": ({"id": "1", "question": "x", "function": [{"name": "tide", "description": "x", "arguments": TWO}]}, ["tide"]),
    "a prompt in a cell": ({"prompt": f"Tools:\n{TEXT}\n{TEXT.replace('tide', 'boat')}", "answer": "x"}, ["boat", "tide"]),
    "a schema in a text": ([{"type": "function", "function": {**TIDE, "parameters": json.dumps(TWO)}}], ["tide"]),
}  # fmt: skip


@pytest.mark.case(79)
@pytest.mark.parametrize("framework", IN_FRAMEWORKS)
def test_tools_of_frameworks_and_data_sets_are_read_where_they_keep_their_parts(framework):
    document, ids = IN_FRAMEWORKS[framework]
    catalog = read_json(document)
    assert (catalog.problems, [tool.id for tool in catalog.tools]) == ((), ids)
    for tool in catalog.tools:
        kinds = {one.name: one.type for one in tool.parameters}
        assert kinds.keys() == {"port", "days"} and kinds["port"] == "string"
        assert "integer" in kinds["days"]
        needed = [one.name for one in tool.parameters if one.required]
        assert needed == ([] if framework == "CrewAI" else ["port"])
    assert written(catalog) == [tool.raw for tool in catalog.tools]


def written(catalog):
    """The records of a catalog as they leave in its own format, out of what stands around them."""
    rows = write_toolset(unmerged(catalog.tools), catalog.servers, catalog.format)
    rows = rows["tools"] if isinstance(rows, dict) else rows
    return [one for row in rows for one in row.get("tools", [row])]


def test_what_a_framework_wrote_around_a_description_is_no_part_of_it():
    (tool,) = read_json([{"name": "Tide of a port", "description": COMPOSED}]).tools
    assert (tool.description, tool.schema["properties"]["port"]) == ("Says the tide.", PORT)
    (tool,) = read_json([FUNCTION]).tools
    assert tool.schema["properties"]["port"] == {"type": "string", "description": "Name"}


def test_values_of_arcade_are_schemas_at_every_depth():
    def value(kind, **parts):
        nothing = dict.fromkeys(("inner_val_type", "enum", "properties", "nullable"))
        return {**nothing, "val_type": kind, **parts}

    inner = {"street": value("string", enum=["a", "b"])}
    rows = [
        {"name": "home", "required": True, "value_schema": value("json", properties=inner, required_keys=["street"])},
        {"name": "all", "required": False, "value_schema": value("array", inner_val_type="json", inner_properties=inner)},
    ]  # fmt: skip
    output = {"description": "Done.", "value_schema": value("array", inner_val_type="string")}
    (tool,) = read_json([{"name": "t", "input": {"parameters": rows}, "output": output}]).tools
    street = {"street": {"type": "string", "enum": ["a", "b"]}}
    assert tool.schema["properties"] == {
        "home": {"type": "object", "properties": street, "required": ["street"]},
        "all": {"type": "array", "items": {"type": "object", "properties": street}},
    }
    assert tool.returns == {"type": "array", "items": {"type": "string"}}


def test_a_schema_of_zod_is_called_one():
    shape = {"def": {"type": "object", "shape": {"port": {"type": "string"}}}, "type": "object"}
    for schema in (shape, {"_def": {"typeName": "ZodObject"}, "~standard": {"vendor": "zod"}}):
        tools = {"tide": {"description": "x", "inputSchema": schema}}
        for document in (tools, {"tools": tools}):
            with pytest.raises(CatalogError, match="zod"):
                read_json(document)


def test_composed_arguments_may_be_none():
    text = "Tool Name: now\nTool Arguments: {}\nTool Description: Says the time."
    catalog = read_json([{"name": "now", "description": text}])
    assert (catalog.tools[0].schema["properties"], catalog.problems) == ({}, ())


def test_a_program_is_read_and_not_run(tmp_path):
    source = f"open({str(tmp_path / 'made')!r}, 'w')\ndef tide(port: str): ...\n"
    (tool,) = read_json([{"name": "tide", "code": source}]).tools
    assert [one.name for one in tool.parameters] == ["port"]
    assert not [*tmp_path.iterdir()]
    for odd in ("def tide(", "x = 1", "def tide(" + "(" * 9999, "class A: pass\nclass B: pass"):
        assert read_json([{"name": "tide", "code": odd}]).tools[0].schema is None


REACT = """Answer as best you can. You have access to the following tools:

tide(port: str, days: int = 1) -> str - Says the tide., args: {'port': {'type': 'string'}, 'days': {'type': 'integer'}}
boat: Lists boats. Parameters: [{"name": "port", "required": true, "schema": {"type": "string"}}] Format it as JSON.
search: Useful for the rest.

Action: the action to take, should be one of [tide, boat, search]
"""


@pytest.mark.parametrize("suffix", ["txt", "md", "prompt"])
@pytest.mark.parametrize(
    ("text", "required"),
    [
        (REACT, {"tide": ["port"], "boat": ["port"], "search": None}),
        (f"# Tools\n\nnote: x\n\n```json\n{json.dumps([TIDE], indent=1)}\n```\n", {"tide": ["port"]}),
        (f"- x\n- y: [z\n\n{TEXT}\n\nand {TEXT.replace('tide', 'boat')}", {"tide": ["port"], "boat": ["port"]}),
        (f"{COMPOSED}\n{COMPOSED.replace('tide', 'boat')}\n", {"tide": ["port"], "boat": ["port"]}),
    ],
)  # fmt: skip
def test_tools_listed_in_a_text_are_read(text, required, suffix):
    catalog = read_catalog([Source(f"x.{suffix}", text.encode())])
    schemas = {tool.name: tool.schema for tool in catalog.tools}
    assert {name: schema and schema["required"] for name, schema in schemas.items()} == required
    assert catalog.problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "Tool Name: x\nTool Arguments: {" * 30_000,
        "Action: one of [a]\n" + "\n" * 1_000_000,
        "Action: one of [a]\n" + "a() -> )" * 100_000,
        "Action: one of [" + "a," * 400_000 + "]",
        "Action:" * 100_000,
        '"name"' + '[{"a": ' * 100_000,
    ],
    ids=range(6),
)
def test_a_text_of_beginnings_is_searched_in_time(text):
    start = time.process_time()
    with pytest.raises(CatalogError):
        read_catalog([Source("x.md", text.encode())])
    assert time.process_time() - start < 10


def test_a_text_without_tools_is_called_one():
    for text in (
        "# Notes\n\nNothing.",
        "| Tool | Use |\n|---|---|\n",
        "<html></html>",
        "def f(): ...",
    ):
        with pytest.raises(CatalogError, match="no JSON in it declares a tool"):
            read_catalog([Source("x.md", text.encode())])
    for label in ("x.json", "x.jsonl"):
        with pytest.raises(CatalogError, match="is not JSON"):
            read_catalog([Source(label, b"# Notes")])


@pytest.mark.case(79)
def test_a_document_without_tools_is_named_by_its_keys():
    with pytest.raises(CatalogError, match="`hello`"):
        read_json({"hello": 1})
