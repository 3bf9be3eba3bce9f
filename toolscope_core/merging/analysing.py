"""A catalog analysed: embedded, its near pairs judged, and the merged tools made."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np

from toolscope_core.embedding.candidate_pairs import Rows, candidates, default_threshold, same_named
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache, embed_cached
from toolscope_core.judging.cached_judge import CachedJudge
from toolscope_core.judging.implied_servers import with_implied_servers
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.merging.analysis import (
    Analysis,
    bars_of,
    own_thresholds,
    thresholds_of,
    with_owners,
    with_verdicts,
)
from toolscope_core.merging.group_syntheses import GroupSyntheses
from toolscope_core.merging.grouping import correct_pairs, groups_at, with_families
from toolscope_core.merging.pair_graph import (
    edges_at,
    family_edges,
    joined_pairs,
    judged_edges,
    merge_edges,
    merges_at,
    row_graph,
    unsure_pairs,
)
from toolscope_core.merging.plan_making import (
    Proposed,
    alone,
    plan_merge,
    plan_of,
    proposed,
    supposed,
)
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import LEAST_PROBABILITY, AnalysisConfig, MergeThresholds
from toolscope_core.model.decision import Constraints
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import CatalogError, ConfigError
from toolscope_core.model.pair import PairScores
from toolscope_core.model.protocols import LOCAL, Embedder, Engine, Progress, Step, silent
from toolscope_core.model.tool import Tool
from toolscope_core.wording.boilerplate import compared_texts

_REPORTED = 64
"""So many clusters are made between two reports."""


def analyse(
    catalog: Catalog,
    config: AnalysisConfig | None = None,
    embedder: Embedder | None = None,
    cache: VectorCache | None = None,
    progress: Progress = silent,
    engine: Engine = LOCAL,
) -> Analysis:
    """The analysis of a catalog: embed, find the near pairs, judge them, and make the merged tools.
    By default the bundled encoder embeds, and the user's cache keeps the vectors. New texts are
    embedded, neighbours found and pairs judged on the workers of ``engine``.

    Tools that name no server get the one that their names imply; the judge does not read it.
    Raises ``CatalogError`` for fewer than one tool, ``ModelError`` where the model is missing.
    """
    if not catalog.tools:
        raise CatalogError("the catalog has no tools; add a file with at least one")
    config, embedder = config or AnalysisConfig(), embedder or MiniLmEmbedder()
    cache = cache or VectorCache(read_environment().cache_dir)
    catalog = with_implied_servers(catalog, {})
    texts = compared_texts(catalog.tools)
    vectors = embed_cached(texts, embedder, cache, progress, keep_tokens=True, engine=engine)
    progress(Step("compare", 0, len(texts)))
    threshold = config.threshold or default_threshold(embedder.name)
    rows = {tool.id: row for row, tool in enumerate(catalog.tools)}
    first = _first_copies(catalog)
    judge = OfflineJudge.of(catalog.tools, vectors, model=embedder.name)
    named = same_named(judge.signals.plain, vectors, config.neighbours)
    near = candidates(vectors, first, config.neighbours, threshold, named, engine)
    left, right, cosine = near.left, near.right, near.similarity
    cached_judge = CachedJudge.of(judge, cache.folder, engine)
    probabilities = cached_judge.pair_probabilities(left, right, progress)
    merged = probabilities.same_job >= judge.weights.merge_at
    keepers = replaceable_shares(catalog.tools, first, left[merged], right[merged])
    analysis = Analysis(
        catalog=catalog,
        config=config,
        model=embedder.name,
        threshold=threshold,
        vectors=vectors,
        scores=PairScores(left, right, cosine, probabilities.same_job, probabilities.family),
        cached_judge=cached_judge,
        copies={
            tool.id: catalog.tools[copy].id
            for tool, copy in zip(catalog.tools, first.tolist(), strict=True)
        },
        first=first,
        rows=rows,
        syntheses=GroupSyntheses(catalog, keepers),
    )
    analysis.remember(left, right, probabilities)
    _make(analysis, progress)
    with suppress(ConfigError):  # they are judged again then
        cached_judge.save()
    return analysis


def judge_at_lowest_thresholds(analysis: Analysis) -> None:
    """Judge the pairs that the lowest threshold on probability asks about, to fill the cache."""
    groups_at(analysis, Constraints(), MergeThresholds(analysis.threshold, LEAST_PROBABILITY))


def _make(analysis: Analysis, progress: Progress) -> None:
    """Fill the caches with all that a plan without decisions needs."""
    groups = groups_at(analysis, Constraints(), own_thresholds(analysis))
    groups = with_families(analysis, Constraints(), groups)
    for done, group in enumerate(groups):
        if done % _REPORTED == 0:
            progress(Step("merge", done, len(groups)))
        synthesis = analysis.syntheses.synthesis(group.members, None, group.family)
        analysis.syntheses.differences(group.members, synthesis)
    progress(Step("merge", len(groups), len(groups)))


def replaceable_shares(
    tools: Sequence[Tool], first: Rows, left: Rows, right: Rows
) -> Mapping[str, float]:
    """By server the share of its tools, 0 to 1, that some other server has too: an exact copy
    (``first`` is by row that of the first of equal content), or the other end of a pair of rows
    that are merges. Of two servers the merges between them keep the one with the lower share.
    """
    places: defaultdict[int, set[str]] = defaultdict(set)
    for tool, own in zip(tools, first.tolist(), strict=True):
        places[own].add(tool.server)
    near = {own: {own} for own in places}
    for a, b in zip(first[left].tolist(), first[right].tolist(), strict=True):
        near[a].add(b)
        near[b].add(a)
    elsewhere = Counter(
        tool.server
        for tool, own in zip(tools, first.tolist(), strict=True)
        if tool.server and any(places[other] - {tool.server, ""} for other in near[own])
    )
    sizes = Counter(tool.server for tool in tools if tool.server)
    return {server: elsewhere[server] / size for server, size in sizes.items()}


def _first_copies(catalog: Catalog) -> Rows:
    """By row the row of the first tool of the same content."""
    first: dict[str, int] = {}
    rows = [first.setdefault(tool.content_hash, row) for row, tool in enumerate(catalog.tools)]
    return np.array(rows, dtype=np.int32)


__all__ = [
    "Analysis",
    "Proposed",
    "alone",
    "analyse",
    "bars_of",
    "correct_pairs",
    "edges_at",
    "family_edges",
    "groups_at",
    "joined_pairs",
    "judge_at_lowest_thresholds",
    "judged_edges",
    "merge_edges",
    "merges_at",
    "own_thresholds",
    "plan_merge",
    "plan_of",
    "proposed",
    "row_graph",
    "supposed",
    "thresholds_of",
    "unsure_pairs",
    "with_families",
    "with_owners",
    "with_verdicts",
]
