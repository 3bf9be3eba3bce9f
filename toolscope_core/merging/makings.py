"""What sets of tools become and what speaks against it, each worked out once: a decision on one
cluster leaves the thousands of others as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolscope_core.datamodel import Catalog, Kind, Tool
from toolscope_core.merging.alignment import unit_conflicts
from toolscope_core.merging.guards import Families, guards
from toolscope_core.merging.synthesis import Synthesis, synthesise

Members = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """What the members do not share, in sentences: ``units`` where a gateway keeps arguments
    apart, ``guards`` as in that module.
    """

    units: tuple[str, ...]
    guards: tuple[str, ...]


class Makings:
    """For one catalog; members are ids, sorted."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._tools = catalog.by_id
        self._blocked = catalog.blocked
        self._families = Families(catalog.tools)
        self._made: dict[tuple[Members, str | None], Synthesis] = {}
        self._differences: dict[tuple[Members, str, Kind], Differences] = {}

    def of(self, members: Sequence[str]) -> list[Tool]:
        """The tools themselves."""
        return [self._tools[member] for member in members]

    def synthesis(self, members: Members, canonical: str | None) -> Synthesis:
        """What the members would become, with a chosen canonical if any."""
        key = members, canonical
        if key not in self._made:
            self._made[key] = synthesise(self.of(members), self._blocked, canonical)
        return self._made[key]

    def differences(self, members: Members, canonical: str, kind: Kind) -> Differences:
        """What a person must read of a merge of this kind into the canonical."""
        key = members, canonical, kind
        if key not in self._differences:
            tools, stays = self.of(members), self._tools[canonical]
            others = [tool for tool in tools if tool is not stays] if kind == "router" else []
            self._differences[key] = Differences(
                units=tuple(said for tool in others for said in unit_conflicts(tool, stays)),
                guards=guards(tools, canonical, kind, self._families),
            )
        return self._differences[key]
