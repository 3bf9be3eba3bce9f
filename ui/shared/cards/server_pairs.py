"""Proposals that lie between the same two servers, to be decided together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from toolscope_core.judging.guards import ALL_OR_NONE
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.tool import Tool, digest, sorted_ids
from ui.shared.cards.queue import is_family


@dataclass(frozen=True, slots=True)
class ServerPairProposals:
    """Two servers (sorted) and two or more proposals that each have members on both, in the order
    of the queue.

    ``sides`` are the members of each proposal on the first and on the second server, ``beyond`` the
    other servers that it has members on; ``outside`` is how many tools of the first and of the
    second server are in none of them. ``all_or_none`` says whether a guard asks that they are
    switched off together.
    """

    key: str
    servers: tuple[str, str]
    clusters: tuple[Cluster, ...]
    sides: tuple[tuple[tuple[Tool, ...], tuple[Tool, ...]], ...]
    beyond: tuple[tuple[str, ...], ...]
    outside: tuple[int, int]
    all_or_none: bool

    @property
    def duplicates(self) -> int:
        """How many proposals are no families, of which every tool stays."""
        return sum(not is_family(cluster) for cluster in self.clusters)

    def kept_on(self, server: str) -> int:
        """Of how many duplicates the canonical tool is one of this server's."""
        return self.duplicates - len(self.to_keep(server))

    def to_keep(self, server: str) -> tuple[tuple[Cluster, str], ...]:
        """The duplicates that keep a tool of another server, or all, each with the id of this
        server's tool that can be kept instead: the first by id.
        """
        at = self.servers.index(server)
        return tuple(
            (cluster, min(tool.id for tool in sides[at]))
            for cluster, sides in zip(self.clusters, self.sides, strict=True)
            if not is_family(cluster)
            and (
                cluster.canonical not in {one.id for one in sides[at]}
                or (cluster.kind == "router" and cluster.chosen_kind is None)
            )
        )


def server_pairs(analysis: Analysis, waiting: Sequence[Cluster]) -> tuple[ServerPairProposals, ...]:
    """The pairs of servers between which two or more of ``waiting`` lie, most proposals first; one
    of three servers lies between each two of them.

    Changed clusters and those in conflict are left to the queue.
    """
    between: dict[tuple[str, str], list[Cluster]] = {}
    for cluster in waiting:
        if cluster.state == "proposed" and not cluster.newcomers:
            for servers in combinations(_owners(analysis, cluster), 2):
                between.setdefault(servers, []).append(cluster)
    pairs = [
        _pair(analysis, servers, clusters)
        for servers, clusters in between.items()
        if len(clusters) > 1
    ]
    return tuple(sorted(pairs, key=lambda pair: (-len(pair.clusters), pair.servers)))


def reasons_against(cluster: Cluster) -> tuple[str, ...]:
    """What speaks against a proposal among others of its servers: not its own count of the tools
    beside it, some of which are in the others.
    """
    return tuple(reason for reason in cluster.reasons if not reason.endswith(ALL_OR_NONE))


def _owners(analysis: Analysis, cluster: Cluster) -> tuple[str, ...]:
    """The servers of the members, sorted; tools without one are on none."""
    tools = (analysis.catalog.tools[analysis.rows[member]] for member in cluster.members)
    return sorted_ids({tool.owner for tool in tools} - {""})


def _pair(
    analysis: Analysis, servers: tuple[str, str], clusters: Sequence[Cluster]
) -> ServerPairProposals:
    def side(cluster: Cluster, server: str) -> tuple[Tool, ...]:
        members = (analysis.catalog.tools[analysis.rows[member]] for member in cluster.members)
        return tuple(tool for tool in members if tool.owner == server)

    inside = {member for cluster in clusters for member in cluster.members}
    outside = Counter(tool.owner for tool in analysis.catalog.tools if tool.id not in inside)
    return ServerPairProposals(
        key=digest(*servers)[:12],
        servers=servers,
        clusters=tuple(clusters),
        sides=tuple((side(one, servers[0]), side(one, servers[1])) for one in clusters),
        beyond=tuple(
            tuple(owner for owner in _owners(analysis, one) if owner not in servers)
            for one in clusters
        ),
        outside=(outside[servers[0]], outside[servers[1]]),
        all_or_none=any(
            reason.endswith(ALL_OR_NONE) for cluster in clusters for reason in cluster.reasons
        ),
    )
