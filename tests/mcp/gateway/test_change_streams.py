"""Changes as MCP 2026-07-28 tells them: in streams, of the originals and of the clients."""

import json
import sys
from pathlib import Path

import anyio
import pytest
from mcp import MCPError

from tests.mcp.gateway.stub_toolset import error_text, through, work_reply
from toolscope_core.mcp.gateway import original_servers
from toolscope_core.mcp.gateway.gateway_server import own_client

STUB = str(Path(__file__).with_name("modern_stub.py"))
FOLLOWED = "north+file:///a.txt"
UPDATED = ("notifications/resources/updated", FOLLOWED)
LISTS = {"tools_list_changed": True, "resources_list_changed": True, "prompts_list_changed": True}


@pytest.fixture
def modern(servers):
    """The configuration where the north speaks the version of 2026-07-28."""
    written = json.loads(servers)
    north = written["mcpServers"]["north"]
    north["args"] = [STUB, *north["args"][3:]]
    assert north["command"] == sys.executable
    return json.dumps(written)


def test_an_original_learns_what_the_client_can_whose_call_it_is(toolset, modern):
    async def sampling(context, params):
        pytest.fail("nothing here asks for a sample")

    async def use(client, gateway):
        can = []
        for mode in ("legacy", "auto"):
            for callbacks in ({"sampling_callback": sampling}, {}):
                async with own_client(gateway, "1", mode=mode, **callbacks) as other:
                    can.append("sampling" in await work_reply(other, "can"))
        return can

    assert through(toolset, modern, use) == [True, False, True, False]


async def until(holds):
    with anyio.fail_after(60):
        while not await holds():
            await anyio.sleep(0.02)


@pytest.mark.parametrize("act", ["change", "change in silence"])
def test_a_tool_that_changes_is_held_and_told_whether_or_not_the_stream_breaks(
    toolset, modern, monkeypatch, act
):
    monkeypatch.setattr(original_servers, "FIRST_WAIT", 0.01)

    async def use(client, gateway):
        assert await work_reply(client, "") == {"server": "north", "streams": [LISTS]}
        assert "get" in [tool.name for tool in (await client.list_tools()).tools]
        async with client.listen(tools_list_changed=True) as stream:
            await work_reply(client, act)
            with anyio.fail_after(60):
                event = type(await anext(stream)).__name__
        names = [tool.name for tool in (await client.list_tools()).tools]
        return event, names, await error_text(client.call_tool("get", {"path": "a"}))

    event, names, text = through(toolset, modern, use, live_list=True, callbacks={"mode": "auto"})
    assert (event, "get" in names) == ("ToolsListChanged", False)
    assert "has changed" in text


@pytest.mark.parametrize("original", ["modern", "servers"])
def test_a_client_that_listens_hears_of_what_it_asked_for_until_it_leaves(
    toolset, request, original
):
    heard = []

    async def use(client, gateway):
        assert not await is_followed(client, original)
        wanted = {"resources_list_changed": True, "resource_subscriptions": [FOLLOWED, "none"]}
        async with client.listen(**wanted) as stream:
            assert await is_followed(client, original)
            await work_reply(client, "touch", "south")
            with anyio.fail_after(60):
                async for event in stream:
                    heard.append(event)
                    if len(set(map(type, heard))) == 2:
                        break

        async def left():
            return not await is_followed(client, original)

        await until(left)
        assert gateway.content.announcements.followed("north") == ()

    through(toolset, request.getfixturevalue(original), use, callbacks={"mode": "auto"})
    assert {getattr(event, "uri", "a list") for event in heard} == {FOLLOWED, "a list"}
    assert not {type(event).__name__ for event in heard} & {"PromptsListChanged"}


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("original", ["modern", "servers"])
def test_a_client_of_an_earlier_version_hears_of_what_it_follows(toolset, request, original):
    """Of a new process of the server too, until it follows it no more."""
    heard = []

    async def messages(message):
        heard.append((getattr(message, "method", ""), str(getattr(message.params, "uri", ""))))

    async def use(client, gateway):
        async def hears():
            await work_reply(client, "touch")
            return UPDATED in heard

        assert not await is_followed(client, original)
        await client.subscribe_resource(FOLLOWED)
        await until(hears)
        gateway.calls.servers.note_loss("north", gateway.calls.servers.open_now["north"])
        heard.clear()
        await until(hears)
        assert await is_followed(client, original)
        await work_reply(client, "touch", "south")
        await client.unsubscribe_resource(FOLLOWED)
        assert not await is_followed(client, original)
        with pytest.raises(MCPError, match="no resource"):
            await client.subscribe_resource("file:///a.txt")

    through(
        toolset, request.getfixturevalue(original), use, callbacks={"message_handler": messages}
    )
    assert {uri for _, uri in heard} == {FOLLOWED, ""}
    methods = {method for method, _ in heard}
    assert methods >= {f"notifications/{one}/list_changed" for one in ("resources", "prompts")}


async def is_followed(client, original):
    at_north = await work_reply(client, "touch")
    streams = at_north["streams"] if original == "modern" else at_north
    return any("file:///a.txt" in str(one) for one in streams)
