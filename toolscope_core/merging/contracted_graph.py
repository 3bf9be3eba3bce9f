"""The merge graph by row, contracted for correction: nodes, and the close pairs of each component.

All data is in arrays, so a hundred thousand edges take a fraction of a second.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, combinations
from operator import or_
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.cluster import Group
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair

_Rows = NDArray[np.int32]
_Node = int

RowJudge = Callable[[_Rows, _Rows], NDArray[np.float64]]
"""Merge probabilities for pairs of rows, in their order."""


def weakest_of_rows(groups: Sequence[Sequence[int]], judge: RowJudge) -> list[float]:
    """The lowest probability between any two rows of each group (two or more, ascending).

    The judge is asked once for all groups.
    """
    if not groups:
        return []
    pairs = [list(combinations(rows, 2)) for rows in groups]
    ends = np.array(list(chain.from_iterable(pairs)), dtype=np.int32)
    begins = np.cumsum([0, *map(len, pairs[:-1])])
    weakest: list[float] = np.minimum.reduceat(judge(ends[:, 0], ends[:, 1]), begins).tolist()
    return weakest


@dataclass(frozen=True, slots=True, eq=False)
class RowGraph:
    """Edges from ``left`` to ``right``, rows into ``ids`` (ascending).

    ``copies`` has, for each row, the first row with equal content.
    """

    ids: Sequence[str]
    copies: _Rows
    left: _Rows
    right: _Rows


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Indivisible sets: must-linked groups, and copies that no decision mentions.

    ``members`` are rows; node i has the rows from ``start[i]`` to ``start[i + 1]``. Nodes of one
    ``component``, numbered from 0, follow each other in the order of their first members. ``home``
    is the node of a row, −1 outside the graph. ``must_linked`` are nodes that people joined;
    ``cannot`` are pairs in one component that people keep apart, sorted.
    """

    members: NDArray[np.int64]
    start: NDArray[np.int64]
    component: NDArray[np.int64]
    home: NDArray[np.int64]
    must_linked: frozenset[_Node]
    cannot: tuple[tuple[_Node, _Node], ...]

    def rows(self, nodes: Sequence[_Node]) -> list[int]:
        """The members of some nodes, ascending."""
        if isinstance(nodes, range):
            return sorted(self.members[self.start[nodes.start] : self.start[nodes.stop]].tolist())
        members: list[int] = []
        for node in nodes:
            members += self.members[self.start[node] : self.start[node + 1]].tolist()
        return sorted(members)


@dataclass(frozen=True, slots=True, eq=False)
class NodeComponent:
    """A component of ``size`` nodes, starting at ``first``.

    The close pairs are stored as columns and numbered within the component; ``strength`` is the
    lowest probability between two nodes. ``cannot`` is as in ``Nodes``, but numbered within the
    component. ``weakest`` is the lowest strength of any two nodes: 0 if some are not close or are
    kept apart, 1 for a single node.
    """

    first: _Node
    size: int
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    strength: NDArray[np.float64]
    cannot: tuple[tuple[int, int], ...]
    weakest: float


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """The connected components.

    Their nodes begin at ``first``. Their close pairs, which are columns over all nodes, begin at
    ``begin``. Both arrays include an end. ``weakest`` is as in ``NodeComponent``. ``has_decisions``
    says in which components people put tools together or keep them apart.
    """

    first: NDArray[np.int64]
    begin: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    strength: NDArray[np.float64]
    cannot: Mapping[int, tuple[tuple[_Node, _Node], ...]]
    weakest: NDArray[np.float64]
    has_decisions: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.weakest)

    def __getitem__(self, at: int) -> NodeComponent:
        first, end = int(self.first[at]), int(self.first[at + 1])
        own = slice(self.begin[at], self.begin[at + 1])
        return NodeComponent(
            first=first,
            size=end - first,
            left=self.left[own] - first,
            right=self.right[own] - first,
            strength=self.strength[own],
            cannot=tuple((one - first, other - first) for one, other in self.cannot.get(at, ())),
            weakest=float(self.weakest[at]),
        )


def component_of(graph: RowGraph) -> NDArray[np.int32]:
    """The connected component of each row; a row without edges has its own."""
    lowest = np.arange(len(graph.ids))  # the rows that each row was found to be joined to
    while True:  # scipy gives the same result, but its import takes longer than a small catalog
        lower = lowest.copy()
        np.minimum.at(lower, graph.left, lowest[graph.right])
        np.minimum.at(lower, graph.right, lowest[graph.left])
        lower = lower[lower]
        if np.array_equal(lower, lowest):
            return np.unique(lowest, return_inverse=True)[1].astype(np.int32)
        lowest = lower


class ComponentGroups:
    """The groups that were last made of each component of a graph. A decision changes few of
    them.
    """

    def __init__(self) -> None:
        self._groups: dict[Hashable, tuple[Group, ...]] = {}

    def of(
        self,
        graph: RowGraph,
        make: Callable[[RowGraph], Iterable[Group]],
        cannot: Iterable[Pair],
        facts: Mapping[int, Hashable] = MappingProxyType({}),
    ) -> tuple[Group, ...]:
        """The groups that ``make`` gives for a graph, sorted. It is asked only about components
        that were not there last time.

        A group has tools of one component. It depends on the component's edges and copies, on the
        ``cannot`` pairs with a tool in it and on the ``facts`` by row.
        """
        if not len(graph.left):
            return ()
        last, component = self._groups, component_of(graph)
        home = dict(zip(graph.ids, component.tolist(), strict=True))
        apart: dict[int, list[Pair]] = {}
        for pair in sorted(cannot):
            for number in {home[pair.left], home[pair.right]}:
                apart.setdefault(number, []).append(pair)
        edges = np.stack([graph.left, graph.right], axis=1)
        edges = edges[np.lexsort((*edges.T[::-1], component[graph.left]))]
        numbers, begins = np.unique(component[edges[:, 0]], return_index=True)
        keys: dict[int, Hashable] = {}
        for number, own in zip(numbers.tolist(), np.split(edges, begins[1:]), strict=True):
            decided = tuple(apart.get(number, ())), *map(facts.get, own.ravel().tolist())
            keys[number] = own.tobytes(), graph.copies[own].tobytes(), decided
        groups = {key: last.get(key, ()) for key in keys.values()}
        new = [number for number, key in keys.items() if key not in last]
        if new:
            is_new = np.isin(component[graph.left], new)
            part = replace(graph, left=graph.left[is_new], right=graph.right[is_new])
            for group in make(part):
                groups[keys[home[group.members[0]]]] += (group,)
        self._groups = groups
        return tuple(sorted(chain(*groups.values()), key=lambda group: group.members))


def nodes_of(graph: RowGraph, constraints: Constraints) -> Nodes:
    """The nodes of a graph that includes the must-links of ``constraints`` as edges."""
    size, component = len(graph.ids), component_of(graph)
    inside = np.zeros(size, dtype=bool)
    inside[graph.left] = inside[graph.right] = True
    has_links = constraints.cannot or constraints.must
    row = {tool: at for at, tool in enumerate(graph.ids)} if has_links else {}
    cannot = [(row.get(pair.left, -1), row.get(pair.right, -1)) for pair in constraints.cannot]
    must = [sorted(row[tool] for tool in group) for group in constraints.must]
    # own: (rows,) the row that stands for each row's node; free: rows that no decision names, which
    # alone may join their copies.
    own, free = np.arange(size), inside.copy()
    free[[tool for tools in (*cannot, *must) for tool in tools if tool >= 0]] = False
    first = graph.copies
    alike = free & free[first] & (component == component[first])
    own[alike] = first[alike]
    for group in must:
        own[group] = group[0]
    # Members of one node must be neighbours: sorted by component, then node, then row. A node or
    # component begins wherever the value differs from the value before it; the number of the node
    # or component is the count of beginnings up to that place, less one. All of shape (rows inside
    # the graph,).
    tools = np.flatnonzero(inside)
    members = tools[np.lexsort((tools, own[tools], component[tools]))]
    number = np.cumsum(np.diff(component[members], prepend=-1) != 0) - 1
    begins = np.diff(own[members], prepend=-1) != 0
    home = np.full(size, -1)
    home[members] = np.cumsum(begins) - 1
    start = np.flatnonzero(begins)  # (nodes,); Nodes.start also has the end of the last node
    return Nodes(
        members=members,
        start=np.append(start, len(members)),
        component=number[start],
        home=home,
        must_linked=frozenset(int(home[group[0]]) for group in must),
        cannot=tuple(
            sorted(
                (int(min(home[a], home[b])), int(max(home[a], home[b])))
                for a, b in cannot
                if min(a, b) >= 0 and inside[a] and inside[b] and component[a] == component[b]
            )
        ),
    )


def components(graph: RowGraph, nodes: Nodes, judge: RowJudge) -> Components:
    """The connected components with their close pairs.

    Nodes are close if they have an edge or a common neighbour. The judge is asked once for the
    tools of all components.
    """
    left, right = _close_pairs(graph, nodes)
    strength = _strength(nodes, left, right, judge)
    # Nodes are in the order of their components and pairs in the order of their left nodes, so a
    # component's nodes and pairs are slices: first and begin, of shape (components + 1,).
    total = int(nodes.component[-1]) + 1 if len(nodes.component) else 0
    first = np.searchsorted(nodes.component, np.arange(total + 1))
    begin = np.searchsorted(left, first)
    size, pairs = np.diff(first), np.diff(begin)
    weakest = np.where(size == 1, 1.0, 0.0)
    # reduceat takes the minimum of each slice; an empty slice would give its neighbour's first
    # value.
    some = np.flatnonzero(pairs)
    if len(some):
        weakest[some] = np.minimum.reduceat(strength, begin[some])
    weakest[pairs < size * (size - 1) // 2] = 0.0  # some two nodes are not close
    cannot: dict[int, tuple[tuple[_Node, _Node], ...]] = {}
    for pair in nodes.cannot:
        at = int(nodes.component[pair[0]])
        cannot[at] = (*cannot.get(at, ()), pair)
    weakest[list(cannot)] = 0.0
    has_decisions = np.zeros(total, dtype=bool)
    has_decisions[[*cannot, *(nodes.component[node] for node in nodes.must_linked)]] = True
    return Components(first, begin, left, right, strength, cannot, weakest, has_decisions)


def _close_pairs(graph: RowGraph, nodes: Nodes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Close nodes, each pair once, left < right, sorted."""
    left, right = nodes.home[graph.left], nodes.home[graph.right]
    left, right = left[left != right], right[left != right]
    code = np.unique(np.concatenate([left, right]) * len(nodes.home) + [*right, *left])
    left, right = code // len(nodes.home), code % len(nodes.home)
    # A set of nodes is a whole number: its bit i stands for the node i of the component.
    first = np.searchsorted(nodes.component, nodes.component).tolist()
    neighbours: list[list[int]] = [[] for _ in first]
    near = [0] * len(first)
    for node, neighbour in zip(left.tolist(), right.tolist(), strict=True):
        neighbours[node].append(neighbour)
        near[node] |= 1 << (neighbour - first[node])
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for node, own in enumerate(neighbours):
        close = reduce(or_, map(near.__getitem__, own), near[node]) >> (node - first[node] + 1)
        content = np.frombuffer(close.to_bytes(close.bit_length() // 8 + 1, "little"), np.uint8)
        above = np.flatnonzero(np.unpackbits(content, bitorder="little"))
        pairs.append(np.column_stack([np.full(len(above), node), above + node + 1]))
    ends = np.concatenate(pairs)
    return ends[:, 0], ends[:, 1]


def _strength(
    nodes: Nodes, left: NDArray[np.int64], right: NDArray[np.int64], judge: RowJudge
) -> NDArray[np.float64]:
    """The lowest probability between the tools of the two nodes in each pair."""
    # The product of the members of each two nodes, laid out flat: of the pair i, which begins at
    # begins[i] and has sizes[left] * sizes[right] = count[i] places, the place k holds the member
    # k // wide of the left node and k % wide of the right one. pair, place and wide are of shape
    # (sum of count,), so that the judge is asked once for all of them.
    sizes = np.diff(nodes.start)
    count = sizes[left] * sizes[right]
    begins = np.cumsum(count) - count
    pair = np.repeat(np.arange(len(left)), count)
    place, wide = np.arange(len(pair)) - begins[pair], sizes[right][pair]
    one = nodes.members[nodes.start[left][pair] + place // wide].astype(np.int32)
    other = nodes.members[nodes.start[right][pair] + place % wide].astype(np.int32)
    answers = judge(np.minimum(one, other), np.maximum(one, other))
    return np.minimum.reduceat(answers, begins) if len(begins) else np.zeros(0)
