"""What a gateway would find if it served now: every server opened, listed and compared."""

from dataclasses import dataclass, replace

import anyio

from toolscope_core.mcp.gateway.bundle_routes import ServedBundle, server_words
from toolscope_core.mcp.gateway.call_log import CallLog
from toolscope_core.mcp.gateway.held_tools import DeclaredTools
from toolscope_core.mcp.gateway.running import GatewayConfig, open_gateway


@dataclass(frozen=True, slots=True)
class ServerState:
    """One server: how many tools it declares; names of originals that are ``changed`` or
    ``missing``, of tools that are ``new`` and wait, and of those that stand ``twice``; ``failure``
    where it could not be listed.

    The others are sentences on tools of the toolset: those ``renamed`` for the gateway, what was
    ``mended`` so that all clients read it, and those ``withheld`` since that is not possible;
    ``notes`` say what of its list was not read; ``words`` what of its own words agents do not get.
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

    @property
    def is_as_exported(self) -> bool:
        """Whether all originals are there as they were; new tools do not matter."""
        return not (self.failure or self.changed or self.missing or self.twice)

    @property
    def is_served_whole(self) -> bool:
        """Whether clients get every tool of it that the toolset has, as it was exported."""
        return self.is_as_exported and not self.withheld


def check_servers(bundle: ServedBundle, config: GatewayConfig) -> tuple[ServerState, ...]:
    """The state of every server that calls may reach, in the order of their names. Have no event
    loop in this thread.
    """

    async def run() -> tuple[ServerState, ...]:
        async with open_gateway(bundle, config, CallLog()) as gateway:
            failures = await gateway.open_all()
            declared, words = gateway.calls.held_tools.declared, server_words(bundle).notes
            states = (
                _state(name, bundle, DeclaredTools(), failures[name])
                if name in failures
                else _state(name, bundle, declared[name], "")
                for name in bundle.table.servers
            )
            return tuple(replace(one, words=words.get(one.name, "")) for one in states)

    return anyio.run(run)


def _state(name: str, bundle: ServedBundle, declared: DeclaredTools, failure: str) -> ServerState:
    names, table = {one.tool_id: one.name for one in bundle.came_in}, bundle.table
    return ServerState(
        name,
        len(declared.by_name),
        tuple(sorted(names[one] for one in declared.changed)),
        tuple(sorted(names[one] for one in declared.missing)),
        declared.new,
        failure,
        table.renamed_of(name),
        table.mended_of(name),
        table.withheld_of(name),
        tuple(sorted(declared.twice & set(names.values()))),
        declared.notes,
    )
