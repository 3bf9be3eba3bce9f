"""Calls through a gateway: what arrives at the originals, and what comes back."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from mcp_types import Implementation

from tests.mcp.gateway.stub_toolset import (
    TEXT,
    accepted,
    act_of,
    configuration,
    configuration_of,
    record,
    replies_of,
    results_of,
    stub_reply,
    texts_of,
    through,
)
from tests.support.analyses import analysed
from tests.support.catalogs import read_json
from toolscope_core.export.bundle import bundle_of
from toolscope_core.files.folders import write_folder
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.mcp.gateway.call_mapping import names_note
from toolscope_core.mcp.gateway.routing import FoundTools, Route
from toolscope_core.mcp.gateway.tool_calls import CallLog
from toolscope_core.mcp.gateway.tool_search import ToolSearch, search_costs
from toolscope_core.mcp.servers.configured_servers import read_configuration
from toolscope_core.mcp.servers.launches import launches_of
from toolscope_core.merging.clusters import apply_clusters
from toolscope_core.merging.synthesis import synthesise, with_default_server
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove
from toolscope_core.model.configuration import PlanConfig


def test_the_merged_tools_are_listed_and_nothing_is_started_for_that(toolset, servers):
    async def use(client, gateway):
        tools = (await client.list_tools()).tools
        return tools, gateway.calls.servers.open_now

    tools, open_now = through(toolset, servers, use)
    assert [tool.name for tool in tools] == ["get", "north_same", "work", "south_same"]
    work = tools[2]
    assert work.input_schema["properties"]["server"]["enum"] == ["north", "south"]
    assert open_now == {}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_each_call_goes_to_its_original_with_its_own_arguments(toolset, servers, mode):
    calls = (
        ("get", {"path": "a"}),
        act_of("x"),
        act_of("x", "south", depth=2),
        ("north_same", {"x": 1}),
        ("south_same", {"x": 2}),
    )
    assert replies_of(toolset, servers, *calls, callbacks={"mode": mode}) == [
        {"server": "north", "tool": "get", "arguments": {"path": "a"}},
        {"server": "north", "tool": "work", "arguments": {"act": "x"}},
        {"server": "south", "tool": "work", "arguments": {"act": "x", "depth": 2}},
        {"server": "north", "tool": "same", "arguments": {"x": 1}},
        {"server": "south", "tool": "same", "arguments": {"x": 2}},
    ]


def test_a_call_that_the_merged_schema_refuses_gets_an_answer_to_act_on(toolset, servers):
    async def use(client, gateway):
        calls = (
            ("get", {}),
            ("work", {"server": "west"}),
            ("work", {"act": "x"}),
            ("work", {"server": "north", "depth": 1}),
            ("gte", {"path": "a"}),
            ("read_file", {"file_path": "a"}),
        )
        results = [await client.call_tool(*call) for call in calls]
        assert all(result.is_error for result in results)
        return [result.content[0].text for result in results]

    missing, value, unsaid, foreign, unknown, old = through(toolset, servers, use)
    assert '"path" is a required property' in missing
    assert value == unsaid
    assert value.startswith("work ") and 'server="north" or server="south"' in value
    assert foreign.startswith("work ") and "server=\"north\", 'depth'" in foreign
    assert "'gte'" in unknown and unknown.endswith("get?")
    assert old.startswith("there is no tool 'read_file'")


def search_of(folder, one_account):
    """The bundle of one search of two servers that call their words differently and need them, and
    the configuration of their stubs."""
    tools = {
        "north": [record("find", "Find a file.", ["q"], q=TEXT, limit={"type": "integer"})],
        "south": [record("find", "Find a file.", ["query"], query=TEXT, day=TEXT)],
    }
    catalog = read_json([{"server": name, "tools": own} for name, own in tools.items()])
    cluster = accepted(catalog, "north/find", "south/find")
    made = synthesise(catalog.tools, keep_all=True)
    made = with_default_server(made) if one_account else made
    cluster = replace(cluster, document=made.document, arguments=made.arguments)
    plan = replace(apply_clusters(catalog, (cluster,), True), clusters=(cluster,))
    config = PlanConfig(accept="all", gateway=True)
    files = bundle_of(analysed(catalog, folder / "cache"), plan, (), config).files()
    write_folder(files, folder / "bundle")
    return folder / "bundle", configuration_of(folder, tools)


def test_a_refused_call_names_what_the_agent_sees_and_the_server(tmp_path):
    bundle, servers = search_of(tmp_path, one_account=False)
    calls = [
        ("find", {"q": "x"}),
        ("find", {"server": "south"}),
        ("find", {"server": "south", "q": "x", "limit": 3}),
    ]
    results = results_of(bundle, servers, *calls)
    assert all(one.is_error for one in results)
    unsaid, missing, foreign = (one.content[0].text for one in results)
    assert 'server="north"' in unsaid and 'server="south"' in unsaid
    assert "q" in re.findall(r"\w+", missing) and "query" not in missing
    assert 'server="south"' in foreign and "'limit'" in foreign and "query" not in foreign


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("issue_key: missing", "'issue_key' is called 'id' here"),
        ("issue_keys: missing", ""),
        ("path: missing", ""),
    ],
)
def test_what_an_original_calls_an_argument_is_said_in_the_names_of_the_agent(text, note):
    moves = (ArgumentMove("issue_key", "id"), ArgumentMove("path", "path"))
    assert names_note(ArgumentMap("a", "b", moves), text) == note


def test_a_server_that_has_a_default_need_not_be_said(tmp_path):
    bundle, servers = search_of(tmp_path, one_account=True)
    calls = [("find", {"q": "x"}), ("find", {"q": "x", "server": "south"})]
    assert replies_of(bundle, servers, *calls) == [
        {"server": "north", "tool": "find", "arguments": {"q": "x"}},
        {"server": "south", "tool": "find", "arguments": {"query": "x"}},
    ]


def renamed(bundle, **more):
    """The bundle with the argument ``x`` of *same* in the north called ``number``."""
    maps = json.loads((bundle / "arguments.json").read_text())
    move = {"from": "x", "to": "number", "op": "rename"}
    one = {"to": "north/same", "args": [move], "constants": {}, "dropped": {}}
    maps["maps"]["north/same"] = one
    (bundle / "arguments.json").write_text(json.dumps(maps))
    for file, key in (("neutral.json", "parameters"), ("toolset.json", "inputSchema")):
        content = json.loads((bundle / file).read_text())
        for part in content if isinstance(content, list) else [content]:
            for tool in part["tools"]:
                if (tool.get("server") or part.get("server"), tool["name"]) == ("north", "same"):
                    properties = {"number": {"type": "integer", "maximum": 9}}
                    tool[key] = {"type": "object", "properties": properties, **more}
        (bundle / file).write_text(json.dumps(content))
    return bundle


UNREAD = {"properties": {"number": {"$ref": "http://127.0.0.1:9/schema"}}}
"""A reference that nobody follows: it stands under ``x-invalid``, and the schema stays closed."""


@pytest.mark.case(72)
@pytest.mark.parametrize(
    ("more", "other"),
    [
        ({}, None),
        ({"additionalProperties": False}, "Additional properties"),
        ({"additionalProperties": False, **UNREAD}, "Additional properties"),
    ],
)
def test_an_argument_that_is_not_declared_comes_under_no_name_of_the_original(
    toolset, tmp_path, servers, more, other
):
    bundle = renamed(Path(shutil.copytree(toolset, tmp_path / "bundle")), **more)
    given = (
        *({"number": 1}, {"number": 1, "other": 3}, {"number": 1, "x": 20}),
        *({"x": 20, "number": 1}, {"x": 20}),
    )
    results = results_of(bundle, servers, *(("north_same", one) for one in given))
    right, undeclared, *hidden = results
    assert stub_reply(right)["arguments"] == {"x": 1}
    if other is None:
        assert stub_reply(undeclared)["arguments"] == {"x": 1, "other": 3}
        assert all("no argument 'x'" in result.content[0].text for result in hidden)
    else:
        assert undeclared.is_error and other in undeclared.content[0].text
    assert all(result.is_error for result in hidden)
    assert not any("20" in result.content[0].text for result in hidden)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_old_name_answers_unlisted_and_who_used_it_is_said_once(toolset, servers, mode):
    said = []
    log = CallLog(notice=said.append)

    async def use(client, gateway):
        assert "read_file" not in [tool.name for tool in (await client.list_tools()).tools]
        return [
            stub_reply(await client.call_tool("read_file", {"file_path": "a"})) for _ in range(2)
        ]

    who = {"client_info": Implementation(name="codex\nx", version="1"), "mode": mode}
    results = through(toolset, servers, use, old_names=True, log=log, callbacks=who)
    assert results == [{"server": "north", "tool": "get", "arguments": {"path": "a"}}] * 2
    (sentence,) = said
    assert re.match("codexx .*get .*read_file$", sentence)
    assert log.old_names == {("read_file", "codexx"): 2}


def test_a_result_comes_back_as_it_was_sent(toolset, servers):
    async def use(client, gateway):
        name, arguments = act_of("rich")
        call = {"name": name, "arguments": arguments}
        return await client.session._dispatcher.send_raw_request("tools/call", call)

    assert through(toolset, servers, use) == {
        "content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
        "structuredContent": {"here": 1, "gone": None},
        "isError": True,
        "vendorField": {"kept": None},
        "_meta": {"example.com/of": "north"},
    }


@pytest.mark.parametrize("masks", [False, True])
def test_secrets_of_a_server_are_cut_out_of_its_results_where_that_was_asked_for(
    toolset, tmp_path, masks
):
    servers = configuration(tmp_path, API_TOKEN="hunter2-abcdef-0123", FOLDER="/srv/files")
    shown = "[key]" if masks else "hunter2-abcdef-0123"
    (answer,) = replies_of(toolset, servers, act_of("secret"), masks_results=masks)
    assert answer == {"with": shown, "folder": "/srv/files"}
    names = read_served_bundle(toolset).table.servers
    config = read_configuration("mcp.json", servers.encode())
    _, launches = launches_of(names, config, {}, {}, masks)
    assert {launch().masks_results for launch in launches.values()} == {masks}


def test_a_search_that_finds_nothing_that_fits_says_so_and_shows_the_nearest(toolset, servers):
    def finder(calls):
        found = FoundTools(["north/get"], "No tool does this.")
        return ToolSearch(calls, lambda query, limit: found)

    call = ("search_tools", {"query": "Fly to the moon"})
    (text,) = texts_of(toolset, servers, call, finder=finder)
    assert text.splitlines() == [
        "No tool does this.",
        "- get: Read a file.",
        "list_tools lists the names of all.",
    ]


def test_a_search_pays_off_for_so_many_requests_in_a_session():
    table = SimpleNamespace(listed_routes=[], eager=frozenset())
    assert search_costs(table).pays_off_for == 0
    records = (record(f"do_{n}", f"Do {n}. At once.", ["a"], a=TEXT) for n in range(400))
    routes = [Route(str(n), {**one, "_meta": {"a": "b" * n}}, ()) for n, one in enumerate(records)]
    costs = search_costs(SimpleNamespace(listed_routes=routes, eager=frozenset("7")))
    forms = costs.answers
    assert forms["names"] < forms["signatures"] < forms["schemas"]
    assert costs.tools == 400
    whole = costs.full_list - costs.own_list
    assert costs.pays_off_for == whole // forms["schemas"] > 0
    assert costs.full_list < 400 * 60, "what clients keep from the model is not counted"
    few = search_costs(SimpleNamespace(listed_routes=routes[:5], eager=frozenset()))
    assert few.pays_off_for == 0


def test_catalog_or_search_then_inspect_then_call(toolset, servers, tmp_path):
    """What the specification's client practices describe, beside a tool of every prompt."""
    bundle = Path(shutil.copytree(toolset, tmp_path / "eager"))
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["configuration"]["eager"] = ["north/get"]
    (bundle / "manifest.json").write_text(json.dumps(manifest))

    def finder(calls):
        return ToolSearch(calls, lambda query, limit: FoundTools(["south/same", "north/get"]))

    async def use(client, gateway):
        tools = (await client.list_tools()).tools
        records = gateway.calls.records
        marked = [one["name"] for one in records if "anthropic/alwaysLoad" in one["_meta"]]
        assert marked == ["get"], "without the search it is the only one too"
        given = {"name": "south_same", "arguments": {"x": 1}}
        calls = (
            ("list_tools", {}),
            ("list_tools", {"server": "south"}),
            ("search_tools", {"query": "repeat"}),
            ("inspect_tool", {"name": "south_same"}),
            ("call_tool", given),
            ("north_same", {"x": 1}),
            ("list_tools", {"server": ["west"]}),
            ("inspect_tool", {"name": "south_sam"}),
            ("call_tool", {**given, "arguments": 1}),
        )
        return tools, [[one.text for one in (await client.call_tool(*c)).content] for c in calls]

    (first, *own), texts = through(bundle, servers, use, finder=finder)
    assert (first.name, first.meta["anthropic/alwaysLoad"]) == ("get", True)
    assert [tool.name for tool in own] == [
        "list_tools",
        "search_tools",
        "inspect_tool",
        "call_tool",
    ]
    assert not any("anthropic/alwaysLoad" in (tool.meta or {}) for tool in own)
    listed, of_south, results, shown, *called = (list(map(json.loads, one)) for one in texts[:6])
    names = {one["server"]: [tool["name"] for tool in one["tools"]] for one in listed}
    assert names == {"north": ["get", "north_same", "work"], "south": ["south_same"]}
    assert listed[0]["tools"][0] == {"name": "get", "description": "Read a file."}
    assert of_south == listed[1:]
    assert [one["name"] for one in results] == ["south_same", "get"]
    assert (shown[0]["name"], [*shown[0]["inputSchema"]["properties"]]) == ("south_same", ["x"])
    assert [one["server"] for (one,) in called] == ["south", "north"]
    (no_server,), (no_tool,), (no_object,) = texts[6:]
    assert "['west']" in no_server and "'north', 'south'" in no_server
    assert "'south_sam'" in no_tool and no_tool.endswith("south_same, north_same?")
    assert "`arguments`, an object" in no_object
