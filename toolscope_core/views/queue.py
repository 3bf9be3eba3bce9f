"""What waits for a person in Review, and what comes first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal

from toolscope_core.datamodel import Cluster, MergePlan, Tool, digest

Order = Literal["risk", "tokens", "surest", "uncertain", "families", "audit", "disagreement"]
AUDIT_SEED = 310

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


def in_order(
    waiting: Iterable[Cluster], by: Order, saved: Mapping[str, int], gaps: Mapping[str, float]
) -> tuple[Cluster, ...]:
    """The clusters, the first to decide on first; equal ones by id.

    *risk*: duplicates before families, riskiest first: conflicts, changed members, more reasons
    against accepting, weaker pairs, more tools; families by size. *tokens*: by what merging saves
    (``saved``, by cluster id). *surest* and *uncertain*: by the weakest pair, from 1 down, and from
    the middle outward. *families* before duplicates. *audit*: a random order, always the same.
    *disagreement*: duplicates before families, by how far the judges differ on a member (``gaps``,
    by tool id).
    """

    def by_risk(cluster: Cluster) -> tuple[float, ...]:
        family = is_family(cluster)
        return (family, *((-len(cluster.members),) if family else risk(cluster)))

    def widest(cluster: Cluster) -> float:
        return max(gaps.get(one, 0.0) for one in (*cluster.members, *cluster.newcomers))

    ranks: Mapping[Order, Callable[[Cluster], tuple[float | str, ...]]] = {
        "risk": by_risk,
        "tokens": lambda one: (-saved.get(one.id, 0),),
        "surest": lambda one: (-one.weakest_edge,),
        "uncertain": lambda one: (abs(one.weakest_edge - 0.5),),
        "families": lambda one: (not is_family(one), *by_risk(one)),
        "audit": lambda one: (digest(AUDIT_SEED, one.id),),
        "disagreement": lambda one: (is_family(one), -widest(one), *by_risk(one)),
    }
    rank = ranks[by]
    return tuple(sorted(waiting, key=lambda one: (*rank(one), one.id)))


def matching(
    waiting: Iterable[Cluster], tools: Mapping[str, Tool], find: str, server: str | None
) -> tuple[Cluster, ...]:
    """The clusters of which the name or a member's name, server or description holds every word of
    ``find``, and that have a member of ``server``, if one is given.
    """
    words = find.casefold().split()

    def holds(cluster: Cluster) -> bool:
        members = [tools[one] for one in (*cluster.members, *cluster.newcomers)]
        if server is not None and all(tool.owner != server for tool in members):
            return False
        texts = [cluster.document.name, *(f"{t.name} {t.owner} {t.description}" for t in members)]
        text = " ".join(texts).casefold()
        return all(word in text for word in words)

    return tuple(cluster for cluster in waiting if holds(cluster))


def cluster_with(plan: MergePlan, ids: Collection[str]) -> Cluster | None:
    """The cluster that holds all of these tools, if there is one."""
    wanted = set(ids)
    return next((c for c in plan.clusters if wanted <= {*c.members, *c.newcomers}), None)
