"""The analysis of a catalog, which takes time but depends on no decision, and its thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from toolscope_core.decisions.log import active
from toolscope_core.embedding.candidate_pairs import PairRows
from toolscope_core.judging.cached_judge import CachedJudge
from toolscope_core.judging.implied_servers import with_implied_servers
from toolscope_core.judging.judge import OfflineJudge, PairProbabilities
from toolscope_core.merging.contracted_graph import ComponentGroups
from toolscope_core.merging.group_syntheses import GroupSyntheses
from toolscope_core.merging.model_verdicts import Bars, ModelVerdicts
from toolscope_core.merging.synthesis import Synthesis
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import LEAST_PROBABILITY, AnalysisConfig, MergeThresholds
from toolscope_core.model.decision import Decision
from toolscope_core.model.pair import Pair, PairScores, Verdict
from toolscope_core.model.protocols import Vectors


class _PairCache:
    """The judge's probabilities for pairs of rows, keyed by code: sorted, and
    replaced as a whole.
    """

    def __init__(self) -> None:
        self._stored = np.zeros(0, dtype=np.int64), np.zeros(0)

    def get(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The cached values of the codes, NaN for a code without one."""
        return _looked_up(codes, *self._stored, np.nan)

    def add(self, codes: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Store the values of further codes."""
        codes_stored, values_stored = self._stored
        codes, first = np.unique(np.concatenate([codes_stored, codes]), return_index=True)
        self._stored = codes, np.concatenate([values_stored, values])[first]


@dataclass(frozen=True, eq=False)
class Analysis:
    """The analysis of a catalog before any decision.

    ``vectors`` is float32 (n, d) in the order of ``catalog.tools``. ``scores`` are the judged
    candidate pairs at ``threshold`` or closer. ``copies`` maps a tool to the first tool with equal
    content, and ``first`` does the same by row. ``rows`` maps a tool id to its row.
    ``model_verdicts`` come from a model and take priority over the offline judge's verdicts;
    ``probabilities`` and ``scores`` always come from the offline judge.
    """

    catalog: Catalog
    config: AnalysisConfig
    model: str
    threshold: float
    vectors: Vectors
    scores: PairScores
    cached_judge: CachedJudge
    copies: Mapping[str, str]
    first: PairRows
    rows: Mapping[str, int]
    syntheses: GroupSyntheses = field(repr=False)
    model_verdicts: ModelVerdicts | None = None
    _offline_scores: PairScores | None = field(default=None, repr=False)
    _judged: _PairCache = field(default_factory=_PairCache, repr=False)
    _families: _PairCache = field(default_factory=_PairCache, repr=False)

    @cached_property
    def families(self) -> ComponentGroups:
        """The families of the last plan."""
        return ComponentGroups()

    @cached_property
    def card_families(self) -> ComponentGroups:
        """The families of canonical tools of the last plan."""
        return ComponentGroups()

    @property
    def judge(self) -> OfflineJudge:
        """The offline judge for this catalog."""
        return self.cached_judge.judge

    @property
    def nearness(self) -> NDArray[np.float64]:
        """The cosine of each candidate pair, raised to the threshold.

        A pair whose names mean the same is a candidate at any distance.
        """
        return np.maximum(self.scores.similarity, self.threshold)

    def far_candidates(self, least: float) -> frozenset[Pair]:
        """The candidate pairs beyond the threshold, if ``least`` is no higher than it."""
        tools, scores = self.catalog.tools, self.scores
        far = (scores.similarity < self.threshold) & (self.nearness >= least)
        return frozenset(
            Pair.of(tools[scores.left[row]].id, tools[scores.right[row]].id)
            for row in np.flatnonzero(far).tolist()
        )

    def probabilities(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """Probabilities of the same job for any pairs of tools, in their order; cached."""
        return self.row_probabilities(*self.ends(pairs))

    def family_probabilities(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """Probabilities of a family for any pairs of tools, in their order; cached."""
        return self.row_family_probabilities(*self.ends(pairs))

    def row_probabilities(self, left: PairRows, right: PairRows) -> NDArray[np.float64]:
        """Probabilities of the same job for pairs of rows, left < right."""
        return self._cached(self._judged, left, right)

    def row_family_probabilities(self, left: PairRows, right: PairRows) -> NDArray[np.float64]:
        """Probabilities of a family for pairs of rows, left < right."""
        return self._cached(self._families, left, right)

    def candidate_family_probabilities(
        self, left: PairRows, right: PairRows
    ) -> NDArray[np.float64]:
        """Probabilities of a family; 0 for pairs that are not candidates, even if they were judged
        since.
        """
        size, scores = len(self.rows), self.scores
        codes = left.astype(np.int64) * size + right
        candidates = scores.left.astype(np.int64) * size + scores.right
        return _looked_up(codes, candidates, scores.family, 0.0)

    def remember(self, left: PairRows, right: PairRows, probabilities: PairProbabilities) -> None:
        """Cache the judge's probabilities for further pairs of rows, left < right."""
        codes = left.astype(np.int64) * len(self.rows) + right
        self._judged.add(codes, probabilities.same_job)
        self._families.add(codes, probabilities.family)

    def ends(self, pairs: Sequence[Pair]) -> tuple[PairRows, PairRows]:
        ends = [sorted((self.rows[pair.left], self.rows[pair.right])) for pair in pairs]
        rows = np.array(ends, dtype=np.int32).reshape(-1, 2)
        return rows[:, 0], rows[:, 1]

    def _cached(self, cache: _PairCache, left: PairRows, right: PairRows) -> NDArray[np.float64]:
        codes = left.astype(np.int64) * len(self.rows) + right
        values = cache.get(codes)
        missing = np.flatnonzero(np.isnan(values))
        if len(missing):
            _, first = np.unique(codes[missing], return_index=True)
            once = missing[first]
            self.remember(
                left[once],
                right[once],
                self.cached_judge.pair_probabilities(left[once], right[once]),
            )
            values = cache.get(codes)
        return values

    def without_cache(self) -> Analysis:
        """The same analysis with empty caches, to measure times or use another judge."""
        return replace(
            self,
            cached_judge=self.cached_judge.emptied(),
            _judged=_PairCache(),
            _families=_PairCache(),
            syntheses=GroupSyntheses(self.catalog, self.syntheses.keepers),
        )

    def without_verdicts(self) -> Analysis:
        """The analysis before a model was asked."""
        if self.model_verdicts is None:
            return self
        scores = self._offline_scores or self.scores
        return replace(self, model_verdicts=None, scores=scores, _offline_scores=None)

    def synthesis_of(self, cluster: Cluster) -> Synthesis:
        """The tool that a cluster's members become before its document is edited."""
        family = cluster.relation == "family"
        is_own = cluster.kind == "gateway" and cluster.chosen_kind is None
        unfit = self.unfit(cluster.members) if is_own else frozenset[str]()
        return self.syntheses.synthesis(
            cluster.members, cluster.canonical, family, cluster.chosen_kind, unfit
        )

    def unfit(self, members: Sequence[str]) -> frozenset[str]:
        """The members that, according to the model, cannot serve all the others; empty without a
        model.
        """
        if self.model_verdicts is None:
            return frozenset()
        return self.model_verdicts.unfit(members, self.copies, self.judge.weights.auto_at)

    def offline(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """The offline judge's verdicts on any pairs of tools, in order, with evidence."""
        return self.judge.verdicts(*self.ends(pairs))

    def verdicts(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """The effective verdicts: the model's if it was asked, or else the offline judge's.

        Each names its judge.
        """
        return tuple(self.effective_verdict(verdict) for verdict in self.offline(pairs))

    def verdict(self, pair: Pair) -> Verdict:
        """The effective verdict on any pair of tools, with its evidence."""
        return self.verdicts([pair])[0]

    def effective_verdict(self, offline: Verdict) -> Verdict:
        """The model's verdict on the pair, or else the ``offline`` judge's.

        The differing words always come from the offline judge.
        """
        by_model = self.model_verdicts.verdicts.get(offline.pair) if self.model_verdicts else None
        return replace(by_model, differs=offline.differs) if by_model else offline


def _looked_up(
    codes: NDArray[np.int64],
    sorted_codes: NDArray[np.int64],
    values: NDArray[np.float64],
    default: float,
) -> NDArray[np.float64]:
    """The values of the codes in a sorted table; ``default`` for a code without a value."""
    if not len(sorted_codes):
        return np.full(len(codes), default)
    at = np.minimum(np.searchsorted(sorted_codes, codes), len(sorted_codes) - 1)
    return np.where(sorted_codes[at] == codes, values[at], default)


def with_owners(analysis: Analysis, owners: Mapping[str, str]) -> Analysis:
    """The analysis with the implied servers that people gave tools (``decision_log.owners``)."""
    catalog = with_implied_servers(analysis.catalog, owners) if owners else analysis.catalog
    if catalog is analysis.catalog:
        return analysis
    return replace(
        analysis, catalog=catalog, syntheses=GroupSyntheses(catalog, analysis.syntheses.keepers)
    )


def with_verdicts(analysis: Analysis, model_verdicts: ModelVerdicts) -> Analysis:
    """The analysis with a model's verdicts; asked pairs become candidates."""
    analysis = analysis.without_verdicts()
    pairs = list(model_verdicts.verdicts)
    left, right = analysis.ends(pairs)
    scores, size = analysis.scores, len(analysis.rows)
    codes = left.astype(np.int64) * size + right
    new = np.flatnonzero(~np.isin(codes, scores.left.astype(np.int64) * size + scores.right))
    left, right = left[new], right[new]
    cosines = [model_verdicts.verdicts[pairs[at]].similarity for at in new]
    more = analysis.row_probabilities(left, right), analysis.row_family_probabilities(left, right)
    ends = np.append(scores.left, left), np.append(scores.right, right)
    order = np.lexsort(ends[::-1])
    scores = PairScores(
        left=ends[0][order],
        right=ends[1][order],
        similarity=np.append(scores.similarity, cosines)[order],
        same_job=np.append(scores.same_job, more[0])[order],
        family=np.append(scores.family, more[1])[order],
    )
    offline = analysis.scores
    return replace(analysis, model_verdicts=model_verdicts, scores=scores, _offline_scores=offline)


def own_thresholds(analysis: Analysis) -> MergeThresholds:
    """The thresholds of a plan without decisions: the lowest similarity, and the lowest probability
    of *merge*.
    """
    return MergeThresholds(analysis.threshold, analysis.judge.weights.merge_at)


def thresholds_of(analysis: Analysis, log: Sequence[Decision]) -> MergeThresholds:
    """The thresholds that people set last, but no lower than the analysis's similarity and
    ``LEAST_PROBABILITY``; otherwise ``own_thresholds``.
    """
    own = own_thresholds(analysis)
    applied = [item.detail for item in active(log) if item.action == "threshold"]
    if not applied:
        return own
    return MergeThresholds(
        max(own.similarity, float(applied[-1]["similarity"])),
        max(LEAST_PROBABILITY, float(applied[-1]["same_job"])),
    )


def bars_of(analysis: Analysis) -> Bars:
    """The probabilities at which the offline judge's verdicts begin."""
    weights = analysis.judge.weights
    return Bars(weights.unsure_at, weights.merge_at, weights.auto_at, weights.family_at)
