"""What other thresholds would bring: clusters that come and go, and what falls next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolscope_core.decisions.constraints import constraints
from toolscope_core.merging.analysis import Analysis, own_thresholds, thresholds_of
from toolscope_core.merging.grouping import groups_at
from toolscope_core.merging.pair_graph import merges_at
from toolscope_core.merging.threshold_changes import (
    ClusterChanges,
    Members,
    changes,
    sides,
    strongest_forest,
)
from toolscope_core.model.configuration import LEAST_PROBABILITY, MergeThresholds
from toolscope_core.model.decision import Constraints, Decision
from toolscope_core.model.pair import Pair
from ui.overlap.figures import Sweep
from ui.shared.services.logs import make_decision
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace

Measure = Literal["similarity", "probability"]

MEASURES: tuple[Measure, ...] = ("similarity", "probability")

STEPS = 100

_DECIDED = 2.0


@dataclass(frozen=True, slots=True)
class Effect:
    """What merging at thresholds comes to if every cluster is accepted.

    ``candidates`` are the pairs near enough, ``merges`` those of them that are also probable
    enough. ``groups`` are tool ids, sorted. ``tokens_left`` counts each cluster as its longest
    tool.
    """

    thresholds: MergeThresholds
    candidates: int
    merges: int
    groups: tuple[Members, ...]
    tools_left: int
    tokens_left: int


@dataclass(frozen=True, slots=True)
class NextToFall:
    """The weakest edge that still holds a cluster together: above ``value`` of ``measure`` its
    cluster falls into the two ``sides``, that of ``pair.left`` first.
    """

    measure: Measure
    value: float
    pair: Pair
    sides: tuple[Members, Members]


@dataclass(frozen=True, slots=True)
class Moved:
    """Thresholds beside those of the plan: the effects of both, the clusters that differ, and what
    would fall next if the thresholds rose, by either measure.
    """

    now: Effect
    plan: Effect
    changes: ClusterChanges
    falls: tuple[NextToFall, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    weight: NDArray[np.float64]


_Basis = tuple[Analysis, Constraints, Effect]
"""What all thresholds are compared with: the effect of the plan's under people's decisions."""


class Thresholds:
    """Looks at other thresholds of an analysis under the standing decisions, and applies them."""

    def __init__(self, work: Workspace) -> None:
        self._analyses = work.analyses
        self._review = work.review
        self._tokens = work.catalogs.tokens
        self._plans: ResultCache[_Basis] = ResultCache()
        self._moved: ResultCache[Effect] = ResultCache()
        self._sweeps: ResultCache[Sweep] = ResultCache()

    def in_use(self, catalog_id: int) -> MergeThresholds:
        """What the plan is made with: what people applied last, or ``own``."""
        return thresholds_of(self._analyses.required(catalog_id), self._review.log(catalog_id))

    def own(self, catalog_id: int) -> MergeThresholds:
        """What the plan is made with before anybody applies other thresholds; its similarity is the
        least that can be asked for.
        """
        return own_thresholds(self._analyses.required(catalog_id))

    def apply(self, catalog_id: int, thresholds: MergeThresholds, reviewer: str) -> Decision:
        """Make the plan with these thresholds from now on; undo takes it back."""
        detail = {"similarity": thresholds.similarity, "probability": thresholds.probability}
        catalog = self._analyses.required(catalog_id).catalog
        return self._review.record(
            catalog_id, make_decision(catalog, "threshold", (), reviewer, detail)
        )

    def effects(self, catalog_id: int, thresholds: MergeThresholds) -> tuple[Effect, Effect]:
        """The effect of thresholds and of the plan's: what ``moved`` begins with."""
        basis = self._basis(catalog_id)
        return self._effect(catalog_id, basis, thresholds), basis[2]

    def moved(self, catalog_id: int, thresholds: MergeThresholds) -> Moved:
        """All that other thresholds would bring, against the plan's."""
        analysis, links, plan = basis = self._basis(catalog_id)
        now = self._effect(catalog_id, basis, thresholds)
        falls = next_to_fall(analysis, links, now)
        return Moved(now, plan, changes(plan.groups, now.groups), falls)

    def sweep(self, catalog_id: int, thresholds: MergeThresholds, measure: Measure) -> Sweep:
        """Every value of one measure, the other as ``thresholds`` has it; the last is kept."""
        analysis = self._analyses.required(catalog_id)
        links = constraints(analysis.catalog, self._review.log(catalog_id))
        held = thresholds.probability if measure == "similarity" else thresholds.similarity
        whole = self._sweeps.get(
            catalog_id,
            (analysis,),
            lambda: sweep(analysis, links, thresholds, measure),
            state=(links, measure, held),
        )
        return replace(whole, at=getattr(thresholds, measure))

    def _basis(self, catalog_id: int) -> _Basis:
        analysis = self._analyses.required(catalog_id)
        log = self._review.log(catalog_id)
        links, thresholds = constraints(analysis.catalog, log), thresholds_of(analysis, log)
        return self._plans.get(
            catalog_id,
            (analysis,),
            lambda: (
                analysis,
                links,
                effect(analysis, links, thresholds, self._tokens(catalog_id)),
            ),
            state=(links, thresholds),
        )

    def _effect(self, catalog_id: int, basis: _Basis, thresholds: MergeThresholds) -> Effect:
        """The last one is kept: ``effects`` and ``moved`` ask for the same."""
        analysis, links, plan = basis
        if thresholds == plan.thresholds:
            return plan
        return self._moved.get(
            catalog_id,
            (basis,),
            lambda: effect(analysis, links, thresholds, self._tokens(catalog_id)),
            state=thresholds,
        )


def effect(
    analysis: Analysis,
    links: Constraints,
    thresholds: MergeThresholds,
    tokens: Mapping[str, int],
    *,
    divide: bool = True,
) -> Effect:
    """The effect of thresholds under people's ``links``; ``tokens`` by tool id, the rest as in
    ``groups_at``.
    """
    merged = groups_at(analysis, links, thresholds, divide=divide)
    groups = tuple(group.members for group in merged)
    saved = 0
    for members in groups:
        costs = [tokens[member] for member in members]
        saved += sum(costs) - max(costs)
    return Effect(
        thresholds=thresholds,
        candidates=int((analysis.nearness >= thresholds.similarity).sum()),
        merges=int(merges_at(analysis, thresholds).sum()),
        groups=groups,
        tools_left=len(analysis.catalog.tools) - sum(len(members) - 1 for members in groups),
        tokens_left=sum(tokens.values()) - saved,
    )


def next_to_fall(analysis: Analysis, links: Constraints, now: Effect) -> tuple[NextToFall, ...]:
    """What the clusters of ``now`` lose first as either measure rises; nothing where people's
    decisions alone hold them.
    """
    home = _places(analysis, now.groups)
    falling = [_first_to_fall(analysis, links, now.thresholds, home, by) for by in MEASURES]
    return tuple(item for item in falling if item is not None)


def sweep(
    analysis: Analysis, links: Constraints, thresholds: MergeThresholds, measure: Measure
) -> Sweep:
    """Tools removed and labelled pairs at every value of ``measure``; components as they are."""
    scores, own = analysis.scores, own_thresholds(analysis)
    start = own.similarity if measure == "similarity" else LEAST_PROBABILITY
    values = np.arange(round(start * STEPS), STEPS + 1) / STEPS
    if measure == "similarity":
        held, weight = scores.probability >= thresholds.probability, analysis.nearness
    else:
        held, weight = analysis.nearness >= thresholds.similarity, scores.probability
    edges = _edges(analysis, links, measure, held)
    tree = strongest_forest(edges.left, edges.right, edges.weight, len(analysis.catalog.tools))
    accepted, rejected = _labels(analysis, links)
    return Sweep(
        measure=measure,
        values=tuple(values.tolist()),
        at=thresholds.similarity if measure == "similarity" else thresholds.probability,
        removed=_from(edges.weight[tree], values),
        accepted=_from(weight[held & accepted], values),
        rejected=_from(weight[held & rejected], values),
    )


def _first_to_fall(
    analysis: Analysis,
    links: Constraints,
    thresholds: MergeThresholds,
    home: NDArray[np.int64],
    measure: Measure,
) -> NextToFall | None:
    edges = _edges(analysis, links, measure, merges_at(analysis, thresholds))
    kept = _weakest_held(home, edges)
    left, right, weight = edges.left[kept], edges.right[kept], edges.weight[kept]
    tree = strongest_forest(left, right, weight, len(home))
    if not len(tree) or weight[tree[0]] >= _DECIDED:
        return None
    ids = tuple(analysis.rows)
    one, other = sides(left[tree], right[tree], 0, len(home))
    first, second = ids[left[tree[0]]], ids[right[tree[0]]]
    halves = (tuple(sorted(ids[row] for row in one)), tuple(sorted(ids[row] for row in other)))
    if first > second:
        halves = halves[::-1]
    return NextToFall(measure, float(weight[tree[0]]), Pair.of(first, second), halves)


def _edges(
    analysis: Analysis, links: Constraints, measure: Measure, kept: NDArray[np.bool_]
) -> _Edges:
    """The graph under people's decisions: their own edges weigh more than any other."""
    scores, size = analysis.scores, len(analysis.catalog.tools)
    weight = analysis.nearness if measure == "similarity" else scores.probability
    kept = kept & ~np.isin(_codes(scores.left, scores.right, size), _apart(analysis, links))
    stars = [
        sorted((analysis.rows[min(group)], analysis.rows[other]))
        for group in links.must
        for other in group - {min(group)}
    ]
    joined = np.array(stars, dtype=np.int32).reshape(-1, 2)
    left = np.concatenate([joined[:, 0], scores.left[kept]])
    right = np.concatenate([joined[:, 1], scores.right[kept]])
    weights = np.concatenate([np.full(len(joined), _DECIDED), weight[kept]])
    if not len(joined):
        return _Edges(left, right, weights)
    _, once = np.unique(_codes(left, right, size), return_index=True)
    return _Edges(left[once], right[once], weights[once])


def _weakest_held(home: NDArray[np.int64], edges: _Edges) -> NDArray[np.int64]:
    """Places of the edges of those clusters that may hold the weakest link.

    A cluster holds at least by its weakest edge, and at most as each of its tools by its strongest
    one: whose weakest edge is above what some other one holds by at most, cannot fall first.
    """
    place = home[edges.left]
    inside = np.flatnonzero((place >= 0) & (place == home[edges.right]))
    place, weight = place[inside], edges.weight[inside]
    strongest = np.zeros(len(home))
    for end in (edges.left[inside], edges.right[inside]):
        np.maximum.at(strongest, end, weight)
    joining = strongest[strongest > 0.0]
    weakest = np.full(len(home), np.inf)
    np.minimum.at(weakest, place, weight)
    may_fall: NDArray[np.int64] = inside[weakest[place] <= joining.min(initial=np.inf)]
    return may_fall


def _labels(analysis: Analysis, links: Constraints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which candidate pairs people put together, and which they keep apart."""
    scores, size = analysis.scores, len(analysis.catalog.tools)
    group = _places(analysis, [tuple(members) for members in links.must])
    together = (group[scores.left] >= 0) & (group[scores.left] == group[scores.right])
    return together, np.isin(_codes(scores.left, scores.right, size), _apart(analysis, links))


def _places(analysis: Analysis, groups: Sequence[Members]) -> NDArray[np.int64]:
    """For every row which group it is in, −1 for none."""
    home = np.full(len(analysis.rows), -1)
    rows = [analysis.rows[member] for members in groups for member in members]
    home[rows] = np.repeat(np.arange(len(groups)), [len(members) for members in groups])
    return home


def _apart(analysis: Analysis, links: Constraints) -> NDArray[np.int64]:
    rows, size = analysis.rows, len(analysis.catalog.tools)
    pairs = [sorted((rows[p.left], rows[p.right])) for p in sorted(links.cannot)]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return _codes(ends[:, 0], ends[:, 1], size)


def _codes(left: NDArray[np.integer], right: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    return left.astype(np.int64) * size + right


def _from(weights: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many weights are at or above each value."""
    return len(weights) - np.searchsorted(np.sort(weights), values, side="left")
