"""Many proposals decided at once (safe ones, all between two servers, or all above a bar), and
audits of these batches.

Nobody looks at every decision of a batch. Instead, a random sample is checked afterwards to
estimate how many of the others are right.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from toolscope_core.evaluation.intervals import share_interval
from toolscope_core.judging.guards import ALL_OR_NONE
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.tool import Tool, digest, sorted_ids
from ui.shared.cards.queue import is_family, is_safe, reason_kind

PAIR_VIEW = "By server pair"
"""The name of the view of the queue that shows two servers."""
EXPECTED = 0.9
"""The share of right merges that is assumed when the sample size is computed."""

_NORMAL = 1.959964
"""The 97.5th percentile of the standard normal distribution."""


@dataclass(frozen=True, slots=True)
class BatchSelection:
    """The proposals in a batch, in order, and for each reason the number left out."""

    clusters: tuple[Cluster, ...]
    left_out: tuple[tuple[str, int], ...]

    @property
    def tools(self) -> int:
        return sum(len(cluster.members) for cluster in self.clusters)


@dataclass(frozen=True, slots=True)
class Batch:
    """The decisions of a batch that are still active, oldest first."""

    key: str
    action: Action
    reviewer: str
    at: str
    decisions: tuple[Decision, ...]

    @property
    def seqs(self) -> tuple[int, ...]:
        return tuple(one.seq for one in self.decisions)


@dataclass(frozen=True, slots=True)
class BatchAudit:
    """A sample from a batch. ``answers`` say for each decision (by seq) whether it is right.

    ``share`` is the share of right decisions among those answered. ``low`` and ``high`` are its 95
    % interval (Wilson's). Without answers, the three are 0, 0 and 1.
    """

    sample: tuple[Decision, ...]
    answers: dict[int, bool]
    share: float
    low: float
    high: float

    @property
    def wrong(self) -> int:
        return sum(not right for right in self.answers.values())


_DOUBTS: Mapping[str, Callable[[Cluster, Catalog], bool]] = {
    "with a newcomer to an accepted merge": lambda one, catalog: bool(one.newcomers),
    "stale or in conflict": lambda one, catalog: one.state != "proposed",
    "with a tool that contains hidden or hostile text": lambda one, catalog: (
        not catalog.blocked.isdisjoint(one.members)
    ),
    "that are families": lambda one, catalog: is_family(one),
    "for which a gateway is needed": lambda one, catalog: one.kind == "gateway",
    "across several servers": lambda one, catalog: (
        len({catalog.by_id[member].server for member in one.members}) > 1
    ),
    (
        "with differing words, a weak pair, a different effect, or similar tools outside the "
        "proposal"
    ): (lambda one, catalog: True),
}
"""Why a proposal is not safe to accept without a review. The first reason that applies counts."""


@dataclass(frozen=True, slots=True)
class ServerPairProposals:
    """Two servers, sorted by name, and the proposals with members on both, in queue order.

    For each proposal, ``sides`` has the members on the first and on the second server, and
    ``beyond`` its other servers. ``outside`` is the number of tools on the first and on the second
    server that are in no proposal. ``all_or_none`` says whether a guard requires switching them off
    together.
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
        """The number of proposals that are not families. A family keeps every tool."""
        return sum(not is_family(cluster) for cluster in self.clusters)

    def only(self, ids: Collection[str]) -> "ServerPairProposals":
        """The same two servers, with only these proposals."""
        at = [place for place, one in enumerate(self.clusters) if one.id in ids]
        return replace(
            self,
            clusters=tuple(self.clusters[place] for place in at),
            sides=tuple(self.sides[place] for place in at),
            beyond=tuple(self.beyond[place] for place in at),
        )

    def kept_on(self, server: str) -> int:
        """The number of duplicates whose canonical tool is on this server."""
        return self.duplicates - len(self.to_keep(server))

    def to_keep(self, server: str) -> tuple[tuple[Cluster, str], ...]:
        """The duplicates that do not keep a tool of this server, each with the tool that the server
        could keep instead.

        That is the server's first tool by id.
        """
        at = self.servers.index(server)
        return tuple(
            (cluster, min(tool.id for tool in sides[at]))
            for cluster, sides in zip(self.clusters, self.sides, strict=True)
            if not is_family(cluster)
            and (
                cluster.canonical not in {one.id for one in sides[at]}
                or (cluster.kind == "gateway" and cluster.chosen_kind is None)
            )
        )


def select_batch(
    clusters: Iterable[Cluster], at_least: float, without: Collection[str]
) -> BatchSelection:
    """The proposals whose weakest pair has at least the probability ``at_least``, and that have no
    objection of a kind in ``without``.

    The kinds are those in ``REASON_KINDS``. Proposals that changed, are in conflict or have
    newcomers are left out too. A proposal that is left out counts once, under the first reason:
    this one, then being too weak, then its first objection.
    """
    selected, left_out = [], Counter[str]()
    for cluster in clusters:
        kinds = [kind for reason in cluster.reasons if (kind := reason_kind(reason)) in without]
        if not is_untouched(cluster):
            left_out["changed, in conflict or with newcomers"] += 1
        elif cluster.weakest_edge < at_least:
            left_out[f"weaker than {at_least:.2f}"] += 1
        elif kinds:
            left_out[kinds[0]] += 1
        else:
            selected.append(cluster)
    return BatchSelection(tuple(selected), tuple(left_out.most_common()))


def is_untouched(cluster: Cluster) -> bool:
    """Whether nobody has decided on the proposal: it has not changed, is not in conflict, and has
    no newcomers.
    """
    return cluster.state == "proposed" and not cluster.newcomers


def batches(decisions: Iterable[Decision]) -> tuple[Batch, ...]:
    """The batches that have two or more active decisions, latest first."""
    rows: dict[str, list[Decision]] = {}
    for one in decisions:
        key = one.detail.get("batch")
        if isinstance(key, str) and one.action != "flag":
            rows.setdefault(key, []).append(one)
    new_batches = [
        Batch(key, own[0].action, own[0].reviewer, own[0].at, tuple(own))
        for key, own in rows.items()
        if len(own) > 1
    ]
    return tuple(sorted(new_batches, key=lambda batch: -batch.seqs[-1]))


def sample_size(population: int, half_width: float) -> int:
    """How many of ``population`` have to be checked for a 95 % interval of about ± ``half_width``.

    This assumes that nine in ten are right, and corrects for a finite population.
    """
    endless = _NORMAL**2 * EXPECTED * (1 - EXPECTED) / half_width**2
    return min(population, math.ceil(endless / (1 + (endless - 1) / population)))


def audit_of(batch: Batch, size: int, flags: Iterable[Decision]) -> BatchAudit:
    """The first ``size`` decisions of a batch in a random but fixed order, with the active answers.

    The answers are among ``flags``. If a decision has several, the last one counts.
    """
    order = sorted(batch.decisions, key=lambda one: digest(batch.key, one.seq))
    sample = tuple(order[:size])
    own = {one.seq for one in batch.decisions}
    answers = {
        one.detail["audited"]: one.detail.get("right") is True
        for one in flags
        if one.detail.get("audited") in own
    }
    return BatchAudit(sample, answers, *share_interval(list(answers.values())))


def safe_batch(catalog: Catalog, clusters: Sequence[Cluster]) -> BatchSelection:
    """What *accept safe* would do to the waiting ``clusters``.

    A cluster that is left out counts once, under its first doubt.
    """
    left_out = Counter(
        next(doubt for doubt, holds in _DOUBTS.items() if holds(one, catalog))
        for one in clusters
        if not is_safe(one)
    )
    counts = tuple((doubt, left_out[doubt]) for doubt in _DOUBTS if left_out[doubt])
    return BatchSelection(tuple(filter(is_safe, clusters)), counts)


def server_pair_key(one: str, other: str) -> str:
    """The key that stands for two servers in an address."""
    return digest(*sorted((one, other)))[:12]


def server_pair_query(one: str, other: str) -> dict[str, str]:
    """The address parameters with which the Review page shows two servers."""
    return {"queue_view": PAIR_VIEW, "servers": server_pair_key(one, other)}


def server_pairs(
    analysis: Analysis, proposals: Sequence[Cluster], near: Collection[tuple[str, str]] = ()
) -> tuple[ServerPairProposals, ...]:
    """The pairs of servers with at least two ``proposals`` between them, and the ``near`` pairs.

    Pairs with the most proposals come first, and pairs with equally many are sorted by name. A
    proposal across three servers counts for each pair of them. Changed clusters and clusters in
    conflict are left to the queue.
    """
    between: dict[tuple[str, str], list[Cluster]] = {pair: [] for pair in near}
    for cluster in proposals:
        if is_untouched(cluster):
            for servers in combinations(owners_of(analysis, cluster), 2):
                between.setdefault(servers, []).append(cluster)
    pairs = [
        _pair(analysis, servers, clusters)
        for servers, clusters in between.items()
        if len(clusters) > 1 or servers in near
    ]
    return tuple(sorted(pairs, key=lambda pair: (-len(pair.clusters), pair.servers)))


def reasons_against_in_batch(cluster: Cluster) -> tuple[str, ...]:
    """The objections to a proposal when it is shown with the other proposals between its servers.

    The objection that counts the proposal's similar tools outside is left out, because some of
    these are in the other proposals.
    """
    return tuple(reason for reason in cluster.reasons if not reason.endswith(ALL_OR_NONE))


def owners_of(analysis: Analysis, cluster: Cluster) -> tuple[str, ...]:
    """The servers of the members, sorted. Members without a server are left out."""
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
        key=server_pair_key(*servers),
        servers=servers,
        clusters=tuple(clusters),
        sides=tuple((side(one, servers[0]), side(one, servers[1])) for one in clusters),
        beyond=tuple(
            tuple(owner for owner in owners_of(analysis, one) if owner not in servers)
            for one in clusters
        ),
        outside=(outside[servers[0]], outside[servers[1]]),
        all_or_none=any(
            reason.endswith(ALL_OR_NONE) for cluster in clusters for reason in cluster.reasons
        ),
    )
