from collections import Counter
from dataclasses import replace

import pytest

from tests.support.catalogs import DATA, accepting, json_source
from tests.support.catalogs import read_data as load
from tests.support.catalogs import read_json as again
from tests.support.catalogs import unmerged as kept
from toolscope_core.catalog.clients.client_table import CLIENTS
from toolscope_core.catalog.formats.format_table import INPUTS, OFFERED, OUTPUTS, RECORD_FORMATS
from toolscope_core.catalog.formats.writers import write_toolset
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.schema.declarations import UNDECLARED
from toolscope_core.catalog.sources import load_paths
from toolscope_core.model.catalog import Server
from toolscope_core.model.errors import ExportError
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import Tool, canonical_json

CATALOGS = [
    path
    for path in DATA.rglob("*.*")
    if path.is_file() and not path.stem.lower().startswith("alignment")
]
FILES = sorted(path.name for path in CATALOGS if path.parent == DATA)
DOCUMENTS = [f"documents/{name}" for name in (
    "openapi_30.json", "openapi_31.yaml", "tools.csv", "tools.tsv", "tools.yaml",
)]  # fmt: skip
WITH_IDS = ("neutral", "bfcl", "generic")
WITH_SERVERS = ("neutral", "mcp", "generic")
WITH_RETURNS = (*WITH_SERVERS, "seal-tools", "ultratool", "bfcl", "openai-responses", "gemini")


def written_whole(catalog, format=None, **options):
    return write_toolset(kept(catalog.tools), catalog.servers, format or catalog.format, **options)


def written(tool, format):
    """The one record of a written tool."""
    value = write_toolset(kept([tool]), (), format)
    while not isinstance(value, dict) or {"tools", "functionDeclarations"} & value.keys():
        if isinstance(value, dict):
            value = value.get("tools") or value["functionDeclarations"]
        value = value[0]
    return value


def seen(tools, format):
    """What a format can carry of tools."""
    return Counter(
        (
            tool.id if format in WITH_IDS else "",
            tool.server if format in WITH_SERVERS else "",
            tool.name,
            tool.description,
            canonical_json(tool.schema),
            canonical_json(tool.returns) if format in WITH_RETURNS else "",
            canonical_json(tool.annotations) if format in WITH_SERVERS else "",
        )
        for tool in tools
    )


@pytest.mark.parametrize("format", ["mcp", "openai-chat", "anthropic", "gemini", "neutral"])
def test_no_reference_that_leads_nowhere_leaves(format):
    dead = {"$ref": "https://x.test/a.json"}
    record = {
        "name": "n",
        "inputSchema": accepting(a={**dead, "title": "A"}, b={"examples": [dead]}),
        "outputSchema": accepting(c=dead, d={"type": "string"}),
    }
    (tool,) = again([record]).tools
    new = written(tool, format)
    assert "$ref" not in canonical_json(new) and '"title":"A"' in canonical_json(new)


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("schema", [None, {"type": "object"}, {"type": "object", "title": "T"}])
def test_openai_is_sent_properties_be_it_none(format, schema):
    (tool,) = again([{"name": "n", **({"inputSchema": schema} if schema else {})}]).tools
    (sent,) = write_toolset(kept([tool]), (), format, sendable=True)
    assert sent.get("function", sent)["parameters"]["properties"] == {}


def test_gemini_is_sent_nothing_that_its_api_does_not_know():
    record = {"name": "n", "description": "D.", "parameters": accepting(), "team": "red"}
    (tool,) = again([record]).tools
    (sent,) = write_toolset(kept([tool]), (), "gemini", sendable=True)["functionDeclarations"]
    assert sent.keys() <= {"name", "description", "parameters", "parametersJsonSchema"}


@pytest.mark.parametrize("format", OUTPUTS)
@pytest.mark.parametrize("file", [*FILES, *DOCUMENTS])
def test_every_format_carries_every_catalog(file, format):
    catalog = load(file)
    back = again(written_whole(catalog, format))
    assert seen(back.tools, format) == seen(catalog.tools, format)
    if file in DOCUMENTS and format == catalog.format:
        assert again(written_whole(catalog), forced=format) == replace(catalog, problems=())


@pytest.mark.parametrize("sendable", [False, True])
@pytest.mark.parametrize("file", [*FILES, *DOCUMENTS])
def test_a_tool_as_it_was_read_is_written_like_a_copy_that_is_read_again(file, sendable):
    catalog = load(file)
    assert {tool.raw_format for tool in catalog.tools} <= {catalog.format, ""}
    copied = replace(catalog, tools=tuple(replace(tool) for tool in catalog.tools))
    assert not any(tool.raw_format for tool in copied.tools)
    for format in OUTPUTS:
        own = written_whole(catalog, format, sendable=sendable)
        assert canonical_json(own) == canonical_json(
            written_whole(copied, format, sendable=sendable)
        )


def test_only_what_changed_is_overlaid():
    gate = load("mcp_list.json").by_id["open_gate"]
    hints = replace(gate, annotations={"readOnlyHint": True})
    both = {**gate.raw, "annotations": {"audience": ["user"], "readOnlyHint": True}}
    assert written(hints, "mcp") == both
    pick = load("mcp_servers.json").by_id["orchard/pick"]
    schema = accepting(tree={"type": "integer"})
    plain = {"name": "pick", "description": "Pick fruit.", "inputSchema": schema}
    assert written(replace(pick, schema=schema), "mcp") == plain
    true_for_one = accepting(x={"default": True})
    raw = {"name": "n", "inputSchema": accepting(x={"default": 1})}
    assert written(Tool("n", "n", schema=true_for_one, raw=raw), "mcp")["inputSchema"] == (
        true_for_one
    )


def test_native_dialects():
    bees = load("seal_tools.jsonl").by_id["countBees"]
    wider = {**bees.schema, "properties": {**bees.schema["properties"], "n": {"type": "number"}}}
    record = written(replace(bees, schema=wider), "seal-tools")
    assert (record["parameters"]["n"], record["required"]) == ({"type": "float"}, ["hive"])
    closed = written(replace(bees, schema={**wider, "additionalProperties": False}), "seal-tools")
    assert closed["parameters"]["additionalProperties"] is False
    assert "required" not in closed
    area = load("bfcl.jsonl").by_id["row_1"]
    new = written(replace(area, raw={}), "bfcl")
    assert new == load("bfcl.jsonl").by_id["row_1"].raw


def test_gemini_changes_are_written_as_json_schema():
    sow = load("gemini_tools.json").by_id["sow_seed"]
    schema = accepting(kind={"type": "string"})
    kept_parts = {key: value for key, value in sow.raw.items() if key != "parameters"}
    changed = written(replace(sow, schema=schema), "gemini")
    assert changed == {**kept_parts, "parametersJsonSchema": schema}


def test_parts_that_go():
    gate = load("mcp_list.json").by_id["gate_state"]
    without = written(replace(gate, schema=None, returns=None), "mcp")
    labels = {"name": "gate_state", "description": gate.description}
    assert without == {**labels, "inputSchema": UNDECLARED}
    bell = load("openai_chat.json").by_id["ring_bell"]
    assert "parameters" not in written(replace(bell, schema=None), "openai-chat")["function"]


def test_new_records_by_hand():
    schema = {**accepting(n={"type": "number"}), "required": ["n"]}
    plain = {"name": "go", "description": "Go."}
    returns, hints = {"type": "boolean"}, {"readOnlyHint": True}
    tool = Tool("s/go", "go", "Go.", "s", schema, returns, hints)
    of_mcp = {**plain, "inputSchema": schema, "outputSchema": returns, "annotations": hints}
    assert write_toolset(kept([tool]), [Server("s", "Served."), Server("t")], "mcp") == [
        {"server": "s", "description": "Served.", "tools": [of_mcp]},
        {"server": "t", "tools": []},
    ]
    assert write_toolset(kept([replace(tool, server="")]), (), "mcp")["tools"][0]["name"] == "go"
    function = {**plain, "parameters": schema}
    assert written(tool, "openai-chat") == {"type": "function", "function": function}
    of_responses = {"type": "function", "strict": False, "output_schema": returns}
    assert written(tool, "openai-responses") == {**function, **of_responses}
    assert written(tool, "anthropic") == {**plain, "input_schema": schema}
    record = {**plain, "parametersJsonSchema": schema, "responseJsonSchema": returns}
    assert written(tool, "gemini") == record
    assert write_toolset(kept([tool]), (), "gemini").keys() == {"functionDeclarations"}
    flat = {"parameters": {"n": {"type": "float"}}, "required": ["n"], "responses": returns}
    assert written(tool, "seal-tools") == {"api_name": "go", "api_description": "Go.", **flat}
    members = ["s/go", "s/walk"]
    neutral = {"id": "s/go", "server": "s", "returns": returns, "annotations": hints}
    assert write_toolset([MergedTool(tool, (*members,))], [Server("s", "Served.")], "neutral") == {
        "version": 1,
        "servers": [{"name": "s", "description": "Served."}],
        "tools": [{**function, **neutral, "members": members}],
    }


def test_repeated_ids_survive_when_some_holders_go():
    rows = [{"id": "x", "name": "n", "description": d} for d in "abc"] + [{"name": "y"}]
    catalog = again(rows)
    everything = write_toolset(kept(catalog.tools), (), "generic")
    assert sorted(map(canonical_json, everything)) == sorted(map(canonical_json, rows))
    for stays in (catalog.tools[:1], catalog.tools[1:3], catalog.tools[3:]):
        back = again(write_toolset(kept(stays), (), "generic"))
        assert [tool.id for tool in back.tools] == [tool.id for tool in stays]


def test_a_server_kept_apart_is_written_so():
    record = {"name": "go", "server": "hub", "inputSchema": {"type": "object"}}
    bare = {name: [{"name": "go"}, {"name": name}] for name in "ab"}
    of_hub, of_files = (
        read_catalog([json_source(f"{name}.json", rows[name]) for name in "ab"])
        for rows in ({"a": [record], "b": [record]}, bare)
    )
    for format in WITH_SERVERS:
        back = again(written_whole(of_hub, format))
        assert [tool.server for tool in back.tools] == ["hub (a)", "hub (b)"]
        assert back.version == of_hub.version
    for format in ("generic", "neutral"):
        assert again(written_whole(of_files, format)).version == of_files.version


def test_what_cannot_be_written():
    for name in ("openapi", "fastmcp", "xml"):
        with pytest.raises(ExportError, match=f"'{name}'.* neutral"):
            write_toolset([], (), name)
    with pytest.raises(ExportError, match="'x' has no name"):
        write_toolset(kept([Tool("x", " ")]), (), "generic")


@pytest.mark.shared_data
@pytest.mark.parametrize(
    "name",
    [
        *("bfcl", "livemcpbench"),
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ("bfcl-live", "ultratool")),
    ],
)
def test_benchmark_catalogs_come_back(benchmark_catalog, name):
    catalog = benchmark_catalog(name)
    assert again(written_whole(catalog)) == catalog
    neutral = again(written_whole(catalog, "neutral"))
    assert (neutral.version, neutral.servers) == (catalog.version, catalog.servers)


@pytest.mark.parametrize(
    ("format", "record", "place"),
    [
        ("gemini", {"name": "go", "parameters": {"n": "int"}}, "parametersJsonSchema"),
        ("mcp", {"name": "go", "arguments": [{"name": "n", "type": "integer"}]}, "inputSchema"),
        ("mcp", {"name": "go"}, "inputSchema"),
        ("mcp", {"name": "go", "inputSchema": {"properties": {"n": {}}}}, "inputSchema"),
        ("anthropic", {"name": "go", "input_schema": None}, "input_schema"),
        ("openai-responses", {"type": "function", "name": "go", "parameters": {"type": "dict"}},
         "parameters"),
        ("mcp", {"name": "go", "inputSchema": accepting(n={"minimum": 3, "exclusiveMinimum": True})},
         "inputSchema"),
    ],
)  # fmt: skip
def test_a_format_that_is_asked_for_gets_parameters_that_its_api_takes(format, record, place):
    forms = {"gemini": "generic"}
    tools = again([record], forced=forms.get(format, format)).tools
    sent = write_toolset(kept(tools), (), format, sendable=True)
    row = (sent.get("tools") or sent["functionDeclarations"] if isinstance(sent, dict) else sent)[0]
    told = tools[0].schema
    assert row.get(place) == (told or (None if "openai" in format else UNDECLARED))
    assert row.keys() & {"arguments", "parameters"} <= {place}
    assert [tool.content_hash for tool in again(sent).tools] == [tools[0].content_hash]


def test_parameters_that_the_api_takes_are_sent_as_they_came():
    names = "gemini.json mcp_2025.json openai_chat.json anthropic.json bfcl.jsonl"
    for catalog in map(load, names.split()):
        assert written_whole(catalog, sendable=True) == written_whole(catalog)


def test_a_schema_that_strict_mode_would_refuse_is_not_sent_as_strict():
    closed = {"required": ["title"], "additionalProperties": False}
    schema = {**accepting(title={"type": "string"}), **closed}
    record = {"name": "add", "description": "Adds.", "strict": True, "parameters": schema}
    (tool,) = again([{"type": "function", "function": record}]).tools

    def sent(**changed):
        row = written(replace(tool, schema={**schema, **changed}), "openai-chat")
        return row["function"]["strict"]

    assert sent() is True
    assert sent(description="More words.") is True
    assert sent(additionalProperties=True) is False
    assert sent(required=[]) is False
    assert sent(properties={"title": accepting(x={"type": "string"})}) is False


# Every format has its reader, its writer and a file in the test data.

READ = {read_catalog(load_paths([path])).files[0].format for path in CATALOGS}


@pytest.mark.parametrize("name", INPUTS)
def test_a_format_has_a_file_in_the_test_data(name):
    """It is read, and written again, in ``test_writers``."""
    assert name in READ, f"add a file of {name} to tests/data, and its reader"


def test_the_places_and_uses_of_the_formats_agree():
    forms = RECORD_FORMATS.values()
    numbers = sorted(form.offered for form in forms if form.offered)
    assert numbers == list(range(1, len(OFFERED) + 1))
    unoffered = [form for form in forms if not form.offered]
    assert not any(form.in_prompts or form.advised or form.needs_schema for form in unoffered)
    names = [*INPUTS, *(client.name for client in CLIENTS)]
    files = [client.file for client in CLIENTS]
    assert len(names) == len(set(names)) and len(files) == len(set(files))
    assert all(target.title for target in (*forms, *CLIENTS))
