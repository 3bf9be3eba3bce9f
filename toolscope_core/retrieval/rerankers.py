"""The rerankers by their names in a configuration; any other name is a cross-encoder."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from toolscope_core.embedding.vector_cache import TokenCache, decoded
from toolscope_core.model import protocols
from toolscope_core.model.errors import ConfigError
from toolscope_core.retrieval.assembly import min_max
from toolscope_core.retrieval.documents import FEW, RequestVectors, SearchDocument
from toolscope_core.retrieval.index_files import Scores

RowScores = Callable[[str, Sequence[int]], Scores]
"""For a text and rows of documents float32 of shape (len(rows),) in [0, 1]."""


Reranker = Callable[[Sequence[str]], RowScores]
"""Gives a function that scores documents again for each of these texts, and for no others."""


@dataclass(frozen=True, slots=True)
class RerankInputs:
    """The parts of a search: documents, embedder, requests, and the configured cross-encoder, if
    any.
    """

    documents: Sequence[SearchDocument]
    embedder: protocols.Embedder
    requests: RequestVectors
    scorer: protocols.PairScorer | None


_DIGITS = 6
TOOL_SIDE = 0.7
"""The weight of the tool's tokens, each by its best cosine in the request; the rest is the
request's tokens, each by its best in the tool.
"""


def late_interaction(inputs: RerankInputs) -> "LateInteraction":
    """The reranker with the embedder of the search.

    Raises ``ConfigError`` if it gives no token vectors.
    """
    if not isinstance(inputs.embedder, protocols.TokenEmbedder):
        raise ConfigError(
            f"{inputs.embedder.name} has no token vectors, but `rerank late` needs them; use a "
            "local model, or `rerank none`"
        )
    return LateInteraction(inputs.documents, inputs.embedder, inputs.requests)


_NONE = np.zeros(0, dtype=np.float32)


class LateInteraction:
    """A ``Reranker`` by the tokens of documents."""

    def __init__(
        self,
        documents: Sequence[SearchDocument],
        embedder: protocols.TokenEmbedder,
        requests: RequestVectors,
    ) -> None:
        self._sides = [(one.tool_side, one.request_side) for one in documents]
        self._embedder, self._requests = embedder, requests
        self._token_weights: dict[str, protocols.Vectors] = {}
        texts = self.texts(range(len(documents)))
        self._tokens = TokenCache(requests.cache.folder).open(texts, embedder)

    def texts(self, rows: Iterable[int]) -> set[str]:
        """The texts of these documents that are compared with a request."""
        sides = [self._sides[row] for row in rows]
        return {text for tool, request in sides for text in (*tool, request)}

    def encode(
        self, texts: Iterable[str], progress: protocols.Progress = protocols.silent
    ) -> Mapping[str, protocols.Vectors]:
        """Encode those texts that have no token vectors yet, and return their own vectors."""
        return self._tokens.ensure(texts, progress)

    def __call__(self, texts: Sequence[str]) -> RowScores:
        """See ``Reranker``; the tokens of all texts are encoded at once.

        The comparisons of many texts are remembered, because they are searched in other, similar
        toolsets too.
        """
        tokens = self._requests.tokens(texts, self._embedder)
        if len(texts) <= FEW:
            return lambda text, rows: self.scores(decoded(tokens[text]), rows)

        def scored(text: str, rows: Sequence[int]) -> Scores:
            directions_of = self._requests.compared(text)
            new = [row for row in rows if self._sides[row] not in directions_of]
            if new:
                sides = self.directions(decoded(tokens[text]), new)
                own = (self._sides[row] for row in new)
                directions_of.update(zip(own, zip(*sides, strict=True), strict=True))
            both_of = [directions_of[self._sides[row]] for row in rows]
            directions = np.array(both_of, dtype=np.float32)
            return _mixed(*directions.T) if len(rows) else np.zeros(0, dtype=np.float32)

        return scored

    def scores(self, request: protocols.Vectors, rows: Sequence[int]) -> Scores:
        """The scores: float32 of shape (len(rows),) in [0, 1].

        They combine both directions, min-max normalised among these tools.

        ``request`` are the request's token vectors.
        """
        if not rows or not len(request):
            return np.zeros(len(rows), dtype=np.float32)
        return _mixed(*self.directions(request, rows))

    def sides(self, text: str, rows: Sequence[int]) -> tuple[Scores, Scores]:
        """The ``directions`` of a request that was searched."""
        return self.directions(decoded(self._requests.tokens([text], self._embedder)[text]), rows)

    def directions(self, request: protocols.Vectors, rows: Sequence[int]) -> tuple[Scores, Scores]:
        """The mean best cosine of the tool's tokens, and of the request's tokens.

        Each is float32 of shape (len(rows),); several texts of a tool are averaged. Values are
        rounded, so that a pair's value does not depend on what is computed with it.
        """
        if not len(request):
            nothing = np.zeros(len(rows), dtype=np.float32)
            return nothing, nothing
        tool_sides = [self._sides[row][0] for row in rows]
        own_texts = [text for texts in tool_sides for text in texts]
        starts, cosines = self._cosines(own_texts, request)
        weights = self._weights(own_texts, np.diff([*starts, len(cosines)]).tolist())
        best = cosines.max(axis=1) * weights
        by_text = np.add.reduceat(best, starts) / np.add.reduceat(weights, starts)
        counts = [len(texts) for texts in tool_sides]
        by_tool = np.add.reduceat(by_text, np.cumsum([0, *counts[:-1]])) / counts
        starts, cosines = self._cosines([self._sides[row][1] for row in rows], request)
        by_request = np.maximum.reduceat(cosines, starts).mean(axis=1)
        return (
            np.round(by_tool, _DIGITS).astype(np.float32),
            np.round(by_request, _DIGITS).astype(np.float32),
        )

    def _weights(self, texts: Sequence[str], counts: Sequence[int]) -> protocols.Vectors:
        """The weight of each token, one text after the other; ``counts``
        has the tokens per text.
        """
        if isinstance(self._embedder, protocols.VocabularyEmbedder):
            new = [text for text in dict.fromkeys(texts) if text not in self._token_weights]
            self._token_weights.update(zip(new, self._embedder.token_weights(new), strict=True))
        own = (
            (self._token_weights.get(text, _NONE), n) for text, n in zip(texts, counts, strict=True)
        )
        return np.concatenate([w if len(w) == n else np.ones(n, np.float32) for w, n in own])

    def _cosines(
        self, texts: Sequence[str], request: protocols.Vectors
    ) -> tuple[list[int], protocols.Vectors]:
        """The cosines of all text tokens to all request tokens, and the first row of each text."""
        tokens = [self._tokens.of(text) for text in texts]
        tokens = [one if len(one) else np.zeros_like(request[:1]) for one in tokens]
        ends = np.cumsum([len(one) for one in tokens])
        return [0, *ends[:-1].tolist()], np.concatenate(tokens) @ request.T


def _mixed(by_tool: Scores, by_request: Scores) -> Scores:
    mixed: Scores = TOOL_SIDE * min_max(by_tool) + (1 - TOOL_SIDE) * min_max(by_request)
    return mixed.astype(np.float32)


def cross_encoder(inputs: RerankInputs) -> Reranker:
    """The reranker with the configured model.

    Raises ``ConfigError`` without a model, and ``ModelError`` during scoring as the model does.
    """
    full, scorer = [one.full for one in inputs.documents], inputs.scorer
    if scorer is None:
        raise ConfigError("the search has no cross-encoder; pass a scorer, or use late reranking")

    def score(text: str, rows: Sequence[int]) -> Scores:
        return min_max(scorer.scores(text, [full[row] for row in rows]))

    return lambda texts: score


Builder = Callable[[RerankInputs], Reranker | None]


def _automatic(inputs: RerankInputs) -> Reranker | None:
    """Late interaction if the embedder gives token vectors, or else none."""
    return (
        late_interaction(inputs) if isinstance(inputs.embedder, protocols.TokenEmbedder) else None
    )


RERANKERS: Mapping[str, Builder] = {
    "auto": _automatic,
    "none": lambda inputs: None,
    "late": late_interaction,
}
"""A new one is its module, a line here, and its name in ``configuration.RERANKERS``."""


def reranker_of(name: str, inputs: RerankInputs) -> Reranker | None:
    """The named reranker over some documents; ``None`` if none is wanted or possible."""
    if not inputs.documents:
        return None
    build: Builder = RERANKERS.get(name, cross_encoder)
    return build(inputs)
