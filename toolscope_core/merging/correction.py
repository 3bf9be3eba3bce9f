"""Auto-Correction offline: divide a component until every pair inside is a merge, or vouched for.

ToolScope (section 3.2, equation 2) asks a model to split a cluster or to drop members. Offline
the pair judge answers for every two members joined directly or through a third tool, and the
component is agglomerated by its *weakest* pair (complete linkage on 1 - p), so that no chain of
good pairs carries a bad one along. A doubtful pair that is a merge of the same third tool on both
sides is heard together with that witness, half and half.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from toolscope_core.merging.contracted_graph import (
    NodeComponent,
    Nodes,
    RowGraph,
    RowJudge,
    components,
    nodes_of,
    weakest_of_rows,
)
from toolscope_core.model.cluster import Group
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import sorted_ids

_MOST_CELLS = 1_000_000
"""How many numbers are compared in one go."""

_SLACK = 1e-9
"""A strength that is less by no more than this counts as one at the threshold."""

Judge = Callable[[Sequence[Pair]], NDArray[np.float64]]
"""Merge probabilities of pairs, in their order."""


def correct(
    graph: RowGraph,
    judge: RowJudge,
    merge_at: float,
    constraints: Constraints,
    *,
    divide: bool = True,
) -> tuple[Group, ...]:
    """Groups of two or more tools, sorted: a partition of part of the graph's tools.

    ``merge_at`` is the least probability that counts as a merge. Copies stay together without
    being judged again, unless a person spoke of one of them. What people put together, which the
    graph joins, is neither split nor added to: whom the judge would add to it are its newcomers.
    ``divide=False`` leaves the components whole but for what people keep apart, as the paper does
    with Auto-Correction switched off.
    """
    groups: list[Group] = []
    nodes = nodes_of(graph, constraints)
    parts = components(graph, nodes, judge)
    whole = (parts.weakest >= merge_at if divide else True) & ~parts.spoken
    for at in np.flatnonzero(whole).tolist():
        ids = _members(graph, nodes, range(parts.first[at], parts.first[at + 1]))
        weakest = float(parts.weakest[at])
        groups.append(Group(ids, weakest, intransitive=weakest < merge_at))
    for at in np.flatnonzero(~whole).tolist():
        groups += _divided(graph, nodes, parts[at], judge, merge_at, divide)
    return tuple(sorted(groups, key=lambda group: group.members))


def suspended(groups: Sequence[Group], constraints: Constraints, judge: Judge) -> tuple[Group, ...]:
    """The suspended groups of which no member is in any of ``groups``: a person must see them,
    though the judge would not propose them.
    """
    if not constraints.stale and not constraints.conflict:
        return ()
    seen = {member for group in groups for member in group.members}
    added = []
    for members in (*constraints.stale, *constraints.conflict):
        if seen.isdisjoint(members):
            ids = sorted_ids(members)
            added.append(Group(ids, weakest_of(ids, judge)))
            seen |= members
    return tuple(added)


def with_requested(
    groups: Sequence[Group], constraints: Constraints, judge: Judge
) -> tuple[Group, ...]:
    """``groups`` with the two of each pair that a person asked for on one card, in pair order.

    Groups that nobody decided become one; to a decided group the other tools are newcomers. Where
    both are decided, or people keep some of them apart, the pair changes nothing.
    """
    if not constraints.put_forward:
        return tuple(sorted(groups, key=lambda group: group.members))
    home = {member: group for group in groups for member in group.members}
    kept = dict.fromkeys(groups)
    for pair in sorted(constraints.put_forward):
        sides = {home.get(tool, Group((tool,))): None for tool in (pair.left, pair.right)}
        decided = [group for group in sides if group.decided]
        members = sorted_ids(member for group in sides for member in group.members)
        parts = set(members)
        apart = any({pair.left, pair.right} <= parts for pair in constraints.cannot)
        if len(sides) < 2 or len(decided) > 1 or apart:
            continue
        if decided:
            (group,) = decided
            others = parts - set(group.members)
            joined = replace(group, newcomers=sorted_ids((*group.newcomers, *others)))
            kept.pop(group)
        else:
            joined = Group(members, _between(tuple(sides), judge), put_forward=True)
            for group in sides:
                kept.pop(group, None)
        kept[joined] = None
        home.update(dict.fromkeys(joined.members, joined))
    return tuple(sorted(kept, key=lambda group: group.members))


def _between(groups: tuple[Group, ...], judge: Judge) -> float:
    """The weakest pair of two groups taken together."""
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
    """The groups of a component: what stays together, and what people put together, whom the
    rest of its part would join.
    """
    strength = _strengths(component)
    links = strength if divide else _allowed(component)
    parts = _agglomerate(_witnessed(links, merge_at) if divide else links, merge_at)
    for part in parts:
        fixed = [at for at in part if component.first + at in nodes.decided]
        free = [at for at in part if at not in fixed]
        proposed = _members(graph, nodes, [component.first + at for at in free])
        if len(proposed) > 1:
            weakest = float(strength[free][:, free].min())
            yield Group(proposed, weakest, len(parts) > 1, weakest < merge_at)
        for at in fixed:
            rows = nodes.rows([component.first + at])
            ids = tuple(graph.ids[row] for row in rows)
            yield Group(ids, weakest_of_rows(rows, judge), decided=True, newcomers=proposed)
            proposed = ()


def _strengths(component: NodeComponent) -> NDArray[np.float64]:
    """Symmetric (n, n): the lowest probability between two nodes, 1 on the diagonal.

    Nodes that share no neighbour get 0: nothing but a longer chain speaks for them; so do those
    that people keep apart.
    """
    strength = np.zeros((component.size, component.size))
    strength[component.left, component.right] = component.strength
    strength[component.right, component.left] = component.strength
    np.fill_diagonal(strength, 1.0)
    return np.minimum(strength, _allowed(component))


def _allowed(component: NodeComponent) -> NDArray[np.float64]:
    """Symmetric (n, n): 0 between nodes that people keep apart, 1 elsewhere."""
    allowed = np.ones((component.size, component.size))
    for a, b in component.apart:
        allowed[a, b] = allowed[b, a] = 0.0
    return allowed


def _witnessed(strength: NDArray[np.float64], merge_at: float) -> NDArray[np.float64]:
    """Symmetric (n, n): a pair below ``merge_at`` has the mean of its strength and its best
    witness's, which is as strong as the weaker of its pairs with the two.

    Each of the two is a witness of the pair's own strength, so that no pair gets weaker; pairs of
    strength 0 have none.
    """
    witnessed = strength.copy()
    doubtful = np.triu((strength > 0.0) & (strength < merge_at), 1)
    rows, columns = np.nonzero(doubtful)
    step = max(1, _MOST_CELLS // len(strength))
    for start in range(0, len(rows), step):
        a, b = rows[start : start + step], columns[start : start + step]
        witness = np.minimum(strength[a], strength[b]).max(axis=1)
        witnessed[a, b] = witnessed[b, a] = (strength[a, b] + witness) / 2.0
    return witnessed


def _agglomerate(strength: NDArray[np.float64], merge_at: float) -> list[list[int]]:
    """Complete linkage cut at ``merge_at``: rows of each part, both in ascending order.

    Rows come in id order and scipy resolves ties by row, so ties go by sorted ids.
    """
    distance, near = 1.0 - strength, 1.0 - merge_at + _SLACK
    alike = distance <= near
    first = alike.argmax(axis=1)
    if (alike[first] == alike).all():  # cliques with nothing between them
        cliques: dict[int, list[int]] = {}
        for row, clique in enumerate(first.tolist()):
            cliques.setdefault(clique, []).append(row)
        return list(cliques.values())
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    parts = {row: [row] for row in range(len(strength))}
    tree = linkage(squareform(distance, checks=False), "complete")
    for step, (one, other, height, _) in enumerate(tree.tolist()):
        if height <= near:
            parts[len(strength) + step] = parts.pop(int(one)) + parts.pop(int(other))
    return sorted(sorted(part) for part in parts.values())
