"""Servers that change their tools at a bad time, or answer what no server should."""

import asyncio
import json
from pathlib import Path

import anyio
import pytest
from mcp import MCPError

from tests.mcp.gateway import stub_toolset
from tests.mcp.gateway.test_callers import SAMPLING
from toolscope_core.mcp.gateway.tool_calls import CallLog

HELD = "'get' of north has changed"
GET, CHANGE = ("get", {"path": "secret"}), stub_toolset.act_of("change")


@pytest.fixture
def listing(tmp_path):
    """The configuration of servers that list their tools in a way of their own."""
    return lambda how: stub_toolset.configuration(tmp_path, LISTS=how)


@pytest.mark.parametrize(("how", "first"), [("turning", ()), ("slow", (CHANGE,))])
def test_no_call_passes_between_the_announcement_and_the_new_listing(toolset, listing, how, first):
    """The tools change while they are listed for the first time, or while they are listed again."""
    texts = stub_toolset.texts_of(toolset, listing(how), *first, GET, GET, GET)
    assert all(text.startswith(HELD) for text in texts[len(first) :])


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
        await stub_toolset.work(client, "announce")
        other = stub_toolset.stub_reply(await client.call_tool("south_same", {"x": 1}))["server"]
        again = stub_toolset.stub_reply(await client.call_tool("get", {"path": "a"}))["server"]
        return other, again, gateway.calls.servers.open_now["north"] is first

    assert stub_toolset.through(toolset, listing("silent"), use) == ("south", "north", False)


def test_an_error_of_the_original_or_an_unreadable_result_passes_and_ends_nothing(toolset, servers):
    async def use(client, gateway):
        await client.call_tool(*GET)
        before, errors = gateway.calls.servers.open_now["north"], []
        for code in (-32000, -32001, -32050):
            with pytest.raises(MCPError) as raised:
                await stub_toolset.work(client, "rpc-error", size=code)
            errors.append(raised.value.error)
        text, whole = (
            await stub_toolset.error_text(stub_toolset.work(client, "strange")),
            await stub_toolset.work(client, "null-meta"),
        )
        return errors, text, whole, before is gateway.calls.servers.open_now["north"]

    errors, text, whole, stays = stub_toolset.through(toolset, servers, use)
    assert [one.code for one in errors] == [-32000, -32001, -32050]
    assert {(one.message, str(one.data)) for one in errors} == {("no such row", "{'row': 7}")}
    assert text.startswith("north ") and "an error while" in text
    assert (stub_toolset.stub_reply(whole)["tool"], stays) == ("work", True)


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
def test_a_subscription_that_is_refused_leaves_nothing(toolset, servers):
    async def use(client, gateway):
        for _ in range(3):
            with pytest.raises(MCPError):
                await client.subscribe_resource("north+file:///refused")
        return gateway.content.announcements.followed("north")

    assert stub_toolset.through(toolset, servers, use) == ()


@pytest.mark.filterwarnings("ignore:The logging capability:mcp.MCPDeprecationWarning")
def test_the_level_of_logs_reaches_servers_that_open_later(toolset, servers):
    async def use(client, gateway):
        await client.set_logging_level("debug")
        await client.call_tool("get", {"path": "a"})
        gateway.calls.servers.note_loss("north", gateway.calls.servers.open_now["north"])
        return (await stub_toolset.work_reply(client, "announce", size=0))["levels"]

    assert stub_toolset.through(toolset, servers, use) == ["debug"]


def test_a_full_disk_and_a_notice_that_nobody_reads_end_nothing(toolset, servers):
    def closed(text):
        raise BrokenPipeError(32, "Broken pipe")

    log = CallLog(Path("/dev/full"))
    calls = (CHANGE, GET, ("north_same", {"x": 1}))
    _, refusal, other = stub_toolset.texts_of(toolset, servers, *calls, log=log, notice=closed)
    assert refusal.startswith(HELD) and json.loads(other)["server"] == "north"
    assert log.unwritten == 3
    log.close()


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
                await stub_toolset.work(client, "ask:sampling/createMessage", params=SAMPLING)
            with anyio.fail_after(60):
                while len(asyncio.all_tasks()) > before + 1:
                    await anyio.sleep(0.01)

    stub_toolset.through(toolset, servers, use, callbacks={"sampling_callback": never})
    assert not asking and len(ended) == 4
