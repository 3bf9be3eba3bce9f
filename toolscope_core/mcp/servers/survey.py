"""What many servers offer: listed side by side, a bounded number at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anyio

from toolscope_core.mcp.servers.launches import read_launch
from toolscope_core.mcp.servers.offers import ServerOffer, read_offer
from toolscope_core.mcp.servers.sdk_exceptions import only_leaf
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration, ServerDefinition
from toolscope_core.mcp.servers.sessions import load_sdk
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, Step, silent

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
