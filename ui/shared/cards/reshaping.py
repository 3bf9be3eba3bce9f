"""A proposal split anew by hand: the tools in numbered parts, and what the plan makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.plan import MergePlan

APART = 0
"""The part of the tools that are to be merged with none of the others."""

Parts = Mapping[str, int]
"""By tool id the part, from 1, or ``APART``."""


@dataclass(frozen=True, slots=True)
class Reshaped:
    """What a plan would make of a new split.

    ``decision`` is what would be recorded, ``None`` where the split changes nothing; ``refusal``
    says why it could not be. ``clusters`` are those that would hold one of the tools, the largest
    first; ``alone`` the ids of the tools that would be in none; ``otherwise`` the parts that come
    out differently, since what people decided before holds. ``version`` is what the decision
    carries.
    """

    decision: Decision | None
    version: str
    clusters: tuple[Cluster, ...] = ()
    alone: tuple[str, ...] = ()
    otherwise: tuple[int, ...] = ()
    refusal: str = ""


def parts_with(plan: MergePlan, parts: Parts, tool_id: str) -> dict[str, int]:
    """``parts`` with one more tool in part 1. What waits in one cluster with it comes along as a
    part of its own, so that the tool leaves that cluster and is not followed by it.
    """
    taken = dict(parts)
    home = next((c for c in plan.clusters if tool_id in c.members), None)
    taken[tool_id] = 1
    rest = [one for one in (home.members if home else ()) if one not in taken]
    return taken | dict.fromkeys(rest, max(taken.values()) + 1)


def parts_joined(parts: Parts, cluster: Cluster) -> dict[str, int]:
    """``parts`` with the members of a cluster as a further part."""
    own = max(parts.values(), default=0) + 1
    return {**dict.fromkeys(cluster.members, own), **parts}


def groups_of(parts: Parts) -> list[list[str]]:
    """The tools of each part, sorted, in the order of the parts; then each that stands apart."""
    numbers = sorted({number for number in parts.values() if number != APART})
    together = [sorted(one for one, own in parts.items() if own == number) for number in numbers]
    return together + [[one] for one in sorted(parts) if parts[one] == APART]


def decided_by(shown: Cluster, parts: Parts) -> tuple[Action, dict[str, Any]] | None:
    """The action and detail that ask for these parts; ``None`` where they are the cluster as it is.

    Several parts are a *recut*, all tools in one a *propose*. Where tools came from elsewhere, what
    they are to each other is the judge's to say anew.
    """
    groups, from_elsewhere = groups_of(parts), set(parts) - set(shown.members)
    if len(groups) > 1:
        relation = {} if from_elsewhere else {"relation": shown.relation}
        return "recut", {"groups": groups, **relation}
    return ("propose", {}) if from_elsewhere else None


def as_planned(
    plan: MergePlan, parts: Parts
) -> tuple[tuple[Cluster, ...], tuple[str, ...], tuple[int, ...]]:
    """What a plan makes of the parts: ``clusters``, ``alone`` and ``otherwise`` of ``Reshaped``."""
    holders = [c for c in plan.clusters if not parts.keys().isdisjoint((*c.members, *c.newcomers))]
    held = {one for c in holders for one in (*c.members, *c.newcomers)}
    shapes = {c.members for c in holders}
    otherwise = [
        number
        for number, group in enumerate(groups_of(parts), 1)
        if len(group) > 1 and tuple(group) not in shapes
    ]
    clusters = sorted(holders, key=lambda c: (-len(c.members), c.id))
    return tuple(clusters), tuple(sorted(parts.keys() - held)), tuple(otherwise)
