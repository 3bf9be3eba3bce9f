"""The proposals that wait for a person in Review, the objections to them, and their order."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Literal

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import KINDS, CardFamily, Cluster, ProposalKind, proposal_kind
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import Tool, digest

Order = Literal[
    "risk", "tokens", "surest", "uncertain", "families", "audit", "disagreement", "learned", "used"
]

Show = Literal["all", "duplicates", "families"]
Part = Literal["again", "new"]
"""Parts of the queue for a new version of the catalog. *again* has the clusters with a tool that
has changed since the decision; *new* has the proposals that the version before could not have.
"""

VERSION_PARTS: dict[Part, str] = {"again": "Look again", "new": "New proposals"}
"""The names of these parts in the queue."""
AUDIT_SEED = 310

OPEN_STATES = ("conflict", "stale", "proposed")
"""The open states, most urgent first."""


@dataclass(frozen=True, slots=True)
class KindQueue:
    """The number of clusters of one kind: those that wait, and those that are accepted."""

    pending: int
    accepted: int

    @property
    def total(self) -> int:
        return self.pending + self.accepted


@dataclass(frozen=True, slots=True)
class ClusterCounts:
    """The numbers of clusters in a plan.

    ``duplicates`` do one job. ``families`` do one operation for several providers or values.
    ``safe`` counts the waiting clusters that can be accepted without a review.
    """

    duplicates: KindQueue
    families: KindQueue
    safe: int

    @property
    def waiting(self) -> int:
        return self.duplicates.pending + self.families.pending

    @property
    def accepted(self) -> int:
        return self.duplicates.accepted + self.families.accepted

    @property
    def waiting_in_words(self) -> str:
        """The waiting clusters in words, as in ``8 same-job proposals, 1 family``."""
        families = quantity(self.families.pending, "family")
        return f"{quantity(self.duplicates.pending, 'same-job proposal')}, {families}"


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """How far the review has come: the clusters, and those that were kept apart.

    ``leftovers`` is the number of waiting clusters that contain some tools of a cluster that is
    kept apart.
    """

    clusters: ClusterCounts
    kept_apart: int
    leftovers: int

    @property
    def waiting(self) -> int:
        return self.clusters.waiting

    @property
    def accepted(self) -> int:
        return self.clusters.accepted

    @property
    def decided(self) -> int:
        return self.accepted + self.kept_apart

    @property
    def total(self) -> int:
        return self.waiting + self.decided


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters for the list. An empty filter matches everything.

    ``find``: every word is in the cluster's name, in the name, server or description of a member,
    or in an objection. ``server``: a member is a tool of this server. ``size``: one of ``SIZES``.
    ``kind``: one of ``model.kinds.KINDS``. ``kind_of_reason``: there is an objection of this kind
    in ``REASON_KINDS``. ``ids``: a member is one of these tools. ``clusters``: the cluster is one
    of these, by id.
    """

    find: str = ""
    server: str | None = None
    size: str | None = None
    kind: ProposalKind | None = None
    kind_of_reason: str | None = None
    ids: frozenset[str] | None = None
    clusters: frozenset[str] | None = None


REASON_KINDS: Mapping[str, tuple[str, ...]] = {
    "Cannot be applied": (
        "contradict each other",
        "would be lost",
        "; rewrite the",
        "; drop it, or",
        "belongs to another",
    ),
    "Hidden or hostile text": ("blocking finding", "addresses the model"),
    "Needs a gateway": ("so a gateway is needed", "family of"),
    "Several servers": ("the tools are on", "their names imply", "other tools of"),
    "State of its own": ("nothing says that they share",),
    "Different effect": ("differ in effect", "does not repeat what others"),
    "Different scope": ("differ in scope",),
    "Different result": ("they return different things",),
    "Weak pair or chain": ("its weakest pair", "outside this proposal", "only through a third"),
    "Proposed by a person": ("a person proposed", "a person asked"),
    "The judges disagree": ("says the same job", "the model", "no usable answer"),
    "Wording or arguments": ("",),
}
"""Each kind of objection, with texts that mark its sentences (from ``auto_accept``, ``guards`` and
``unmatched_words``).

The first kind that fits counts. The last one fits every sentence.
"""


def waits(cluster: Cluster) -> bool:
    """Whether a person still has to decide on the cluster."""
    return cluster.state in OPEN_STATES or bool(cluster.newcomers)


def all_members(cluster: Cluster) -> tuple[str, ...]:
    """The ids of the members and the newcomers."""
    return (*cluster.members, *cluster.newcomers)


def is_safe(cluster: Cluster) -> bool:
    """Whether the cluster waits and can be accepted without a review."""
    return cluster.state == "proposed" and cluster.safe


def is_family(cluster: Cluster) -> bool:
    """Whether the members are the same operation for several providers or fixed values."""
    return cluster.relation == "family"


def short_kind(cluster: Cluster) -> str:
    """The kind of merge for a narrow column, without saying what differs."""
    return KINDS[proposal_kind(cluster)].name


def of_show(clusters: Iterable[Cluster], show: Show) -> list[Cluster]:
    """All of the clusters, only the families, or only the others."""
    return [one for one in clusters if show == "all" or is_family(one) == (show == "families")]


def risk(cluster: Cluster) -> tuple[float, ...]:
    """The sort key that puts the riskiest cluster first: by state, number of objections, weakest
    pair, and number of tools.
    """
    state = OPEN_STATES.index(cluster.state) if cluster.state in OPEN_STATES else len(OPEN_STATES)
    return (state, -len(cluster.reasons), cluster.weakest_edge, -len(cluster.members))


def in_queue_order(
    clusters: Iterable[Cluster],
    order: Order,
    savings: Mapping[str, int],
    differences: Mapping[str, float],
    learned: Mapping[str, float],
    calls: Mapping[str, int] = MappingProxyType({}),
) -> tuple[Cluster, ...]:
    """The clusters in the order in which to decide on them. Equal ones are sorted by id.

    *risk*: duplicates before families, riskiest first (conflicts, changed members, more objections,
    weaker pairs, more tools); families by size. *tokens*: by tokens saved (``savings``, by cluster
    id). *surest* and *uncertain*: by the weakest pair, from 1 down, or from the middle outward.
    *families*: families before duplicates. *audit*: random but fixed. *disagreement*: duplicates
    before families, by how far the judges differ on a member (``differences``, by tool id).
    *learned*: duplicates before families, by the probability of the weakest pair after an update
    from decisions (``learned``, by cluster id), from 1 down. *used*: by the calls of all members
    (``calls``, by tool id). In every order but *audit*, clusters that would add tokens come last
    unless they are in conflict.
    """

    def by_risk(cluster: Cluster) -> tuple[float, ...]:
        family = is_family(cluster)
        return (family, *((-len(cluster.members),) if family else risk(cluster)))

    def widest(cluster: Cluster) -> float:
        return max(differences.get(one, 0.0) for one in all_members(cluster))

    ranks: Mapping[Order, Callable[[Cluster], tuple[float | str, ...]]] = {
        "risk": by_risk,
        "tokens": lambda one: (-savings.get(one.id, 0),),
        "surest": lambda one: (-one.weakest_edge,),
        "uncertain": lambda one: (abs(one.weakest_edge - 0.5),),
        "families": lambda one: (not is_family(one), *by_risk(one)),
        "audit": lambda one: (digest(AUDIT_SEED, one.id),),
        "learned": lambda one: (is_family(one), -learned.get(one.id, 0.0)),
        "used": lambda one: (-sum(calls.get(member, 0) for member in one.members), *by_risk(one)),
        "disagreement": lambda one: (is_family(one), -widest(one), *by_risk(one)),
    }
    rank = ranks[order]

    def adds(one: Cluster) -> bool:
        return order != "audit" and one.state == "proposed" and savings.get(one.id, 0) < 0

    return tuple(sorted(clusters, key=lambda one: (adds(one), *rank(one), one.id)))


def matching(
    clusters: Iterable[Cluster], tools: Mapping[str, Tool], filters: Filters
) -> tuple[Cluster, ...]:
    """The clusters that pass all filters, in the same order."""
    fewest, most = SIZES.get(filters.size or "", (0, math.inf))

    def passes(cluster: Cluster) -> bool:
        ids = all_members(cluster)
        if filters.kind not in (None, proposal_kind(cluster)) or not fewest <= len(ids) <= most:
            return False
        if filters.kind_of_reason and filters.kind_of_reason not in map(
            reason_kind, cluster.reasons
        ):
            return False
        own = filters.clusters is None or cluster.id in filters.clusters
        members = [tools[one] for one in ids]
        return own and pass_filters(members, filters, cluster.document.name, *cluster.reasons)

    return tuple(filter(passes, clusters))


def pass_filters(members: Iterable[Tool], filters: Filters, *texts: str) -> bool:
    """Whether the tools pass the filters for server, selection and words. Words may also be in
    ``texts``.
    """
    members = list(members)
    if filters.server is not None and all(tool.owner != filters.server for tool in members):
        return False
    if filters.ids is not None and filters.ids.isdisjoint(tool.id for tool in members):
        return False
    parts = (f"{tool.name} {tool.owner} {tool.description}" for tool in members)
    text = " ".join((*texts, *parts)).casefold() if filters.find else ""
    return all(word in text for word in filters.find.casefold().split())


def new_proposals(
    clusters: Iterable[Cluster], catalog: Catalog, earlier: Catalog
) -> tuple[Cluster, ...]:
    """The clusters that wait for a first decision and have a member or newcomer that is new or
    changed since ``earlier``.
    """
    prints = {tool.fingerprint for tool in earlier.tools}
    fresh = {tool.id for tool in catalog.tools if tool.fingerprint not in prints}
    return tuple(
        one
        for one in clusters
        if waits(one)
        and one.state != "stale"
        and not fresh.isdisjoint(one.newcomers if one.state == "accepted" else one.members)
    )


def cluster_with(plan: MergePlan, ids: Collection[str]) -> Cluster | None:
    """The cluster that contains all of these tools, if there is one."""
    tool_ids = set(ids)
    return next((c for c in plan.clusters if tool_ids.issubset(all_members(c))), None)


def family_with(plan: MergePlan, ids: Iterable[str]) -> CardFamily | None:
    """The family whose members together contain all of these tools, if there is one."""
    tool_ids = set(ids)
    return next((one for one in plan.families if tool_ids.issubset(chain(*one.tools))), None)


def reason_kind(reason: str) -> str:
    """The kind of objection that a sentence makes to a merge."""
    return next(
        kind for kind, marks in REASON_KINDS.items() if any(mark in reason for mark in marks)
    )


SIZES: Mapping[str, tuple[int, float]] = {
    "2 tools": (2, 2),
    "3 to 5": (3, 5),
    "6 or more": (6, math.inf),
}
"""The sizes to choose from, each with the fewest and the most tools."""


def cluster_counts(clusters: Iterable[Cluster]) -> ClusterCounts:
    """The numbers of clusters in a plan. Each cluster counts once."""
    clusters = tuple(clusters)
    families = [cluster for cluster in clusters if is_family(cluster)]
    duplicates = [cluster for cluster in clusters if not is_family(cluster)]
    return ClusterCounts(
        duplicates=_kind_queue(duplicates),
        families=_kind_queue(families),
        safe=sum(map(is_safe, clusters)),
    )


def progressed(clusters: Iterable[Cluster], decisions: Iterable[Decision]) -> ReviewProgress:
    """How far the review of these clusters has come, given the active decisions."""
    clusters = tuple(clusters)
    kept_apart = [set(decision.ids) for decision in decisions if decision.action == "keep_apart"]
    holds_apart = (
        any(not ids.isdisjoint(cluster.members) for ids in kept_apart)
        for cluster in clusters
        if waits(cluster)
    )
    return ReviewProgress(cluster_counts(clusters), len(kept_apart), sum(holds_apart))


def _kind_queue(clusters: Iterable[Cluster]) -> KindQueue:
    number = Counter(map(waits, clusters))
    return KindQueue(pending=number[True], accepted=number[False])
