"""What a gateway would find if it served now: every server opened, listed and compared."""

from __future__ import annotations

from dataclasses import dataclass

from toolscope_core.gateway.bundle_routes import ServedBundle
from toolscope_core.gateway.call_log import CallLog
from toolscope_core.gateway.running import GatewayConfig, open_gateway


@dataclass(frozen=True, slots=True)
class ServerState:
    """One server: how many tools it declares; names of originals that are ``changed`` or
    ``missing``, and of tools that are ``new``; ``failure`` where it could not be listed.
    """

    name: str
    tools: int = 0
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    failure: str = ""

    @property
    def is_as_exported(self) -> bool:
        """Whether all originals are there as they were; new tools do not matter."""
        return not (self.failure or self.changed or self.missing)


def check_servers(bundle: ServedBundle, config: GatewayConfig) -> tuple[ServerState, ...]:
    """The state of every server that calls may reach, in the order of their names. Have no event
    loop in this thread.
    """
    import anyio

    async def run() -> tuple[ServerState, ...]:
        async with open_gateway(bundle, config, CallLog()) as gateway:
            failures = await gateway.open_all()
            declared = gateway.held.declared
            names = {one.tool_id: one.name for one in bundle.came_in}
            return tuple(
                ServerState(name, failure=failures[name])
                if name in failures
                else ServerState(
                    name,
                    len(declared[name].by_name),
                    tuple(sorted(names[one] for one in declared[name].changed)),
                    tuple(sorted(names[one] for one in declared[name].missing)),
                    declared[name].new,
                )
                for name in bundle.table.servers
            )

    return anyio.run(run)
