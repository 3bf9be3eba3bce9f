"""A gateway that runs: its connections, its server, and its end."""

import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial

import anyio

from toolscope_core.mcp.gateway.announcements import Announcements
from toolscope_core.mcp.gateway.bundle_routes import ServedBundle
from toolscope_core.mcp.gateway.call_log import CallLog
from toolscope_core.mcp.gateway.callers import Callers
from toolscope_core.mcp.gateway.gateway_server import Gateway, ToolFinder, gateway_server
from toolscope_core.mcp.gateway.held_tools import DeclaredTools, HeldTools, OnChange
from toolscope_core.mcp.gateway.http_transport import HttpPlace, http_server, listening_socket
from toolscope_core.mcp.gateway.original_servers import Hooks, OriginalServers
from toolscope_core.mcp.gateway.passed_content import PassedContent
from toolscope_core.mcp.gateway.preset_values import NOTHING_FIXED, FixedValues, fixed_values
from toolscope_core.mcp.gateway.resource_addresses import ResourceAddresses, addresses_of_tools
from toolscope_core.mcp.gateway.server_words import server_words
from toolscope_core.mcp.gateway.standard_streams import standard_streams
from toolscope_core.mcp.gateway.tool_calls import ToolCalls
from toolscope_core.mcp.servers.launches import Launch
from toolscope_core.mcp.servers.sessions import OpenServer, load_sdk
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.groups import grouped

Finder = Callable[[ToolCalls], ToolFinder]


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    """How a bundle is served. ``launches`` by the catalog's name of each server; ``finder`` makes
    the search that stands in place of the list of tools; ``notice`` is told, in sentences, what
    the person who runs the gateway should know.
    """

    launches: Mapping[str, Callable[[], Launch]]
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    on_change: OnChange = "hold"
    old_names: bool = False
    finder: Finder | None = None
    notice: Callable[[str], None] = lambda text: None


Served = Mapping[str, tuple[ServedBundle, GatewayConfig]]
"""By path what is served there, and how."""


@asynccontextmanager
async def open_gateway(
    bundle: ServedBundle, config: GatewayConfig, log: CallLog
) -> AsyncIterator[Gateway]:
    """A gateway whose connections end when this is left, however it is left."""
    load_sdk()
    came_in = grouped(bundle.came_in, lambda original: original.server)
    held = HeldTools(came_in, config.limits, config.on_change)

    def notice(sentence: str) -> None:
        with suppress(OSError, ValueError):  # nobody reads it any more
            config.notice(sentence)

    async def look(name: str, server: OpenServer) -> None:
        before = set(held.sentences(name))
        was_new = held.declared.get(name, DeclaredTools()).new
        has_changed = await held.read(name, server)
        for sentence in held.sentences(name):
            if sentence not in before:
                notice(sentence)
        log.note_waiting(name, [one for one in held.declared[name].new if one not in was_new])
        if has_changed:
            await announcements.list_changed("notifications/tools/list_changed")
        await content.opened(name, server)

    async def tell(name: str, method: str, message: object) -> None:
        await content.pass_on_news(name, method, message)

    fixed = fixed_values(bundle.table)

    def shown(name: str, error: Exception) -> Exception:
        return callers.sender(name).error(error)

    launches = {
        name: partial(_hiding, launch, fixed.get(name, NOTHING_FIXED))
        for name, launch in config.launches.items()
    }
    hooks = Hooks(look, tell, notice, shown)
    async with anyio.create_task_group() as group:
        callers = Callers(group, fixed)
        announcements = Announcements(callers)
        servers = OriginalServers(group, launches, config.limits, hooks)
        addresses = ResourceAddresses(addresses_of_tools(bundle.table.routes.values()))
        calls = ToolCalls(bundle.table, servers, held, callers, log, config.old_names, addresses)
        content = PassedContent(servers, announcements, bundle.table.servers, notice, addresses)
        finder = config.finder(calls) if config.finder else None
        yield Gateway(calls, content, server_words(bundle).text, finder)
        group.cancel_scope.cancel()


def serve_stdio(bundle: ServedBundle, config: GatewayConfig, log: CallLog, version: str) -> None:
    """Answer on standard input and output until the input ends or the program is told to end."""

    async def run() -> None:
        async with open_gateway(bundle, config, log) as gateway:
            server = gateway_server(gateway, version)

            async with anyio.create_task_group() as group:
                group.start_soon(_when_told, group.cancel_scope.cancel)
                async with standard_streams() as (incoming, outgoing):
                    await server.run(incoming, outgoing, server.create_initialization_options())
                group.cancel_scope.cancel()

    anyio.run(run)


def serve_over_http(
    served: Served, log: CallLog, version: str, place: HttpPlace, notice: Callable[[str], None]
) -> None:
    """Answer at an address until the program is told to end. No path shares a connection with
    another: what a server says to the clients of one is for them alone. Raises ``ConfigError``
    where nobody can listen there.
    """
    listener = listening_socket(place)
    host, port = listener.getsockname()[:2]
    for path in served:
        notice(f"listening at http://{f'[{host}]' if ':' in host else host}:{port}{path}")

    async def run() -> None:
        async with AsyncExitStack() as stack:
            servers = {}
            for path, (bundle, config) in served.items():
                gateway = await stack.enter_async_context(open_gateway(bundle, config, log))
                servers[path] = gateway_server(gateway, version)
            server = http_server(servers, place, notice)

            def end() -> None:
                server.should_exit = True

            async with anyio.create_task_group() as group:
                group.start_soon(_when_told, end)
                await server.serve(sockets=[listener])
                group.cancel_scope.cancel()

    anyio.run(run)


def _hiding(launch: Callable[[], Launch], fixed: FixedValues) -> Launch:
    """The launch, whose messages are cut to a few lines after what is fixed was taken out."""
    read = launch()
    return replace(read, secrets=read.secrets.union(fixed.texts))


async def _when_told(end: Callable[[], None]) -> None:
    """Call ``end`` when a signal asks the program to end."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            end()
