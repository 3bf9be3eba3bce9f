"""What may be accepted without a look, and why the rest is left to a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from ui.shared.cards.cards import tokens_of
from ui.shared.cards.queue import is_safe

_DOUBTS = (
    "with a newcomer to an accepted merge",
    "stale or in conflict",
    "with a tool that holds hidden or hostile text",
    "in families, for which a gateway is needed",
    "for which a gateway is needed",
    "over several servers",
    "with other words, a weak pair, another effect, or cut from a chain",
)


@dataclass(frozen=True, slots=True)
class SafeBatch:
    """What *accept safe* would do now, and how many clusters it leaves out for which reason.

    A cluster that is left out counts once, under the first reason that holds.
    """

    clusters: tuple[Cluster, ...]
    tools: int
    tokens_saved: int
    left_out: tuple[tuple[str, int], ...]


def safe_batch(catalog: Catalog, clusters: Sequence[Cluster]) -> SafeBatch:
    """The waiting ``clusters`` as safe ones and others."""
    tools = catalog.by_id
    safe, saved, left = [], 0, dict.fromkeys(_DOUBTS, 0)
    for cluster in clusters:
        if is_safe(cluster):
            first = sorted(cluster.members, key=lambda member: member != cluster.canonical)
            before, after = tokens_of([tools[member] for member in first], cluster.document)
            safe.append(cluster)
            saved += before - after
            continue
        servers = {tools[member].server for member in cluster.members}
        holds = (
            bool(cluster.newcomers),
            cluster.state != "proposed",
            bool(catalog.blocked.intersection(cluster.members)),
            cluster.relation == "parametric",
            cluster.kind == "router",
            len(servers) > 1,
            True,
        )
        left[_DOUBTS[holds.index(True)]] += 1
    return SafeBatch(
        clusters=tuple(safe),
        tools=sum(len(cluster.members) for cluster in safe),
        tokens_saved=saved,
        left_out=tuple((doubt, count) for doubt, count in left.items() if count),
    )
