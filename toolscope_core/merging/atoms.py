"""The merge graph by row, cut into what correction looks at: atoms, and the close pairs of each
connected component. All in arrays, so that a hundred thousand edges take a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.datamodel import Constraints

Rows = NDArray[np.int32]
Atom = int

RowJudge = Callable[[Rows, Rows], NDArray[np.float64]]
"""Merge probabilities of pairs of rows, in their order."""


@dataclass(frozen=True, slots=True, eq=False)
class RowGraph:
    """Edges from ``left`` to ``right``, rows into ``ids`` (ascending); ``copies`` has for each row
    the first one of equal content.
    """

    ids: Sequence[str]
    copies: Rows
    left: Rows
    right: Rows


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """What cannot be divided: must-linked groups, and copies of which no one is spoken of.

    ``members`` are rows: those of atom i from ``start[i]`` to ``start[i + 1]``. Atoms of one
    ``component``, numbered from 0, follow each other in the order of their first members; ``home``
    is the atom of a row, −1 outside the graph. ``decided`` atoms are must-linked; ``apart`` are
    pairs of one component that people keep apart, sorted.
    """

    members: NDArray[np.int64]
    start: NDArray[np.int64]
    component: NDArray[np.int64]
    home: NDArray[np.int64]
    decided: frozenset[Atom]
    apart: tuple[tuple[Atom, Atom], ...]

    def rows(self, atoms: Sequence[Atom]) -> list[int]:
        """The members of some atoms, ascending."""
        if isinstance(atoms, range):
            return sorted(self.members[self.start[atoms.start] : self.start[atoms.stop]].tolist())
        members: list[int] = []
        for atom in atoms:
            members += self.members[self.start[atom] : self.start[atom + 1]].tolist()
        return sorted(members)


@dataclass(frozen=True, slots=True, eq=False)
class AtomComponent:
    """Atoms from ``first`` on, ``size`` of them. The close pairs are columns, numbered within the
    component: ``strength`` is the lowest probability between two atoms. ``apart`` as in ``Atoms``,
    numbered within too. ``weakest`` is the lowest strength of any two atoms: 0 where some are not
    close or kept apart, 1 for a single atom.
    """

    first: Atom
    size: int
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    strength: NDArray[np.float64]
    apart: tuple[tuple[int, int], ...]
    weakest: float


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """The connected components: their atoms begin at ``first``, their close pairs, which are
    columns over all atoms, at ``begin``; both have an end. ``weakest`` as in ``Component``;
    ``spoken`` tells where people put tools together or keep them apart.
    """

    first: NDArray[np.int64]
    begin: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    strength: NDArray[np.float64]
    apart: Mapping[int, tuple[tuple[Atom, Atom], ...]]
    weakest: NDArray[np.float64]
    spoken: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.weakest)

    def __getitem__(self, at: int) -> AtomComponent:
        first, end = int(self.first[at]), int(self.first[at + 1])
        own = slice(self.begin[at], self.begin[at + 1])
        return AtomComponent(
            first=first,
            size=end - first,
            left=self.left[own] - first,
            right=self.right[own] - first,
            strength=self.strength[own],
            apart=tuple((one - first, other - first) for one, other in self.apart.get(at, ())),
            weakest=float(self.weakest[at]),
        )


def component_of(graph: RowGraph) -> NDArray[np.int32]:
    """Which connected component each row is in; a row without edges is one of its own."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = len(graph.ids)
    edges = coo_array((np.ones(len(graph.left)), (graph.left, graph.right)), shape=(size, size))
    labels: NDArray[np.int32] = connected_components(edges, directed=False)[1]  # (rows,)
    return labels


def atoms_of(graph: RowGraph, constraints: Constraints) -> Atoms:
    """The atoms of a graph that has the must-links of ``constraints`` as edges."""
    size, component = len(graph.ids), component_of(graph)
    inside = np.zeros(size, dtype=bool)
    inside[graph.left] = inside[graph.right] = True
    spoken = constraints.cannot or constraints.must
    row = {tool: at for at, tool in enumerate(graph.ids)} if spoken else {}
    apart = [(row.get(pair.left, -1), row.get(pair.right, -1)) for pair in constraints.cannot]
    joined = [sorted(row[tool] for tool in group) for group in constraints.must]
    # own: (rows,) the row that stands for each row's atom; free: rows that no decision names, which
    # alone may join their copies.
    own, free = np.arange(size), inside.copy()
    free[[tool for tools in (*apart, *joined) for tool in tools if tool >= 0]] = False
    first = graph.copies
    alike = free & free[first] & (component == component[first])
    own[alike] = first[alike]
    for group in joined:
        own[group] = group[0]
    # Members of one atom must be neighbours: sorted by component, then atom, then row. An atom or
    # component begins wherever the value differs from the one before it; the sum of the beginnings
    # up to a place, less one, is its number. All of shape (rows inside the graph,).
    tools = np.flatnonzero(inside)
    members = tools[np.lexsort((tools, own[tools], component[tools]))]
    number = np.cumsum(np.diff(component[members], prepend=-1) != 0) - 1
    begins = np.diff(own[members], prepend=-1) != 0
    home = np.full(size, -1)
    home[members] = np.cumsum(begins) - 1
    start = np.flatnonzero(begins)  # (atoms,); Atoms.start has the end of the last one too
    return Atoms(
        members=members,
        start=np.append(start, len(members)),
        component=number[start],
        home=home,
        decided=frozenset(int(home[group[0]]) for group in joined),
        apart=tuple(
            sorted(
                (int(min(home[a], home[b])), int(max(home[a], home[b])))
                for a, b in apart
                if min(a, b) >= 0 and inside[a] and inside[b] and component[a] == component[b]
            )
        ),
    )


def components(graph: RowGraph, atoms: Atoms, judge: RowJudge) -> Components:
    """The connected components with their close pairs: atoms with an edge between them, or with a
    common neighbour. The judge is asked once, for the tools of all of them.
    """
    left, right = _close_pairs(graph, atoms)
    strength = _strength(atoms, left, right, judge)
    # Atoms are in the order of their components and pairs in the order of their left atoms, so a
    # component's atoms and pairs are slices: first and begin, of shape (components + 1,).
    total = int(atoms.component[-1]) + 1 if len(atoms.component) else 0
    first = np.searchsorted(atoms.component, np.arange(total + 1))
    begin = np.searchsorted(left, first)
    size, pairs = np.diff(first), np.diff(begin)
    weakest = np.where(size == 1, 1.0, 0.0)
    # reduceat takes the minimum of each slice; an empty one would give its neighbour's first value.
    some = np.flatnonzero(pairs)
    if len(some):
        weakest[some] = np.minimum.reduceat(strength, begin[some])
    weakest[pairs < size * (size - 1) // 2] = 0.0  # some two atoms are not close
    apart: dict[int, tuple[tuple[Atom, Atom], ...]] = {}
    for pair in atoms.apart:
        at = int(atoms.component[pair[0]])
        apart[at] = (*apart.get(at, ()), pair)
    weakest[list(apart)] = 0.0
    spoken = np.zeros(total, dtype=bool)
    spoken[[*apart, *(atoms.component[atom] for atom in atoms.decided)]] = True
    return Components(first, begin, left, right, strength, apart, weakest, spoken)


def _close_pairs(graph: RowGraph, atoms: Atoms) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Close atoms, each pair once, left < right, sorted."""
    from scipy.sparse import coo_array, triu

    left, right = atoms.home[graph.left], atoms.home[graph.right]
    left, right = left[left != right], right[left != right]
    count = len(atoms.component)
    ends = np.concatenate([left, right]), np.concatenate([right, left])
    # near: sparse (atoms, atoms), the number of edges between two. Its square counts paths of two
    # edges, that is common neighbours; above the diagonal each pair stands once.
    near = coo_array((np.ones(len(ends[0]), dtype=np.int32), ends), shape=(count, count)).tocsr()
    close = triu(near @ near + near, 1).tocoo()
    # A pair as one number sorts by left, then right, faster than two columns would.
    code = np.sort(close.row.astype(np.int64) * count + close.col)
    return code // max(count, 1), code % max(count, 1)


def _strength(
    atoms: Atoms, left: NDArray[np.int64], right: NDArray[np.int64], judge: RowJudge
) -> NDArray[np.float64]:
    """The lowest probability between the tools of each two atoms."""
    # The product of the members of each two atoms, laid out flat: of the pair i, which begins at
    # begins[i] and has sizes[left] * sizes[right] = count[i] places, the place k holds the member
    # k // wide of the left atom and k % wide of the right one. pair, place and wide are of shape
    # (sum of count,), so that the judge is asked once for all of them.
    sizes = np.diff(atoms.start)
    count = sizes[left] * sizes[right]
    begins = np.cumsum(count) - count
    pair = np.repeat(np.arange(len(left)), count)
    place, wide = np.arange(len(pair)) - begins[pair], sizes[right][pair]
    one = atoms.members[atoms.start[left][pair] + place // wide].astype(np.int32)
    other = atoms.members[atoms.start[right][pair] + place % wide].astype(np.int32)
    answers = judge(np.minimum(one, other), np.maximum(one, other))
    return np.minimum.reduceat(answers, begins) if len(begins) else np.zeros(0)
