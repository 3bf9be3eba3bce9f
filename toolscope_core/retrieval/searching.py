"""Scores documents for texts: dense and sparse scores, combined, and the best reranked."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model import protocols
from toolscope_core.model.search_configuration import RetrievalConfig, weight_shares
from toolscope_core.retrieval import assembly
from toolscope_core.retrieval.documents import RequestVectors, SearchDocument
from toolscope_core.retrieval.index_files import Scores, SearchIndex, open_index
from toolscope_core.retrieval.rerankers import Reranker, RerankInputs, RowScores, reranker_of

_Place = TypeVar("_Place")

BEFORE_OTHERS = np.float32(1e-5)
"""The lowest score of documents ordered by a reranker alone; the others have 0."""
BY_TOKENS = ("auto", "late")
"""The rerankers that use the embedder."""
LEAST_COVERAGE = 0.5
"""If an embedder can read less of a request than this, only words count."""
STRIDE = 64
"""The number of requests between two steps of progress."""


@dataclass(frozen=True, slots=True)
class TextScores:
    """The scores of all documents for one text, each float32 of shape (n,).

    ``dense`` is the mean of two cosines, ``sparse`` is BM25. ``parts`` are the shares of both and
    of the reranker in ``scores``: the hybrid score (ToolScope, eq. 4), and the reranker's share for
    the best documents, which it reranked.
    """

    dense: Scores
    sparse: Scores
    scores: Scores
    parts: tuple[Scores, Scores, Scores]


class DocumentSearch:
    """Documents with their index, in the given order.

    ``scorer`` is the configured cross-encoder. Raises ``ModelError`` as the models do,
    ``ConfigError`` for late interaction with an embedder without token vectors.
    """

    def __init__(
        self,
        documents: Sequence[SearchDocument],
        embedder: protocols.Embedder,
        cache: VectorCache,
        config: RetrievalConfig,
        scorer: protocols.PairScorer | None = None,
        progress: protocols.Progress = protocols.silent,
    ) -> None:
        self.documents = documents
        self._embedder, self._cache, self.config = embedder, cache, config
        self._scorer = scorer
        self._requests = RequestVectors(embedder, cache, with_tokens=config.rerank in BY_TOKENS)
        self._reranker = self._reranker_of(progress)
        self._index = open_index(documents, embedder, cache, progress)
        self._mixed = _mixed(documents, embedder, cache)

    def over_documents(self, documents: Sequence[SearchDocument]) -> Self:
        """The search over other documents, with an index that is not stored on disk."""
        other = copy(self)
        other.documents = documents
        other._reranker = other._reranker_of(protocols.silent)
        other._index = open_index(documents, self._embedder, self._cache, keep=False)
        other._mixed = _mixed(documents, self._embedder, self._cache)
        return other

    def each(
        self,
        requests: Sequence[assembly.ToolRequest],
        k: int,
        rank: Callable[[assembly.ToolRequest, Sequence[TextScores], int], tuple[_Place, ...]],
        progress: protocols.Progress = protocols.silent,
    ) -> tuple[tuple[_Place, ...], ...]:
        """For each request, the result of ``rank`` on the scores of its texts.

        Empty for a request without text, for k below 1, and without documents.
        """
        texts = list(dict.fromkeys(text for one in requests for text in self._texts(one, k)))
        vectors = dict(zip(texts, self._requests.of(texts, progress), strict=True))
        rerank = self._reranker(texts) if self._reranker and texts else None
        rankings: list[tuple[_Place, ...]] = []
        for number, one in enumerate(requests):
            if number % STRIDE == 0:
                progress(protocols.Step("search", number, len(requests)))
            scores = [self._scores(text, vectors[text], rerank) for text in self._texts(one, k)]
            rankings.append(rank(one, scores, k) if scores else ())
        progress(protocols.Step("search", len(requests), len(requests)))
        return tuple(rankings)

    @property
    def vectors(self) -> protocols.Vectors:
        """The mean vectors of the documents: float32 of shape (n, d), in their order."""
        return self._index.vectors[self._index.places]

    def encode(self, texts: Iterable[str]) -> None:
        """Encode texts in advance of a search."""
        self._requests.of(list(dict.fromkeys(texts)))

    def vectors_of(self, texts: Sequence[str]) -> list[protocols.Vectors]:
        """The vector of each text, computed if not yet known."""
        return self._requests.of(texts)

    def base_scores(self, texts: Sequence[str]) -> list[tuple[Scores, Scores]]:
        """For each text, the dense and sparse scores of all documents before reranking."""
        vectors = self._requests.of(texts)
        return [self._both(text, vector) for text, vector in zip(texts, vectors, strict=True)]

    def _texts(self, request: assembly.ToolRequest, k: int) -> tuple[str, ...]:
        """The texts to score for a request; empty if nothing can be ranked."""
        return request.texts if request.text.strip() and k > 0 and self.documents else ()

    def _both(self, text: str, vector: protocols.Vectors) -> tuple[Scores, Scores]:
        """The dense and the sparse scores of all documents."""
        dense, sparse = self._index.dense(vector), self._index.sparse.scores(text)
        if self._mixed is None:
            return dense, sparse
        plain, augmented = self._mixed
        return (
            assembly.levelled(dense, plain.dense(vector), augmented, assembly.DENSE_GAIN),
            assembly.levelled(sparse, plain.sparse.scores(text), augmented, assembly.SPARSE_GAIN),
        )

    def _scores(self, text: str, vector: protocols.Vectors, rerank: RowScores | None) -> TextScores:
        dense, sparse = self._both(text, vector)
        words_alone = bool(sparse.any()) and not self._is_read(text)
        dense_weight = 0.0 if words_alone else self.config.dense_weight
        parts = (*assembly.weighted(dense, sparse, dense_weight), np.zeros_like(sparse))
        scores = parts[0] + parts[1]
        if rerank is not None and not (words_alone and self.config.rerank in BY_TOKENS):
            rows = assembly.best_first(scores, self.config.candidates)
            first_share, rerank_share = map(np.float32, weight_shares(self.config.rerank_weight))
            reranked = rerank(text, rows)
            if not first_share:
                reranked = BEFORE_OTHERS + (1 - BEFORE_OTHERS) * reranked
            parts[2][rows] = rerank_share * reranked
            parts = (first_share * parts[0], first_share * parts[1], parts[2])
            scores = parts[0] + parts[1] + parts[2]
        return TextScores(dense, sparse, scores, parts)

    def _is_read(self, text: str) -> bool:
        """Whether the embedder knows the text's script; otherwise its vector means nothing."""
        reader = self._embedder
        if not isinstance(reader, protocols.VocabularyEmbedder):
            return True
        return reader.coverage(text) >= LEAST_COVERAGE

    def _reranker_of(self, progress: protocols.Progress) -> Reranker | None:
        inputs = RerankInputs(
            self.documents, self._embedder, self._requests, self._scorer, progress
        )
        return reranker_of(self.config.rerank, inputs)


def _mixed(
    documents: Sequence[SearchDocument], embedder: protocols.Embedder, cache: VectorCache
) -> tuple[SearchIndex, NDArray[np.bool_]] | None:
    """The index of all documents without additions, and which are augmented.

    ``None`` unless only some are augmented.
    """
    augmented = np.array([one.plain is not None for one in documents], dtype=np.bool_)
    if augmented.all() or not augmented.any():
        return None
    plain = [one.plain or one for one in documents]
    return open_index(plain, embedder, cache, keep=False), augmented
