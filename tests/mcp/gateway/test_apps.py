"""Pages that servers show beside results (MCP Apps), as a client that shows them sees them."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from mcp.client.extension import advertise

from tests.mcp.gateway import stub_toolset
from tests.mcp.gateway.npm_packages import install
from tests.mcp.gateway.test_serving import command
from tests.support.analyses import analysed
from tests.support.catalogs import read_json
from toolscope_core.export.bundle import bundle_of
from toolscope_core.files.folders import write_folder
from toolscope_core.judging.relation_words import app_reasons_in
from toolscope_core.mcp.gateway.routing import FoundTools
from toolscope_core.mcp.gateway.tool_search import ToolSearch
from toolscope_core.mcp.servers.sessions import ANY_APP, APPS
from toolscope_core.merging.clusters import apply_clusters
from toolscope_core.model.configuration import PlanConfig

CARD = "ui://card"
SHOWS_APPS = {"extensions": [advertise(APPS, dict(ANY_APP))]}
GET, READ, SAME, WORK = stub_toolset.NORTH
SHOW = {
    **stub_toolset.record("show", "Show a card."),
    "_meta": {"ui": {"resourceUri": CARD, "csp": {"a": 1}}, "ui/resourceUri": CARD},
}
SERVERS = {
    "north": [GET, READ, SAME, {**SHOW, "name": "show_north"}],
    "south": [{**SAME, "description": "Repeat it."}, WORK, {**SHOW, "name": "show_south"}],
    "west": [stub_toolset.record("get", "Fetch a parcel.", ["no"], no={"type": "string"})],
}


@pytest.fixture(scope="module")
def apps(tmp_path_factory):
    """The bundle of two servers with a page of one address, and of one without."""
    folder = tmp_path_factory.mktemp("apps")
    listed = [{"name": name, "tools": tools} for name, tools in SERVERS.items()]
    catalog = read_json({"servers": listed}, "town.json")
    clusters = (stub_toolset.accepted(catalog, "north/get", "north/read_file"),)
    plan = replace(apply_clusters(catalog, clusters, gateway=False), clusters=clusters)
    files = bundle_of(analysed(catalog, folder / "c"), plan, (), PlanConfig(accept="all")).files()
    write_folder(files, folder / "bundle")
    return folder / "bundle"


@pytest.fixture
def configuration(tmp_path):
    offers = json.dumps({"resources": [CARD]})
    return stub_toolset.configuration_of(tmp_path, SERVERS, OFFERS=offers)


async def metas(client):
    return {one.name: one.meta for one in (await client.list_tools()).tools}


@pytest.mark.case(79)
def test_each_tool_leads_to_the_page_of_its_server(apps, configuration):
    async def use(client, gateway):
        listed, pages = (
            await metas(client),
            [one.uri for one in (await client.list_resources()).resources],
        )
        read = {}
        for name in ("show_north", "show_south"):
            address = listed[name]["ui"]["resourceUri"]
            assert address == listed[name]["ui/resourceUri"] and listed[name]["ui"]["csp"]
            read[address] = (await client.read_resource(address)).contents[0].text
        return pages, read

    pages, read = stub_toolset.through(apps, configuration, use)
    assert read == {"ui://north+card": "north ui://card", "ui://south+card": "south ui://card"}
    assert set(read) < set(pages)


def test_a_search_leaves_no_page_and_no_call_of_an_app_behind(apps, configuration):
    """A client shows the page that the list names, and lets an app call what the list has."""

    def finder(calls):
        return ToolSearch(calls, lambda query, limit: FoundTools(["north/show_north"]))

    async def use(client, gateway):
        listed = await metas(client)
        uri = listed["show_north"]["ui"]["resourceUri"]
        page = (await client.read_resource(uri)).contents[0].text
        called = []
        for name, key in (("read_file", "file_path"), ("get", "path"), ("north_get", "path")):
            result = await client.call_tool(name, {key: "a"})
            called.append(stub_toolset.stub_reply(result)["arguments"])
        return listed, page, called

    listed, page, called = stub_toolset.through(
        apps, configuration, use, callbacks=SHOWS_APPS, finder=finder
    )
    assert page == "north ui://card" and called == [{"path": "a"}] * 3
    visible = {
        name: (meta or {}).get("ui", {}).get("visibility")
        for name, meta in listed.items()
        if not name.endswith(("_tool", "_tools"))
    }
    shown = dict.fromkeys(("show_north", "show_south"))
    of_apps = ("north_get", "north_same", "south_same", "work", "read_file", "get")
    assert visible == {**shown, **{name: ["app"] for name in of_apps}}

    async def names(client, gateway):
        return [one.name for one in (await client.list_tools()).tools]

    plain = stub_toolset.through(apps, configuration, names, finder=finder)
    assert plain == ["list_tools", "search_tools", "inspect_tool", "call_tool"]


@pytest.mark.case(91)
def test_an_app_reaches_a_tool_by_the_name_it_knows_and_no_other_servers(apps, configuration):
    """*read_file* is merged; *same* is renamed, but two apps know it; the *get* of the west is no
    app's.
    """

    async def use(client, gateway):
        read = stub_toolset.stub_reply(await client.call_tool("read_file", {"file_path": "a"}))
        refused = await stub_toolset.error_text(client.call_tool("same", {"x": 1}))
        can = stub_toolset.stub_reply(await client.call_tool("work", {"act": "can"}))
        return await metas(client), read, refused, can["extensions"]

    listed, read, refused, extensions = stub_toolset.through(
        apps, configuration, use, callbacks=SHOWS_APPS
    )
    assert read == {"server": "north", "tool": "get", "arguments": {"path": "a"}}
    assert "no tool 'same'" in refused
    assert extensions == {APPS: ANY_APP}
    visible = {name: meta.get("ui", {}).get("visibility") for name, meta in listed.items()}
    assert visible == {
        **{"north_get": None, "north_same": None, "show_north": None},
        **{"south_same": None, "work": None, "show_south": None},
        **{"read_file": ["app"], "get": ["app"], "west_get": ["model"]},
    }


def test_a_name_that_means_another_tool_here_is_for_no_app(tmp_path):
    first = {"north": [GET]}
    both = {"north": [GET], "south": [{**GET, "description": "Fetch a parcel."}, SHOW]}
    for servers in (first, both):
        bundle, config = stub_toolset.merge_nothing(tmp_path, servers)

    async def use(client, gateway):
        return await metas(client)

    listed = stub_toolset.through(bundle, config.read_text(), use, callbacks=SHOWS_APPS)
    visible = {name: meta.get("ui", {}).get("visibility") for name, meta in listed.items()}
    assert visible == {"get": ["model"], "south_get": None, "show": None}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_without_apps_is_shown_nothing_of_them(apps, configuration, mode):
    """Servers say that they have apps since 2026-07-28."""

    async def use(client, gateway):
        can = stub_toolset.stub_reply(await client.call_tool("work", {"act": "can"}))
        offered = client.server_capabilities.extensions
        return await metas(client), can.get("extensions"), offered

    listed, extensions, offered = stub_toolset.through(
        apps, configuration, use, callbacks={"mode": mode}
    )
    assert "read_file" not in listed and not extensions
    assert not any("visibility" in meta.get("ui", {}) for meta in listed.values())
    assert offered == ({APPS: {}} if mode == "auto" else None)


def test_a_toolset_without_apps_offers_none(toolset, servers):
    async def use(client, gateway):
        return await metas(client), client.server_capabilities.extensions

    listed, offered = stub_toolset.through(toolset, servers, use, callbacks=SHOWS_APPS)
    assert not offered and not any("ui" in meta for meta in listed.values())


def test_a_merge_of_a_tool_that_an_app_may_call_says_so():
    def reasons_of(*north):
        listed = [{"name": "north", "tools": north}, {"name": "south", "tools": [SAME]}]
        catalog = read_json({"servers": listed}, "town.json")
        return app_reasons_in(
            catalog, stub_toolset.accepted(catalog, "north/get", "north/read_file")
        )

    assert reasons_of(GET, READ) == ()
    (calls,) = reasons_of(GET, READ, SHOW)
    assert "read_file" in calls
    page, calls = reasons_of(GET, {**READ, "_meta": SHOW["_meta"]})
    assert "page" in page and "read_file" in calls


HOST = """
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { App } from '@modelcontextprotocol/ext-apps';
import * as host from '@modelcontextprotocol/ext-apps/app-bridge';
const [command, ...args] = process.argv.slice(2), info = { name: 'night', version: '1' };
const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
const client = new Client(info, { capabilities: { extensions } });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const { tools } = await client.listTools(), pages = {}, answers = [];
for (const tool of tools) {
  const uri = host.getToolUiResourceUri(tool);
  if (uri) pages[tool.name] = (await client.readResource({ uri })).contents[0].text;
}
const bridge = new host.AppBridge(client, info, { serverTools: {} }), app = new App(info, {}, { autoResize: false });
const [ours, theirs] = InMemoryTransport.createLinkedPair();
await Promise.all([bridge.connect(ours), app.connect(theirs)]);
for (const [name, args] of [['read_file', { file_path: 'a' }], ['get', { path: 'b' }]])
  answers.push(JSON.parse((await app.callServerTool({ name, arguments: args })).content[0].text));
const hidden = tools.filter(host.isToolVisibilityAppOnly).map((tool) => tool.name).sort();
console.log(JSON.stringify({ pages, hidden, answers }));
await client.close();
"""
PACKAGES = ("@modelcontextprotocol/ext-apps@2.0.4", "@modelcontextprotocol/client@2.4.0")


@pytest.mark.case(91)
@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_the_official_library_for_hosts_shows_each_page_and_its_calls_arrive(
    apps, configuration, tmp_path
):
    node = install(tmp_path, *PACKAGES)
    (tmp_path / "host.mjs").write_text(HOST)
    (tmp_path / "mcp.json").write_text(configuration)
    done = subprocess.run(
        [str(node), str(tmp_path / "host.mjs"), *command(apps, tmp_path / "mcp.json")],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        env=dict(os.environ),
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["pages"] == {"show_north": "north ui://card", "show_south": "south ui://card"}
    assert said["hidden"] == ["get", "read_file"]
    calls = [{"path": "a"}, {"path": "b"}]
    assert said["answers"] == [{"server": "north", "tool": "get", "arguments": a} for a in calls]
