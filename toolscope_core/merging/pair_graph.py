"""Builds graphs from the pairs of joined tools, as edges between ids and as a graph of rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolscope_core.decisions.constraints import constraints
from toolscope_core.embedding.candidate_pairs import PairRows
from toolscope_core.merging.analysis import Analysis, bars_of, own_thresholds, thresholds_of
from toolscope_core.merging.contracted_graph import RowGraph
from toolscope_core.model.configuration import MergeThresholds
from toolscope_core.model.decision import Constraints, Decision
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import sorted_ids


def merges_at(analysis: Analysis, thresholds: MergeThresholds) -> NDArray[np.bool_]:
    """A mask of the candidate pairs that are merges at these thresholds."""
    near = analysis.nearness >= thresholds.similarity
    return np.asarray(near & (analysis.scores.same_job >= thresholds.same_job))


def merge_edges(analysis: Analysis, thresholds: MergeThresholds | None = None) -> dict[Pair, float]:
    """The candidate pairs that the judge would merge, with their probabilities.

    The judge's own thresholds are used, unless others are given.
    """
    return _chosen(analysis, merges_at(analysis, thresholds or own_thresholds(analysis)))


def unsure_pairs(analysis: Analysis) -> dict[Pair, float]:
    """The candidate pairs about which the judge is unsure, with their probabilities."""
    weights, scores = analysis.judge.weights, analysis.scores
    open_ = (scores.same_job >= weights.unsure_at) & (scores.same_job < weights.merge_at)
    return _chosen(analysis, open_ & (scores.family < weights.family_at))


def family_edges(analysis: Analysis) -> dict[Pair, float]:
    """The candidate pairs that are a family, with the probability of a family."""
    return _chosen(
        analysis, analysis.scores.family >= analysis.judge.weights.family_at, analysis.scores.family
    )


def edges_at(analysis: Analysis, thresholds: MergeThresholds | None = None) -> dict[Pair, float]:
    """The edges of the merge graph: those of ``merge_edges``, or the model's if it was asked."""
    edges, thresholds = merge_edges(analysis, thresholds), thresholds or own_thresholds(analysis)
    if analysis.model_verdicts is None:
        return edges
    return analysis.model_verdicts.edges(
        edges,
        bars_of(analysis),
        thresholds.similarity,
        analysis.far_candidates(thresholds.similarity),
    )


def judged_edges(analysis: Analysis, log: Sequence[Decision]) -> dict[Pair, float]:
    """The edges of the merge graph after the decisions, except those that only people made."""
    links = constraints(analysis.catalog, log)
    edges = edges_at(analysis, thresholds_of(analysis, log))
    left, right, _, is_present = staying(analysis, links, *analysis.ends(list(edges)))
    ids, weights = tuple(analysis.rows), np.array([*edges.values()])[is_present].tolist()
    ends = zip(left.tolist(), right.tolist(), weights, strict=True)
    edges = {Pair.of(ids[a], ids[b]): weight for a, b, weight in ends}
    return {pair: weight for pair, weight in edges.items() if pair not in links.cannot}


def joined_pairs(analysis: Analysis, links: Constraints) -> dict[Pair, float]:
    """The pairs that connect the tools of each group that people made, as a star.

    A pair has the judge's probability of the same job, or of a family if the group is a family.
    """
    probabilities: dict[Pair, float] = {}
    for group in links.must:
        first, *rest = sorted(group)
        pairs = [Pair.of(first, other) for other in rest]
        judge = analysis.family_probabilities if links.is_family(group) else analysis.probabilities
        probabilities.update(zip(pairs, judge(pairs).tolist(), strict=True))
    return probabilities


def row_graph(analysis: Analysis, links: Constraints, left: PairRows, right: PairRows) -> RowGraph:
    """The graph of these pairs of rows, without pairs that people keep apart.

    In each group that people made, every tool is joined to the group's first tool.
    """
    rows, size = analysis.rows, len(analysis.rows)
    left, right, first, _ = staying(analysis, links, left, right)
    if links.cannot:
        pairs = [sorted((rows[pair.left], rows[pair.right])) for pair in links.cannot]
        cannot_codes = np.array(pairs, dtype=np.int64) @ (size, 1)
        is_allowed = ~np.isin(left.astype(np.int64) * size + right, cannot_codes)
        left, right = left[is_allowed], right[is_allowed]
    stars = [
        sorted((rows[min(group)], rows[other]))
        for group in links.must
        for other in group - {min(group)}
    ]
    must_links = np.array(stars, dtype=np.int32).reshape(-1, 2)
    return RowGraph(
        ids=tuple(rows),
        copies=first,
        left=np.concatenate([left, must_links[:, 0]]),
        right=np.concatenate([right, must_links[:, 1]]),
    )


def staying(
    analysis: Analysis, links: Constraints, left: PairRows, right: PairRows
) -> tuple[PairRows, PairRows, NDArray[np.int32], NDArray[np.bool_]]:
    """The pairs without omitted tools, the first copy of each tool, and a mask of the given pairs
    that remain.

    If the first of several copies was left out, the next one represents the others.
    """
    first = analysis.first
    if not links.omitted:
        return left, right, first, np.ones(len(left), dtype=bool)
    is_omitted = np.zeros(len(analysis.rows), dtype=bool)
    is_omitted[[analysis.rows[tool] for tool in links.omitted]] = True
    instead = np.arange(len(is_omitted), dtype=np.int32)
    for row in np.flatnonzero(~is_omitted)[::-1]:
        if is_omitted[first[row]]:
            instead[first[row]] = row
    left, right = instead[left], instead[right]
    is_present = ~is_omitted[left] & ~is_omitted[right] & (left != right)
    low, high = np.minimum(left, right)[is_present], np.maximum(left, right)[is_present]
    return low, high, instead[first], is_present


def _chosen(
    analysis: Analysis, mask: NDArray[np.bool_], values: NDArray[np.float64] | None = None
) -> dict[Pair, float]:
    """The candidate pairs that a mask selects, with their probabilities, or with the given
    ``values``.
    """
    tools, scores = analysis.catalog.tools, analysis.scores
    values = scores.same_job if values is None else values
    return {
        Pair.of(tools[scores.left[row]].id, tools[scores.right[row]].id): float(values[row])
        for row in np.flatnonzero(mask)
    }


Members = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupChange:
    """A cluster of ``members`` (ids, sorted) that gained or lost tools.

    ``parts`` are the clusters and single tools that were joined, or into which it split.
    """

    members: Members
    parts: tuple[Members, ...]


@dataclass(frozen=True, slots=True)
class ClusterChanges:
    """Clusters that appeared, grew, split or vanished; in a vanished one, no two tools are left
    together.

    They are sorted by size, largest first, and then by ids.
    """

    appeared: tuple[Members, ...] = ()
    grown: tuple[GroupChange, ...] = ()
    split: tuple[GroupChange, ...] = ()
    vanished: tuple[Members, ...] = ()

    def __len__(self) -> int:
        return len(self.appeared) + len(self.grown) + len(self.split) + len(self.vanished)


def cluster_changes(before: Sequence[Members], after: Sequence[Members]) -> ClusterChanges:
    """How the clusters ``before`` have changed. A cluster may both split and grow."""
    same = set(before) & set(after)
    before, after = ([one for one in side if one not in same] for side in (before, after))
    appeared, grown = _regrouped(after, before)
    vanished, split = _regrouped(before, after)
    return ClusterChanges(appeared, grown, split, vanished)


def _regrouped(
    clusters: Sequence[Members], others: Sequence[Members]
) -> tuple[tuple[Members, ...], tuple[GroupChange, ...]]:
    """The clusters of which ``others`` keeps no two tools together, and those that it splits into
    several parts.
    """
    changes = sorted(_traced(clusters, others), key=lambda one: _largest(one[0]))
    loose = [members for members, parts in changes if all(len(part) == 1 for part in parts)]
    rest = [GroupChange(members, parts) for members, parts in changes if len(parts) > 1]
    return tuple(loose), tuple(one for one in rest if one.members not in loose)


def _traced(
    clusters: Sequence[Members], others: Sequence[Members]
) -> list[tuple[Members, tuple[Members, ...]]]:
    """Each cluster with its members, grouped as in ``others``, largest part first."""
    home = {tool: place for place, members in enumerate(others) for tool in members}
    traces = []
    for members in clusters:
        parts: dict[int | str, list[str]] = {}
        for tool in members:
            parts.setdefault(home.get(tool, tool), []).append(tool)
        ordered = sorted((sorted_ids(part) for part in parts.values()), key=_largest)
        traces.append((members, tuple(ordered)))
    return traces


def _largest(members: Members) -> tuple[int, Members]:
    return -len(members), members
