"""Runs a gateway: its connections, its server, its standard streams, and its shutdown."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream

from toolscope_core.mcp.gateway import withheld_tools
from toolscope_core.mcp.gateway.announcements import Announcements
from toolscope_core.mcp.gateway.bundle_routes import ServedBundle, words_of_servers
from toolscope_core.mcp.gateway.call_mapping import NOTHING_FIXED, FixedValues, fixed_values
from toolscope_core.mcp.gateway.callers import Callers
from toolscope_core.mcp.gateway.gateway_server import Gateway, ToolFinder, gateway_server
from toolscope_core.mcp.gateway.http_transport import HttpPlace, http_server, listening_socket
from toolscope_core.mcp.gateway.original_servers import Hooks, OriginalServers
from toolscope_core.mcp.gateway.resource_addresses import (
    ResourceAddresses,
    addresses_of_tools,
    prefixes_of,
)
from toolscope_core.mcp.gateway.server_features import ServerFeatures
from toolscope_core.mcp.gateway.tool_calls import CallLog, ToolCalls
from toolscope_core.mcp.servers.launches import Launch
from toolscope_core.mcp.servers.sessions import OpenServer, load_sdk
from toolscope_core.model.cluster import grouped
from toolscope_core.model.configuration import ConnectionLimits

LONGEST_LINE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of standard input, in the form in which the SDK reads a file."""

    reader: asyncio.StreamReader

    def __aiter__(self) -> "_Lines":
        return self

    async def __anext__(self) -> str:
        try:
            line = await self.reader.readline()
        except ValueError:  # the line is too long, and the rest cannot be read
            line = b""
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Output:
    """Standard output, in the form in which the SDK writes a file."""

    writer: asyncio.StreamWriter

    async def write(self, text: str) -> None:
        self.writer.write(text.encode())

    async def flush(self) -> None:
        await self.writer.drain()


@asynccontextmanager
async def standard_streams() -> AsyncIterator[
    tuple[ContextReceiveStream[Any], ContextSendStream[Any]]
]:
    """The streams of incoming and outgoing messages.

    While they are open, other output of the program goes to standard error. If standard input or
    output is a file and not a pipe, both are left to the SDK.
    """
    if not all(map(_is_stream, (0, 1))):
        async with stdio_server() as streams:
            yield streams
        return
    loop = asyncio.get_running_loop()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    reader = asyncio.StreamReader(LONGEST_LINE)
    input_stream, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(incoming, "rb", 0)
    )
    output_stream, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(outgoing, "wb", 0)
    )
    writer = asyncio.StreamWriter(output_stream, protocol, None, loop)
    try:
        async with stdio_server(_Lines(reader), _Output(writer)) as streams:  # type: ignore[arg-type]
            yield streams
    finally:
        input_stream.close()
        output_stream.close()


def _is_stream(descriptor: int) -> bool:
    """Whether the system can report when the descriptor is ready for reading or writing."""
    import stat

    if sys.platform == "win32":
        return False
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


Finder = Callable[[ToolCalls], ToolFinder]


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    """How a bundle is served.

    ``launches`` are keyed by the servers' names in the catalog. ``review`` decides on changes if
    ``on_change`` is ``review``. ``finder`` makes the search that replaces the list of tools.
    ``notice`` receives sentences for the person who runs the gateway. With ``live_list``, a
    held-back tool leaves the list at once; without it, the tool leaves at the next session.
    """

    launches: Mapping[str, Callable[[], Launch]]
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    on_change: withheld_tools.OnChange = "hold"
    review: withheld_tools.Review = withheld_tools.hold_every_change
    old_names: bool = False
    finder: Finder | None = None
    notice: Callable[[str], None] = lambda text: None
    live_list: bool = False


ServedByPath = Mapping[str, tuple[ServedBundle, GatewayConfig]]
"""The bundle that is served at each path, and how it is served."""


@asynccontextmanager
async def open_gateway(
    bundle: ServedBundle, config: GatewayConfig, log: CallLog
) -> AsyncIterator[Gateway]:
    """A gateway. Its connections end when this context is left in any way."""
    load_sdk()
    came_in = grouped(bundle.came_in, lambda original: original.server)
    withheld = withheld_tools.WithheldTools(came_in, config.limits, config.on_change, config.review)

    def notice(sentence: str) -> None:
        with suppress(OSError, ValueError):  # nobody reads notices any more
            config.notice(sentence)

    async def look(name: str, server: OpenServer) -> None:
        before = set(withheld.sentences(name))
        was_new, had_passed = _noted(withheld, name)
        has_changed = await withheld.read(name, server)
        for sentence in withheld.sentences(name):
            if sentence not in before:
                notice(sentence)
        new, passed = _noted(withheld, name)
        log.note(name, [one for one in new if one not in was_new], "waiting")
        log.note(name, [one for one in passed if one not in had_passed], "changed")
        if has_changed and config.live_list:
            await announcements.list_changed("notifications/tools/list_changed")
        await content.on_open(name, server)

    async def tell(name: str, method: str, message: object) -> None:
        await content.pass_on_news(name, method, message)

    fixed = fixed_values(bundle.table)

    def error_to_show(name: str, error: Exception) -> Exception:
        return callers.sender(name).error(error)

    launches = {
        name: partial(_hiding, launch, fixed.get(name, NOTHING_FIXED))
        for name, launch in config.launches.items()
    }
    hooks = Hooks(look, tell, notice, error_to_show)
    async with anyio.create_task_group() as group:
        callers = Callers(group, fixed)
        announcements = Announcements(callers)
        servers = OriginalServers(group, launches, config.limits, hooks)
        addresses = ResourceAddresses(
            addresses_of_tools(bundle.table.routes.values()), prefixes_of(bundle.table.servers)
        )
        calls = ToolCalls(
            bundle.table, servers, withheld, callers, log, config.old_names, addresses
        )
        content = ServerFeatures(
            *(servers, announcements, bundle.table.servers, notice, addresses, bundle.passed)
        )
        finder = config.finder(calls) if config.finder else None
        words = words_of_servers(bundle).text
        yield Gateway(calls, content, words, finder, config.live_list)
        group.cancel_scope.cancel()


def _noted(
    withheld: withheld_tools.WithheldTools, name: str
) -> tuple[Sequence[str], Sequence[str]]:
    """The new tools of a server, and its changed tools that are still called."""
    new = withheld.declared.get(name, withheld_tools.DeclaredTools()).new
    return new, [one.name for one in withheld.passed(name)]


def serve_stdio(bundle: ServedBundle, config: GatewayConfig, log: CallLog, version: str) -> None:
    """Answer on standard input and output until the input ends or the program is stopped."""

    async def run() -> None:
        async with open_gateway(bundle, config, log) as gateway:
            await answer_on_stdio(gateway_server(gateway, version))

    anyio.run(run)


async def answer_on_stdio(server: Server[Any]) -> None:
    """Run the server on standard input and output until the input ends or a signal stops it."""
    async with anyio.create_task_group() as group:
        group.start_soon(_when_told, group.cancel_scope.cancel)
        async with standard_streams() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        group.cancel_scope.cancel()


def serve_over_http(
    by_path: ServedByPath,
    log: CallLog,
    version: str,
    place: HttpPlace,
    notice: Callable[[str], None],
) -> None:
    """Answer at an address until the program is stopped.

    Paths never share a connection, because a server's messages to the clients of one path are meant
    only for them. Raises ``ConfigError`` if the address cannot be used.
    """
    listener = listening_socket(place)
    host, port = listener.getsockname()[:2]
    for path in by_path:
        notice(f"listening at http://{f'[{host}]' if ':' in host else host}:{port}{path}")

    async def run() -> None:
        async with AsyncExitStack() as stack:
            servers = {}
            for path, (bundle, config) in by_path.items():
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
    """The launch, with messages that hide the fixed values and are cut to a few lines."""
    real_launch = launch()
    return replace(real_launch, secrets=real_launch.secrets.union(fixed.texts))


async def _when_told(end: Callable[[], None]) -> None:
    """Call ``end`` when a signal stops the program."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            end()
