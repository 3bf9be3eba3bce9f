"""What many servers offer: listed side by side, and as a document for the reader of catalogs."""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from toolscope_core.mcp.servers.launches import read_launch
from toolscope_core.mcp.servers.offers import ServerOffer, read_offer
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration, ServerDefinition
from toolscope_core.mcp.servers.server_failures import only_leaf
from toolscope_core.mcp.servers.sessions import load_sdk
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, Step, silent
from toolscope_core.model.tool import JsonObject

LOOK_SECONDS = 0.2
STAGE = "servers"


def read_offers(
    servers: Sequence[ServerDefinition],
    configuration: ClientConfiguration,
    environ: Mapping[str, str],
    limits: ConnectionLimits,
    progress: Progress = silent,
) -> tuple[ServerOffer, ...]:
    """What each server offers, in the order given; at most ``limits.parallel`` run at a time.

    A server that fails is a value among the others. Its values are read from ``configuration`` and
    ``environ`` when its turn comes. Reports how many are done; when ``progress`` raises, every
    server has been ended before that is raised again. Have no event loop in this thread.
    """
    load_sdk()
    offers: dict[int, ServerOffer] = {}

    async def read(number: int, server: ServerDefinition, room: anyio.CapacityLimiter) -> None:
        async with room:
            try:
                launch = read_launch(server, configuration.entry(server.name), environ)
                offers[number] = await read_offer(launch, limits)
            except ConfigError as error:
                offers[number] = ServerOffer(server.name, failure=str(error), kind="settings")

    async def survey() -> None:
        room = anyio.CapacityLimiter(limits.parallel)
        async with anyio.create_task_group() as group:
            for number, server in enumerate(servers):
                group.start_soon(read, number, server, room)
            while len(offers) < len(servers):
                progress(Step(STAGE, len(offers), len(servers)))
                await anyio.sleep(LOOK_SECONDS)
        progress(Step(STAGE, len(offers), len(servers)))

    try:
        anyio.run(survey)
    except BaseExceptionGroup as group:
        raise only_leaf(group) from None
    return tuple(offers[number] for number in range(len(servers)))


Kept = Mapping[str, Sequence[JsonObject]]


def catalog_document(
    offers: Sequence[ServerOffer],
    definitions: Mapping[str, ServerDefinition],
    at: str,
    kept: Kept | None = None,
) -> dict[str, Any]:
    """The tools of all servers that could be read, each server with where they come from.

    Tool records stand as the servers sent them. ``at`` is the time of reading (ISO 8601).
    ``kept`` has the records of servers that could not be read, from an earlier version.
    """
    read = [_server(offer, definitions[offer.name], at) for offer in offers if not offer.failure]
    names = {server["name"] for server in read}
    earlier = [
        {"name": name, "tools": list(records), "source": {"kept": "from an earlier version"}}
        for name, records in (kept or {}).items()
        if name not in names
    ]
    return {"servers": sorted((*read, *earlier), key=lambda server: str(server["name"]))}


def records_of(catalog: Catalog, servers: Sequence[str]) -> dict[str, list[JsonObject]]:
    """The records of those servers in a catalog as they were read, by server."""
    return {
        name: [tool.raw for tool in catalog.tools if tool.server == name]
        for name in servers
        if any(tool.server == name for tool in catalog.tools)
    }


def _server(offer: ServerOffer, definition: ServerDefinition, at: str) -> dict[str, Any]:
    source = {
        "at": at,
        "server": offer.title,
        "version": offer.version,
        "protocol": offer.protocol,
        "command": definition.command_line,
        "url": definition.url,
        "beside tools": dict(offer.others),
    }
    return {
        "name": offer.name,
        "description": offer.instructions,
        "source": {key: value for key, value in source.items() if value},
        "tools": list(offer.tools),
    }
