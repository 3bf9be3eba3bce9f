"""Checks what a gateway would find if it served now: the state of its servers, and of the tools
that a job needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

import anyio

from toolscope_core.catalog.formats.offered_names import unique_names
from toolscope_core.mcp.gateway.bundle_routes import ServedBundle, words_of_servers
from toolscope_core.mcp.gateway.gateway_server import Gateway
from toolscope_core.mcp.gateway.routing import Route
from toolscope_core.mcp.gateway.running import GatewayConfig, open_gateway
from toolscope_core.mcp.gateway.tool_calls import CallLog
from toolscope_core.mcp.gateway.withheld_tools import DeclaredTools
from toolscope_core.model.errors import ToolScopeError


@dataclass(frozen=True, slots=True)
class ServerState:
    """The state of one server.

    ``tools`` is the number of declared tools. These fields have names: ``changed`` has the
    originals that are held back, ``passed`` the changed originals that passed a review, ``missing``
    the missing originals, ``new`` the new tools that wait, and ``twice`` the tools that are
    declared twice. ``failure`` is set if the server could not be listed. The other fields are
    sentences. ``renamed`` is about renamed tools, ``mended`` about records that some clients could
    not read, and ``withheld`` about tools that cannot be mended. ``notes`` is about unread parts of
    the server's list, ``words`` about the server's own text that agents do not get, and
    ``to_be_renamed`` about new tools that could be mistaken for another.
    """

    name: str
    tools: int = 0
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    failure: str = ""
    renamed: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    words: str = ""
    to_be_renamed: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()

    @property
    def is_as_exported(self) -> bool:
        """Whether all originals are unchanged; new tools do not matter."""
        return not (self.failure or self.changed or self.missing or self.twice)

    @property
    def is_served_whole(self) -> bool:
        """Whether clients get all tools of the server that are in the toolset, as exported."""
        return self.is_as_exported and not self.withheld


def check_servers(bundle: ServedBundle, config: GatewayConfig) -> tuple[ServerState, ...]:
    """The state of every server that calls may reach, sorted by name. The calling thread must have
    no event loop.
    """

    async def run() -> tuple[ServerState, ...]:
        async with open_gateway(bundle, config, CallLog()) as gateway:
            failures = await gateway.open_all(bundle.table.servers)
            declared, words = gateway.calls.withheld_tools.declared, words_of_servers(bundle).notes
            by_server = {
                name: DeclaredTools() if name in failures else declared[name]
                for name in bundle.table.servers
            }
            names = _names_to_come(bundle, by_server)
            return tuple(
                replace(
                    _state(name, bundle, tools),
                    failure=str(failures.get(name, "")),
                    words=words.get(name, ""),
                    to_be_renamed=tuple(
                        f"{one!r} of {name} would be renamed to {names[name, one]!r}"
                        for one in tools.new
                        if names.get((name, one), one) != one
                    ),
                )
                for name, tools in by_server.items()
            )

    return anyio.run(run)


def _names_to_come(
    bundle: ServedBundle, declared: Mapping[str, DeclaredTools]
) -> dict[tuple[str, str], str]:
    """The names of the new tools in the next export, keyed by server and present name."""
    new = {
        tools.by_name[name].id: (server, name)
        for server, tools in declared.items()
        for name in tools.new
    }
    newcomers = [declared[server].by_name[name] for server, name in new.values()]
    came_in, former = [one.name for one in bundle.came_in], bundle.catalog.former_names
    names = unique_names([*bundle.catalog.tools, *newcomers], came_in, former)
    return {new[one]: name for one, name in names.items() if one in new}


def _state(name: str, bundle: ServedBundle, tools: DeclaredTools) -> ServerState:
    names, table = {one.tool_id: one.name for one in bundle.came_in}, bundle.table
    return ServerState(
        name,
        len(tools.by_name),
        tuple(sorted(names[one] for one in tools.held)),
        tuple(sorted(names[one] for one in tools.missing)),
        tools.new,
        renamed=table.renamed_of(name),
        mended=table.mended_of(name),
        withheld=table.withheld_of(name),
        twice=tuple(sorted(tools.twice & set(names.values()))),
        notes=tools.notes,
        passed=tuple(sorted(names[one] for one in tools.changed.keys() - tools.held)),
    )


Readiness = Literal["ready", "retry", "never"]
_PASSING = frozenset({"exit", "silent", "unreachable", "busy"})
"""Kinds of server failures that may pass within a minute."""


@dataclass(frozen=True, slots=True)
class NeededTool:
    """Whether a tool can be called: now (*ready*), perhaps later (*retry*), or only after a person
    has acted (*never*).

    ``reason`` is one word: the kind of the server's failure, or *unknown*, *unreadable* or *held*.
    It is empty if the tool is ready. ``message`` explains the reason in a sentence.
    """

    name: str
    verdict: Readiness = "ready"
    reason: str = ""
    message: str = ""
    did_you_mean: tuple[str, ...] = ()


def check_needed(
    bundle: ServedBundle, config: GatewayConfig, names: Sequence[str]
) -> tuple[NeededTool, ...]:
    """Checks these tools, in order, after opening their servers. The calling thread must have no
    event loop.
    """

    async def run() -> tuple[NeededTool, ...]:
        async with open_gateway(bundle, config, CallLog()) as gateway:
            routes = {name: gateway.calls.route_of(name) for name in names}
            of_routes = [one.originals for one in routes.values() if one is not None]
            servers = {original.server for originals in of_routes for original in originals}
            failures = await gateway.open_all(sorted(servers))
            return tuple(_needed(gateway, name, routes[name], failures) for name in names)

    return anyio.run(run)


def _needed(
    gateway: Gateway, name: str, route: Route | None, failures: Mapping[str, ToolScopeError]
) -> NeededTool:
    calls = gateway.calls
    if route is None:
        near = tuple(get_close_matches(name, calls.callable_names, n=3))
        meant = f"; did you mean {', '.join(near)}?" if near else ""
        return NeededTool(name, "never", "unknown", f"there is no tool {name!r}{meant}", near)
    if route.obstacle:
        message = f"{route.name} is held back: {route.obstacle}"
        return NeededTool(name, "never", "unreadable", message)
    found = NeededTool(name)
    for original in route.originals:
        if failure := failures.get(original.server):
            kind = getattr(failure, "kind", "settings")
            verdict: Readiness = "retry" if kind in _PASSING else "never"
            found = NeededTool(name, verdict, kind, str(failure))
        elif why := calls.withheld_tools.why_withheld(original):
            found = NeededTool(name, "never", "held", why)
        if found.verdict == "never":
            break
    return found
