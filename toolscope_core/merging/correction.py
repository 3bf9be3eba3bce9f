"""Offline Auto-Correction: divide a component until every pair inside is a merge, or has a witness.

ToolScope (section 3.2, equation 2) asks a model to split a cluster or to drop members. Offline, the
pair judge answers for every two members that are joined directly or through a third tool. The
component is then agglomerated by its *weakest* pair (complete linkage on 1 - p), so that a chain of
good pairs does not include a bad one. If the pair of two tools is doubtful but both merge with the
same third tool, the pair is averaged with that witness. Afterwards, parts whose pairs are merges on
average are joined, unless one of the pairs is far from a merge.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import fsum

import numpy as np
from numpy.typing import NDArray

from toolscope_core.merging import contracted_graph
from toolscope_core.merging.contracted_graph import NodeComponent, Nodes, RowGraph, RowJudge
from toolscope_core.model.cluster import Group
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import sorted_ids

_NEARLY = 0.75
"""Two parts are joined only if each pair of them has at least this share of the threshold."""
_SLACK = 1e-9
"""A strength that is lower by at most this amount counts as reaching the threshold."""

Judge = Callable[[Sequence[Pair]], NDArray[np.float64]]
"""Merge probabilities for pairs, in their order."""

Strengths = list[dict[int, float]]
"""For each node, its close nodes with a probability, in both directions."""


def correct(
    graph: RowGraph,
    judge: RowJudge,
    merge_at: float,
    constraints: Constraints,
    *,
    divide: bool = True,
) -> tuple[Group, ...]:
    """Groups of two or more tools, sorted: a partition of part of the graph's tools.

    ``merge_at`` is the lowest probability of a merge. Copies stay together without being judged
    again, unless a decision mentions one of them. Groups made by people, which the graph joins, are
    neither split nor extended: tools that the judge would add are newcomers. ``divide=False`` keeps
    components whole except for pairs that people keep apart, as the paper does without
    Auto-Correction.
    """
    groups: list[Group] = []
    nodes = contracted_graph.nodes_of(graph, constraints)
    parts = contracted_graph.components(graph, nodes, judge)
    whole = (parts.weakest >= merge_at if divide else True) & ~parts.has_decisions
    for at in np.flatnonzero(whole).tolist():
        ids = _members(graph, nodes, range(parts.first[at], parts.first[at + 1]))
        weakest = float(parts.weakest[at])
        groups.append(Group(ids, weakest, intransitive=weakest < merge_at))
    for at in np.flatnonzero(~whole).tolist():
        groups += _divided(graph, nodes, parts[at], judge, merge_at, divide)
    return tuple(sorted(groups, key=lambda group: group.members))


def suspended(groups: Sequence[Group], constraints: Constraints, judge: Judge) -> tuple[Group, ...]:
    """The suspended groups without a member in ``groups``.

    A person must see these groups, even if the judge would not propose them.
    """
    if not constraints.stale and not constraints.conflict:
        return ()
    grouped_ids = {member for group in groups for member in group.members}
    new_groups = []
    for members in (*constraints.stale, *constraints.conflict):
        if grouped_ids.isdisjoint(members):
            ids = sorted_ids(members)
            new_groups.append(Group(ids, weakest_of(ids, judge)))
            grouped_ids |= members
    return tuple(new_groups)


def with_requested(
    groups: Sequence[Group], constraints: Constraints, judge: Judge
) -> tuple[Group, ...]:
    """The ``groups`` with each pair that a person requested on one card, in pair order.

    Undecided groups are joined; other tools become newcomers of a decided group. If both groups are
    decided, or people keep some of their tools apart, the pair changes nothing.
    """
    if not constraints.put_forward:
        return tuple(sorted(groups, key=lambda group: group.members))
    home = {member: group for group in groups for member in group.members}
    result = dict.fromkeys(groups)
    for pair in sorted(constraints.put_forward):
        sides = {home.get(tool, Group((tool,))): None for tool in (pair.left, pair.right)}
        decided_groups = [group for group in sides if group.decided]
        members = sorted_ids(member for group in sides for member in group.members)
        parts = set(members)
        are_apart = any({pair.left, pair.right} <= parts for pair in constraints.cannot)
        if len(sides) < 2 or len(decided_groups) > 1 or are_apart:
            continue
        if decided_groups:
            (group,) = decided_groups
            others = parts - set(group.members)
            union = replace(group, newcomers=sorted_ids((*group.newcomers, *others)))
            result.pop(group)
        else:
            union = Group(members, _between(tuple(sides), judge), put_forward=True)
            for group in sides:
                result.pop(group, None)
        result[union] = None
        home.update(dict.fromkeys(union.members, union))
    return tuple(sorted(result, key=lambda group: group.members))


def _between(groups: tuple[Group, ...], judge: Judge) -> float:
    """The lowest probability between any two tools of two groups taken together."""
    a, b = groups
    across = [Pair.of(one, other) for one in a.members for other in b.members]
    return min(a.weakest_edge, b.weakest_edge, float(judge(across).min()))


def weakest_of(members: Sequence[str], judge: Judge) -> float:
    """The lowest probability between any two of these tools (ids, two or more)."""
    return float(judge([Pair.of(a, b) for a, b in combinations(members, 2)]).min())


def _members(graph: RowGraph, nodes: Nodes, own: range | Sequence[int]) -> tuple[str, ...]:
    """The ids of some nodes, sorted."""
    return tuple([graph.ids[row] for row in nodes.rows(own)])


def _divided(
    graph: RowGraph,
    nodes: Nodes,
    component: NodeComponent,
    judge: RowJudge,
    merge_at: float,
    divide: bool,
) -> Iterator[Group]:
    """The groups of a component: parts that stay together, and people's groups with newcomers."""
    strength = _strengths(component)
    parts = (
        _rejoined(_agglomerate(_alike(strength, merge_at)), strength, merge_at)
        if divide
        else _allowed(component)
    )
    for part in parts:
        must_linked = [at for at in part if component.first + at in nodes.must_linked]
        free = [at for at in part if at not in must_linked]
        free_ids = _members(graph, nodes, [component.first + at for at in free])
        if len(free_ids) > 1:
            pairs = (strength[a].get(b, 0.0) for a, b in combinations(free, 2))
            weakest = min(pairs, default=1.0)
            yield Group(free_ids, weakest, len(parts) > 1, weakest < merge_at)
        for at in must_linked:
            rows = nodes.rows([component.first + at])
            ids = tuple(graph.ids[row] for row in rows)
            (weakest,) = contracted_graph.weakest_of_rows([rows], judge)
            yield Group(ids, weakest, decided=True, newcomers=free_ids)
            free_ids = ()


def _strengths(component: NodeComponent) -> Strengths:
    """The lowest probability between two close nodes.

    Nodes without a common neighbour are not close, since only a longer chain connects them; nor are
    those that people keep apart.
    """
    strength: Strengths = [{} for _ in range(component.size)]
    columns = component.left, component.right, component.strength
    for a, b, value in zip(*(column.tolist() for column in columns), strict=True):
        strength[a][b] = strength[b][a] = value
    for a, b in component.cannot:
        strength[a].pop(b, None)
        strength[b].pop(a, None)
    return strength


def _allowed(component: NodeComponent) -> list[list[int]]:
    """The nodes, divided into as few parts as possible, none with a pair that people keep apart.

    Each node goes into the first part that allows it.
    """
    cannot = {*component.cannot, *((b, a) for a, b in component.cannot)}
    parts: list[list[int]] = []
    for node in range(component.size):
        fitting = (part for part in parts if not any((node, other) in cannot for other in part))
        part = next(fitting, None)
        if part is None:
            parts.append([node])
        else:
            part.append(node)
    return parts


def _alike(strength: Strengths, merge_at: float) -> Strengths:
    """The pairs with a strength of at least ``merge_at``, once witnesses are considered."""
    edges: Strengths = [{} for _ in strength]
    for a, others in enumerate(strength):
        for b in others:
            value = _witnessed(strength, a, b, merge_at) if a < b else 0.0
            if value >= merge_at - _SLACK:
                edges[a][b] = edges[b][a] = value
    return edges


def _witnessed(strength: Strengths, a: int, b: int, merge_at: float) -> float:
    """The strength of a pair. Below ``merge_at``, it is averaged with the strength of the best
    witness.

    A witness is as strong as the weaker of its pairs with the two nodes. Each of the two nodes also
    counts as a witness with the pair's own strength, so no pair gets weaker. Pairs of strength 0
    have no witness.
    """
    ours, theirs, own = strength[a], strength[b], strength[a][b]
    if not 0.0 < own < merge_at:
        return own
    best = max((min(ours[c], theirs[c]) for c in ours.keys() & theirs.keys()), default=own)
    return (own + max(own, best)) / 2.0


def _agglomerate(edges: Strengths) -> list[list[int]]:
    """Complete linkage.

    The two parts with the strongest weakest pair are joined until no two parts are left whose pairs
    are all in ``edges``, which is emptied. Ties are broken by the lowest nodes. The result has the
    rows of each part, both in ascending order.
    """
    parts = {node: [node] for node in range(len(edges))}
    queue = [(-edges[a][b], a, b) for a in parts for b in edges[a] if a < b]
    heapify(queue)
    while queue:
        value, a, b = heappop(queue)
        if edges[a].get(b) != -value:  # one of the two has become another part in the meantime
            continue
        parts[a] += parts.pop(b)
        ours, theirs = edges[a], edges[b]
        for node, others in ((a, ours), (b, theirs)):
            for other in others:
                edges[other].pop(node)
        edges[b] = {}
        edges[a] = {c: min(ours[c], theirs[c]) for c in ours.keys() & theirs.keys()}
        for c, weakest in edges[a].items():
            edges[c][a] = weakest
            heappush(queue, (-weakest, min(a, c), max(a, c)))
    return sorted(sorted(part) for part in parts.values())


def _rejoined(parts: list[list[int]], strength: Strengths, merge_at: float) -> list[list[int]]:
    """The parts, ascending, where two are joined if their pairs are merges on average and none of
    these pairs is far from one.

    Complete linkage alone splits what belongs together when one pair of many is doubtful.
    """
    while True:
        home = {node: at for at, part in enumerate(parts) for node in part}
        between: dict[tuple[int, int], list[float]] = {}
        for node, others in enumerate(strength):
            for other, value in others.items():
                if home[node] < home[other] and value >= _NEARLY * merge_at:
                    between.setdefault((home[node], home[other]), []).append(value)
        alike = sorted(
            (-mean, a, b)
            for (a, b), values in between.items()
            if len(values) == len(parts[a]) * len(parts[b])
            and (mean := fsum(values) / len(values)) >= merge_at - _SLACK
        )
        if not alike:
            return parts
        joined = set[int]()
        for _, a, b in alike:
            if joined.isdisjoint((a, b)):
                joined |= {a, b}
                parts[a], parts[b] = sorted(parts[a] + parts[b]), []
        parts = sorted(filter(None, parts))
