"""Servers that change their tools at a bad time, or answer what no server should."""

import asyncio
from pathlib import Path

import anyio
import pytest
from mcp import MCPError

from tests.mcp.gateway.stub_toolset import (
    configuration,
    error_text,
    stub_reply,
    text_of,
    through,
    work,
    work_reply,
)
from tests.mcp.gateway.test_callers import SAMPLING
from toolscope_core.mcp.gateway.call_log import CallLog

HELD = "'get' of north is not what it was"


@pytest.fixture
def listing(tmp_path):
    """The configuration of servers that list their tools in a way of their own."""
    return lambda how: configuration(tmp_path, LISTS=how)


def test_a_change_that_is_announced_while_the_tools_are_listed_is_seen(toolset, listing):
    async def use(client, gateway):
        return [await text_of(client, "get", {"path": "secret"}) for _ in range(3)]

    assert all(text.startswith(HELD) for text in through(toolset, listing("turning"), use))


def test_no_call_passes_between_the_announcement_and_the_new_listing(toolset, listing):
    async def use(client, gateway):
        await work(client, "change")
        return await text_of(client, "get", {"path": "secret"})

    assert through(toolset, listing("slow"), use).startswith(HELD)


def test_a_server_that_announces_and_is_silent_is_opened_again_and_the_others_go_on(
    toolset, listing, monkeypatch
):
    waits, fail_after = [], anyio.fail_after
    monkeypatch.setattr(
        anyio, "fail_after", lambda wait: fail_after(waits.pop() if waits else wait)
    )

    async def use(client, gateway):
        await client.call_tool("get", {"path": "a"})
        first = gateway.calls.servers.open_now["north"]
        waits.append(0.1)
        await work(client, "announce")
        other = stub_reply(await client.call_tool("south_same", {"x": 1}))["server"]
        again = stub_reply(await client.call_tool("get", {"path": "a"}))["server"]
        return other, again, gateway.calls.servers.open_now["north"] is first

    assert through(toolset, listing("silent"), use) == ("south", "north", False)


@pytest.mark.parametrize("code", [-32000, -32001, -32050])
def test_an_error_of_the_original_passes_whatever_its_code_and_ends_nothing(toolset, servers, code):
    async def use(client, gateway):
        await client.call_tool("get", {"path": "a"})
        before = gateway.calls.servers.open_now["north"]
        with pytest.raises(MCPError) as raised:
            await work(client, "rpc-error", size=code)
        return raised.value.error, before is gateway.calls.servers.open_now["north"]

    error, stays = through(toolset, servers, use)
    assert (error.code, error.message, error.data) == (code, "no such row", {"row": 7})
    assert stays


def test_a_result_that_cannot_be_read_is_said_and_ends_nothing(toolset, servers):
    async def use(client, gateway):
        await client.call_tool("get", {"path": "a"})
        before = gateway.calls.servers.open_now["north"]
        text = await error_text(work(client, "strange"))
        whole = await work(client, "null-meta")
        return text, stub_reply(whole)["tool"], before is gateway.calls.servers.open_now["north"]

    text, tool, stays = through(toolset, servers, use)
    assert text.startswith("north answers with an error while it ran work")
    assert (tool, stays) == ("work", True)


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
def test_a_subscription_that_is_refused_leaves_nothing(toolset, servers):
    async def use(client, gateway):
        for _ in range(3):
            with pytest.raises(MCPError):
                await client.subscribe_resource("north+file:///refused")
        return gateway.content.announcements.followed("north")

    assert through(toolset, servers, use) == ()


@pytest.mark.filterwarnings("ignore:The logging capability:mcp.MCPDeprecationWarning")
def test_the_level_of_logs_reaches_servers_that_open_later(toolset, servers):
    async def use(client, gateway):
        await client.set_logging_level("debug")
        await client.call_tool("get", {"path": "a"})
        gateway.calls.servers.lost("north", gateway.calls.servers.open_now["north"])
        return (await work_reply(client, "announce", size=0))["levels"]

    assert through(toolset, servers, use) == ["debug"]


def test_a_full_disk_takes_no_result_away(toolset, servers):
    log = CallLog(Path("/dev/full"))

    async def use(client, gateway):
        return stub_reply(await client.call_tool("north_same", {"x": 1}))["server"]

    assert through(toolset, servers, use, log=log) == "north"
    assert log.unwritten == 1
    log.close()


def test_a_notice_that_nobody_reads_ends_nothing(toolset, servers):
    def closed(text):
        raise BrokenPipeError(32, "Broken pipe")

    async def use(client, gateway):
        await work(client, "change")
        held = await text_of(client, "get", {"path": "a"})
        return held, stub_reply(await client.call_tool("north_same", {"x": 1}))["server"]

    held, server = through(toolset, servers, use, notice=closed)
    assert held.startswith(HELD) and server == "north"


def test_what_is_asked_in_a_call_ends_with_it(toolset, servers):
    asking, ended = [], []

    async def never(context, params):
        asking.pop().cancel()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(params)

    async def use(client, gateway):
        await client.call_tool("get", {"path": "a"})
        before = len(asyncio.all_tasks())
        for _ in range(4):
            with anyio.CancelScope() as scope:
                asking.append(scope)
                await work(client, "ask:sampling/createMessage", params=SAMPLING)
            with anyio.fail_after(60):
                while len(asyncio.all_tasks()) > before + 1:
                    await anyio.sleep(0.01)

    through(toolset, servers, use, callbacks={"sampling_callback": never})
    assert not asking and len(ended) == 4
