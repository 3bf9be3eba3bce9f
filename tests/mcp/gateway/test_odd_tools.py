"""Tools that not every client reads: mended or held back, named, and no other tool is hidden."""

import asyncio
import json
import re

import pytest

from tests.cli.test_cli import run
from tests.mcp.gateway.stub_toolset import (
    client_of,
    gateway_config,
    merge_nothing,
    record,
    stub_reply,
)
from tests.mcp.gateway.test_serving import invoke
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.mcp.gateway.routing import BundleTool, Original, routing_table
from toolscope_core.model.tool import Tool

TEXT = {"type": "string"}
GARDEN = [
    record("grow", "Grow a bed.", bed=TEXT),
    record("pic", "Take a picture.", note={**TEXT, "nullable": True}),
]
LAB = [
    record("store", "Store a sample.", readings=True, forbidden=False),
    record("tag", "Put a label on a sample.", label={"$ref": "#/$defs/Label"}),
    {**record("rate", "Rate a sample."), "outputSchema": {"type": "array", "items": TEXT}},
    {**record("weigh", "Weigh a sample."), "title": 5, "annotations": {"readOnlyHint": "yes"}},
    record("route", "Route a sample by region.", region={**TEXT, "x-mcp-header": "bad header"}),
]
MENDED = {"store": "'readings'", "rate": "outputSchema", "weigh": "title 5"}
"""What is named of each tool that is mended."""


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """The bundle and the configuration of two servers, one of which has odd tools."""
    return merge_nothing(tmp_path_factory.mktemp("odd"), {"garden": GARDEN, "lab": LAB})


@pytest.mark.case(75)
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_every_client_reads_the_list_and_calls_what_is_in_it(odd, mode):
    bundle, config = odd

    async def work():
        async with client_of(bundle, gateway_config(config.read_text()), mode=mode) as (client, _):
            tools = (await client.list_tools()).tools
            picture = stub_reply(await client.call_tool("pic", {"note": None}))
            stored = stub_reply(await client.call_tool("store", {"readings": [1]}))
            return tools, picture, stored, await client.call_tool("route", {"region": "a"})

    tools, picture, stored, held = asyncio.run(work())
    by_name = {tool.name: tool for tool in tools}
    assert set(by_name) == {"grow", "pic", "store", "tag", "rate", "weigh"}
    declared = by_name["store"].input_schema["properties"]
    assert declared == {"readings": {}, "forbidden": {"not": {}}}
    assert '"$ref"' not in json.dumps(by_name["tag"].input_schema)
    assert by_name["rate"].output_schema is None
    assert (picture["arguments"], stored["arguments"]) == ({"note": None}, {"readings": [1]})
    assert held.is_error
    assert "route is held back" in held.content[0].text and '"bad header"' in held.content[0].text


def test_check_names_what_was_mended_and_what_is_held_back(odd):
    bundle, config = odd
    checked = invoke(bundle, "--config", config, "--check")
    assert checked.exit_code == 1
    assert "have a tool that is held back" in checked.stderr
    for name, word in MENDED.items():
        assert re.search(rf"mended: {name}: .*{word}", checked.stdout)
    assert re.search('held back: route: .*"bad header"', checked.stdout)
    garden, lab = json.loads(invoke(bundle, "--config", config, "--check", "--json").stdout)
    assert (len(garden["mended"]), garden["withheld"]) == (1, [])
    assert [text.partition(":")[0] for text in lab["withheld"]] == ["route"]


def test_a_bundle_in_another_shape_is_served_in_the_same_way(odd, tmp_path):
    bundle, _ = odd
    neutral = tmp_path / "neutral.json"
    neutral.write_bytes((bundle / "neutral.json").read_bytes())
    run("merge", neutral, "--accept", "none", "--out", tmp_path / "bundle")
    table = read_served_bundle(tmp_path / "bundle").table
    assert [route.name for route in table.routes.values() if route.obstacle] == ["route"]
    assert table.routes["store"].record["inputSchema"]["properties"]["readings"] == {}
    assert "outputSchema" not in table.routes["rate"].record
    mended = " ".join(table.mended_of("lab"))
    assert MENDED["store"] in mended and MENDED["rate"] in mended


def names_of(*tools):
    items = [BundleTool(Tool(f"{server}/{name}", name, "", server), ()) for server, name in tools]
    originals = {
        item.tool.id: Original(item.tool.id, item.tool.server, item.tool.name) for item in items
    }
    table = routing_table(items, originals, {}, {})
    return {route.tool_id: name for name, route in table.routes.items()}, table.renamed


def test_tools_of_one_name_all_get_their_server_in_front():
    names, renamed = names_of(("b", "get"), ("a", "Get"), ("c", "ｇｅｔ"), ("c", "other"))
    assert names == {"a/Get": "a_Get", "b/get": "b_get", "c/ｇｅｔ": "c_get", "c/other": "other"}
    why = "'Get' of a is now 'a_Get' because b and c have a tool of that name too"
    assert renamed["a/Get"] == why
    assert set(renamed) == {"a/Get", "b/get", "c/ｇｅｔ"}
    names, renamed = names_of(("a", "get"), ("a", "Get"))
    assert names == {"a/Get": "Get", "a/get": "a_get"}
    why = "'get' of a is now 'a_get' because its server has two tools of that name"
    assert renamed == {"a/get": why}


def test_names_with_a_server_in_front_are_short_and_new():
    long, server = "n" * 60, "s" * 60
    names, _ = names_of(
        *((one, long) for one in ("a", server)),
        *((one, "get") for one in ("b", "文件", "档案", "b c", "b_c")),
        ("d", "b_get"),
    )
    assert names["d/b_get"] == "b_get"
    assert len(set(names.values())) == 8
    assert all(len(name) <= 64 for name in names.values())
    assert "get" not in names.values()
    assert names[f"a/{long}"] == f"a_{long}"
    assert names[f"{server}/{long}"].startswith("s" * 55)
