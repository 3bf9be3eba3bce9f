"""Proposals that lie between the same two servers, to be decided together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolscope_core.datamodel import Cluster, Tool, digest
from toolscope_core.merging.guards import ALL_OR_NONE
from toolscope_core.pipeline import Analysis
from toolscope_core.views.queue import is_family


@dataclass(frozen=True, slots=True)
class ServerPairProposals:
    """Two servers (sorted) and two or more proposals that each have members on both and nowhere
    else, in the order of the queue.

    ``sides`` are the members of each proposal on the first and on the second server;
    ``all_or_none`` says whether a guard asks that they are switched off together.
    """

    key: str
    servers: tuple[str, str]
    clusters: tuple[Cluster, ...]
    sides: tuple[tuple[tuple[Tool, ...], tuple[Tool, ...]], ...]
    all_or_none: bool

    def kept_on(self, server: str) -> int:
        """Of how many proposals the canonical tool is one of this server's."""
        return len(self.clusters) - len(self.to_keep(server))

    def to_keep(self, server: str) -> tuple[tuple[Cluster, str], ...]:
        """The proposals that keep a tool of the other server, each with the id of this server's
        tool that can be kept instead: the first by id.
        """
        at = self.servers.index(server)
        return tuple(
            (cluster, min(tool.id for tool in sides[at]))
            for cluster, sides in zip(self.clusters, self.sides, strict=True)
            if cluster.canonical not in {tool.id for tool in sides[at]}
        )


def server_pairs(analysis: Analysis, waiting: Sequence[Cluster]) -> tuple[ServerPairProposals, ...]:
    """The pairs of servers between which two or more of ``waiting`` lie, most proposals first.

    Families, changed clusters and those in conflict are left to the queue.
    """
    tools = analysis.catalog.tools
    between: dict[tuple[str, ...], list[Cluster]] = {}
    for cluster in waiting:
        if cluster.state == "proposed" and not cluster.newcomers and not is_family(cluster):
            owners = {tools[analysis.rows[member]].owner for member in cluster.members}
            between.setdefault(tuple(sorted(owners)), []).append(cluster)
    pairs = [
        _pair(analysis, (servers[0], servers[1]), clusters)
        for servers, clusters in between.items()
        if len(servers) == 2 and all(servers) and len(clusters) > 1
    ]
    return tuple(sorted(pairs, key=lambda pair: (-len(pair.clusters), pair.servers)))


def _pair(
    analysis: Analysis, servers: tuple[str, str], clusters: Sequence[Cluster]
) -> ServerPairProposals:
    def side(cluster: Cluster, server: str) -> tuple[Tool, ...]:
        members = (analysis.catalog.tools[analysis.rows[member]] for member in cluster.members)
        return tuple(tool for tool in members if tool.owner == server)

    return ServerPairProposals(
        key=digest(*servers)[:12],
        servers=servers,
        clusters=tuple(clusters),
        sides=tuple((side(one, servers[0]), side(one, servers[1])) for one in clusters),
        all_or_none=any(
            reason.endswith(ALL_OR_NONE) for cluster in clusters for reason in cluster.reasons
        ),
    )
