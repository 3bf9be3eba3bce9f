"""A bundle served to agents as one MCP server."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolscope_core import __version__
from toolscope_core.cli.commands.connect_command import read_configurations
from toolscope_core.mcp.gateway.bundle_routes import ServedBundle, read_served_bundle
from toolscope_core.mcp.gateway.call_log import CallLog
from toolscope_core.mcp.gateway.configured_servers import launches_of
from toolscope_core.mcp.gateway.held_tools import OnChange
from toolscope_core.mcp.gateway.http_transport import TOKEN_VARIABLE, http_place
from toolscope_core.mcp.gateway.running import Finder, GatewayConfig, serve_over_http, serve_stdio
from toolscope_core.mcp.gateway.serve_check import ServerState, check_servers
from toolscope_core.mcp.gateway.tool_search import ToolSearch
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.environment import Settings
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity

Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ServeRequest:
    """The options of one gateway. ``servers`` are texts like ``catalog=key``; ``http`` is where it
    listens, ``None`` for standard input and output.
    """

    bundle: Path
    configurations: tuple[str, ...]
    servers: tuple[str, ...] = ()
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    http: str | None = None
    http_names: tuple[str, ...] = ()
    on_change: OnChange = "hold"
    old_names: bool = False
    search: bool = False
    log: Path | None = None
    log_arguments: bool = False


def serve(request: ServeRequest, settings: Settings, notice: Notice) -> None:
    """Serve until the client leaves or the program is told to end; ``notice`` gets sentences for
    the person who runs it.

    Raises ``ConfigError``, ``ExportError`` or ``CatalogError`` before it starts.
    """
    bundle, config = _prepared(request, settings, notice)
    for sentence in _oddities(bundle):
        notice(sentence)
    place = (
        http_place(request.http, settings.gateway_token, request.http_names)
        if request.http
        else None
    )
    log = CallLog(request.log, request.log_arguments)
    try:
        if place is None:
            serve_stdio(bundle, config, log, __version__)
        else:
            if place.is_new_token:
                notice(f"bearer token, for this run ({TOKEN_VARIABLE} sets one): {place.token}")
            serve_over_http(bundle, config, log, __version__, place)
    finally:
        log.close()
        for sentence in _ending(log):
            notice(sentence)


def check(request: ServeRequest, settings: Settings, notice: Notice) -> tuple[ServerState, ...]:
    """Open and list every server, and compare it with the bundle. Raises as ``serve``."""
    return check_servers(*_prepared(request, settings, notice))


def _prepared(
    request: ServeRequest, settings: Settings, notice: Notice
) -> tuple[ServedBundle, GatewayConfig]:
    bundle = read_served_bundle(request.bundle)
    configuration = read_configurations(request.configurations)
    given = keys_given(request.servers)
    keys, launches = launches_of(bundle, configuration, given, os.environ)
    for sentence in _beginning(bundle, keys):
        notice(sentence)
    config = GatewayConfig(
        launches=launches,
        limits=request.limits,
        on_change=request.on_change,
        old_names=request.old_names,
        finder=_finder(bundle, settings) if request.search else None,
        notice=notice,
    )
    return bundle, config


def keys_given(texts: Sequence[str]) -> dict[str, str]:
    """What ``--server`` says. Raises ``ConfigError`` for a text that is no ``catalog=key``."""
    pairs = [text.partition("=") for text in texts]
    wrong = next((text for text, pair in zip(texts, pairs, strict=True) if not pair[1]), None)
    if wrong is not None:
        raise ConfigError(f"--server was given {wrong!r}; give CATALOG=KEY")
    return {name: key for name, _, key in pairs}


def _beginning(bundle: ServedBundle, keys: dict[str, str]) -> list[str]:
    """What to know before it starts."""
    table = bundle.table
    lines = [
        f"{quantity(len(table.offered), 'tool')} for "
        f"{quantity(len(bundle.came_in), 'original')} of {quantity(len(keys), 'server')}"
    ]
    lines += [f"server {name!r} is {key!r} of the configuration" for name, key in keys.items()]
    if bundle.withheld:
        saved = sum(len(members) - 1 for members in bundle.withheld)
        lines.append(
            f"an export with routers would have {quantity(saved, 'tool')} fewer: "
            f"{quantity(len(bundle.withheld), 'accepted merge')} that only a gateway can serve"
        )
    return lines


def _oddities(bundle: ServedBundle) -> list[str]:
    """Which tools clients get under another name, in another form, or not at all."""
    table = bundle.table
    return [
        sentence
        for server in table.servers
        for sentence in (
            *table.renamed_of(server),
            *table.mended_of(server),
            *(f"held back: {line}" for line in table.withheld_of(server)),
        )
    ]


def _ending(log: CallLog) -> list[str]:
    counts = ", ".join(f"{number} {what}" for what, number in sorted(log.outcomes.items()))
    lines = [f"calls: {counts}"] if counts else []
    if log.unwritten:
        lines.append(f"{quantity(log.unwritten, 'call')} could not be written to the log")
    return lines + [
        f"{name} was called by its old name {quantity(number, 'time')}"
        for name, number in sorted(log.old_names.items())
    ]


def _finder(bundle: ServedBundle, settings: Settings) -> Finder:
    from toolscope_core.cli.commands.served_search import tool_search

    search = tool_search(bundle.catalog.tools, settings)
    return lambda calls: ToolSearch(calls, search)
