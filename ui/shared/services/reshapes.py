"""Splitting a proposal by hand, with a preview before the split is recorded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolscope_core.decisions.constraints import suspended_decisions
from toolscope_core.decisions.log import admit, version_of
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Relation
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import digest
from toolscope_core.store.engine import now
from ui.shared.kept import kept_under
from ui.shared.services import review
from ui.shared.snapshot import Snapshot

MOST_TOOLS = 60
"""If there are more tools than this, they cannot be divided one by one."""


APART = 0
"""The part of tools that are not merged with any of the others."""

Parts = Mapping[str, int]
"""For each tool id, the number of its part (from 1), or ``APART``."""


@dataclass(frozen=True, slots=True)
class ReshapeEffect:
    """What a new split would do to the plan.

    ``decision`` would be recorded; it is ``None`` if the split changes nothing. ``refusal`` says
    why the decision could not be recorded. ``clusters`` are the clusters that would contain one of
    the tools, largest first. ``alone`` are the ids of the tools that would be in no cluster.
    ``otherwise`` are the parts that would turn out differently because of earlier decisions.
    ``version`` is the version that the decision carries.
    """

    decision: Decision | None
    version: str
    clusters: tuple[Cluster, ...] = ()
    alone: tuple[str, ...] = ()
    otherwise: tuple[int, ...] = ()
    refusal: str = ""


def with_tool(snapshot: Snapshot, parts: Parts, tool_id: str) -> dict[str, int]:
    """The ``parts`` with one more tool in part 1.

    The other tools of its waiting cluster become a separate part, so that they do not follow it.
    """
    clusters = snapshot.plan.clusters
    home = next((one.members for one in clusters if tool_id in one.members), ())
    grown = {**parts, tool_id: 1}
    remaining = [one for one in home if one not in grown]
    return grown | dict.fromkeys(remaining, max(grown.values()) + 1)


def with_cluster(snapshot: Snapshot, parts: Parts, cluster_id: str) -> dict[str, int]:
    """The ``parts`` with a cluster as one more part. Unchanged if the cluster no longer exists."""
    cluster = review.cluster(snapshot, cluster_id)
    own = max(parts.values(), default=0) + 1
    return {**dict.fromkeys(cluster.members if cluster else (), own), **parts}


def joinable(snapshot: Snapshot, cluster: Cluster) -> list[Cluster]:
    """The clusters that nobody has accepted, except ``cluster``, most similar first."""
    analysis, plan = snapshot.analysis, snapshot.plan
    candidates = [c for c in plan.clusters if c.state != "accepted" and c.id != cluster.id]
    return _nearest_first(analysis, candidates, cluster.members)


def home(snapshot: Snapshot, ids: Sequence[str]) -> Cluster | None:
    """The cluster that has most of these tools (ids), among those that are not accepted. If there
    is a tie, the most similar one.

    ``None`` if there is no such cluster.
    """
    analysis, plan = snapshot.analysis, snapshot.plan
    open_ones = [c for c in plan.clusters if c.state != "accepted"]
    nearest = _nearest_first(analysis, open_ones, ids)
    return max(nearest, key=lambda one: len({*ids} & {*one.members}), default=None)


def preview(snapshot: Snapshot, cluster: Cluster, parts: Parts, reviewer: str) -> ReshapeEffect:
    """What splitting ``cluster`` into these parts would do. Nothing is written."""
    return _looked_at(snapshot, parts, reviewer, decided_by(cluster, parts))


def preview_as(
    snapshot: Snapshot, cluster: Cluster, relation: Relation, reviewer: str
) -> ReshapeEffect:
    """What accepting ``cluster`` as another relation would do. Nothing is written."""
    request: tuple[Action, dict[str, Any]] = "accept", {"relation": relation}
    return _looked_at(snapshot, dict.fromkeys(cluster.members, 1), reviewer, request)


def _looked_at(
    snapshot: Snapshot, parts: Parts, reviewer: str, request: tuple[Action, dict[str, Any]] | None
) -> ReshapeEffect:
    """The effect on the plan if the decision in ``request`` were appended to the log."""
    key = digest(sorted(parts.items()), reviewer, request)
    return kept_under(
        snapshot, "reshaped", key, lambda: _reshaped(snapshot, parts, reviewer, request), limit=16
    )


def _reshaped(
    snapshot: Snapshot, parts: Parts, reviewer: str, request: tuple[Action, dict[str, Any]] | None
) -> ReshapeEffect:
    analysis, log, ids = snapshot.analysis, snapshot.log, sorted(parts)
    version = version_of([analysis.catalog.by_id[one].fingerprint for one in ids], log)
    if request is None:
        return ReshapeEffect(None, version, *as_planned(snapshot.plan, parts))
    action, detail = request
    decision = review.make_decision(analysis.catalog, action, ids, reviewer, detail)
    try:
        entry = admit(log, decision, version, suspended_decisions(analysis.catalog, log))
    except DecisionError as error:
        return ReshapeEffect(decision, version, refusal=str(error))
    plan = plan_merge(analysis, (*log, entry), PlanConfig())
    return ReshapeEffect(decision, version, *as_planned(plan, parts))


def record(snapshot: Snapshot, effect: ReshapeEffect) -> Decision:
    """Append the decision that was previewed.

    Raises ``StaleDecisionError`` if somebody has decided on one of the tools in the meantime, and
    ``DecisionError`` if the decision contradicts an active one or would change nothing.
    """
    decision = effect.decision
    if decision is None:
        raise DecisionError("these parts are the same as the proposal; move a tool first")
    return review.record(snapshot, replace(decision, at=now()), effect.version)


def groups_of(parts: Parts) -> list[list[str]]:
    """The tools of each part, sorted, in the order of the parts. Then each tool that is ``APART``,
    on its own.
    """
    numbers = sorted({number for number in parts.values() if number != APART})
    together = [sorted(one for one, own in parts.items() if own == number) for number in numbers]
    return together + [[one] for one in sorted(parts) if parts[one] == APART]


def decided_by(cluster: Cluster, parts: Parts) -> tuple[Action, dict[str, Any]] | None:
    """The action and the detail that ask for these parts. ``None`` if the parts are the cluster as
    it is.

    Several parts are a *recut*; all tools in one part are a *propose*. If tools came from
    elsewhere, the judge decides again how they are related.
    """
    groups, from_elsewhere = groups_of(parts), set(parts) - set(cluster.members)
    if len(groups) > 1:
        relation = {} if from_elsewhere else {"relation": cluster.relation}
        return "recut", {"groups": groups, **relation}
    return ("propose", {}) if from_elsewhere else None


def as_planned(
    plan: MergePlan, parts: Parts
) -> tuple[tuple[Cluster, ...], tuple[str, ...], tuple[int, ...]]:
    """What becomes of the parts in a plan: ``clusters``, ``alone`` and ``otherwise`` of
    ``ReshapeEffect``.
    """
    holders = [c for c in plan.clusters if not parts.keys().isdisjoint((*c.members, *c.newcomers))]
    clustered = {one for c in holders for one in (*c.members, *c.newcomers)}
    shapes = {c.members for c in holders}
    otherwise = [
        number
        for number, group in enumerate(groups_of(parts), 1)
        if len(group) > 1 and tuple(group) not in shapes
    ]
    clusters = sorted(holders, key=lambda c: (-len(c.members), c.id))
    return tuple(clusters), tuple(sorted(parts.keys() - clustered)), tuple(otherwise)


def _nearest_first(
    analysis: Analysis, clusters: Iterable[Cluster], ids: Sequence[str]
) -> list[Cluster]:
    """The clusters, starting with the one whose closest member is most similar to
    one of the tools.
    """
    own = analysis.vectors[[analysis.rows[one] for one in ids]]
    closest = (analysis.vectors @ own.T).max(axis=1)

    def similarity(cluster: Cluster) -> float:
        return max(float(closest[analysis.rows[one]]) for one in cluster.members)

    return sorted(clusters, key=lambda one: (-similarity(one), one.id))
