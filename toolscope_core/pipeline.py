"""The merge end to end: a catalog is analysed once, then planned again after every decision.

``analyse`` does what takes time and depends on no decision: embed, find near pairs, judge
them, align and synthesise what would be merged. ``plan_merge`` does the rest in a fraction of a
second: graph, correction, φ and α under the decisions, and again what they changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from toolscope_core import similarity
from toolscope_core.augmentation.variants import with_expanded
from toolscope_core.backends import Embedder, Progress, Step, Vectors, silent
from toolscope_core.cache import VectorCache, embed_cached
from toolscope_core.config import LEAST_PROBABILITY, AnalysisConfig, Cut, PlanConfig
from toolscope_core.datamodel import (
    Catalog,
    Cluster,
    Constraints,
    Decision,
    Group,
    MergePlan,
    Pair,
    PairScores,
    Verdict,
)
from toolscope_core.decision_log import active, constraints, edits, variants, versions_of
from toolscope_core.errors import CatalogError
from toolscope_core.merging.atoms import RowGraph, RowJudge
from toolscope_core.merging.auto_accept import accept
from toolscope_core.merging.cores import with_cores
from toolscope_core.merging.correction import Judge, correct, suspended, with_requested
from toolscope_core.merging.families import family_groups
from toolscope_core.merging.graph import MergeGraph, merge_graph
from toolscope_core.merging.group_syntheses import GroupSyntheses
from toolscope_core.merging.implied_servers import with_implied_servers
from toolscope_core.merging.judge import OfflineJudge, PairProbabilities
from toolscope_core.merging.plan import Edits, apply_clusters, build_clusters
from toolscope_core.merging.synthesis import Synthesis
from toolscope_core.opinions import Bars, Opinions

_PROGRESS = 16_384
"""So many pairs are judged between two reports."""

_REPORTED = 64
"""So many clusters are made between two reports."""


class _PairCache:
    """The judge's probabilities of pairs of rows, by code: kept sorted, replaced whole."""

    def __init__(self) -> None:
        self._stored = np.zeros(0, dtype=np.int64), np.zeros(0)

    def get(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The cached values of the codes, NaN where there is none."""
        codes_stored, values = self._stored
        if not len(codes_stored):
            return np.full(len(codes), np.nan)
        at = np.minimum(np.searchsorted(codes_stored, codes), len(codes_stored) - 1)
        return np.where(codes_stored[at] == codes, values[at], np.nan)

    def add(self, codes: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Keep the values of further codes."""
        codes_stored, values_stored = self._stored
        codes, first = np.unique(np.concatenate([codes_stored, codes]), return_index=True)
        self._stored = codes, np.concatenate([values_stored, values])[first]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Analysis:
    """The analysis of a catalog before any decision.

    ``vectors`` is float32 (n, d) in the order of ``catalog.tools``; ``scores`` the judged
    candidate pairs at ``threshold`` or closer; ``copies`` maps a tool to the first of equal
    content, ``first`` does the same by row; ``rows`` maps a tool id to its row. ``opinions`` are
    those of a model, which count before the offline judge; ``probabilities`` and ``scores`` are
    always the offline judge's.
    """

    catalog: Catalog
    config: AnalysisConfig
    model: str
    threshold: float
    vectors: Vectors
    scores: PairScores
    judge: OfflineJudge
    copies: Mapping[str, str]
    first: similarity.Rows
    rows: Mapping[str, int]
    _syntheses: GroupSyntheses = field(repr=False)
    opinions: Opinions | None = None
    _judged: _PairCache = field(default_factory=_PairCache, repr=False)
    _families: _PairCache = field(default_factory=_PairCache, repr=False)

    def probabilities(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """Probabilities of the same job of any pairs of tools, in their order; cached."""
        return self.row_probabilities(*self._ends(pairs))

    def family_probabilities(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """Probabilities of a family of any pairs of tools, in their order; cached."""
        return self.row_family_probabilities(*self._ends(pairs))

    def row_probabilities(
        self, left: similarity.Rows, right: similarity.Rows
    ) -> NDArray[np.float64]:
        """Probabilities of the same job of pairs of rows, left < right."""
        return self._cached(self._judged, left, right)

    def row_family_probabilities(
        self, left: similarity.Rows, right: similarity.Rows
    ) -> NDArray[np.float64]:
        """Probabilities of a family of pairs of rows, left < right."""
        return self._cached(self._families, left, right)

    def candidate_family_probabilities(
        self, left: similarity.Rows, right: similarity.Rows
    ) -> NDArray[np.float64]:
        """The same, but 0 for pairs that are no candidates, whether judged meanwhile or not."""
        size, scores = len(self.rows), self.scores
        codes = left.astype(np.int64) * size + right
        have = scores.left.astype(np.int64) * size + scores.right
        if not len(have):
            return np.zeros(len(codes))
        at = np.minimum(np.searchsorted(have, codes), len(have) - 1)
        return np.where(have[at] == codes, scores.family[at], 0.0)

    def remember(
        self, left: similarity.Rows, right: similarity.Rows, probabilities: PairProbabilities
    ) -> None:
        """Cache the judge's probabilities of further pairs of rows, left < right."""
        codes = left.astype(np.int64) * len(self.rows) + right
        self._judged.add(codes, probabilities.same_job)
        self._families.add(codes, probabilities.family)

    def _ends(self, pairs: Sequence[Pair]) -> tuple[similarity.Rows, similarity.Rows]:
        ends = [sorted((self.rows[pair.left], self.rows[pair.right])) for pair in pairs]
        rows = np.array(ends, dtype=np.int32).reshape(-1, 2)
        return rows[:, 0], rows[:, 1]

    def _cached(
        self, cache: _PairCache, left: similarity.Rows, right: similarity.Rows
    ) -> NDArray[np.float64]:
        codes = left.astype(np.int64) * len(self.rows) + right
        values = cache.get(codes)
        missing = np.flatnonzero(np.isnan(values))
        if len(missing):
            _, first = np.unique(codes[missing], return_index=True)
            once = missing[first]
            self.remember(
                left[once], right[once], self.judge.pair_probabilities(left[once], right[once])
            )
            values = cache.get(codes)
        return values

    def without_cache(self) -> Analysis:
        """The same analysis with empty caches: for measuring times, or for another judge."""
        return replace(
            self,
            _judged=_PairCache(),
            _families=_PairCache(),
            _syntheses=GroupSyntheses(self.catalog),
        )

    def synthesis(
        self, members: tuple[str, ...], canonical: str | None, family: bool = False
    ) -> Synthesis:
        """The tool that the members would become, with a chosen canonical if any; cached."""
        return self._syntheses.synthesis(members, canonical, family)

    def offline(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """The offline judge's verdicts on any pairs of tools, in their order, with evidence."""
        left = np.array([self.rows[pair.left] for pair in pairs], dtype=np.int32)
        right = np.array([self.rows[pair.right] for pair in pairs], dtype=np.int32)
        return self.judge.verdicts(left, right)

    def verdicts(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """The effective verdicts: the model's where it was asked, else the offline judge's; each
        names its judge.
        """
        return tuple(self.effective_verdict(verdict) for verdict in self.offline(pairs))

    def verdict(self, pair: Pair) -> Verdict:
        """The effective verdict on any pair of tools, with its evidence."""
        return self.verdicts([pair])[0]

    def effective_verdict(self, offline: Verdict) -> Verdict:
        """The model's verdict on the pair, or else the ``offline`` judge's. Which words differ is
        taken from the latter in both cases.
        """
        by_model = self.opinions.verdicts.get(offline.pair) if self.opinions else None
        return replace(by_model, differs=offline.differs) if by_model else offline


def analyse(
    catalog: Catalog,
    config: AnalysisConfig,
    embedder: Embedder,
    cache: VectorCache,
    progress: Progress = silent,
) -> Analysis:
    """The analysis of a catalog: embed, find the near pairs, judge them, and make the merged tools.

    Tools that name no server get the one that their names imply; the judge does not read it.
    Raises ``CatalogError`` for fewer than one tool, ``ModelError`` where the model is missing.
    """
    if not catalog.tools:
        raise CatalogError("the catalog has no tools; add a file with at least one")
    catalog = with_implied_servers(catalog, {})
    texts = [similarity.tool_text(tool) for tool in catalog.tools]
    vectors = embed_cached(texts, embedder, cache, progress)
    progress(Step("compare", 0, len(texts)))
    threshold = config.threshold or similarity.default_threshold(embedder.name)
    rows = {tool.id: row for row, tool in enumerate(catalog.tools)}
    first = _first_copies(catalog)
    near = similarity.candidates(vectors, first, config.neighbours, threshold)
    left, right, cosine = near.left, near.right, near.similarity
    progress(Step("judge", 0, len(left)))
    judge = OfflineJudge.of(catalog.tools, vectors)
    probabilities = _judged(judge, left, right, progress)
    analysis = Analysis(
        catalog=catalog,
        config=config,
        model=embedder.name,
        threshold=threshold,
        vectors=vectors,
        scores=PairScores(left, right, cosine, probabilities.same_job, probabilities.family),
        judge=judge,
        copies={
            tool.id: catalog.tools[copy].id
            for tool, copy in zip(catalog.tools, first.tolist(), strict=True)
        },
        first=first,
        rows=rows,
        _syntheses=GroupSyntheses(catalog),
    )
    analysis.remember(left, right, probabilities)
    _make(analysis, progress)
    return analysis


def with_owners(analysis: Analysis, chosen: Mapping[str, str]) -> Analysis:
    """The analysis with the implied servers that people gave tools (``decision_log.owners``)."""
    catalog = with_implied_servers(analysis.catalog, chosen)
    if catalog is analysis.catalog:
        return analysis
    return replace(analysis, catalog=catalog, _syntheses=GroupSyntheses(catalog))


def own_cut(analysis: Analysis) -> Cut:
    """The cut of a plan without a decision: θ, and the probability where *merge* begins."""
    return Cut(analysis.threshold, analysis.judge.weights.merge_at)


def cut_of(analysis: Analysis, log: Sequence[Decision]) -> Cut:
    """The cut that people applied last, no lower than what was judged; else ``own_cut``."""
    own = own_cut(analysis)
    applied = [item.detail for item in active(log) if item.action == "threshold"]
    if not applied:
        return own
    return Cut(
        max(own.similarity, float(applied[-1]["similarity"])),
        max(LEAST_PROBABILITY, float(applied[-1]["probability"])),
    )


def judge_lowest_cut(analysis: Analysis) -> None:
    """Judge the pairs that the lowest threshold on probability asks about, to fill the cache."""
    groups_at(analysis, Constraints(), Cut(analysis.threshold, LEAST_PROBABILITY))


def bars_of(analysis: Analysis) -> Bars:
    """The probabilities at which the offline judge's verdicts begin."""
    weights = analysis.judge.weights
    return Bars(weights.unsure_at, weights.merge_at, weights.auto_at, weights.family_at)


def merge_edges(analysis: Analysis, cut: Cut | None = None) -> dict[Pair, float]:
    """The candidate pairs that the judge would merge (or those of another cut), with their
    probability.
    """
    return _pairs(analysis, merges_at(analysis, cut or own_cut(analysis)))


def unsure_pairs(analysis: Analysis) -> dict[Pair, float]:
    """The candidate pairs that the judge is unsure of, with their probability."""
    weights, scores = analysis.judge.weights, analysis.scores
    open_ = (scores.probability >= weights.unsure_at) & (scores.probability < weights.merge_at)
    return _pairs(analysis, open_ & (scores.family < weights.family_at))


def merges_at(analysis: Analysis, cut: Cut) -> NDArray[np.bool_]:
    """A mask of the candidate pairs that are merges at a cut."""
    scores = analysis.scores
    near = scores.similarity >= cut.similarity
    return np.asarray(near & (scores.probability >= cut.probability))


def edges_at(analysis: Analysis, cut: Cut | None = None) -> dict[Pair, float]:
    """The edges of the merge graph: ``merge_edges``, or the model's where it was asked."""
    edges, cut = merge_edges(analysis, cut), cut or own_cut(analysis)
    if analysis.opinions is None:
        return edges
    return analysis.opinions.edges(edges, bars_of(analysis), cut.similarity)


def graph_of(analysis: Analysis, log: Sequence[Decision]) -> MergeGraph:
    """The merge graph under the decisions."""
    links = constraints(analysis.catalog, log)
    edges = edges_at(analysis, cut_of(analysis, log))
    left, right, _, kept = _staying(analysis, links, *analysis._ends(list(edges)))
    ids, weights = tuple(analysis.rows), np.array([*edges.values()])[kept].tolist()
    ends = zip(left.tolist(), right.tolist(), weights, strict=True)
    return merge_graph({Pair.of(ids[a], ids[b]): weight for a, b, weight in ends}, links)


def groups_at(
    analysis: Analysis,
    links: Constraints,
    cut: Cut,
    *,
    divide: bool = True,
) -> tuple[Group, ...]:
    """What would be merged at this cut: corrected groups, those that people's changed
    decisions hold, and those that people put forward. ``divide`` as in ``correct``. A model's
    opinions come before the offline judge's; each group says what the two do not agree on.
    """
    if analysis.opinions is not None:
        return _groups_with_opinions(analysis, links, cut, analysis.opinions, divide)
    judge = analysis.probabilities
    joined = row_graph(analysis, links, merges_at(analysis, cut))
    groups = correct(joined, analysis.row_probabilities, cut.probability, links, divide=divide)
    groups = _with_cores(analysis, groups, judge) if divide else groups
    return with_requested(groups + suspended(groups, links, judge), links, judge)


def _groups_with_opinions(
    analysis: Analysis, links: Constraints, cut: Cut, opinions: Opinions, divide: bool
) -> tuple[Group, ...]:
    bars = bars_of(analysis)
    judge = partial(opinions.probabilities, offline=analysis.probabilities, bars=bars)
    edges = edges_at(analysis, cut)
    groups = correct_pairs(analysis, edges, links, judge, at=cut.probability, divide=divide)
    groups = _with_cores(analysis, groups, judge) if divide else groups
    groups = with_requested(groups + suspended(groups, links, judge), links, judge)
    doubts = partial(opinions.doubts, offline=analysis.probabilities, bars=bars)
    return tuple(replace(group, doubts=doubts(group.members)) for group in groups)


def with_families(
    analysis: Analysis, links: Constraints, groups: Sequence[Group]
) -> tuple[Group, ...]:
    """The groups of one job, and the families among the tools that they leave, in member order.

    Groups that people put together as a family stay one. A tool whose calls cannot be mapped, or
    with a blocking finding, is in none.
    """
    judge: Judge = analysis.family_probabilities
    if analysis.opinions is not None:
        judge = _family_judge(analysis, analysis.opinions)
    family_at = bars_of(analysis).family_at
    marked = tuple(
        _as_family(group, judge)
        if links.is_family(group.members) or (group.asked and _is_family(group, judge, family_at))
        else group
        for group in groups
    )
    taken = {tool for group in groups for tool in (*group.members, *group.newcomers)}
    taken |= analysis.catalog.blocked | links.omitted
    free = analysis.judge.mappable & np.array([tool not in taken for tool in analysis.rows])
    left, right, _, _ = _staying(analysis, links, *_family_rows(analysis))
    kept = free[left] & free[right]
    graph = _row_graph(analysis, replace(links, must=()), left[kept], right[kept])
    row_judge: RowJudge = analysis.candidate_family_probabilities
    if analysis.opinions is not None:
        row_judge = _by_ids(analysis, judge)
    families = family_groups(graph, row_judge, family_at, links, analysis.catalog.by_id)
    return tuple(sorted((*marked, *families), key=lambda group: group.members))


def _as_family(group: Group, judge: Judge) -> Group:
    pairs = [Pair(*two) for two in combinations(group.members, 2)]
    return replace(group, family=True, weakest_edge=float(judge(pairs).min()))


def _is_family(group: Group, judge: Judge, family_at: float) -> bool:
    """Whether every two of a group that a person put forward are a family."""
    pairs = [Pair(a, b) for a, b in combinations(group.members, 2)]
    return bool((judge(pairs) >= family_at).all())


def family_edges(analysis: Analysis) -> dict[Pair, float]:
    """The candidate pairs that are a family, with the probability of that."""
    return _pairs(
        analysis, analysis.scores.family >= analysis.judge.weights.family_at, analysis.scores.family
    )


def _family_rows(analysis: Analysis) -> tuple[similarity.Rows, similarity.Rows]:
    if analysis.opinions is None:
        wanted = analysis.scores.family >= analysis.judge.weights.family_at
        return analysis.scores.left[wanted], analysis.scores.right[wanted]
    own = family_edges(analysis)
    edges = analysis.opinions.families(own, bars_of(analysis), analysis.threshold)
    return analysis._ends(list(edges))


def _family_judge(analysis: Analysis, opinions: Opinions) -> Judge:
    return partial(
        opinions.family_probabilities, offline=analysis.family_probabilities, bars=bars_of(analysis)
    )


def _by_ids(analysis: Analysis, judge: Judge) -> RowJudge:
    """A judge of pairs of ids as one of pairs of rows."""
    ids = tuple(analysis.rows)

    def row_judge(one: similarity.Rows, other: similarity.Rows) -> NDArray[np.float64]:
        return judge([Pair.of(ids[a], ids[b]) for a, b in zip(one, other, strict=True)])

    return row_judge


def _with_cores(analysis: Analysis, groups: Sequence[Group], judge: Judge) -> tuple[Group, ...]:
    def weakest(members: tuple[str, ...]) -> float:
        return float(judge([Pair(a, b) for a, b in combinations(members, 2)]).min())

    return with_cores(groups, analysis._syntheses.is_clean, weakest, bars_of(analysis).auto_at)


def correct_pairs(
    analysis: Analysis,
    edges: Iterable[Pair],
    links: Constraints,
    judge: Judge,
    *,
    at: float | None = None,
    divide: bool = True,
) -> tuple[Group, ...]:
    """``correct`` for a graph and a judge of pairs of ids; ``at`` is by default its own."""
    graph = _row_graph(analysis, links, *analysis._ends(list(edges)))
    merge_at = bars_of(analysis).merge_at if at is None else at
    return correct(graph, _by_ids(analysis, judge), merge_at, links, divide=divide)


def row_graph(analysis: Analysis, links: Constraints, kept: NDArray[np.bool_]) -> RowGraph:
    """The candidate pairs in ``kept`` without those that people keep apart, and what people put
    together joined to its first tool; the latter come last.
    """
    return _row_graph(analysis, links, analysis.scores.left[kept], analysis.scores.right[kept])


def _row_graph(
    analysis: Analysis, links: Constraints, left: similarity.Rows, right: similarity.Rows
) -> RowGraph:
    rows, size = analysis.rows, len(analysis.rows)
    left, right, first, _ = _staying(analysis, links, left, right)
    if links.cannot:
        pairs = [sorted((rows[pair.left], rows[pair.right])) for pair in links.cannot]
        apart = np.array(pairs, dtype=np.int64) @ (size, 1)
        kept = ~np.isin(left.astype(np.int64) * size + right, apart)
        left, right = left[kept], right[kept]
    stars = [
        sorted((rows[min(group)], rows[other]))
        for group in links.must
        for other in group - {min(group)}
    ]
    joined = np.array(stars, dtype=np.int32).reshape(-1, 2)
    return RowGraph(
        ids=tuple(rows),
        copies=first,
        left=np.concatenate([left, joined[:, 0]]),
        right=np.concatenate([right, joined[:, 1]]),
    )


def _staying(
    analysis: Analysis, links: Constraints, left: similarity.Rows, right: similarity.Rows
) -> tuple[similarity.Rows, similarity.Rows, NDArray[np.int32], NDArray[np.bool_]]:
    """The pairs without the tools that people left out, each tool's first copy, and which of the
    pairs given these are: where the first of several copies was left out, the next one stands for
    the others.
    """
    first = analysis.first
    if not links.omitted:
        return left, right, first, np.ones(len(left), dtype=bool)
    gone = np.zeros(len(analysis.rows), dtype=bool)
    gone[[analysis.rows[tool] for tool in links.omitted]] = True
    instead = np.arange(len(gone), dtype=np.int32)
    for row in np.flatnonzero(~gone)[::-1]:
        if gone[first[row]]:
            instead[first[row]] = row
    left, right = instead[left], instead[right]
    kept = ~gone[left] & ~gone[right] & (left != right)
    low, high = np.minimum(left, right)[kept], np.maximum(left, right)[kept]
    return low, high, instead[first], kept


def plan_merge(
    analysis: Analysis,
    log: Sequence[Decision],
    config: PlanConfig,
) -> MergePlan:
    """The merge plan under the decisions of ``log`` and the accept policy of ``config``.

    A model's opinions decide what is proposed; what may be accepted without a person they
    decide only together with the offline judge.
    """
    plan = plan_of(analysis, proposed(analysis, log, divide=config.correct), config)
    return with_expanded(plan, variants(analysis.catalog, log)) if config.expanded else plan


@dataclass(frozen=True, slots=True)
class Proposed:
    """The proposals under people's decisions, before any accept policy: ``clusters`` to be merged,
    tools ``edited`` on their own as clusters of one, the ids of those ``omitted``.
    """

    clusters: tuple[Cluster, ...]
    edited: tuple[Cluster, ...]
    omitted: frozenset[str]


def proposed(
    analysis: Analysis,
    log: Sequence[Decision],
    *,
    divide: bool = True,
    cut: Cut | None = None,
) -> Proposed:
    """The proposals under the decisions, at the cut that people applied last or at another.
    ``divide`` as in ``correct``.
    """
    catalog = analysis.catalog
    links = constraints(catalog, log)
    groups = groups_at(analysis, links, cut or cut_of(analysis, log), divide=divide)
    groups = with_families(analysis, links, groups)
    auto_at = bars_of(analysis).auto_at
    if analysis.opinions is not None:
        auto_at = 0.0  # the doubts name each pair
    wishes = edits(catalog, log)
    groups += _edited_alone(wishes)
    built = build_clusters(catalog, groups, links, wishes, auto_at, analysis._syntheses)
    tools = catalog.by_id
    forms = [form for c in built for form in (c.members, (*c.members, *c.newcomers))]
    versions = versions_of(([tools[m].fingerprint for m in form] for form in forms), log)
    seen = zip(built, versions[::2], versions[1::2], strict=True)
    made = [replace(c, version=own, grown=grown) for c, own, grown in seen]
    clusters = tuple(c for c in made if len(c.members) > 1)
    return Proposed(clusters, tuple(c for c in made if len(c.members) == 1), links.omitted)


def _edited_alone(wishes: Edits, *also: str) -> tuple[Group, ...]:
    """The tools whose own document people edited, and ``also`` these, as groups of one."""
    edited = {ids for ids, edit in wishes.items() if len(ids) == 1 and edit.document}
    return tuple(Group((tool_id,), decided=True) for tool_id in sorted({*also}.union(*edited)))


def alone(analysis: Analysis, log: Sequence[Decision], tool_id: str) -> Cluster:
    """One tool as a cluster of one, under the document that people gave it, if any."""
    links, wishes = constraints(analysis.catalog, log), edits(analysis.catalog, log)
    groups = _edited_alone(wishes, tool_id)
    built = build_clusters(analysis.catalog, groups, links, wishes, 0.0, analysis._syntheses)
    (made,) = (cluster for cluster in built if cluster.canonical == tool_id)
    version = versions_of([[analysis.catalog.by_id[tool_id].fingerprint]], log)[0]
    return replace(made, version=version, grown=version)


def supposed(analysis: Analysis, members: Sequence[str], family: bool) -> Cluster:
    """What these tools (ids, two or more) would be as one cluster, whatever people decided."""
    ids = tuple(sorted(members))
    pairs = [Pair(a, b) for a, b in combinations(ids, 2)]
    judge = analysis.family_probabilities if family else analysis.probabilities
    group = Group(ids, float(judge(pairs).min()), family=family)
    auto_at = bars_of(analysis).auto_at
    (made,) = build_clusters(
        analysis.catalog, (group,), Constraints(), {}, auto_at, analysis._syntheses
    )
    return made


def plan_of(analysis: Analysis, proposals: Proposed, config: PlanConfig) -> MergePlan:
    """The plan of the proposals under an accept policy."""
    catalog = analysis.catalog
    clusters = accept(proposals.clusters, config, catalog.blocked)
    return apply_clusters(catalog, clusters, config.routers, proposals.edited, proposals.omitted)


def _judged(
    judge: OfflineJudge, left: similarity.Rows, right: similarity.Rows, progress: Progress
) -> PairProbabilities:
    same_job, family = [np.empty(0)], [np.empty(0)]
    for start in range(0, len(left), _PROGRESS):
        part = slice(start, start + _PROGRESS)
        probabilities = judge.pair_probabilities(left[part], right[part])
        same_job.append(probabilities.same_job)
        family.append(probabilities.family)
        progress(Step("judge", min(part.stop, len(left)), len(left)))
    return PairProbabilities(np.concatenate(same_job), np.concatenate(family))


def _make(analysis: Analysis, progress: Progress) -> None:
    """Fill the caches with all that a plan without decisions needs."""
    groups = groups_at(analysis, Constraints(), own_cut(analysis))
    groups = with_families(analysis, Constraints(), groups)
    for done, group in enumerate(groups):
        if done % _REPORTED == 0:
            progress(Step("merge", done, len(groups)))
        made = analysis._syntheses.synthesis(group.members, None, group.family)
        analysis._syntheses.differences(group.members, made)
    progress(Step("merge", len(groups), len(groups)))


def _pairs(
    analysis: Analysis, chosen: NDArray[np.bool_], values: NDArray[np.float64] | None = None
) -> dict[Pair, float]:
    tools, scores = analysis.catalog.tools, analysis.scores
    values = scores.probability if values is None else values
    return {
        Pair.of(tools[scores.left[row]].id, tools[scores.right[row]].id): float(values[row])
        for row in np.flatnonzero(chosen)
    }


def _first_copies(catalog: Catalog) -> similarity.Rows:
    """By row the row of the first tool of the same content."""
    first: dict[str, int] = {}
    rows = [first.setdefault(tool.content_hash, row) for row, tool in enumerate(catalog.tools)]
    return np.array(rows, dtype=np.int32)
