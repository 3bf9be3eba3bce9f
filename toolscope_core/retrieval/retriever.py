"""ToolScopeRetriever: a request in, a ranking of tools out, with what each place rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass

from toolscope_core.backends import Embedder, PairScorer, Progress, Vectors, silent
from toolscope_core.cache import VectorCache
from toolscope_core.config import RetrievalConfig
from toolscope_core.datamodel import Tool
from toolscope_core.retrieval.assembly import ToolRequest, assembled, text_shares
from toolscope_core.retrieval.documents import SearchDocument, tool_document
from toolscope_core.retrieval.searching import DocumentSearch, TextScores
from toolscope_core.retrieval.sparse import Scores

PARTS = ("dense", "sparse", "rerank")


@dataclass(frozen=True, slots=True)
class RankedTool:
    """A place in a ranking. ``score`` in [0, 1] decides it; ``parts`` are what the dense and the
    sparse score and the reranker gave to it: their sum, but under *top1*, where they are those of
    the text that brought the tool. ``subquery`` says which of the request's that was, counted from
    0, ``None`` for the request itself; ``dense`` is the cosine and ``sparse`` the BM25 score to it.
    """

    tool_id: str
    score: float
    dense: float
    sparse: float
    parts: tuple[float, float, float]
    subquery: int | None = None

    @property
    def by(self) -> str:
        """Which part decided: that which gave the most."""
        return max(zip(self.parts, PARTS, strict=True), key=lambda one: one[0])[1]


class Retriever:
    """The tools of a catalog, ready to be searched. Raises as ``DocumentSearch`` does."""

    def __init__(
        self,
        tools: Iterable[Tool],
        embedder: Embedder,
        cache: VectorCache,
        config: RetrievalConfig | None = None,
        scorer: PairScorer | None = None,
        progress: Progress = silent,
    ) -> None:
        self.config = config or RetrievalConfig()
        self._search = DocumentSearch(
            _documents(tools), embedder, cache, self.config, scorer, progress
        )

    def over(self, tools: Iterable[Tool]) -> Retriever:
        """Other tools searched in the same way, with an index that is not kept on disk: for a
        toolset that is looked at once.
        """
        other = copy(self)
        other._search = self._search.over(_documents(tools))
        return other

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the tools, sorted."""
        return tuple(one.id for one in self._search.documents)

    @property
    def vectors(self) -> Vectors:
        """float32 of shape (n, d) in the order of ``ids``: the means of the tools' two vectors."""
        return self._search.vectors

    def encode(self, texts: Iterable[str]) -> None:
        """Have the vectors of texts at hand that are searched later."""
        self._search.encode(texts)

    def base_scores(self, texts: Sequence[str]) -> list[tuple[Scores, Scores]]:
        """For each text the dense and the sparse scores of all tools, in the order of ``ids``."""
        return self._search.base_scores(texts)

    def search(self, request: ToolRequest, k: int = 10) -> tuple[RankedTool, ...]:
        """The k best tools, equal scores in the order of ids; fewer where there are fewer, none for
        a request without text.
        """
        return self.search_each([request], k)[0]

    def search_each(
        self, requests: Sequence[ToolRequest], k: int = 10, progress: Progress = silent
    ) -> tuple[tuple[RankedTool, ...], ...]:
        """As ``search`` for each request; the vectors of many texts are kept in the cache.

        Reports ``Step("search", …)`` in requests.
        """
        return self._search.each(requests, k, self._ranking, progress)

    def _ranking(
        self, request: ToolRequest, by_text: Sequence[TextScores], k: int
    ) -> tuple[RankedTool, ...]:
        scores = [one.scores for one in by_text]
        order, final = assembled(request, scores, k, self.config)
        return tuple(self._place(request, row, float(final[row]), by_text) for row in order)

    def _place(
        self, request: ToolRequest, row: int, score: float, by_text: Sequence[TextScores]
    ) -> RankedTool:
        shares = text_shares(request, [one.scores for one in by_text], row, self.config)
        at = max(shares)
        dense, sparse, reranked = (
            sum(share * float(by_text[text].parts[part][row]) for text, share in shares.items())
            for part in range(3)
        )
        return RankedTool(
            tool_id=self._search.documents[row].id,
            score=score,
            dense=float(by_text[at].dense[row]),
            sparse=float(by_text[at].sparse[row]),
            parts=(dense, sparse, reranked),
            subquery=at - 1 if len(by_text) > 1 else None,
        )


def _documents(tools: Iterable[Tool]) -> list[SearchDocument]:
    return sorted(map(tool_document, tools), key=lambda one: one.id)
