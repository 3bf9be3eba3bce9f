"""What a threshold does to clusters: which edge holds one together, what changed between two
thresholds.

For every threshold at once it is enough to know the strongest spanning forest: what the edges at
or above a threshold connect, those of them in the forest connect as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.tool import sorted_ids

Rows = NDArray[np.int32]
Members = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Regrouped:
    """A cluster of ``members`` (ids, sorted) that gained or lost: ``parts`` are what came
    together, or what it fell into, single tools included.
    """

    members: Members
    parts: tuple[Members, ...]


@dataclass(frozen=True, slots=True)
class ClusterChanges:
    """How clusters differ from those before: new ones, ones that took more tools in, ones that
    fell apart, ones of which no two tools are left together. The largest first, then by ids.
    """

    appeared: tuple[Members, ...] = ()
    grown: tuple[Regrouped, ...] = ()
    split: tuple[Regrouped, ...] = ()
    vanished: tuple[Members, ...] = ()

    def __len__(self) -> int:
        return len(self.appeared) + len(self.grown) + len(self.split) + len(self.vanished)


def changes(before: Sequence[Members], after: Sequence[Members]) -> ClusterChanges:
    """What became of the clusters ``before``. A cluster may have both fallen apart and grown."""
    same = set(before) & set(after)
    before, after = ([one for one in side if one not in same] for side in (before, after))
    appeared, grown = [], []
    for members, parts in _traced(after, before):
        if all(len(part) == 1 for part in parts):
            appeared.append(members)
        elif len(parts) > 1:
            grown.append(Regrouped(members, parts))
    vanished, split = [], []
    for members, parts in _traced(before, after):
        if all(len(part) == 1 for part in parts):
            vanished.append(members)
        elif len(parts) > 1:
            split.append(Regrouped(members, parts))
    return ClusterChanges(
        appeared=tuple(sorted(appeared, key=_largest)),
        grown=tuple(sorted(grown, key=lambda item: _largest(item.members))),
        split=tuple(sorted(split, key=lambda item: _largest(item.members))),
        vanished=tuple(sorted(vanished, key=_largest)),
    )


def strongest_forest(
    left: Rows, right: Rows, weight: NDArray[np.float64], size: int
) -> NDArray[np.int64]:
    """Places of the edges (each pair once, weights in [0, 2]) of a maximum spanning forest over
    ``size`` rows, the weakest first, ties by place.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    edges = coo_array((3.0 - weight, (left, right)), shape=(size, size))
    tree = minimum_spanning_tree(edges.tocsr()).tocoo()
    kept = np.flatnonzero(
        np.isin(left.astype(np.int64) * size + right, tree.row.astype(np.int64) * size + tree.col)
    )
    return kept[np.lexsort((kept, weight[kept]))]


def sides(left: Rows, right: Rows, edge: int, size: int) -> tuple[NDArray[np.int64], ...]:
    """The rows that hang on either end of ``edge`` of a forest once it is gone, ascending."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rest = np.arange(len(left)) != edge
    edges = coo_array((np.ones(rest.sum()), (left[rest], right[rest])), shape=(size, size))
    label = connected_components(edges, directed=False)[1]
    return tuple(np.flatnonzero(label == label[end[edge]]) for end in (left, right))


def _traced(
    clusters: Sequence[Members], others: Sequence[Members]
) -> list[tuple[Members, tuple[Members, ...]]]:
    """Each cluster with its members as the others group them, the largest part first."""
    home = {tool: place for place, members in enumerate(others) for tool in members}
    mapped = []
    for members in clusters:
        parts: dict[int | str, list[str]] = {}
        for tool in members:
            parts.setdefault(home.get(tool, tool), []).append(tool)
        ordered = sorted((sorted_ids(part) for part in parts.values()), key=_largest)
        mapped.append((members, tuple(ordered)))
    return mapped


def _largest(members: Members) -> tuple[int, Members]:
    return -len(members), members
