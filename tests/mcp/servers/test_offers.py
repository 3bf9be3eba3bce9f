"""Servers that are started, listed and ended, whatever they do."""

import asyncio
import gc
import json
import logging
import re
import time
from dataclasses import replace

import pytest

from tests.mcp.servers.stubs import MARK, QUICK, TOKEN, launch, living, new_mark
from toolscope_core.mcp.servers.offers import read_offer
from toolscope_core.mcp.servers.sessions import load_sdk

load_sdk()


def read(act, *rest, limits=QUICK):
    """The offer, after which nothing of the server is left as soon as its processes are reaped."""
    mark = new_mark()
    offer = asyncio.run(read_offer(launch(act, *rest, **{MARK: mark}), limits))
    for _ in range(100):
        if not living(mark):
            break
        time.sleep(0.05)
    assert living(mark) == []
    return offer


def test_a_server_is_listed_with_what_it_has_beside_tools():
    offer = read("good")
    assert [tool["name"] for tool in offer.tools] == ["read", "write"]
    assert offer.others == {"resource": 3, "resource template": 0, "prompt": 1}
    assert offer.extras == "3 resources, 1 prompt"
    assert (offer.title, offer.version, offer.protocol) == ("stub", "1.2", "2025-06-18")
    assert (offer.instructions, offer.failure, offer.notes) == ("Use it.", "", ())


@pytest.mark.parametrize(
    ("act", "limits", "count", "note"),
    [
        ("pages", {}, 1_000, ""),
        ("pages", {"tools": 100}, 100, "most 100 tools"),
        ("pages", {"pages": 3}, 150, "most 3 pages"),
        ("pages", {"listing_bytes": 10_000}, 100, "10,000 bytes"),
        ("circles", {}, 2, "'same' twice"),
        ("file", {"tools": 100}, 100, "the first 100"),
    ],
)
def test_all_pages_are_read_and_a_listing_without_end_is_cut(tmp_path, act, limits, count, note):
    page = {"tools": [{"name": f"tool_{n:04}", "inputSchema": {}} for n in range(300)]}
    (tmp_path / "page.json").write_text(json.dumps(page))
    offer = read(act, tmp_path / "page.json", limits=replace(QUICK, **limits))
    assert len(offer.tools) == count and note in " ".join(offer.notes)
    assert len(offer.notes) == bool(note)
    if act != "circles":
        assert [tool["name"] for tool in offer.tools] == [f"tool_{n:04}" for n in range(count)]


def test_records_come_as_they_were_sent():
    """The SDK knows no ``vendorField``, and refuses a page with a tool that has no schema."""
    fine, bare = read("odd").tools
    assert fine["vendorField"] == {"kept": None}
    assert bare == {"name": "no_schema"}


def test_a_server_that_knows_no_newer_protocol_is_asked_in_the_older_way(monkeypatch):
    """It does not even answer a request that it does not know."""
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr("toolscope_core.mcp.servers.offers.COUNT_SECONDS", 0.1)
    offer = read("old")
    assert (len(offer.tools), offer.protocol) == (2, "2025-06-18")
    assert offer.others == {"resource": 3, "resource template": None, "prompt": 1}
    assert re.match("3 .*, .* templates?.*, 1 ", offer.extras)


def test_a_flood_of_standard_error_is_read_and_cut():
    offer = read("floods")
    assert len(offer.tools) == 2
    assert offer.stderr.endswith("noise noise")
    assert len(offer.stderr) <= 400


@pytest.mark.parametrize("act", ["banner", "stubborn", "parent"])
def test_a_banner_is_passed_over_and_nothing_is_left_of_a_server_that_will_not_end(act):
    assert len(read(act).tools) == 2


SHORT = replace(QUICK, start_seconds=0.1)


@pytest.mark.parametrize(
    ("act", "limits", "kind", "words"),
    [
        ("exits", QUICK, "exit", "stub ended with status 7 "),
        ("silent", SHORT, "silent", "within 0.1 s while the"),
        ("endless", QUICK, "garbage", "never ends"),
        ("dies-in-list", QUICK, "exit", "stub ended with status 3 "),
        ("mute", replace(QUICK, answer_seconds=0.2), "silent", "within 0.2 s while it listed its"),
        ("refuses", QUICK, "protocol", ": no access with [key]"),
        ("mute", replace(QUICK, total_seconds=0.3), "silent", "within 0.3 s"),
        ("no-list", QUICK, "protocol", "list"),
    ],
)
def test_a_failure_is_in_words(act, limits, kind, words):
    offer = read(act, limits=limits)
    assert (offer.tools, offer.kind) == ((), kind)
    assert words in offer.failure
    if act == "exits":
        assert "cannot log in with [key]" in offer.failure
    assert TOKEN not in repr(offer)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ({"command": "no-such-command"}, "does not exist"),
        ({"cwd": "nowhere"}, "'nowhere'"),
        ({"command": "./text"}, "Permission denied"),
    ],
)
def test_a_place_where_nothing_can_be_started(tmp_path, monkeypatch, place, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("no program")
    offer = asyncio.run(read_offer(replace(launch("good"), **place), QUICK))
    assert offer.kind == "command"
    assert words in offer.failure


@pytest.mark.parametrize("seconds", [0.0005, 0.001, 0.002])
def test_a_limit_that_passes_while_a_server_starts_leaves_no_pipe_open(recwarn, seconds):
    assert read("silent", limits=replace(QUICK, start_seconds=seconds)).kind == "silent"
    gc.collect()
    assert [one.message for one in recwarn if one.category is ResourceWarning] == []


def test_cancelling_ends_the_server():
    mark = new_mark()

    async def cancelled():
        task = asyncio.create_task(read_offer(launch("mute", **{MARK: mark}), QUICK))
        while not living(mark):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert living(mark) == []


def test_what_is_no_message_is_quoted_and_nothing_of_a_server_is_logged(caplog):
    """It never answers; the limit is for how long its one line may take to come."""
    caplog.set_level(logging.DEBUG)
    offer = read("garbage", limits=replace(QUICK, start_seconds=3))
    assert offer.kind == "garbage"
    assert "'Server listening, hello'" in offer.failure
    read("refuses")
    assert TOKEN not in caplog.text
    assert "hello" not in caplog.text


def test_keys_of_ours_do_not_reach_a_server(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ours")
    (offer,) = read("environment").tools
    names = json.loads(offer["description"])
    assert "API_TOKEN" in names
    assert "OPENAI_API_KEY" not in names
