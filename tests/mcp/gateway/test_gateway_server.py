"""What every client is told of the tools, whatever version it speaks and whoever it is."""

import asyncio
import hashlib
import json
from types import SimpleNamespace

import anyio
import pytest
from mcp import MCPError
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY, SERVER_INFO_META_KEY

from tests.mcp.gateway import stub_toolset
from tests.mcp.gateway.stub_toolset import through
from toolscope_core.mcp.gateway.gateway_server import (
    NAME,
    RequestsUnderWay,
    gateway_server,
    own_client,
    with_single_ids,
)

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


def test_titles_name_the_servers_that_names_do_not(tmp_path):
    """An approval dialog shows nothing else of a tool."""
    north = [
        stub_toolset.record("read_file", "Read a file."),
        {**stub_toolset.record("north_list", "List files."), "title": "List \u2026"},
        {**stub_toolset.record("find", "Find."), "annotations": {"title": "Find in My North"}},
        stub_toolset.record("northern", "Go."),
    ]
    bundle, config = stub_toolset.merge_nothing(tmp_path, {"My North": north})

    async def use(client, gateway):
        return {one.name: one.title for one in (await client.list_tools()).tools}

    assert stub_toolset.through(bundle, config.read_text(), use) == {
        "read_file": "read_file (My North)",
        "north_list": "List \u2026 (My North)",
        "find": None,
        "northern": "northern (My North)",
    }


def test_a_tool_of_several_servers_names_them_in_its_title(toolset, servers):
    async def use(client, gateway):
        return {one.name: one.title for one in (await client.list_tools()).tools}

    titles = stub_toolset.through(toolset, servers, use)
    assert titles == {
        "get": "get (north)",
        "work": "work (north, south)",
        "north_same": None,
        "south_same": None,
    }


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


# One id used twice at once in a session: the second request is refused.

CALL = {"jsonrpc": "2.0", "method": "tools/call"}


def scope(session):
    headers = [(b"mcp-session-id", session)] if session else []
    return {"type": "http", "method": "POST", "headers": headers}


def parts(*bodies):
    """What gives the parts of a request's body."""
    left = [
        {"type": "http.request", "body": one, "more_body": at < len(bodies)}
        for at, one in enumerate(bodies, 1)
    ]

    async def receive():
        return left.pop(0) if left else {"type": "http.disconnect"}

    return receive


@pytest.mark.case(88)
@pytest.mark.parametrize(
    ("second", "session", "refused"),
    [
        ({**CALL, "id": 7}, b"s", True),
        ({**CALL, "id": "7"}, b"s", True),
        ({**CALL, "id": 8}, b"s", False),
        ({**CALL, "id": 7}, b"other", False),
        ({**CALL, "id": 7}, b"", False),
        ({"jsonrpc": "2.0", "id": 7, "result": {}}, b"s", False),
        ([], b"s", False),
    ],
)
def test_the_second_of_an_id_is_refused_while_the_first_is_under_way(second, session, refused):
    async def run():
        done, bodies, sent = anyio.Event(), [], []

        async def inner(scope, receive, send):
            whole = b""
            while (message := await receive())["type"] == "http.request":
                whole += message["body"]
            bodies.append(json.loads(whole))
            if len(bodies) == 1:
                await done.wait()

        async def send(message):
            sent.append(message)

        app, whole = with_single_ids(inner), json.dumps({**CALL, "id": 7}).encode()
        async with anyio.create_task_group() as group:
            group.start_soon(app, scope(b"s"), parts(whole[:5], whole[5:]), send)
            await anyio.wait_all_tasks_blocked()
            await app(scope(session), parts(json.dumps(second).encode()), send)
            done.set()
        await app(scope(b"s"), parts(whole), send)  # the id is free again
        return bodies, sent

    bodies, sent = asyncio.run(run())
    first = {**CALL, "id": 7}
    assert bodies == ([first, first] if refused else [first, second, first])
    assert [one.get("status") for one in sent] == ([400, None] if refused else [])


@pytest.mark.case(88)
def test_over_standard_streams_too():
    async def run():
        under_way, done = RequestsUnderWay(), anyio.Event()
        ctx = SimpleNamespace(request_id=7, request=None)

        async def wait(ctx):
            await done.wait()

        async with anyio.create_task_group() as group:
            group.start_soon(under_way, ctx, wait)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(MCPError, match="the id"):
                await under_way(SimpleNamespace(request_id="7", request=None), wait)
            done.set()
        await under_way(ctx, wait)
        return under_way.ids

    assert asyncio.run(run()) == set()


@pytest.mark.case(88)
def test_each_server_of_the_gateway_does_so(toolset, servers):
    async def use(client, gateway):
        return any(
            isinstance(one, RequestsUnderWay) for one in gateway_server(gateway, "1").middleware
        )

    assert through(toolset, servers, use)
