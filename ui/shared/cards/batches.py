"""Many proposals decided at once: the safe ones, those between two servers, those that a bar takes,
and an audit of what was taken.

Nobody looked at the rows of a batch one by one. A random sample of them, looked at afterwards, says
how many of the rest are right.
"""

from __future__ import annotations

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
"""The view of the queue that shows two servers."""
EXPECTED = 0.9
"""The share of right merges for which the size of a sample is chosen."""

_NORMAL = 1.959964
"""The 97.5th percentile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class BatchSelection:
    """What a batch takes of some proposals, in their order, and how many it leaves out, by why."""

    clusters: tuple[Cluster, ...]
    left_out: tuple[tuple[str, int], ...]

    @property
    def tools(self) -> int:
        return sum(len(cluster.members) for cluster in self.clusters)


@dataclass(frozen=True, slots=True)
class Batch:
    """Decisions that were made at once: those that still stand, oldest first."""

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
    """A sample of a batch, with what was said of it: by the seq of a decision whether it is right.
    ``share`` is that of right ones among the answered, ``low`` and ``high`` its 95 % interval
    (Wilson's); all 0 and 1 while there is no answer.
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
    "with a tool that holds hidden or hostile text": lambda one, catalog: (
        not catalog.blocked.isdisjoint(one.members)
    ),
    "that are families": lambda one, catalog: is_family(one),
    "for which a gateway is needed": lambda one, catalog: one.kind == "gateway",
    "over several servers": lambda one, catalog: (
        len({catalog.by_id[member].server for member in one.members}) > 1
    ),
    "with other words, a weak pair, another effect, or like tools outside the proposal": (
        lambda one, catalog: True
    ),
}
"""Why a proposal is not safe to accept without a look: the first that holds."""


@dataclass(frozen=True, slots=True)
class ServerPairProposals:
    """Two servers (sorted) and the proposals that each have members on both, in the order of the
    queue.

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

    def only(self, ids: Collection[str]) -> ServerPairProposals:
        """The same two servers with those of the proposals alone."""
        at = [place for place, one in enumerate(self.clusters) if one.id in ids]
        return replace(
            self,
            clusters=tuple(self.clusters[place] for place in at),
            sides=tuple(self.sides[place] for place in at),
            beyond=tuple(self.beyond[place] for place in at),
        )

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
                or (cluster.kind == "gateway" and cluster.chosen_kind is None)
            )
        )


def select_batch(
    clusters: Iterable[Cluster], at_least: float, without: Collection[str]
) -> BatchSelection:
    """The proposals whose weakest pair is at ``at_least`` or more (a probability) and against which
    nothing of the kinds in ``without`` speaks (``REASON_KINDS``).

    One that is left out counts once: as too weak, else under the first reason against it.
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
    """Whether the proposal is one that nobody decided on: neither changed, nor in conflict, nor
    with newcomers.
    """
    return cluster.state == "proposed" and not cluster.newcomers


def batches(decisions: Iterable[Decision]) -> tuple[Batch, ...]:
    """The batches of two decisions or more among those that stand, the latest first."""
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
    """How many of ``population`` to look at for a 95 % interval of about ± ``half_width``, where
    nine in ten are right; with the correction for finite populations.
    """
    endless = _NORMAL**2 * EXPECTED * (1 - EXPECTED) / half_width**2
    return min(population, math.ceil(endless / (1 + (endless - 1) / population)))


def audit_of(batch: Batch, size: int, flags: Iterable[Decision]) -> BatchAudit:
    """The first ``size`` decisions of a batch in a random order that is always the same, with the
    answers among the standing ``flags``; the last answer on a decision counts.
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
    """What *accept safe* would do with the waiting ``clusters``. One that it leaves out counts
    once, under the first doubt that holds.
    """
    left_out = Counter(
        next(doubt for doubt, holds in _DOUBTS.items() if holds(one, catalog))
        for one in clusters
        if not is_safe(one)
    )
    counts = tuple((doubt, left_out[doubt]) for doubt in _DOUBTS if left_out[doubt])
    return BatchSelection(tuple(filter(is_safe, clusters)), counts)


def server_pair_key(one: str, other: str) -> str:
    """How an address names two servers."""
    return digest(*sorted((one, other)))[:12]


def server_pair_query(one: str, other: str) -> dict[str, str]:
    """What the address of the Review page says to show two servers."""
    return {"queue_view": PAIR_VIEW, "servers": server_pair_key(one, other)}


def server_pairs(
    analysis: Analysis, proposals: Sequence[Cluster], near: Collection[tuple[str, str]] = ()
) -> tuple[ServerPairProposals, ...]:
    """The pairs of servers between which two or more ``proposals`` lie, most proposals first,
    and the other pairs (sorted) that are ``near``; one of three servers lies between each two of
    them.

    Changed clusters and those in conflict are left to the queue.
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
    """What speaks against a proposal among others of its servers: not its own count of the tools
    beside it, some of which are in the others.
    """
    return tuple(reason for reason in cluster.reasons if not reason.endswith(ALL_OR_NONE))


def owners_of(analysis: Analysis, cluster: Cluster) -> tuple[str, ...]:
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
