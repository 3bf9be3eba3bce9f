"""Every merged tool of reference servers, called through a gateway and directly; each night.

Filesystem serves two folders (families), and the toolset as merged has drop-ins of its own.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from mcp import Client, MCPError, StdioServerParameters

from tests.mcp.servers import test_real_servers
from toolscope_core.catalog.calls import map_call, sample_arguments
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.relabelling import read_relabelling
from toolscope_core.catalog.sources import load_paths
from toolscope_core.decisions.decision_lines import decision_row
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.model.decision import Decision

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1200)]
ROOT = Path(__file__).parents[3]
SERVERS = ("files-a", "files-b", "memory", "everything", "time")
LEFT_OUT = {
    "toggle-simulated-logging",
    "toggle-subscriber-updates",
    "simulate-research-query",
    "get-env",
    "gzip-file-as-resource",
}
"""They answer later or as tasks, name the variables of their process, or ask the network."""


reference_servers = test_real_servers.installed


def program(*words):
    return [sys.executable, "-m", "toolscope_core", *map(str, words)]


@pytest.fixture(scope="module")
def merged(reference_servers, tmp_path_factory):
    """The configuration, the catalog and the bundle of the reference servers."""
    config, _ = reference_servers
    return merged_toolset(config, tmp_path_factory.mktemp("merged"))


def merged_toolset(config, place):
    catalog, bundle = place / "catalog.json", place / "bundle"
    asked = [word for name in SERVERS for word in ("--server", name)]
    read = program("connect", config, "--out", catalog, *asked)
    subprocess.run(read, cwd=ROOT, check=True)
    decisions = place / "decisions.jsonl"
    decisions.write_text("".join(map(family_line, *by_folder(catalog))))
    options = ("--accept", "all", "--gateway", "--decisions", decisions)
    subprocess.run(program("merge", catalog, "--out", bundle, *options), cwd=ROOT, check=True)
    return config, catalog, bundle


def by_folder(catalog):
    """The tools of either filesystem server, in the same order, but for one that needs no family:
    the drop-in that ``--accept all`` makes of it is one of those that are tried.
    """
    tools = read_catalog(load_paths([catalog])).tools
    return [
        [one for one in tools if one.server == server and one.name != "read_file"]
        for server in ("files-a", "files-b")
    ]


def family_line(one, other):
    """A person's decision that the two are a family: each has a folder of its own."""
    accept = Decision(
        "accept",
        (one.fingerprint, other.fingerprint),
        (one.id, other.id),
        "night",
        "2026-01-01T00:00:00+00:00",
        detail={"relation": "family"},
    )
    return json.dumps(decision_row(accept)) + "\n"


def fresh(config):
    """The folders and the memory as they are before the first call; the values for calls."""
    values = {}
    for name in ("a", "b"):
        folder = config.parent / name
        shutil.rmtree(folder)
        folder.mkdir()
        (folder / "one.txt").write_text("first line\nsecond line\n")
        values[f"files-{name}"] = folder / "one.txt"
    for memory in config.parent.glob("**/memory.jsonl"):
        memory.unlink()
    return values


def arguments_of(tool, values):
    """Arguments for a call that the original takes and that does little."""
    given = {}
    for name, value in sample_arguments(tool.parameters).items():
        place = values.get(tool.server)
        folder = place.parent if place else None
        given[name] = {
            "path": str(
                folder if "director" in tool.name or tool.name == "search_files" else place
            ),
            "paths": [str(place)],
            "source": str(place),
            "destination": str(folder / "moved.txt") if folder else "",
            "timezone": "Europe/Berlin",
            "source_timezone": "Europe/Berlin",
            "target_timezone": "Asia/Tokyo",
            "time": "12:00",
            "duration": 0.1,
            "steps": 1,
        }.get(name, value)
        if tool.name == "create_directory":
            given["path"] = str(folder / "new")
    quick = {"duration", "steps"}
    return {p.name: given[p.name] for p in tool.parameters if p.required or p.name in quick}


async def outcome(client, name, arguments):
    """What comes of a call, without times of day."""
    try:
        result = await client.call_tool(name, arguments)
        text = json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True))
    except MCPError as error:
        text = f"{error.code} {error.message}"
    return re.sub(r"\d\d:\d\d(:\d\d)?(\.\d+)?|\w{3} \w{3} \d\d \d{4}|\d{4}-\d\d-\d\dT", "…", text)


def parameters(command, args, env=None):
    return StdioServerParameters(
        command=command, args=args, cwd=str(ROOT), env={**os.environ, **(env or {})}
    )


async def direct_outcomes(config, tools, values):
    entries = json.loads(config.read_text())["mcpServers"]
    async with AsyncExitStack() as stack:
        clients = {}
        for name in SERVERS:
            entry = entries[name]
            started = parameters(entry["command"], entry.get("args", []), entry.get("env"))
            clients[name] = await stack.enter_async_context(Client(started, mode="legacy"))
        return {
            tool.id: await outcome(clients[tool.server], tool.name, arguments_of(tool, values))
            for tool in tools
        }


async def outcomes_through(config, bundle, tools, values):
    """The same calls as calls of the merged tools."""
    relabelling = read_relabelling(bundle)
    names = {route.tool_id: name for name, route in read_served_bundle(bundle).table.routes.items()}
    command, *args = program("serve", bundle, "--config", config)
    async with Client(parameters(command, args), mode="legacy") as client:
        outcomes = {}
        for tool in tools:
            alpha, arguments = relabelling.arguments.get(tool.id), arguments_of(tool, values)
            mapped = map_call(alpha, arguments).arguments if alpha else arguments
            name = names[relabelling.phi[tool.id]]
            outcomes[tool.id] = await outcome(client, name, mapped)
        return outcomes


def test_each_merged_tool_does_what_its_originals_do(merged):
    config, catalog, bundle = merged
    table = read_served_bundle(bundle).table
    reachable = {one.tool_id for one in table.originals}
    gateway = [route for route in table.routes.values() if len(route.originals) > 1]
    replaced = len(read_relabelling(bundle).phi) - len(reachable)
    tools = [
        tool
        for tool in read_catalog(load_paths([catalog])).tools
        if tool.id in reachable and tool.name not in LEFT_OUT
    ]
    tools.sort(key=lambda tool: tool.name == "move_file")  # the others need the file
    assert len(gateway) >= 10
    assert replaced >= 1
    direct = asyncio.run(direct_outcomes(config, tools, fresh(config)))
    through = asyncio.run(outcomes_through(config, bundle, tools, fresh(config)))
    differing = {one: (direct[one], through[one]) for one in direct if direct[one] != through[one]}
    assert differing == {}
    assert sum('"isError": true' not in text for text in direct.values()) >= len(tools) // 2
