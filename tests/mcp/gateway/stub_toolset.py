"""A toolset of two servers with a drop-in, a family, a shared name and a tool of its own; the stub
servers that have its originals; a gateway between an SDK client and them.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.test_cli import run
from tests.support.analyses import analysed
from tests.support.catalogs import accepting, read_json
from toolscope_core.export.bundle import bundle_of
from toolscope_core.files.folders import write_folder
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.mcp.gateway.gateway_server import own_client
from toolscope_core.mcp.gateway.running import GatewayConfig, open_gateway
from toolscope_core.mcp.gateway.tool_calls import CallLog
from toolscope_core.mcp.servers.configured_servers import read_configuration
from toolscope_core.mcp.servers.launches import read_launch
from toolscope_core.merging.clusters import apply_clusters
from toolscope_core.merging.synthesis import synthesise
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import ConnectionLimits, PlanConfig

STUB = str(Path(__file__).with_name("original_stub.py"))
TEXT = {"type": "string"}
QUICK = ConnectionLimits(
    start_seconds=60.0, answer_seconds=60.0, grace_seconds=0.1, message_bytes=200_000
)
MARK = "STUB_MARK"


def record(name, description, required=(), **properties):
    schema = {**accepting(**properties), "required": list(required)}
    return {"name": name, "description": description, "inputSchema": schema}


WORK = {"act": TEXT, "seconds": {"type": "number"}, "size": {"type": "integer"}, "params": {}}
NORTH = [
    record("get", "Read a file.", ["path"], path=TEXT),
    record("read_file", "Read a file.", ["file_path"], file_path=TEXT),
    record("same", "Say it again.", x={"type": "integer"}),
    {**record("work", "Do work in the north.", **WORK), "_meta": {"example.com/kept": 1}},
]
SOUTH = [
    record("same", "Repeat a number of the south.", x={"type": "integer"}),
    record("work", "Do work in the south.", **WORK, depth={"type": "integer"}),
]


def stub_catalog():
    servers = [{"name": "north", "tools": NORTH}, {"name": "south", "tools": SOUTH}]
    return read_json({"servers": servers}, "town.json")


def accepted(catalog, *members, family=False):
    tools = [catalog.by_id[one] for one in sorted(members)]
    made = synthesise(tools, family=family)
    return Cluster(
        *(f"c-{members[0]}", tuple(sorted(members)), made.canonical, made.kind, "accepted", 0.9),
        *(made.document, made.arguments),
        selector=made.selector,
        relation="family" if family else "duplicate",
    )


def write_stub_toolset(folder, gateway=True, log=()):
    """The bundle of the toolset in ``folder``/bundle, with the profiles of the log; its path."""
    catalog = stub_catalog()
    clusters = (
        accepted(catalog, "north/get", "north/read_file"),
        accepted(catalog, "north/work", "south/work", family=True),
    )
    plan = replace(apply_clusters(catalog, clusters, gateway), clusters=clusters)
    config = PlanConfig(accept="all", gateway=gateway)
    files = bundle_of(analysed(catalog, folder / "cache"), plan, log, config).files()
    write_folder(files, folder / "bundle")
    return folder / "bundle"


def configuration(folder, **env):
    """The text of a client's configuration with both servers; their tools are files."""
    return configuration_of(folder, {"north": NORTH, "south": SOUTH}, **env)


def configuration_of(folder, tools_by_server, **env):
    servers = {}
    for name, tools in tools_by_server.items():
        path = Path(folder) / f"{name}.json"
        path.write_text(json.dumps(tools))
        args = ["-I", "-S", STUB, name, str(path)]
        servers[name] = {"command": sys.executable, "args": args, "env": env}
    return json.dumps({"mcpServers": servers})


def merge_nothing(folder, tools_by_server):
    """The bundle of servers of which nothing is merged, and the configuration of their stubs."""
    catalog, config = folder / "catalog.json", folder / "mcp.json"
    servers = [{"server": name, "tools": tools} for name, tools in tools_by_server.items()]
    catalog.write_text(json.dumps(servers))
    config.write_text(configuration_of(folder, tools_by_server))
    run("merge", catalog, "--accept", "none", "--out", folder / "bundle")
    return folder / "bundle", config


def gateway_config(text, limits=QUICK, masks_results=False, **options):
    config = read_configuration("mcp.json", text.encode())
    launches = {
        one.name: lambda one=one: replace(
            read_launch(one, config.entries.get(one.name), os.environ), masks_results=masks_results
        )
        for one in config.servers
    }
    return GatewayConfig(launches, limits, **options)


@asynccontextmanager
async def client_of(bundle, config, log=None, profile="", **callbacks) -> AsyncIterator:
    """An SDK client of the gateway, over a pair of memory streams, and the gateway."""
    served = read_served_bundle(bundle, profile)
    async with (
        open_gateway(served, config, log or CallLog()) as gateway,
        own_client(gateway, "1", **callbacks) as client,
    ):
        yield client, gateway


async def work(client, act, server="north", **arguments):
    """The result of the merged *work*, of which ``act`` says what the stub server does."""
    return await client.call_tool(*act_of(act, server, **arguments))


def stub_reply(result):
    """What a stub server said."""
    return json.loads(result.content[0].text)


async def work_reply(client, act, server="north", **arguments):
    """What a stub server says of a call of *work*."""
    return stub_reply(await work(client, act, server, **arguments))


def results_of(toolset, servers, *calls, **options):
    """The results of calls, each a name and its arguments, one after the other."""

    async def use(client, gateway):
        return [await client.call_tool(*one) for one in calls]

    return through(toolset, servers, use, **options)


def replies_of(toolset, servers, *calls, **options):
    """What the stub servers reply to calls."""
    return [stub_reply(one) for one in results_of(toolset, servers, *calls, **options)]


def texts_of(toolset, servers, *calls, **options):
    """The words of the results of calls."""
    return [one.content[0].text for one in results_of(toolset, servers, *calls, **options)]


def act_of(name, server="north", **arguments):
    """The call of the merged *work* that has a stub server do ``name``."""
    return "work", {"act": name, "server": server, **arguments}


@contextmanager
def answering_within(server, seconds):
    """Requests to an open server have so many seconds, fewer than it had to open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server.client, "read_timeout_seconds", seconds)
        patch.setattr(server.client.session, "_session_read_timeout_seconds", seconds)
        yield


async def error_text(answer):
    """The words of a call that ends in an error of the tool."""
    result = await answer
    assert result.is_error
    return result.content[0].text


def through(toolset, servers, use, **options):
    """What ``use`` makes of a client of the gateway."""
    own = {name: options.pop(name) for name in ("log", "profile") if name in options}
    callbacks, seconds = options.pop("callbacks", {}), options.pop("seconds", 120)

    async def run():
        config = gateway_config(servers, **options)
        async with client_of(toolset, config, **own, **callbacks) as (client, gateway):
            return await use(client, gateway)

    return asyncio.run(asyncio.wait_for(run(), seconds))
