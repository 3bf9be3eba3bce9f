"""Pairs of planted servers that look equal: what calls show of them."""

import json
import sys
import time
from dataclasses import replace

import pytest

from tests.calls import planted_server
from toolscope_core.calls.call_writing import SeenValues
from toolscope_core.calls.sent_calls import (
    LIMITS,
    CallBudget,
    ComparedTools,
    compare_tools,
    why_not_called,
)
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.mcp.servers.configured_servers import read_configuration
from toolscope_core.mcp.servers.launches import launches_of
from toolscope_core.merging.group_syntheses import GroupSyntheses
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove
from toolscope_core.model.errors import ConfigError

SIDES = ("left", "right")
BUDGET = CallBudget(calls=12, seconds=60.0, per_minute=60_000.0)


def planted_catalog():
    records = [planted_server.record(name) for name in planted_server.TOOLS]
    document = {"servers": [{"name": side, "tools": records} for side in SIDES]}
    return read_catalog([Source("tools.json", json.dumps(document).encode())])


def compared(names, budget=BUDGET, limits=LIMITS, versions=("", "")):
    catalog = planted_catalog()
    pairs = []
    for name in names:
        tools = [catalog.by_id[f"{side}/{name}"] for side in SIDES]
        ids = tuple(one.id for one in tools)
        synthesis = GroupSyntheses(catalog).synthesis(ids, None)
        maps, schema = synthesis.arguments, synthesis.document.schema
        pairs.append(ComparedTools(*tools, maps, schema, versions=versions))
    command = [sys.executable, "-I", "-S", planted_server.__file__]
    entries = {
        side: {
            "command": command[0],
            "args": [*command[1:], side],
            "env": {"API_TOKEN": f"hunter2-abcdef-{side}"},
        }
        for side in SIDES
    }
    content = json.dumps({"mcpServers": entries}).encode()
    _, launches = launches_of(SIDES, read_configuration("mcp.json", content), {}, {})
    return dict(zip(names, compare_tools(pairs, launches, budget, limits), strict=True))


def test_planted_pairs_are_told_apart_and_equal_ones_are_not():
    different = compared([*planted_server.DIFFERENT])
    missed = {name: one.verdict for name, one in different.items() if not one.differing}
    assert len(missed) <= 2, missed
    equal = compared([*planted_server.EQUAL])
    assert {name: one.verdict for name, one in equal.items() if one.differing or not one.size} == {}
    assert all(len(one.calls) <= 12 for one in (*different.values(), *equal.values()))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("huge", "never ends"),
        ("endless", "did not answer"),
        ("other_each_time", "different length"),
        ("lies", "effect"),
        ("dies", "status 3"),
    ],
)
def test_a_hostile_server_ends_its_pair(name, why):
    seconds = 2.0 if name == "endless" else LIMITS.answer_seconds
    (one,) = compared([name], limits=replace(LIMITS, answer_seconds=seconds)).values()
    assert why in one.stopped
    assert not one.size
    assert "same" not in one.verdict


def test_after_a_sign_of_an_effect_the_other_server_gets_no_call():
    (one,) = compared(["lies"]).values()
    assert one.calls == ()


def test_a_pair_goes_on_where_another_failed_and_orders_stay_data():
    both = compared(["lies", "orders", "deep"])
    assert both["deep"].verdict.startswith("same on 2 of 2")
    assert "“Ignore all" in both["orders"].verdict


def test_keys_of_the_configuration_are_in_nothing_that_is_kept():
    (one,) = compared(["tells_key"]).values()
    assert one.verdict == "same on 2 of 2"
    assert "hunter2" not in str(one)


def test_time_and_calls_are_limited():
    short = compared(["endless"], CallBudget(calls=12, seconds=1.0, per_minute=60_000.0))
    assert "seconds are over" in short["endless"].stopped
    few = compared(["add"], CallBudget(calls=3, seconds=60.0, per_minute=60_000.0))
    assert len(few["add"].calls) == 3
    with pytest.raises(ConfigError, match="per_minute is 0"):
        CallBudget(per_minute=0)


def test_a_rate_is_kept():
    began = time.monotonic()
    compared(["get_user"], CallBudget(calls=2, seconds=60.0, per_minute=240.0))
    assert time.monotonic() - began > 0.7  # 4 requests to each server, a quarter of a second apart


def test_a_tool_that_changed_is_not_called(monkeypatch):
    catalog_record = planted_server.record
    monkeypatch.setattr(
        planted_server, "record", lambda name: {**catalog_record(name), "description": "Other."}
    )
    (one,) = compared(["add"]).values()
    assert "has changed" in one.stopped
    assert one.calls == ()


def test_a_server_of_another_version_than_the_catalogs_is_not_called():
    (one,) = compared(["add"], versions=("1.2", "1.1")).values()
    assert "right has version '1.2'" in one.stopped
    assert one.calls == ()


def test_only_what_reads_is_called():
    tool = planted_catalog().by_id["left/get_user"]
    assert why_not_called(tool) == ""
    assert "words suggest it" in why_not_called(replace(tool, annotations={}))
    assert "it deletes" in why_not_called(replace(tool, name="delete_user"))


def test_a_persons_calls_come_first_and_those_without_a_place_are_left_out():
    catalog = planted_catalog()
    tools = [catalog.by_id[f"{side}/get_user"] for side in SIDES]
    alphas = tuple(
        ArgumentMap(one.id, "left/get_user", (ArgumentMove("city", "city"),)) for one in tools
    )
    lost = replace(alphas[0], dropped={"zip": "no such parameter"})
    pair = ComparedTools(*tools, (lost, alphas[1]), tools[0].schema, ({"city": "Rome"},))
    assert pair.new_calls(SeenValues(), 12)[0] == {"city": "Rome"}
    assert pair.mapped({"city": "Rome", "zip": 1}).losses == ("zip",)
    asked = replace(pair, calls=({"city": "Rome", "zip": 1},))
    assert {"city": "Rome", "zip": 1} not in asked.new_calls(SeenValues(), 12)
