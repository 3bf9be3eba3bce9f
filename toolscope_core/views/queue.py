"""What waits for a person in Review, and what comes first."""

from __future__ import annotations

from collections.abc import Collection

from toolscope_core.datamodel import Cluster, MergePlan

OPEN_STATES = ("conflict", "stale", "proposed")
"""The most urgent first."""


def waits(cluster: Cluster) -> bool:
    """Whether it waits for a person."""
    return cluster.state in OPEN_STATES or bool(cluster.newcomers)


def is_family(cluster: Cluster) -> bool:
    """Whether its members are the same operation for several providers or fixed values."""
    return cluster.relation == "parametric"


def risk(cluster: Cluster) -> tuple[float, ...]:
    """Sorts the riskiest first: state, more reasons against, weaker pairs, more tools."""
    state = OPEN_STATES.index(cluster.state) if cluster.state in OPEN_STATES else len(OPEN_STATES)
    return (
        state,
        -len(cluster.reasons),
        cluster.weakest_edge,
        -len(cluster.members),
    )


def cluster_with(plan: MergePlan, ids: Collection[str]) -> Cluster | None:
    """The cluster that holds all of these tools, if there is one."""
    wanted = set(ids)
    return next((c for c in plan.clusters if wanted <= {*c.members, *c.newcomers}), None)
