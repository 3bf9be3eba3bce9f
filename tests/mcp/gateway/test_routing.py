"""The routing table, and which original a call means, without any server."""

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.catalogs import accepting
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.mcp.gateway.call_mapping import (
    chosen_original,
    misplaced_arguments,
    original_call,
)
from toolscope_core.mcp.gateway.http_transport import http_place
from toolscope_core.mcp.gateway.resource_addresses import ResourceAddresses, prefixes_of
from toolscope_core.mcp.gateway.routing import BundleTool, FoundTools, Original, routing_table
from toolscope_core.mcp.gateway.tool_search import ToolSearch
from toolscope_core.mcp.gateway.withheld_tools import WithheldTools
from toolscope_core.mcp.servers.launches import matched_servers
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.errors import ConfigError, ExportError
from toolscope_core.model.tool import Tool


def family(**of_north):
    """A gateway tool over two tools whose parameters differ in name and type; ``of_north`` are
    those of one alone.
    """
    north = Tool("n/find", "find", "Find.", "n", schema_of(q="string", limit="string"))
    south = Tool("s/seek", "seek", "Seek.", "s", schema_of(text="string", most="integer"))
    merged = schema_of(q="string", limit="string", where="string")
    merged["properties"]["where"] |= {"enum": ["n", "s"], "default": "n"}
    merged["properties"] |= of_north
    own = tuple(ArgumentMove(name, name) for name in ("q", "limit", *of_north))
    other = (ArgumentMove("text", "q"), ArgumentMove("most", "limit", "cast"))
    alphas = {
        "n/find": ArgumentMap("n/find", "n/find", own, {"where": "n"}),
        "s/seek": ArgumentMap("s/seek", "n/find", other, {"where": "s"}),
    }
    item = BundleTool(
        Tool("n/find", "find", "Find.", "n", merged), ("n/find", "s/seek"), is_gateway=True
    )
    originals = {one.id: Original(one.id, one.server, one.name) for one in (north, south)}
    phi = dict.fromkeys(originals, "n/find")
    return routing_table([item], originals, phi, alphas), south


def schema_of(**types):
    return accepting(**{name: {"type": kind} for name, kind in types.items()})


def test_the_selector_chooses_and_arguments_go_back_through_alpha():
    table, south = family()
    route = table.routes["find"]
    assert chosen_original(route, {"q": "a"}) is None
    assert chosen_original(route, {"q": "a", "where": "n"}).tool_id == "n/find"
    assert chosen_original(route, {"q": "a", "where": "west"}) is None
    chosen = chosen_original(route, {"q": "a", "where": "s", "limit": "3"})
    assert (chosen.server, chosen.name) == ("s", "seek")
    arguments = {"q": "a", "where": "s", "limit": "3"}
    assert original_call(route, chosen, arguments, south).arguments == {"text": "a", "most": 3}
    assert table.old_names["seek"].route == "find"
    assert table.servers == ("n", "s")


def test_a_default_of_another_original_is_as_if_left_out():
    table, south = family(mode={"type": "string", "default": "rewrite"})
    route = table.routes["find"]
    given = {"q": "a", "limit": "3", "where": "s"}
    filled = {**given, "mode": "rewrite"}
    (chosen,) = [one for one in route.originals if one.server == "s"]
    assert misplaced_arguments(route, chosen, filled, south) == ()
    assert original_call(route, chosen, filled, south) == original_call(route, chosen, given, south)
    (objection,) = misplaced_arguments(route, chosen, {**given, "mode": "append"}, south)
    assert "'mode'" in objection
    (north,) = [one for one in route.originals if one.server == "n"]
    assert (
        original_call(route, north, {**filled, "where": "n"}, None).arguments["mode"] == "rewrite"
    )


@pytest.mark.parametrize("name", ["text", "most", "new"])
def test_what_the_original_declares_is_given_by_the_merged_tool_alone(name):
    table, south = family()
    route = table.routes["find"]
    chosen = chosen_original(route, {"where": "s"})
    updated = replace(south, schema=schema_of(text="string", most="integer", new="string"))
    for arguments in ({"q": "a", name: "b", "where": "s"}, {"where": "s", name: "b", "q": "a"}):
        call = original_call(route, chosen, arguments, updated)
        assert (call.arguments, call.losses) == ({"text": "a"}, (name,))


def test_a_tool_without_a_map_takes_what_it_declares(toolset):
    route = read_served_bundle(toolset).table.routes["north_same"]
    tool = Tool("north/same", "same", schema=schema_of(x="integer", deep="string"))
    call = original_call(route, route.originals[0], {"x": 1, "deep": "a", "free": 2}, tool)
    assert (call.arguments, call.losses) == ({"x": 1, "free": 2}, ("deep",))


@pytest.mark.parametrize("file", ["clusters.json", "neutral.json", "manifest.json"])
@pytest.mark.parametrize("content", ["", '"text"', None])
def test_a_damaged_bundle_is_refused_in_words(toolset, tmp_path, file, content):
    bundle = Path(shutil.copytree(toolset, tmp_path / "bundle"))
    if content is None:
        (bundle / file).unlink()
    else:
        (bundle / file).write_text(content)
    with pytest.raises(ExportError, match=file):
        read_served_bundle(bundle)


def test_servers_are_matched_by_name_then_by_what_is_left_of_it():
    keys = {"My Files": "my-files", "b": "b"}
    assert matched_servers(["My Files", "b"], ["my-files", "b"], {}) == keys
    assert matched_servers([""], ["only"], {}) == {"": "only"}
    assert matched_servers(["a"], ["x", "y"], {"a": "y"}) == {"a": "y"}
    with pytest.raises(ConfigError, match=r"'a'.*--server a=KEY"):
        matched_servers(["a", "b"], ["A!", "a?"], {})
    accounts = ("Mail", "mail"), ["mail", "other"]
    with pytest.raises(ConfigError, match=r"'Mail'.* 'mail'"):
        matched_servers(*accounts, {})
    assert matched_servers(*accounts, {"Mail": "mail"}) == {"Mail": "mail", "mail": "mail"}


@pytest.mark.parametrize(
    ("text", "token", "names", "words"),
    [
        ("127.0.0.1:70000", "", (), "HOST:PORT, for"),
        ("127.0.0.1:1", "short", (), "at least 16"),
        ("10.0.0.1:1", "", (), "--allow-host"),
    ],
)
def test_a_place_that_is_not_safe_is_refused(text, token, names, words):
    with pytest.raises(ConfigError, match=words):
        http_place(text, token, names)


def test_a_place_has_a_token_that_nobody_sees_by_chance():
    place = http_place(":8765", "")
    assert (place.host, place.port, place.is_new_token) == ("127.0.0.1", 8765, True)
    assert len(place.token) >= 32
    assert place.token not in repr(place)
    assert http_place("[::1]:1", "").names == http_place("localhost:1", "").names
    assert http_place("10.0.0.1:1", "", ["gate.example"]).names == ("gate.example",)


def test_prefixes_are_schemes_and_no_two_are_the_same():
    prefixes = {"+": "server", "9": "s-9", "My Files": "my-files", "my files": "my-files-2"}
    assert prefixes_of(["My Files", "my files", "9", "+"]) == prefixes


@pytest.mark.parametrize(
    "own", ["file:///a+b.txt", "ui://card", "ui:///", "ui://{id}", "greet", ""]
)
def test_a_name_here_leads_back_to_its_server(own):
    addresses = ResourceAddresses(prefixes=prefixes_of(["My Files", "9"]))
    for server in addresses.prefixes:
        name = addresses.name_here(server, own)
        assert addresses.split(name) == (server, own)
        assert name.startswith("ui://") == own.startswith("ui://")
    assert addresses.split(own) == ("", own)


def test_the_search_gives_whole_records_and_refuses_in_words():
    table, _ = family()
    calls = SimpleNamespace(table=table, withheld_tools=WithheldTools({}, ConnectionLimits()))
    search = ToolSearch(calls, lambda query, limit: FoundTools(["gone", "n/find"][:limit]))

    def ask(**arguments):
        params = SimpleNamespace(name="search_tools", arguments=arguments)
        return asyncio.run(search.call(None, params))

    (found,) = ask(query="find things")["content"]
    assert json.loads(found["text"]) == dict(table.routes["find"].record)
    for arguments in ({}, {"query": " "}, {"query": "x", "limit": 0}, {"query": "x", "limit": "9"}):
        assert ask(**arguments)["isError"]
