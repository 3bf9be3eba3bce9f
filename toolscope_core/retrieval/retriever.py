"""ToolScopeRetriever: a request in, a ranking of tools out, with what each place rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from toolscope_core.backends import Embedder, Progress, TokenEmbedder, Vectors, silent
from toolscope_core.cache import VectorCache, embed_cached
from toolscope_core.config import RetrievalConfig
from toolscope_core.datamodel import Tool
from toolscope_core.errors import ConfigError
from toolscope_core.retrieval.fusion import best_first, min_max, weighted
from toolscope_core.retrieval.late import LateInteraction
from toolscope_core.retrieval.sparse import Scores, SparseIndex
from toolscope_core.similarity import split_name, tool_text
from toolscope_core.source_words import source_name, source_text

FEW = 32
"""Texts that are embedded faster than the cache is looked through."""


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """What an agent is asked, and the sub-queries that it was split into; none for one job."""

    text: str
    subqueries: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The request and, where there are two or more, its sub-queries."""
        return (self.text, *(self.subqueries if len(self.subqueries) > 1 else ()))


@dataclass(frozen=True, slots=True)
class RankedTool:
    """A place in a ranking. ``score`` in [0, 1] decides it; ``dense`` is the cosine and ``sparse``
    the BM25 score to the text that brought the tool: ``subquery`` says which of the request's,
    counted from 0, ``None`` for the request itself. ``by`` is the part that gave it more; ``late``
    the late interaction score in [0, 1], ``None`` where nothing was reranked.
    """

    tool_id: str
    score: float
    dense: float
    sparse: float
    by: str
    subquery: int | None = None
    late: float | None = None


def argument_text(tool: Tool) -> str:
    """``snake_case_name: description``, then each argument with its description.

    One text for BM25 and the second of two for the dense score; see docs/design.md for the others
    that were measured.
    """
    name = "_".join(split_name(source_name(tool))) or tool.name
    arguments = "; ".join(
        " ".join(split_name(one.name)) + (f": {one.description}" if one.description else "")
        for one in tool.parameters
    )
    text = f"{name}: {' '.join(source_text(tool).split())} {arguments}".strip()
    return text.encode("utf-8", "replace").decode("utf-8")


class Retriever:
    """The tools of a catalog, ready to be searched.

    Dense scores are the mean of two cosines, to the text that the merge embeds and to the one with
    arguments; vectors come from the cache. Raises ``ModelError`` as the embedder does.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        embedder: Embedder,
        cache: VectorCache,
        config: RetrievalConfig | None = None,
        progress: Progress = silent,
    ) -> None:
        self._tools = sorted(tools, key=lambda tool: tool.id)
        self._embedder = embedder
        self._cache = cache
        self.config = config or RetrievalConfig()
        full = [argument_text(tool) for tool in self._tools]
        texts = [*zip(full, map(tool_text, self._tools), strict=True)]
        distinct = list(dict.fromkeys(texts))
        self._late = self._late_interaction(texts, progress)
        place = {pair: at for at, pair in enumerate(distinct)}
        self._places = np.array([place[pair] for pair in texts], dtype=np.intp)
        """The row of each tool; tools of one text share it, and so have one score to the bit."""
        flat = [text for pair in distinct for text in pair]
        vectors = embed_cached(flat, embedder, cache, progress)
        # the mean of two cosines is one product with the mean of the vectors
        self._vectors: Vectors = (vectors[::2] + vectors[1::2]) * np.float32(0.5)
        self._sparse = SparseIndex(full)

    def _late_interaction(
        self, texts: Sequence[tuple[str, str]], progress: Progress
    ) -> LateInteraction | None:
        if self.config.rerank == "none" or not texts:
            return None
        if not isinstance(self._embedder, TokenEmbedder):
            raise ConfigError(
                f"{self._embedder.name} gives no vectors of tokens, which rerank late needs; use a "
                "local model, or rerank none"
            )
        short, full = [one for _, one in texts], [one for one, _ in texts]
        return LateInteraction(short, full, self._embedder, self._cache.folder, progress)

    def search(self, request: ToolRequest, k: int = 10) -> tuple[RankedTool, ...]:
        """The k best tools, equal scores in the order of ids; fewer where there are fewer, none for
        a request without text.
        """
        return self.search_each([request], k)[0]

    def search_each(
        self, requests: Sequence[ToolRequest], k: int = 10, progress: Progress = silent
    ) -> tuple[tuple[RankedTool, ...], ...]:
        """As ``search`` for each request; the vectors of many texts are kept in the cache."""
        texts = list(dict.fromkeys(text for one in requests for text in one.texts))
        if len(texts) > FEW:
            vectors = embed_cached(texts, self._embedder, self._cache, progress)
        else:
            vectors = self._embedder.encode(texts)
        tokens: Sequence[Vectors | None] = [None] * len(texts)
        if self._late is not None:
            tokens = self._late.encode(texts)
        asked = {
            text: _Asked(text, vector, token)
            for text, vector, token in zip(texts, vectors, tokens, strict=True)
        }
        return tuple(self._ranking(one, asked, k) for one in requests)

    def _ranking(
        self, request: ToolRequest, asked: Mapping[str, _Asked], k: int
    ) -> tuple[RankedTool, ...]:
        if not request.text.strip() or not self._tools or k < 1:
            return ()
        found = [self._scored(asked[text]) for text in request.texts]
        order, scores = self._assembled([one.scores for one in found], k)
        return tuple(self._place(row, float(scores[row]), found) for row in order)

    def _assembled(self, scores: Sequence[Scores], k: int) -> tuple[list[int], Scores]:
        """The rows of the k best and every row's score, from those of the request's texts."""
        whole, *parts = scores
        if not parts:
            return best_first(whole, k), whole
        if self.config.assembly == "top1":
            return top1_assembly(parts, k, self.config.candidates)
        weight, best = self.config.subquery_weight, np.maximum.reduce(parts)
        blended = ((whole + weight * best) / (1 + weight)).astype(np.float32)
        return best_first(blended, k), blended

    def _scored(self, asked: _Asked) -> _Scored:
        dense: Scores = (self._vectors @ asked.vector)[self._places]
        sparse = self._sparse.scores(asked.text)
        parts = weighted(dense, sparse, self.config.alpha)
        scores, late = parts[0] + parts[1], None
        if self._late is not None and asked.tokens is not None:
            rows, weight = best_first(scores, self.config.candidates), self.config.rerank_weight
            late = np.zeros(len(scores), dtype=np.float32)
            late[rows] = self._late.scores(asked.tokens, rows)
            scores = ((scores + weight * late) / (1 + weight)).astype(np.float32)
        return _Scored(dense, sparse, scores, parts, late)

    def _place(self, row: int, score: float, found: Sequence[_Scored]) -> RankedTool:
        texts = range(1, len(found)) if len(found) > 1 else range(1)
        at = max(texts, key=lambda number: (found[number].scores[row], -number))
        text = found[at]
        return RankedTool(
            tool_id=self._tools[row].id,
            score=score,
            dense=float(text.dense[row]),
            sparse=float(text.sparse[row]),
            by="dense" if text.parts[0][row] >= text.parts[1][row] else "sparse",
            subquery=at - 1 if len(found) > 1 else None,
            late=None if text.late is None else float(text.late[row]),
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A text that is searched, with its vector and, for late interaction, those of its tokens."""

    text: str
    vector: Vectors
    tokens: Vectors | None


@dataclass(frozen=True, slots=True)
class _Scored:
    """The scores of all tools for one text, and the two weighted parts of ``scores``."""

    dense: Scores
    sparse: Scores
    scores: Scores
    parts: tuple[Scores, Scores]
    late: Scores | None = None


def top1_assembly(scores: Sequence[Scores], k: int, candidates: int) -> tuple[list[int], Scores]:
    """Rows of the k tools that are put together from sub-queries (ToolScope, §3.3 and eq. 5), and
    the score of every row.

    The best of each sub-query first, in the order of the sub-queries; then the other candidates of
    each, min-max normalised among themselves, the highest first. Those first have score 1.
    """
    rest = np.full(len(scores[0]), -1.0, dtype=np.float32)
    first: list[int] = []
    for one in scores:
        top, *others = best_first(one, candidates)
        first += [top] if top not in first else []
        rest[others] = np.maximum(rest[others], min_max(one[others]))
    rest[first] = -1.0
    left = [row for row in best_first(rest, k) if rest[row] >= 0.0]
    rest[first] = 1.0
    return [*first, *left][:k], rest
