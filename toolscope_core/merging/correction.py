"""Auto-Correction offline: divide a component until every pair inside is a merge, or vouched for.

ToolScope (section 3.2, equation 2) asks a model to split a cluster or to drop members. Offline
the pair judge answers for every two members joined directly or through a third tool, and the
component is agglomerated by its *weakest* pair (complete linkage on 1 - p), so that no chain of
good pairs carries a bad one along. A doubtful pair that is a merge of the same third tool on both
sides is heard together with that witness, half and half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from toolscope_core.datamodel import Constraints, Group, Pair, sorted_ids
from toolscope_core.merging.graph import MergeGraph

Atoms = Sequence[tuple[str, ...]]
"""What cannot be divided, as ids: see ``_atoms``."""

Judge = Callable[[Sequence[Pair]], NDArray[np.float64]]
"""Merge probabilities of pairs, in their order."""


def correct(
    graph: MergeGraph,
    judge: Judge,
    merge_at: float,
    constraints: Constraints,
    copies: Mapping[str, str],
    *,
    divide: bool = True,
) -> tuple[Group, ...]:
    """Groups of two or more tools, sorted: a partition of part of the graph's tools.

    ``merge_at`` is the least probability that counts as a merge. ``copies`` maps a tool to the
    first tool of equal content: copies stay together without being judged again, unless a person
    spoke of one of them. What people put together is neither cut nor added to: whom the judge
    would add to it are its newcomers. ``divide=False`` leaves the components whole but for what
    people keep apart, as the paper does with Auto-Correction switched off.
    """
    groups: list[Group] = []
    components = [_atoms(component, constraints, copies) for component in graph.components]
    for atoms, pairs, answers in _judged(components, graph, judge):
        strength = np.minimum(_strength(atoms, pairs, answers), _allowed(atoms, constraints))
        links = _witnessed(strength, merge_at) if divide else _allowed(atoms, constraints)
        parts = _agglomerate(links, merge_at)
        for part in parts:
            fixed = [row for row in part if frozenset(atoms[row]) in constraints.must]
            free = [row for row in part if row not in fixed]
            proposed = _members(atoms, free)
            if len(proposed) > 1:
                weakest = _weakest(strength, free)
                groups.append(Group(proposed, weakest, len(parts) > 1, weakest < merge_at))
            groups += [_decided(atoms[row], judge) for row in fixed[1:]]
            groups += [_decided(atoms[row], judge, proposed) for row in fixed[:1]]
    return tuple(sorted(groups, key=lambda group: group.members))


def suspended(groups: Sequence[Group], constraints: Constraints, judge: Judge) -> tuple[Group, ...]:
    """The suspended groups of which no member is in any of ``groups``: a person must see them,
    though the judge would not propose them.
    """
    seen = {member for group in groups for member in group.members}
    added = []
    for held in (*constraints.stale, *constraints.conflict):
        if seen.isdisjoint(held):
            added.append(replace(_decided(sorted_ids(held), judge), decided=False))
            seen |= held
    return tuple(added)


def brought(groups: Sequence[Group], constraints: Constraints, judge: Judge) -> tuple[Group, ...]:
    """``groups`` with the two of each pair that a person asked for on one card, in pair order.

    Groups that nobody decided become one; to a decided group the other tools are newcomers. Where
    both are decided, or people keep some of them apart, the pair changes nothing.
    """
    home = {member: group for group in groups for member in group.members}
    kept = dict.fromkeys(groups)
    for pair in sorted(constraints.asked):
        sides = {home.get(tool, Group((tool,))): None for tool in (pair.left, pair.right)}
        decided = [group for group in sides if group.decided]
        members = sorted_ids(member for group in sides for member in group.members)
        parts = set(members)
        apart = any({held.left, held.right} <= parts for held in constraints.cannot)
        if len(sides) < 2 or len(decided) > 1 or apart:
            continue
        if decided:
            (group,) = decided
            others = parts - set(group.members)
            made = replace(group, newcomers=sorted_ids((*group.newcomers, *others)))
            kept.pop(group)
        else:
            made = Group(members, _between(tuple(sides), judge), asked=True)
            for group in sides:
                kept.pop(group, None)
        kept[made] = None
        home.update(dict.fromkeys(made.members, made))
    return tuple(sorted(kept, key=lambda group: group.members))


def _between(groups: tuple[Group, ...], judge: Judge) -> float:
    """The weakest pair of two groups taken together."""
    a, b = groups
    across = [Pair.of(one, other) for one in a.members for other in b.members]
    return min(a.weakest_edge, b.weakest_edge, float(judge(across).min()))


def _decided(members: tuple[str, ...], judge: Judge, newcomers: tuple[str, ...] = ()) -> Group:
    pairs = [Pair.of(a, b) for a, b in combinations(members, 2)]
    return Group(members, float(judge(pairs).min()), decided=True, newcomers=newcomers)


def _members(atoms: Atoms, rows: Sequence[int]) -> tuple[str, ...]:
    return sorted_ids(tool for row in rows for tool in atoms[row])


def _atoms(
    component: Sequence[str], constraints: Constraints, copies: Mapping[str, str]
) -> list[tuple[str, ...]]:
    """What cannot be divided: must-linked groups, and copies of which no one is spoken of."""
    spoken_of = {tool for pair in constraints.cannot for tool in (pair.left, pair.right)}
    leader: dict[str, str] = {}
    for group in constraints.must:
        leader.update(dict.fromkeys(group, min(group)))
    free = {tool for tool in component if tool not in leader and tool not in spoken_of}
    atoms: dict[str, list[str]] = {}
    for tool in component:
        first = copies.get(tool, tool)
        own = first if tool in free and first in free else tool
        atoms.setdefault(leader.get(tool, own), []).append(tool)
    return sorted(sorted_ids(members) for members in atoms.values())


def _judged(
    components: Sequence[Atoms], graph: MergeGraph, judge: Judge
) -> Iterator[tuple[Atoms, Sequence[Pair], NDArray[np.float64]]]:
    """Each component's atoms with its close pairs, sorted, and what the judge, asked once, says."""
    place = {tool: at for at, atoms in enumerate(components) for own in atoms for tool in own}
    edges: dict[int, list[Pair]] = {}
    for pair in graph.edges:
        edges.setdefault(place[pair.left], []).append(pair)
    close = [sorted(_close_pairs(atoms, edges[at])) for at, atoms in enumerate(components)]
    answers = judge([pair for pairs in close for pair in pairs])
    start = 0
    for atoms, pairs in zip(components, close, strict=True):
        yield atoms, pairs, answers[start : start + len(pairs)]
        start += len(pairs)


def _strength(
    atoms: Atoms, pairs: Sequence[Pair], answers: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Symmetric (n, n): the lowest probability between two atoms, 1 on the diagonal.

    Atoms that share no neighbour get 0: nothing but a longer chain speaks for them.
    """
    index = {tool: row for row, members in enumerate(atoms) for tool in members}
    strength = np.zeros((len(atoms), len(atoms)))
    lowest: dict[tuple[int, int], float] = {}
    for pair, probability in zip(pairs, answers, strict=True):
        rows = sorted((index[pair.left], index[pair.right]))
        key = (rows[0], rows[1])
        lowest[key] = min(lowest.get(key, 1.0), float(probability))
    for (a, b), probability in lowest.items():
        strength[a, b] = strength[b, a] = probability
    np.fill_diagonal(strength, 1.0)
    return strength


def _witnessed(strength: NDArray[np.float64], merge_at: float) -> NDArray[np.float64]:
    """Symmetric (n, n): a pair below ``merge_at`` has the mean of its strength and its best
    witness's, which is as strong as the weaker of its pairs with the two.

    Each of the two is a witness of the pair's own strength, so that no pair gets weaker; pairs of
    strength 0 have none.
    """
    heard = strength.copy()
    doubtful = np.triu((strength > 0.0) & (strength < merge_at), 1)
    for a, b in np.argwhere(doubtful):
        witness = np.minimum(strength[a], strength[b]).max()
        heard[a, b] = heard[b, a] = (strength[a, b] + witness) / 2.0
    return heard


def _allowed(atoms: Atoms, constraints: Constraints) -> NDArray[np.float64]:
    """Symmetric (n, n): 0 between atoms that people keep apart, 1 elsewhere."""
    index = {tool: row for row, members in enumerate(atoms) for tool in members}
    allowed = np.ones((len(atoms), len(atoms)))
    for pair in constraints.cannot:
        if pair.left in index and pair.right in index:
            a, b = index[pair.left], index[pair.right]
            allowed[a, b] = allowed[b, a] = 0.0
    return allowed


def _close_pairs(atoms: Atoms, edges: Iterable[Pair]) -> set[Pair]:
    """Pairs of different atoms with an edge between them or with a common neighbour atom."""
    index = {tool: row for row, members in enumerate(atoms) for tool in members}
    near: dict[int, set[int]] = {row: set() for row in index.values()}
    for pair in edges:
        if index[pair.left] != index[pair.right]:
            near[index[pair.left]].add(index[pair.right])
            near[index[pair.right]].add(index[pair.left])
    close = {
        (min(a, b), max(a, b))
        for row, others in near.items()
        for a in (row, *others)
        for b in (row, *others)
        if a != b
    }
    return {Pair.of(left, right) for a, b in close for left in atoms[a] for right in atoms[b]}


def _agglomerate(strength: NDArray[np.float64], merge_at: float) -> list[list[int]]:
    """Complete linkage cut at ``merge_at``: rows of each part, both in ascending order.

    Rows come in id order and scipy resolves ties by row, so ties go by sorted ids.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    if len(strength) == 1:
        return [[0]]
    distance = squareform(1.0 - strength, checks=False)
    labels = fcluster(linkage(distance, "complete"), 1.0 - merge_at + 1e-9, "distance")
    parts: dict[int, list[int]] = {}
    for row, label in enumerate(labels):
        parts.setdefault(int(label), []).append(row)
    return sorted(parts.values())


def _weakest(strength: NDArray[np.float64], rows: Sequence[int]) -> float:
    part = strength[np.ix_(list(rows), list(rows))]
    return float(part.min())
