"""Reads what the original servers declare now, and decides which originals are held back."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import anyio

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.mcp.gateway.routing import Original, Route
from toolscope_core.mcp.servers.offers import LISTING_TOOLS, read_tools, without_secrets
from toolscope_core.mcp.servers.sessions import OpenServer
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.tool import JsonObject, Tool


@dataclass(frozen=True, slots=True)
class DeclaredTools:
    """The tools of one server, keyed by name, and how they differ from the server's originals.

    ``changed`` maps the id of each changed tool to the reasons for withholding the tool; the
    reasons are empty if the tool is not withheld. ``missing`` lists the ids of missing tools.
    ``new`` lists the names that are not in the original toolset. ``twice`` lists the names that are
    declared with different texts. ``notes`` are sentences about parts that were not read.
    """

    by_name: Mapping[str, Tool] = field(default_factory=dict)
    changed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    new: tuple[str, ...] = ()
    twice: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def held(self) -> frozenset[str]:
        """The ids of changed originals that are held back."""
        return frozenset(one for one, reasons in self.changed.items() if reasons)


Review = Callable[[Original, Tool], Sequence[str]]
"""Takes an original and the tool that its server declares in its place. Returns the reasons why a
person must look at the tool before it is called, in a few words each. Returns nothing if the change
breaks no call and misleads nobody.
"""


def hold_every_change(original: Original, tool: Tool) -> Sequence[str]:
    """A review that holds back every change."""
    return ("every changed tool is withheld",)


def declared_tools(
    server: str,
    records: Sequence[JsonObject],
    originals: Sequence[Original],
    notes: Sequence[str] = (),
    review: Review = hold_every_change,
) -> DeclaredTools:
    """A server's own records, compared with ``originals``, which are all of the server's tools in
    the input.

    ``server`` is the server's name in the catalog, which is part of the fingerprints. An original
    without a fingerprint in the bundle counts as *changed*.
    """
    tools, unread = _read(server, records)
    by_name = {tool.name: tool for tool in tools}
    words = {(tool.name, tool.fingerprint) for tool in tools}
    sentences = [f"{server}: {note}" for note in notes]
    if unread:
        these = "record that is" if unread == 1 else "records that are"
        sentences.append(f"{server} lists {unread:,} {these} not a tool; the others are read")
    return DeclaredTools(
        by_name,
        changed={
            one.tool_id: review(one, by_name[one.name])
            for one in originals
            if one.name in by_name and by_name[one.name].fingerprint != one.fingerprint
        },
        missing=frozenset(one.tool_id for one in originals if one.name not in by_name),
        new=tuple(sorted(by_name.keys() - {one.name for one in originals})),
        twice=frozenset(
            name for name, uses in Counter(name for name, _ in words).items() if uses > 1
        ),
        notes=tuple(sentences),
    )


def _read(server: str, records: Sequence[JsonObject]) -> tuple[tuple[Tool, ...], int]:
    """The records as tools of that server, and the number of invalid records."""
    document = {"servers": [{"name": server, "tools": list(records)}]}
    content = json.dumps(document).encode("utf-8", "backslashreplace")
    try:
        catalog = read_catalog([Source("tools/list", content)])
    except CatalogError:
        return (), len(records)
    return catalog.tools, len(catalog.problems)


def _is_new(server: str, tool: str) -> str:
    return (
        f"{tool!r} of {server} is new and waits for review: connect again, merge, and serve the "
        "new bundle"
    )


OnChange = Literal["hold", "review", "pass"]


class WithheldTools:
    """The tools that servers declare, as far as the servers have been asked.

    ``originals`` has, for each server, all originals that the toolset represents. ``review``
    decides which changes are held back.
    """

    def __init__(
        self,
        originals: Mapping[str, Sequence[Original]],
        limits: ConnectionLimits,
        on_change: OnChange = "hold",
        review: Review = hold_every_change,
    ) -> None:
        self._originals, self._limits, self._on_change = originals, limits, on_change
        self._review = review if on_change == "review" else hold_every_change
        self.declared: dict[str, DeclaredTools] = {}
        self._locks: dict[str, anyio.Lock] = {}

    async def read(self, name: str, server: OpenServer) -> bool:
        """Ask the server for its tools; returns whether the tools that are held back changed.

        Raises ``ServerConnectionError`` if the server does not answer.
        """
        before = self._reasons(name)
        async with self._locks.setdefault(name, anyio.Lock()):  # pages of two listings would mix
            self.declared[name] = await self._declared(name, server)
        return self._reasons(name) != before

    async def _declared(self, name: str, server: OpenServer) -> DeclaredTools:
        records: Sequence[Mapping[str, object]] = ()
        notes: Sequence[str] = ()
        if server.client.server_capabilities.tools is not None:
            with server.request() as request:
                try:
                    records, notes = await read_tools(server, self._limits)
                except Exception as error:
                    failure = await server.failure(error, LISTING_TOOLS, request)
                    if failure is None:
                        raise
                    raise failure from None
        keys = server.launch.keys
        clean = [without_secrets(record, keys) for record in records] if keys else records
        originals = self._originals.get(name, ())
        return await anyio.to_thread.run_sync(
            declared_tools, name, clean, originals, notes, self._review
        )

    def sentences(self, name: str) -> list[str]:
        """Sentences about a server for the person who runs the gateway."""
        tools = self.declared.get(name, DeclaredTools())
        new = (_is_new(name, tool) for tool in tools.new)
        passed = (
            f"{one.name!r} of {name} has changed since this toolset was made; the change breaks "
            "no calls, so it can still be called"
            for one in self.passed(name)
        )
        return [*self._reasons(name), *passed, *new, *tools.notes]

    def passed(self, name: str) -> tuple[Original, ...]:
        """The originals of a server that have changed but are still called after a review."""
        changed = self.declared.get(name, DeclaredTools()).changed
        is_reviewed = self._on_change == "review"
        return tuple(
            one
            for one in self._originals.get(name, ())
            if is_reviewed and not changed.get(one.tool_id, ("",))
        )

    def _reasons(self, name: str) -> list[str]:
        reasons = map(self.why_withheld, self._originals.get(name, ()))
        return list(dict.fromkeys(reason for reason in reasons if reason))

    def why_new(self, tool: str) -> str:
        """Why a server's tool that is not in the toolset is not called, in a sentence. Empty if no
        server has such a tool.
        """
        having = (name for name, tools in self.declared.items() if tool in tools.new)
        return next((_is_new(name, tool) for name in having), "")

    def callable_routes(self, routes: Iterable[Route]) -> list[Route]:
        """The routes that can be called: at least one of their originals is not held back."""
        return [
            route
            for route in routes
            if not route.originals or not all(map(self.why_withheld, route.originals))
        ]

    def tool(self, original: Original) -> Tool | None:
        """The original as its server declares it now; ``None`` if that is unknown."""
        tools = self.declared.get(original.server)
        return tools.by_name.get(original.name) if tools else None

    def why_withheld(self, original: Original) -> str:
        """Why the tool is not called, in a sentence.

        Empty if the tool is called, or if its server was not asked.
        """
        tools = self.declared.get(original.server)
        if tools is None or self._on_change == "pass":
            return ""
        if original.name in tools.twice:
            return (
                f"{original.server} has two different tools named {original.name!r}, and nobody "
                "can tell which one it runs; both are held back until only one is left"
            )
        if original.tool_id in tools.held:
            return (
                f"{original.name!r} of {original.server} has changed since this toolset was made, "
                "so it is held back until somebody has reviewed it: "
                f"{'; '.join(tools.changed[original.tool_id])}"
            )
        if original.tool_id in tools.missing:
            return f"{original.server} no longer has a tool {original.name!r}"
        return ""
