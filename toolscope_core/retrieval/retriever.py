"""ToolScopeRetriever: a request in, a ranking of tools out, with what each place rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolscope_core.backends import Embedder, PairScorer, Progress, silent
from toolscope_core.cache import VectorCache
from toolscope_core.config import RetrievalConfig
from toolscope_core.datamodel import Tool
from toolscope_core.retrieval.assembly import ToolRequest, assembled, brought_by
from toolscope_core.retrieval.documents import tool_document
from toolscope_core.retrieval.searching import DocumentSearch, TextScores


@dataclass(frozen=True, slots=True)
class RankedTool:
    """A place in a ranking. ``score`` in [0, 1] decides it; ``dense`` is the cosine and ``sparse``
    the BM25 score to the text that brought the tool: ``subquery`` says which of the request's,
    counted from 0, ``None`` for the request itself. ``parts`` are what the two gave to the score of
    that text, ``by`` names the greater; ``reranked`` is the reranker's score in [0, 1], ``None``
    where nothing was reranked.
    """

    tool_id: str
    score: float
    dense: float
    sparse: float
    parts: tuple[float, float]
    subquery: int | None = None
    reranked: float | None = None

    @property
    def by(self) -> str:
        return "dense" if self.parts[0] >= self.parts[1] else "sparse"


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
        documents = sorted(map(tool_document, tools), key=lambda one: one.id)
        self.config = config or RetrievalConfig()
        self._search = DocumentSearch(documents, embedder, cache, self.config, scorer, progress)

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
        return tuple(self._place(row, float(final[row]), by_text) for row in order)

    def _place(self, row: int, score: float, by_text: Sequence[TextScores]) -> RankedTool:
        at = brought_by([one.scores for one in by_text], row)
        text = by_text[at]
        return RankedTool(
            tool_id=self._search.documents[row].id,
            score=score,
            dense=float(text.dense[row]),
            sparse=float(text.sparse[row]),
            parts=(float(text.parts[0][row]), float(text.parts[1][row])),
            subquery=at - 1 if len(by_text) > 1 else None,
            reranked=None if text.reranked is None else float(text.reranked[row]),
        )
