"""Server against server in words: whose tools have a duplicate elsewhere, which two share most."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from toolscope_core.merging.analysis import Analysis


@dataclass(frozen=True, slots=True)
class ServerDuplicates:
    """How many of a server's tools have a duplicate on another server, and on which one most."""

    server: str
    tools: int
    duplicates: int
    most: str

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.duplicates / self.tools


@dataclass(frozen=True, slots=True)
class ServerPair:
    """Two servers, ``one`` before ``other``: how many tools of each are doubled on the other."""

    one: str
    other: str
    one_duplicates: int
    other_duplicates: int


@dataclass(frozen=True, slots=True)
class ServerOverlap:
    """All servers by share, then number of duplicates, then name; the pairs of servers by
    duplicates.

    A *duplicate* is an exact copy, or a candidate pair that the judge would merge; copies have each
    other's duplicates.
    """

    servers: tuple[ServerDuplicates, ...]
    pairs: tuple[ServerPair, ...]


def server_overlap(analysis: Analysis) -> ServerOverlap:
    """Whose tools have a duplicate on which other server; tools without a server are left aside."""
    sizes = Counter(tool.server for tool in analysis.catalog.tools if tool.server)
    duplicates: Counter[str] = Counter()
    shared: Counter[tuple[str, str]] = Counter()
    for server, elsewhere in _elsewhere(analysis):
        duplicates[server] += bool(elsewhere)
        for other in elsewhere:
            shared[server, other] += 1
    most = _most(shared)
    rows = [
        ServerDuplicates(server, tools, duplicates[server], most.get(server, ""))
        for server, tools in sizes.items()
    ]
    pairs = [
        ServerPair(one, other, count, shared[other, one])
        for (one, other), count in shared.items()
        if one < other
    ]
    return ServerOverlap(
        servers=tuple(sorted(rows, key=lambda r: (-r.share, -r.duplicates, r.server))),
        pairs=tuple(
            sorted(pairs, key=lambda p: (-p.one_duplicates - p.other_duplicates, p.one, p.other))
        ),
    )


def _elsewhere(analysis: Analysis) -> list[tuple[str, set[str]]]:
    """Of each tool with a server: that server, and the other ones where it has a duplicate."""
    tools, scores = analysis.catalog.tools, analysis.scores
    group = analysis.first.tolist()
    places: dict[int, set[str]] = {}
    for tool, first in zip(tools, group, strict=True):
        places.setdefault(first, set()).add(tool.server)
    alike: dict[int, set[int]] = {first: {first} for first in places}
    for row in np.flatnonzero(scores.probability >= analysis.judge.weights.merge_at).tolist():
        left, right = group[scores.left[row]], group[scores.right[row]]
        alike[left].add(right)
        alike[right].add(left)
    reach = {first: set().union(*(places[near] for near in alike[first])) for first in places}
    return [
        (tool.server, reach[first] - {tool.server, ""})
        for tool, first in zip(tools, group, strict=True)
        if tool.server
    ]


def _most(shared: Counter[tuple[str, str]]) -> dict[str, str]:
    """Of each server the one where most of its tools have a duplicate, ties by name."""
    best: dict[str, tuple[int, str]] = {}
    for (server, other), count in shared.items():
        best[server] = min(best.get(server, (0, "")), (-count, other))
    return {server: other for server, (_, other) in best.items()}
