"""What other thresholds would bring: clusters that come and go."""

from collections.abc import Mapping
from dataclasses import dataclass

from toolscope_core.decisions.constraints import constraints
from toolscope_core.merging.analysis import Analysis, own_thresholds, thresholds_of
from toolscope_core.merging.grouping import groups_at
from toolscope_core.merging.pair_graph import ClusterChanges, Members, changes, merges_at
from toolscope_core.model.configuration import MergeThresholds
from toolscope_core.model.decision import Constraints, Decision
from ui.shared.kept import kept
from ui.shared.services import review
from ui.shared.snapshot import Snapshot


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
class Moved:
    """Thresholds beside those of the plan: the effects of both, and the clusters that differ."""

    now: Effect
    plan: Effect
    changes: ClusterChanges


_Basis = tuple[Analysis, Constraints, Effect]
"""What all thresholds are compared with: the effect of the plan's under people's decisions."""


def in_use(snapshot: Snapshot) -> MergeThresholds:
    """What the plan is made with: what people applied last, or ``own``."""
    return thresholds_of(snapshot.analysis, snapshot.log)


def own(snapshot: Snapshot) -> MergeThresholds:
    """What the plan is made with before anybody applies other thresholds; its similarity is the
    least that can be asked for.
    """
    return own_thresholds(snapshot.analysis)


def apply(snapshot: Snapshot, thresholds: MergeThresholds, reviewer: str) -> Decision:
    """Make the plan with these thresholds from now on; undo takes it back."""
    detail = {"similarity": thresholds.similarity, "probability": thresholds.probability}
    return review.say(snapshot, "threshold", (), reviewer, detail)


def moved(snapshot: Snapshot, thresholds: MergeThresholds) -> Moved:
    """What thresholds would bring, against the plan's."""
    analysis, links, plan = _basis(snapshot)
    now = plan
    if thresholds != plan.thresholds:
        now = effect(analysis, links, thresholds, snapshot.tokens)
    return Moved(now, plan, changes(plan.groups, now.groups))


@kept()
def _basis(snapshot: Snapshot) -> _Basis:
    analysis, log = snapshot.analysis, snapshot.log
    links, thresholds = constraints(analysis.catalog, log), thresholds_of(analysis, log)
    return analysis, links, effect(analysis, links, thresholds, snapshot.tokens)


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
