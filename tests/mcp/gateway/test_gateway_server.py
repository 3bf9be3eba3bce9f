"""What every client is told of the tools, whatever version it speaks and whoever it is."""

import hashlib

import pytest
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY, SERVER_INFO_META_KEY

from tests.mcp.gateway.stub_toolset import through
from toolscope_core.mcp.gateway.gateway_server import NAME, own_client

LATEST = "2026-07-28"
ENVELOPE = {PROTOCOL_VERSION_META_KEY: LATEST, CLIENT_CAPABILITIES_META_KEY: {}}


async def answered(client, method, **params):
    """A result as it came."""
    return await client.session._dispatcher.send_raw_request(method, {**params, "_meta": ENVELOPE})


def test_each_tool_says_which_bundle_and_which_originals_it_is_of(toolset, servers):
    async def use(client, gateway):
        return {tool.name: tool.meta for tool in (await client.list_tools()).tools}

    meta = through(toolset, servers, use)
    bundle = hashlib.sha256((toolset / "manifest.json").read_bytes()).hexdigest()
    work = [{"server": server, "tool": "work"} for server in ("north", "south")]
    assert meta["work"] == {
        "example.com/kept": 1,
        "toolscope/origin": {"bundle": bundle, "originals": work},
    }
    same = [{"server": "south", "tool": "same"}]
    assert meta["south_same"] == {"toolscope/origin": {"bundle": bundle, "originals": same}}


def test_the_list_is_the_same_for_every_connection_and_every_time(toolset, servers):
    async def sampling(context, params):
        pytest.fail("nothing here asks for a sample")

    async def use(client, gateway):
        lists = []
        for callbacks in ({"mode": "legacy"}, {"mode": LATEST}, {"sampling_callback": sampling}):
            async with own_client(gateway, "1", **callbacks) as other:
                for _ in range(2):
                    tools = (await other.list_tools()).tools
                    lists.append([tool.model_dump(mode="json") for tool in tools])
                await other.call_tool("get", {"path": "a"})
        return lists

    first, *others = through(toolset, servers, use)
    assert len(first) == 4 and all(one == first for one in others)


def test_who_asks_by_the_latest_version_learns_who_answers_and_how_long_that_holds(
    toolset, servers
):
    methods = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")

    async def use(client, gateway):
        results = [await answered(client, method) for method in ("server/discover", *methods)]
        read = await answered(client, "resources/read", uri="north+file:///a.txt")
        return [*results, read]

    discovered, *results = through(toolset, servers, use, callbacks={"mode": LATEST})
    assert LATEST in discovered["supportedVersions"]
    assert discovered["capabilities"]["tools"] == {"listChanged": True}
    for result in results:
        fresh = (result["resultType"], result["ttlMs"], result["cacheScope"])
        assert fresh == ("complete", 0, "private")
        assert result["_meta"][SERVER_INFO_META_KEY]["name"] == NAME


@pytest.mark.parametrize("mode", ["legacy", LATEST])
def test_the_pages_of_a_long_list_are_in_one_order(toolset, servers, monkeypatch, mode):
    monkeypatch.setattr("toolscope_core.mcp.gateway.gateway_server.PAGE", 3)

    async def use(client, gateway):
        first = await client.list_tools()
        rest = await client.list_tools(cursor=first.next_cursor)
        return [tool.name for tool in (*first.tools, *rest.tools)], rest.next_cursor

    names, cursor = through(toolset, servers, use, callbacks={"mode": mode})
    assert (names, cursor) == (["get", "north_same", "work", "south_same"], None)
