import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.catalogs import DATA, accepting, json_source, read_data, read_text
from tests.support.catalogs import read_json as read
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.model.catalog import Server
from toolscope_core.model.errors import CatalogError


def one(record, **options):
    return read([record], **options).tools[0]


def reasons(catalog):
    return [(problem.position, problem.reason) for problem in catalog.problems]


@pytest.mark.parametrize(
    ("file", "format", "ids"),
    [
        ("mcp_list.json", "mcp", "gate_state open_gate"),
        ("mcp_servers.json", "mcp", "barn/pick orchard/pick orchard/rest orchard/wait pond/pick"),
        ("bfcl.jsonl", "bfcl", "row_0 row_1"),
        ("seal_tools.jsonl", "seal-tools", "countBees listHives"),
        ("ultratool.jsonl", "ultratool", "barn_paint barn_sweep"),
        ("openai_chat.json", "openai-chat", "ring_bell stop_bell"),
        ("openai_responses.json", "openai-responses", "ring_bell"),
        ("anthropic.json", "anthropic", "ring_bell"),
        ("neutral.json", "neutral", "bell"),
        ("generic.json", "generic", "7 mow sow"),
        ("mcp_2026_pages.json", "mcp", "mix_dough oven_heat oven_state"),
        ("generic.jsonl", "generic", "bottle_juice press_apples wash_press"),
        ("livemcpbench.json", "mcp", "kiln/fire wheel/spin wheel/stop"),
        ("gemini.json", "gemini", "bake knead taste"),
        ("openai_namespaces.json", "openai-responses", "bells/ring bells/stop count_bells"),
        ("langchain.json", "openai-chat", "feed_goat milk_goat"),
    ],
)
def test_each_format_is_detected_and_read(file, format, ids):
    catalog = read_data(file)
    assert (catalog.format, [tool.id for tool in catalog.tools]) == (format, ids.split())
    assert catalog.problems == ()


def test_mcp_parts():
    gate = read_data("mcp_list.json").by_id
    assert gate["open_gate"].annotations == {"title": "Open gate", "readOnlyHint": False}
    assert gate["open_gate"].raw["_meta"] == {"since": 2}
    assert gate["open_gate"].schema["$schema"].startswith("https")
    assert gate["gate_state"].returns["properties"] == {"open": {"type": "boolean"}}

    farm = read_data("mcp_servers.json")
    assert farm.servers == (
        Server("barn", version="1"),
        Server("orchard", "Trees."),
        Server("pond"),
    )
    tree = {"type": "string", "description": "Which tree."}
    kinds = {"type": "array", "items": {"type": "string"}, "description": "Kinds."}
    pick = farm.by_id["orchard/pick"].schema
    assert pick == {**accepting(tree=tree, kinds=kinds), "required": ["tree"]}
    assert farm.by_id["orchard/rest"].schema is None
    assert farm.by_id["barn/pick"].schema == {"type": "object", "properties": {}}
    assert farm.by_id["orchard/wait"].schema == accepting()


def test_flat_and_listed_parts():
    bees = read_data("seal_tools.jsonl").by_id["countBees"]
    parameters = [("hive", "string", True), ("night", "boolean", False)]
    assert [(p.name, p.type, p.required) for p in bees.parameters] == parameters
    assert bees.returns["properties"]["count"]["type"] == "integer"
    tools = read_data("generic.json").by_id
    assert tools["sow"].schema["properties"]["depth"] == {"type": "number"}
    assert tools["sow"].description == "Sow a bed."
    assert tools["sow"].returns == {"description": "A receipt."}
    assert tools["mow"].schema["required"] == ["lawn"]
    assert set(tools["mow"].schema["properties"]) == {"lawn", "type"}
    hoe = tools["7"]
    assert (hoe.server, hoe.schema["required"]) == ("shed", ["bed"])
    assert hoe.schema["properties"]["bed"] == {"type": "array", "items": {"type": "string"}}


def test_one_record_is_a_catalog_and_a_list_of_returns_is_not():
    (tool,) = read({"name": "a", "results": [{"name": "x", "type": "int"}]}).tools
    assert (tool.id, tool.returns["properties"]) == ("a", {"x": {"type": "integer"}})


def test_a_container_that_names_servers_makes_flat_shapes_generic():
    seal = json.loads((DATA / "seal_tools.jsonl").read_text().splitlines()[0])
    catalog = read([{"server": "s", "tools": [seal]}])
    assert (catalog.format, catalog.tools[0].id) == ("generic", "s/countBees")
    flat = {"id": "1", "name": "a", "server": "s", "parameters": {"type": "dict"}}
    assert read([flat]).format == "generic"


def test_a_format_that_would_not_read_everything_is_not_chosen():
    catalog = read({"tools": [{"name": "a", "returns": "A number."}]})
    assert (catalog.format, catalog.tools[0].returns) == ("generic", {"description": "A number."})
    assert read({"tools": [{"name": "a"}]}).format == "mcp"
    assert read([{"name": "a"}]).format == "generic"


def test_mixed_records_and_mixed_sources_are_generic():
    seal = {"api_name": "a", "parameters": {}}
    bfcl = {"id": "b", "name": "b", "parameters": {"type": "dict", "properties": {}}}
    assert read([seal, bfcl]).format == "generic"
    assert read([seal, {"api_name": " "}, {"nothing": 1}, 5]).format == "seal-tools"
    sources = [json_source("a.json", [seal]), json_source("b.json", [bfcl])]
    assert read_catalog(sources).format == "generic"
    assert read_catalog([sources[0], Source("c.json", b"[{}]")]).format == "seal-tools"


def test_forcing_a_format():
    record = {"name": "a", "inputSchema": accepting(x={})}
    assert read([record], forced="generic").format == "generic"
    with pytest.raises(CatalogError, match=r"no name.*api_name"):
        read([record], forced="seal-tools")
    with pytest.raises(CatalogError, match=r"'xml'.* neutral"):
        read([record], forced="xml")


def test_problems_say_where_and_why():
    catalog = read(
        [
            {"server": "s", "tools": [{"name": "ok"}, {"description": "?"}, 5]},
            {"tools": [{"name": 3}, {"name": "b", "description": ["x"]}]},
            {"name": "c", "inputSchema": {"type": "string"}},
            {"name": "d", "inputSchema": "none"},
            {"name": "e", "inputSchema": {"properties": {"p": {"type": 5}}}},
        ]
    )
    assert [tool.id for tool in catalog.tools] == ["s/ok"]
    expected = {
        "server 1, tool 2": "no name",
        "server 1, tool 3": "is 5, not an object",
        "page 2, tool 1": "the name 3",
        "page 2, tool 2": 'the description ["x"]',
        "tool 3": 'parameters of type "string"',
        "tool 4": 'parameters "none"',
        "tool 5": "5 at parameters/properties/p/type",
    }
    told = {place.removeprefix("x.json: "): why for place, why in reasons(catalog)}
    assert list(told) == list(expected)
    assert all(value in told[place] for place, value in expected.items()), told


def test_own_ids_are_text_and_blank_ones_are_none():
    ids = [one({"id": id_, "name": "n", "server": "s"}).id for id_ in (5, 1.5, "x", None, " ")]
    assert ids == ["5", "1.5", "x", "s/n", "s/n"]


def test_several_sources_keep_servers_apart():
    def listed(label, **extra):
        return json_source(label, {**extra, "tools": [{"name": "go"}]})

    second_file = listed("y/b.json", server="hub", description="One.")
    hub, own = listed("c.json", server="hub"), listed("d.json", server="own")
    sources = [listed("a.json"), listed("x/b.json"), second_file, hub, own]
    catalog = read_catalog(sources)
    names = ["a", "hub (c)", "hub (y/b)", "own", "x/b"]
    assert [server.name for server in catalog.servers] == names
    assert catalog.servers[2].description == "One."
    inferred = [tool for tool in catalog.tools if tool.server in ("a", "x/b")]
    assert [tool.id for tool in inferred] == sorted(f"go~{t.fingerprint[:6]}" for t in inferred)
    assert {"hub (c)/go", "hub (y/b)/go", "own/go"} < set(catalog.by_id)
    assert read_catalog(sources[:1]).servers == ()


def test_a_bad_source_beside_a_good_one_is_a_problem():
    catalog = read_catalog([Source("a.json", b'[{"name": "a"}]'), Source("b.json", b"nonsense")])
    assert len(catalog.tools) == 1
    assert catalog.problems[0].position == "b.json"
    assert re.match("is not JSON.* line 1, column 1", catalog.problems[0].reason)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x.json is empty"),
        (b'{"tools": []}', "list of objects"),
        (b"\xff\xff{", "x.json is not text: byte 0"),
        (b'{"name": }', "x.json: line 1 is not JSON"),
        (b'[{"name": "a"},\n{"name": "b",]', "Illegal|Expecting"),
        (b"[" * 100_000, "nested deeper than 100"),
        (b'{"tools": [], "tools": []}', "'tools' twice"),
        (b"3", "is 3, not an object"),
    ],
)
def test_no_catalog_can_be_made(data, message):
    with pytest.raises(CatalogError, match=message):
        read_catalog([Source("x.json", data)])
    with pytest.raises(CatalogError, match="no input"):
        read_catalog([])


@pytest.mark.case(32)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('"x": NaN', "x is NaN, which is not valid JSON; write null"),
        ('"x": 1e999', "x is 1e999, too large for a number; write it as text"),
        ('"x": ' + "9" * 5000, "x is a number with 5000 digits; write it as text"),
        ('"x": {"k": 1, "k": 1}', "x has the key 'k' twice; keep one"),
        ('"x": "\\ud800"', "x contains a lone surrogate; remove it"),
        ('"x": {"\\udfff": 1}', "a key of x contains a lone surrogate; remove it"),
        ('"x": ' + "[" * 120 + "]" * 120, "is nested deeper than 100 levels; flatten it"),
    ],
)
def test_what_cannot_be_kept_exactly_is_rejected_with_its_place(text, reason):
    record = f'{{"name": "bad", {text}}}'
    good = '{"name": "good"}'
    listed = read_text(f"[{good}, {record}]")
    lines = read_text(f"{good}\n\n{record}\n", "t.jsonl")
    assert reasons(listed) == [("t.json: tool 2", reason)]
    assert reasons(lines) == [("t.jsonl: line 3", reason)]
    assert all(0 < len(item.problems[0].raw) <= 500 for item in (listed, lines))


def test_line_endings_and_broken_lines_of_jsonl():
    text = '{"name": "a"}\r\n{"name": \r\n{"name": "c"}\r\n{"name": "d"}\r\n'
    catalog = read_text(text, "t.jsonl")
    assert [tool.id for tool in catalog.tools] == ["a", "c", "d"]
    assert catalog.problems[0].position == "t.jsonl: line 2"


records = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b", " "])},
    optional={
        "id": st.sampled_from(["1", 1, "a"]),
        "server": st.sampled_from(["s", "t"]),
        "description": st.sampled_from(["", "d", 3]),
        "parameters": st.sampled_from([{}, {"x": "int", "y": {"type": "str", "required": True}}]),
    },
)


@given(st.lists(st.lists(records, max_size=6), min_size=1, max_size=3), st.randoms())
def test_no_order_matters_and_every_record_is_accounted_for(files, rng):
    def attempt():
        sources = [json_source(f"{n}.json", rng.sample(f, len(f))) for n, f in enumerate(files)]
        return read_catalog(rng.sample(sources, len(sources)))

    try:
        first, second = attempt(), attempt()
    except CatalogError:
        return
    assert len(first.tools) + len(first.problems) == sum(map(len, files))
    for part in ("tools", "servers", "format", "findings"):
        assert getattr(first, part) == getattr(second, part)
    assert sorted(p.reason for p in first.problems) == sorted(p.reason for p in second.problems)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "format", "tools", "servers"),
    [
        ("bfcl", "bfcl", 400, 0),
        ("bfcl-live", "bfcl", 1073, 0),
        ("seal-tools", "seal-tools", 4076, 0),
        ("ultratool", "ultratool", 1323, 0),
        ("livemcpbench", "mcp", 527, 70),
        ("docker-mcp", "mcp", 755, 28),
    ],
)
def test_benchmark_catalogs(benchmark_catalog, name, format, tools, servers):
    catalog = benchmark_catalog(name)
    assert (catalog.format, len(catalog.tools), len(catalog.servers)) == (format, tools, servers)
    assert (catalog.problems, catalog.blocked) == ((), frozenset())


def page(name, cursor=None, **around):
    return {**around, "tools": [{"name": name, "inputSchema": {}}], "nextCursor": cursor}


def goes_on(catalog):
    return [problem.position for problem in catalog.problems if "nextCursor" in problem.reason]


@pytest.mark.parametrize(
    ("value", "positions"),
    [
        (page("a"), []),
        (page("a", "2"), ["x.json"]),
        ({"jsonrpc": "2.0", "id": 1, "result": page("a", "2")}, ["x.json"]),
        ([page("a", "2"), page("b")], []),
        ([page("a", "2"), {"result": page("b", "3")}], ["x.json: page 2"]),
        ([page("a", "2", server="s"), page("b", server="t")], ["x.json: server 1"]),
        ([page("a", "2", server="s"), page("b", server="s")], []),
        ({"tools": {"s": page("a", "2"), "t": page("b")}}, ["x.json: server 1"]),
    ],
)
def test_a_list_that_goes_on_past_the_last_page_given_is_a_problem(value, positions):
    catalog = read(value)
    assert goes_on(catalog) == [problem.position for problem in catalog.problems] == positions
    assert len(catalog.tools) == json.dumps(value).count("inputSchema")


def test_pages_may_come_in_files_of_their_own():
    def reading(*values):
        return goes_on(read_catalog([json_source(f"{n}.json", value) for n, value in values]))

    assert reading(("a", page("a", "2")), ("b", page("b", "3")), ("c", page("c"))) == []
    assert reading(("a", page("a")), ("b", page("b", "2"))) == []
    assert reading(("a", page("a", "2")), ("b", page("b", "3"))) == ["b.json"]
    assert reading(("a", page("a", "2", server="s")), ("b", page("b", server="s"))) == []
    assert reading(("a", page("a", "2", server="s")), ("b", page("b"))) == ["a.json"]
    api = {"openapi": "3.1.0", "paths": {"/x": {"get": {}}}}
    assert reading(("a", page("a", "2")), ("b", api)) == ["a.json"]
    assert reading(("a", page("a", "2")), ("b", [{"name": "b"}])) == ["a.json"]


def test_the_remedy_names_the_cursor():
    (problem,) = read(page("a", "page\ud800-2")).problems
    assert "nextCursor page\\ud800-2" in problem.reason and "tools/list" in problem.reason
    with pytest.raises(CatalogError, match=r"x\.json .*Cursor 2"):
        read({"tools": [], "nextCursor": "2"})


TOOLS_FILE = json_source("tools.json", [{"name": "a", "description": "Does a."}])
QUERIES = Source("queries.jsonl", b'{"query": "x", "gold": ["a"]}\n{"query": "y", "gold": []}\n')


def test_an_evaluation_set_beside_a_catalog_changes_nothing_else():
    alone, beside = read_catalog([TOOLS_FILE]), read_catalog([TOOLS_FILE, QUERIES])
    assert replace(beside, problems=(), files=()) == replace(alone, problems=(), files=())
    (problem,) = beside.problems
    assert problem.position == "queries.jsonl"
    assert problem.reason.startswith("has no tools") and "2 records" in problem.reason
    files = [("tools.json", 1, ""), ("queries.jsonl", 0, "")]
    assert [(file.label, file.tools, file.server) for file in beside.files] == files
    with pytest.raises(CatalogError, match=r"queries\.jsonl"):
        read_catalog([QUERIES])


def test_a_damaged_catalog_is_not_taken_for_an_evaluation_set():
    damaged = b'{"nam": "b", "description": "Does b."}\n{"nam": "c", "parameters": {}}\n'
    catalog = read_catalog([TOOLS_FILE, Source("more.jsonl", damaged)])
    places = ["more.jsonl: line 1", "more.jsonl: line 2"]
    assert [problem.position for problem in catalog.problems] == places


def test_the_server_made_up_for_a_file_is_said():
    other = json_source("other.json", [{"name": "a", "server": "s"}, {"name": "b"}])
    catalog = read_catalog([TOOLS_FILE, other])
    servers = [("tools.json", "tools"), ("other.json", "other")]
    assert [(file.label, file.server) for file in catalog.files] == servers
