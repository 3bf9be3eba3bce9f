"""Which originals are held back, because they are not what was exported any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import anyio

from toolscope_core.mcp.gateway.declared_tools import DeclaredTools, declared_tools
from toolscope_core.mcp.gateway.routing import Original, Route
from toolscope_core.mcp.servers.offers import LISTING_TOOLS, read_tools, without_secrets
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.tool import JsonObject, Tool

if TYPE_CHECKING:
    from toolscope_core.mcp.servers.sessions import OpenServer

OnChange = Literal["hold", "pass"]


class HeldTools:
    """What the servers declare, as far as they have been asked; ``originals`` by server, all that
    the toolset stands for.
    """

    def __init__(
        self,
        originals: Mapping[str, Sequence[Original]],
        limits: ConnectionLimits,
        on_change: OnChange = "hold",
    ) -> None:
        self._originals, self._limits, self._on_change = originals, limits, on_change
        self.declared: dict[str, DeclaredTools] = {}
        self._locks: dict[str, anyio.Lock] = {}

    async def read(self, name: str, server: OpenServer) -> bool:
        """Ask the server for its tools; whether other ones are held back than before.

        Raises ``ServerConnectionError`` where it does not answer.
        """
        before = self.sentences(name)
        async with self._locks.setdefault(name, anyio.Lock()):  # pages of two listings would mix
            self.declared[name] = await self._declared(name, server)
        return self.sentences(name) != before

    async def _declared(self, name: str, server: OpenServer) -> DeclaredTools:
        records: Sequence[Mapping[str, object]] = ()
        if server.client.server_capabilities.tools is not None:
            with server.request() as request:
                try:
                    records, _ = await read_tools(server, self._limits)
                except Exception as error:
                    failure = await server.failure(error, LISTING_TOOLS, request)
                    if failure is None:
                        raise
                    raise failure from None
        keys = server.launch.keys
        clean = [without_secrets(record, keys) for record in records] if keys else records
        return declared_tools(name, clean, self._originals.get(name, ()))

    def sentences(self, name: str) -> list[str]:
        """What the person who runs the gateway should know of a server, a sentence each."""
        reasons = map(self.why_held, self._originals.get(name, ()))
        return [reason for reason in reasons if reason]

    def callable_records(self, routes: Iterable[Route]) -> list[JsonObject]:
        """The records of tools that can be called, those with an original that is not held."""
        return [
            route.record
            for route in routes
            if not route.originals or not all(map(self.why_held, route.originals))
        ]

    def tool(self, original: Original) -> Tool | None:
        """The original as its server declares it now, ``None`` where that is not known."""
        declared = self.declared.get(original.server)
        return declared.by_name.get(original.name) if declared else None

    def why_held(self, original: Original) -> str:
        """Why it is not called, in a sentence; empty where it is, or its server was not asked."""
        declared = self.declared.get(original.server)
        if declared is None or self._on_change == "pass":
            return ""
        if original.tool_id in declared.changed:
            return (
                f"{original.name!r} of {original.server} is not what it was when this toolset was "
                "made, and waits until somebody has looked at it"
            )
        if original.tool_id in declared.missing:
            return f"{original.server} has no tool {original.name!r} any more"
        return ""
