"""A catalog in figures, as it is and as a merge would leave it: each thing is counted here once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from ui.shared.cards.queue import is_family, is_safe, waits
from ui.shared.pairs.pair_list import RELATED_FROM, outcomes_of


@dataclass(frozen=True, slots=True)
class CatalogFigures:
    """A catalog in numbers; ``counted`` says whether ``tokens`` is an estimate, ``blocked`` counts
    tools with a *block* finding, ``problems`` the records that could not be read.
    """

    tools: int
    servers: int
    tokens: int
    blocked: int
    problems: int
    counted: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Clusters of one kind: those that wait for a person, and the accepted others."""

    waiting: int
    accepted: int

    @property
    def total(self) -> int:
        return self.waiting + self.accepted


@dataclass(frozen=True, slots=True)
class ClusterCounts:
    """The clusters of a plan: ``duplicates`` do one job, ``families`` one operation for several
    providers or values. ``prunes`` of the duplicates need no gateway; ``safe`` ones wait, and may
    be accepted without a look.
    """

    duplicates: Standing
    families: Standing
    prunes: int
    safe: int

    @property
    def waiting(self) -> int:
        return self.duplicates.waiting + self.families.waiting

    @property
    def accepted(self) -> int:
        return self.duplicates.accepted + self.families.accepted

    @property
    def waiting_in_words(self) -> str:
        """``8 duplicates, 1 family``."""
        duplicates = quantity(self.duplicates.waiting, "duplicate")
        return f"{duplicates}, {quantity(self.families.waiting, 'family')}"


@dataclass(frozen=True, slots=True)
class Progressed:
    """How far review is: the clusters as they stand, the rejections, and how many of those that
    wait are what a rejection left: they hold some tools of a rejected one.
    """

    clusters: ClusterCounts
    rejected: int
    left: int

    @property
    def waiting(self) -> int:
        return self.clusters.waiting

    @property
    def accepted(self) -> int:
        return self.clusters.accepted

    @property
    def decided(self) -> int:
        return self.accepted + self.rejected

    @property
    def total(self) -> int:
        return self.waiting + self.decided


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The candidate pairs by the offline judge's verdict; ``expected`` are the same job if its
    probabilities hold. ``siblings`` of the kept ones have to do with each other: an agent has to
    be told which is which.
    """

    merge: int
    family: int
    unsure: int
    keep: int
    expected: int
    siblings: int

    @property
    def total(self) -> int:
        return self.merge + self.family + self.unsure + self.keep


@dataclass(frozen=True, slots=True)
class Forecast:
    """The toolset once its ``accepted`` and ``safe`` merges are made, but for those that need a
    gateway: how many of each there are, and the tools and tokens left.
    """

    accepted: int
    safe: int
    tools_after: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class Closest:
    """The two nearest tools of a catalog, by name, and their cosine."""

    left: str
    right: str
    similarity: float


def cluster_counts(clusters: Iterable[Cluster]) -> ClusterCounts:
    """The clusters of a plan, each counted once."""
    clusters = tuple(clusters)
    families = [cluster for cluster in clusters if is_family(cluster)]
    duplicates = [cluster for cluster in clusters if not is_family(cluster)]
    return ClusterCounts(
        duplicates=_standing(duplicates),
        families=_standing(families),
        prunes=sum(cluster.kind == "prune" for cluster in duplicates),
        safe=sum(map(is_safe, clusters)),
    )


def progressed(clusters: Iterable[Cluster], standing: Iterable[Decision]) -> Progressed:
    """How far the review of these clusters is, with the decisions that stand."""
    clusters = tuple(clusters)
    rejected = [set(decision.ids) for decision in standing if decision.action == "reject"]
    left = (
        any(not ids.isdisjoint(cluster.members) for ids in rejected)
        for cluster in clusters
        if waits(cluster)
    )
    return Progressed(cluster_counts(clusters), len(rejected), sum(left))


def pair_counts(analysis: Analysis) -> PairCounts:
    """The candidate pairs of an analysis, each counted once."""
    outcomes = outcomes_of(analysis)
    number = Counter(outcomes.tolist())
    related = (outcomes == "keep") & (analysis.scores.similarity >= RELATED_FROM)
    return PairCounts(
        merge=number["merge"],
        family=number["family"],
        unsure=number["unsure"],
        keep=number["keep"],
        expected=analysis.scores.expected_merges,
        siblings=int(related.sum()),
    )


def _standing(clusters: Iterable[Cluster]) -> Standing:
    number = Counter(map(waits, clusters))
    return Standing(waiting=number[True], accepted=number[False])
