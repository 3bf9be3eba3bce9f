"""Scores documents for texts: dense and sparse scores, combined, and the best reranked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.vector_cache import VectorCache, encode_new
from toolscope_core.model import protocols
from toolscope_core.model.search_configuration import RetrievalConfig, weight_shares
from toolscope_core.retrieval import assembly
from toolscope_core.retrieval.documents import RequestVectors, SearchDocument
from toolscope_core.retrieval.index_files import Scores, SearchIndex, open_index
from toolscope_core.retrieval.rerankers import (
    LateInteraction,
    Reranker,
    RerankInputs,
    RowScores,
    reranker_of,
)

_Place = TypeVar("_Place")
_VectorsByText = Mapping[str, protocols.Vectors]

BEFORE_OTHERS = np.float32(1e-5)
"""The lowest score of documents ordered by a reranker alone; the others have 0."""
BY_TOKENS = ("auto", "late")
"""The rerankers that use the embedder."""
LEAST_COVERAGE = 0.5
"""If an embedder can read less of a request than this, only words count."""
STRIDE = 16
"""The number of requests between two steps of progress; they are searched together."""
IN_FULL = 2
"""For each text, this many times the candidates are compared in full.

With 100 instead of all tools, the recall@1, @5 and @10 of 1,040 development requests of UltraTool,
Seal-Tools, BFCL and LiveMCPBench differ by no more than a standard error, and one first tool
differs.
"""


def compares_most(texts: int, documents: int, config: RetrievalConfig) -> bool:
    """Whether so many texts may be compared in full with so many documents that encoding all of
    them at once is best.
    """
    return texts * IN_FULL * config.candidates >= documents


@dataclass(frozen=True, slots=True)
class TextScores:
    """The scores of all documents for one text, each float32 of shape (n,).

    ``dense`` is the mean of two cosines for the nearest documents, and the cosine of the short text
    for the others; ``sparse`` is BM25. ``parts`` are the shares of both and of the reranker in
    ``scores``: the hybrid score (ToolScope, eq. 4), and the reranker's share for the best
    documents, which it reranked.
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
        self._reranker = self._reranker_of()
        self._index = open_index(documents, embedder, cache, progress)
        self._plain = _Plain.of(documents, embedder, cache)

    def over_documents(self, documents: Sequence[SearchDocument]) -> Self:
        """The search over other documents, with an index that is not stored on disk."""
        other = copy(self)
        other.documents = documents
        other._reranker = other._reranker_of()
        other._index = open_index(documents, self._embedder, self._cache, keep=False)
        other._plain = _Plain.of(documents, self._embedder, self._cache)
        return other

    def each(
        self,
        requests: Sequence[assembly.ToolRequest],
        k: int,
        rank: Callable[[assembly.ToolRequest, Sequence[TextScores], int], tuple[_Place, ...]],
        progress: protocols.Progress = protocols.silent,
    ) -> tuple[tuple[_Place, ...], ...]:
        """For each request, the result of ``rank`` on the scores of its texts.

        Empty for a request without text, for k below 1, and without documents. Reports
        ``Step("embed", …)`` in texts and ``Step("search", …)`` in requests; ``progress`` may raise
        to cancel.
        """
        texts_of = [self._texts(one, k) for one in requests]
        distinct = list(dict.fromkeys(text for texts in texts_of for text in texts))
        vectors = dict(zip(distinct, self._requests.of(distinct, progress), strict=True))
        if compares_most(len(distinct), len(self.documents), self.config):
            self.encode_documents(progress)
        rerank = self._reranker(distinct) if self._reranker and distinct else None
        rankings: list[tuple[_Place, ...]] = []
        for start in range(0, len(requests), STRIDE):
            progress(protocols.Step("search", start, len(requests)))
            part = slice(start, start + STRIDE)
            own = {text: vectors[text] for texts in texts_of[part] for text in texts}
            scores = self._scores(own, rerank, progress)
            for one, texts in zip(requests[part], texts_of[part], strict=True):
                rankings.append(rank(one, [scores[text] for text in texts], k) if texts else ())
        progress(protocols.Step("search", len(requests), len(requests)))
        return tuple(rankings)

    @property
    def is_encoded(self) -> bool:
        """Whether the full texts of all documents are encoded."""
        return not self._index.unread(range(len(self.documents)))

    def encode_documents(self, progress: protocols.Progress = protocols.silent) -> None:
        """Encode all texts of the documents, so that no search has to."""
        self._read(self._index, range(len(self.documents)), progress)
        if isinstance(self._reranker, LateInteraction):
            self._reranker.encode(self._reranker.texts(range(len(self.documents))), progress)

    @property
    def vectors(self) -> protocols.Vectors:
        """The mean vectors of the documents: float32 of shape (n, d), in their order."""
        self._read(self._index, range(len(self.documents)))
        return self._index.means()

    def encode(self, texts: Iterable[str]) -> None:
        """Encode texts in advance of a search."""
        self._requests.of(list(dict.fromkeys(texts)))

    def vectors_of(self, texts: Sequence[str]) -> list[protocols.Vectors]:
        """The vector of each text, computed if not yet known."""
        return self._requests.of(texts)

    def base_scores(self, texts: Sequence[str]) -> list[tuple[Scores, Scores]]:
        """For each text, the dense and sparse scores of all documents before reranking.

        All documents are compared in full.
        """
        vectors = dict(zip(texts, self._requests.of(texts), strict=True))
        both = self._both(vectors, len(self.documents))
        return [both[text] for text in texts]

    def _texts(self, request: assembly.ToolRequest, k: int) -> tuple[str, ...]:
        """The texts to score for a request; empty if nothing can be ranked."""
        return request.texts if request.text.strip() and k > 0 and self.documents else ()

    def _scores(
        self, vectors: _VectorsByText, rerank: RowScores | None, progress: protocols.Progress
    ) -> dict[str, TextScores]:
        """The scores of all documents for some texts."""
        both = self._both(vectors, IN_FULL * self.config.candidates, progress)
        scores = {text: self._hybrid(text, dense, sparse) for text, (dense, sparse) in both.items()}
        if rerank is None:
            return scores
        rows = {
            text: assembly.best_first(one.scores, self.config.candidates)
            for text, one in scores.items()
            if not (self.config.rerank in BY_TOKENS and self._words_alone(text, one.sparse))
        }
        if isinstance(self._reranker, LateInteraction):
            every = sorted({row for own in rows.values() for row in own})
            self._reranker.encode(self._reranker.texts(every), progress)
        return scores | {
            text: self._reranked(scores[text], rerank(text, own), own) for text, own in rows.items()
        }

    def _hybrid(self, text: str, dense: Scores, sparse: Scores) -> TextScores:
        """The scores before reranking."""
        dense_weight = 0.0 if self._words_alone(text, sparse) else self.config.dense_weight
        by_dense, by_sparse = assembly.weighted(dense, sparse, dense_weight)
        parts = by_dense, by_sparse, np.zeros_like(sparse)
        return TextScores(dense, sparse, by_dense + by_sparse, parts)

    def _reranked(self, first: TextScores, scores: Scores, rows: list[int]) -> TextScores:
        """The scores with those of the reranker for some rows."""
        first_share, rerank_share = map(np.float32, weight_shares(self.config.rerank_weight))
        if not first_share:
            scores = BEFORE_OTHERS + (1 - BEFORE_OTHERS) * scores
        dense, sparse, reranked = first.parts
        reranked[rows] = rerank_share * scores
        parts = first_share * dense, first_share * sparse, reranked
        return replace(first, scores=parts[0] + parts[1] + parts[2], parts=parts)

    def _both(
        self, vectors: _VectorsByText, most: int, progress: protocols.Progress = protocols.silent
    ) -> dict[str, tuple[Scores, Scores]]:
        """The dense and the sparse scores of all documents for some texts.

        The ``most`` nearest by short texts and words are compared in full, or all if only some are
        augmented.
        """
        index, plain = self._index, self._plain
        dense = {text: index.dense(vector) for text, vector in vectors.items()}
        sparse = {text: index.sparse.scores(text) for text in vectors}
        most = most if plain is None else len(self.documents)
        rows = {
            text: assembly.best_first(self._hybrid(text, dense[text], sparse[text]).scores, most)
            for text in vectors
        }
        self._read(index, sorted({row for own in rows.values() for row in own}), progress)
        both = {
            text: (index.in_full(dense[text], vector, rows[text]), sparse[text])
            for text, vector in vectors.items()
        }
        if plain is None:
            return both
        self._read(plain.index, range(len(self.documents)), progress)
        return {text: plain.levelled(text, vectors[text], *both[text]) for text in vectors}

    def _read(
        self,
        index: SearchIndex,
        rows: Sequence[int],
        progress: protocols.Progress = protocols.silent,
    ) -> None:
        """Encode the full texts of these documents that have not been encoded."""
        unread = index.unread(rows)
        if unread:  # another search may have stored them
            index.add(self._cache.read(self._embedder.name, unread))
            unread = index.unread(rows)
        if isinstance(self._reranker, LateInteraction):
            index.add(self._reranker.encode(unread, progress))
            unread = index.unread(rows)
        index.add(encode_new(unread, self._embedder, self._cache, progress))

    def _words_alone(self, text: str, sparse: Scores) -> bool:
        """Whether the vector of a text means nothing, because the embedder does not know its
        script, but its words are found.
        """
        return bool(sparse.any()) and not self._is_read(text)

    def _is_read(self, text: str) -> bool:
        """Whether the embedder knows the text's script; otherwise its vector means nothing."""
        reader = self._embedder
        if not isinstance(reader, protocols.VocabularyEmbedder):
            return True
        return reader.coverage(text) >= LEAST_COVERAGE

    def _reranker_of(self) -> Reranker | None:
        inputs = RerankInputs(self.documents, self._embedder, self._requests, self._scorer)
        return reranker_of(self.config.rerank, inputs)


@dataclass(frozen=True, slots=True)
class _Plain:
    """The index of all documents without additions, and which are augmented."""

    index: SearchIndex
    augmented: NDArray[np.bool_]

    @classmethod
    def of(
        cls, documents: Sequence[SearchDocument], embedder: protocols.Embedder, cache: VectorCache
    ) -> Self | None:
        """``None`` unless only some documents are augmented."""
        augmented = np.array([one.plain is not None for one in documents], dtype=np.bool_)
        if augmented.all() or not augmented.any():
            return None
        plain = [one.plain or one for one in documents]
        return cls(open_index(plain, embedder, cache, keep=False), augmented)

    def levelled(
        self, text: str, vector: protocols.Vectors, dense: Scores, sparse: Scores
    ) -> tuple[Scores, Scores]:
        """The scores for a text, on the level of the same documents without additions."""
        every = range(len(self.augmented))
        plain_dense = self.index.in_full(self.index.dense(vector), vector, every)
        plain_sparse = self.index.sparse.scores(text)
        return (
            assembly.levelled(dense, plain_dense, self.augmented, assembly.DENSE_GAIN),
            assembly.levelled(sparse, plain_sparse, self.augmented, assembly.SPARSE_GAIN),
        )
