"""The merge end to end: a catalog is analysed once, then planned again after every decision.

``analyse`` does what takes time and depends on nobody's opinion: embed, find near pairs, judge
them. ``plan_merge`` does the rest in a fraction of a second: graph, correction, alignment,
synthesis, φ and α under what people decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from toolscope_core import similarity
from toolscope_core.backends import Embedder, Progress, Step, Vectors, silent
from toolscope_core.cache import VectorCache, embed_cached
from toolscope_core.config import AnalysisConfig, PlanConfig
from toolscope_core.datamodel import (
    Catalog,
    Constraints,
    Decision,
    Group,
    MergePlan,
    Pair,
    PairScores,
    Verdict,
)
from toolscope_core.errors import CatalogError
from toolscope_core.merging.correction import brought, correct, suspended
from toolscope_core.merging.graph import MergeGraph, merge_graph
from toolscope_core.merging.judge import OfflineJudge
from toolscope_core.merging.plan import accept, apply_clusters, build_clusters
from toolscope_core.merging.synthesis import Synthesis, synthesise
from toolscope_core.review import constraints, edits, version_of


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """What is known of a catalog before anybody decides anything.

    ``vectors`` is float32 (n, d) in the order of ``catalog.tools``; ``scores`` the judged
    candidate pairs at ``threshold`` or closer; ``copies`` maps a tool to the first of equal
    content; ``rows`` a tool id to its row.
    """

    catalog: Catalog
    config: AnalysisConfig
    model: str
    threshold: float
    vectors: Vectors
    scores: PairScores
    judge: OfflineJudge
    copies: Mapping[str, str]
    rows: Mapping[str, int]
    _judged: dict[Pair, float] = field(default_factory=dict, repr=False)
    _made: dict[tuple[tuple[str, ...], str | None], Synthesis] = field(
        default_factory=dict, repr=False
    )

    def probabilities(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """Merge probabilities of any pairs of tools, in their order; remembered."""
        missing = [pair for pair in pairs if pair not in self._judged]
        if missing:
            left = np.array([self.rows[pair.left] for pair in missing], dtype=np.int32)
            right = np.array([self.rows[pair.right] for pair in missing], dtype=np.int32)
            found = self.judge.probabilities(left, right)
            self._judged.update(zip(missing, found.tolist(), strict=True))
        return np.array([self._judged[pair] for pair in pairs], dtype=np.float64)

    def synthesis(self, members: tuple[str, ...], canonical: str | None) -> Synthesis:
        """What the members would become, with a chosen canonical if any; remembered."""
        key = (members, canonical)
        if key not in self._made:
            tools = [self.catalog.tools[self.rows[member]] for member in members]
            self._made[key] = synthesise(tools, self.catalog.blocked, canonical)
        return self._made[key]

    def verdicts(self, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
        """The verdicts on any pairs of tools, in their order, with their evidence."""
        left = np.array([self.rows[pair.left] for pair in pairs], dtype=np.int32)
        right = np.array([self.rows[pair.right] for pair in pairs], dtype=np.int32)
        return self.judge.verdicts(left, right)

    def verdict(self, pair: Pair) -> Verdict:
        """The verdict on any pair of tools, with its evidence."""
        return self.verdicts([pair])[0]


def analyse(
    catalog: Catalog,
    config: AnalysisConfig,
    embedder: Embedder,
    cache: VectorCache,
    progress: Progress = silent,
) -> Analysis:
    """Embed, find the near pairs and judge them.

    Raises ``CatalogError`` for fewer than one tool, ``ModelError`` where the model is missing.
    """
    if not catalog.tools:
        raise CatalogError("the catalog has no tools; add a file with at least one")
    texts = [similarity.tool_text(tool) for tool in catalog.tools]
    vectors = embed_cached(texts, embedder, cache, progress)
    progress(Step("compare", 0, len(texts)))
    threshold = config.threshold or similarity.default_threshold(embedder.name)
    rows = {tool.id: row for row, tool in enumerate(catalog.tools)}
    copies = _copies(catalog)
    left, right, cosine = _candidates(vectors, rows, copies, config.neighbours, threshold)
    progress(Step("judge", 0, len(left)))
    judge = OfflineJudge.of(catalog.tools, vectors)
    probability = judge.probabilities(left, right)
    progress(Step("judge", len(left), len(left)))
    scores = PairScores(left, right, cosine, probability)
    return Analysis(
        catalog=catalog,
        config=config,
        model=embedder.name,
        threshold=threshold,
        vectors=vectors,
        scores=scores,
        judge=judge,
        copies=copies,
        rows=rows,
    )


@dataclass(frozen=True, slots=True)
class Cut:
    """Which candidate pairs are merges: those of at least this cosine and this probability."""

    similarity: float
    probability: float


def own_cut(analysis: Analysis) -> Cut:
    """What the plan is made with: θ, and where the judge says *merge*."""
    return Cut(analysis.threshold, analysis.judge.weights.merge_at)


def merge_edges(analysis: Analysis, cut: Cut | None = None) -> dict[Pair, float]:
    """The candidate pairs that the judge would merge (or those of another cut), with their
    probability.
    """
    scores, cut = analysis.scores, cut or own_cut(analysis)
    near = scores.similarity >= cut.similarity
    return _pairs(analysis, near & (scores.probability >= cut.probability))


def unsure_pairs(analysis: Analysis) -> dict[Pair, float]:
    """The candidate pairs that the judge is unsure of, with their probability."""
    weights, probability = analysis.judge.weights, analysis.scores.probability
    return _pairs(analysis, (probability >= weights.unsure_at) & (probability < weights.merge_at))


def graph_of(analysis: Analysis, log: Sequence[Decision]) -> MergeGraph:
    """The merge graph under the decisions."""
    return merge_graph(merge_edges(analysis), constraints(analysis.catalog, log))


def groups_at(
    analysis: Analysis, links: Constraints, cut: Cut, *, divide: bool = True
) -> tuple[Group, ...]:
    """What would be merged at this cut: corrected groups, those that people's changed
    decisions hold, and those that people put forward. ``divide`` as in ``correct``.
    """
    graph = merge_graph(merge_edges(analysis, cut), links)
    judge = analysis.probabilities
    groups = correct(graph, judge, cut.probability, links, analysis.copies, divide=divide)
    return brought(groups + suspended(groups, links, judge), links, judge)


def plan_merge(analysis: Analysis, log: Sequence[Decision], config: PlanConfig) -> MergePlan:
    """The merge plan under the decisions of ``log`` and the accept policy of ``config``."""
    catalog, judge = analysis.catalog, analysis.judge
    links = constraints(catalog, log)
    groups = groups_at(analysis, links, own_cut(analysis), divide=config.correct)
    wishes = edits(catalog, log)
    built = build_clusters(
        catalog, groups, links, wishes, judge.weights.auto_at, analysis.synthesis
    )
    clusters = accept(built, config, catalog.blocked)
    tools = catalog.by_id
    versioned = tuple(
        replace(c, version=version_of([tools[m].fingerprint for m in c.members], log))
        for c in clusters
    )
    return apply_clusters(catalog, versioned, config.routers)


def _pairs(analysis: Analysis, chosen: NDArray[np.bool_]) -> dict[Pair, float]:
    tools, scores = analysis.catalog.tools, analysis.scores
    return {
        Pair.of(tools[scores.left[row]].id, tools[scores.right[row]].id): float(
            scores.probability[row]
        )
        for row in np.flatnonzero(chosen)
    }


def _copies(catalog: Catalog) -> dict[str, str]:
    first: dict[str, str] = {}
    for tool in catalog.tools:
        first.setdefault(tool.content_hash, tool.id)
    return {tool.id: first[tool.content_hash] for tool in catalog.tools}


def _candidates(
    vectors: Vectors,
    rows: Mapping[str, int],
    copies: Mapping[str, str],
    neighbours: int,
    threshold: float,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Near pairs among first copies, and every further copy with its first: sorted rows."""
    firsts = np.array(sorted({rows[first] for first in copies.values()}), dtype=np.int32)
    near = similarity.nearest(vectors[firsts], neighbours, threshold)
    repeats = [(rows[first], rows[tool]) for tool, first in copies.items() if tool != first]
    stars = np.array(repeats, dtype=np.int32).reshape(-1, 2)
    left = np.concatenate([firsts[near.left], stars[:, 0]])
    right = np.concatenate([firsts[near.right], stars[:, 1]])
    cosine = np.concatenate([near.similarity.astype(np.float64), np.ones(len(stars))])
    order = np.lexsort((right, left))
    return left[order], right[order], cosine[order]
