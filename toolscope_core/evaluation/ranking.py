"""Many requests searched on several toolsets with one configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.configuration import RetrievalConfig
from toolscope_core.model.protocols import Embedder, PairScorer, Progress, silent
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.learned_scores import LearnedRanking
from toolscope_core.retrieval.retriever import Retriever

Rankings = tuple[tuple[str, ...], ...]
"""For each request tool ids, the best first."""


class Ranker(Protocol):
    """Ranks tools for requests."""

    def rankings(
        self,
        tools: Sequence[Tool],
        requests: Sequence[ToolRequest],
        k: int,
        progress: Progress = silent,
    ) -> Rankings:
        """The ids of the k best tools for each request."""
        ...


class ToolsetRanker:
    """A ``Ranker`` that searches, with what a model ``learned`` where there is one. Only the index
    of the first toolset is kept on disk.
    """

    def __init__(
        self,
        embedder: Embedder,
        cache: VectorCache,
        config: RetrievalConfig,
        scorer: PairScorer | None = None,
        learned: LearnedRanking | None = None,
    ) -> None:
        self._embedder, self._cache, self.config, self._scorer = embedder, cache, config, scorer
        self._learned = learned
        self._first: Retriever | None = None

    def rankings(
        self,
        tools: Sequence[Tool],
        requests: Sequence[ToolRequest],
        k: int,
        progress: Progress = silent,
    ) -> Rankings:
        """See ``Ranker``."""
        if self._first is None:
            plain = Retriever(
                tools, self._embedder, self._cache, self.config, self._scorer, progress
            )
            retriever = self._first = plain.with_learned(self._learned)
        else:
            retriever = self._first.over(tools)
        ranked = retriever.search_each(requests, k, progress)
        return tuple(tuple(place.tool_id for place in places) for places in ranked)
