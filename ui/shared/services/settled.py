"""What people have decided already: accepted merges and rejected ones, as clusters to look at."""

from dataclasses import dataclass, replace
from typing import Literal

from toolscope_core.decisions import constraints
from toolscope_core.decisions.actions import JOINING
from toolscope_core.decisions.log import active
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.plan_making import supposed
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from ui.shared.kept import kept
from ui.shared.snapshot import Snapshot

SettledState = Literal["accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class SettledCluster:
    """A cluster with the decision that settled it, the latest; ``None`` where none stands."""

    cluster: Cluster
    decision: Decision | None


def clusters(snapshot: Snapshot, state: SettledState) -> tuple[SettledCluster, ...]:
    """The accepted clusters by name, or the rejected ones, newest first. Rejected tools that
    have changed or are gone are left out.
    """
    return accepted(snapshot) if state == "accepted" else _rejected(snapshot)


@kept()
def _rejected(snapshot: Snapshot) -> tuple[SettledCluster, ...]:
    analysis = snapshot.analysis
    return tuple(
        SettledCluster(_as_rejected(analysis, one), one)
        for one in active(snapshot.log)[::-1]
        if one.action == "reject" and _is_unchanged(analysis, one)
    )


@kept()
def accepted(snapshot: Snapshot) -> tuple[SettledCluster, ...]:
    """The accepted clusters by name."""
    latest: dict[str, Decision] = {}
    for one in active(snapshot.log):
        if one.action in JOINING:
            latest |= dict.fromkeys(one.ids, one)
    accepted = [c for c in snapshot.plan.clusters if c.state == "accepted"]
    accepted.sort(key=lambda c: (c.document.name.casefold(), c.id))
    return tuple(
        SettledCluster(
            c,
            max(
                (latest[m] for m in c.members if m in latest), key=lambda one: one.seq, default=None
            ),
        )
        for c in accepted
    )


@kept()
def flags(snapshot: Snapshot) -> dict[str, tuple[Decision, ...]]:
    """By tool id the flags that stand on it, oldest first."""
    return constraints.flags(snapshot.catalog, snapshot.log)


def flags_on(snapshot: Snapshot, cluster: Cluster) -> tuple[Decision, ...]:
    """The flags on a member of the cluster, each once, oldest first."""
    own = flags(snapshot)
    standing = {one.seq: one for member in cluster.members for one in own.get(member, ())}
    return tuple(standing[seq] for seq in sorted(standing))


def _is_unchanged(analysis: Analysis, decision: Decision) -> bool:
    tools = analysis.catalog.by_id
    return all(
        tool_id in tools and tools[tool_id].fingerprint == member
        for tool_id, member in zip(decision.ids, decision.members, strict=True)
    )


def _as_rejected(analysis: Analysis, decision: Decision) -> Cluster:
    family = decision.detail.get("relation") == "parametric"
    return replace(supposed(analysis, decision.ids, family), state="rejected")
