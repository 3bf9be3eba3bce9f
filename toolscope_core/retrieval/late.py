"""Late interaction: a request and a tool compared token by token, with the encoder's own vectors.

After ColBERT (Khattab and Zaharia 2020), without its training: each token of one side takes its
best cosine on the other, and the mean of those is the score.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from toolscope_core.backends import Progress, TokenEmbedder, Vectors, silent
from toolscope_core.retrieval.fusion import min_max
from toolscope_core.retrieval.request_vectors import RequestVectors
from toolscope_core.retrieval.reranking import RowScores
from toolscope_core.retrieval.sparse import Scores
from toolscope_core.retrieval.token_cache import TokenCache, decoded

TOOL_SIDE = 0.7
"""The weight of the tool's tokens, each by its best cosine in the request, in the text without
arguments; the rest is the request's tokens, each by its best in the text with arguments.
"""


class LateInteraction:
    """Scores of tools by their tokens. ``short`` and ``full`` are texts of each tool, in order."""

    def __init__(
        self,
        short: Sequence[str],
        full: Sequence[str],
        embedder: TokenEmbedder,
        requests: RequestVectors,
        progress: Progress = silent,
    ) -> None:
        self._short, self._full, self._embedder = short, full, embedder
        self._requests = requests
        folder = requests.cache.folder
        self._tokens = TokenCache(folder).ensure([*short, *full], embedder, progress)

    def of(self, texts: Sequence[str]) -> RowScores:
        """See ``Reranker``; the tokens of all texts are encoded at once."""
        tokens = self._requests.tokens(texts, self._embedder)
        return lambda text, rows: self.scores(decoded(tokens[text]), rows)

    def scores(self, asked: Vectors, rows: Sequence[int]) -> Scores:
        """float32 of shape (len(rows),) in [0, 1]: both directions, min-max among these tools.
        ``asked`` are the token vectors of the request.
        """
        if not rows or not len(asked):
            return np.zeros(len(rows), dtype=np.float32)
        starts, cosines = self._cosines([self._short[row] for row in rows], asked)
        by_tool = np.add.reduceat(cosines.max(axis=1), starts) / np.diff([*starts, len(cosines)])
        starts, cosines = self._cosines([self._full[row] for row in rows], asked)
        by_request = np.maximum.reduceat(cosines, starts).mean(axis=1)
        mixed: Scores = TOOL_SIDE * min_max(by_tool) + (1 - TOOL_SIDE) * min_max(by_request)
        return mixed.astype(np.float32)

    def _cosines(self, texts: Sequence[str], asked: Vectors) -> tuple[list[int], Vectors]:
        """The cosine of every token of the texts to every token of the request, one text after the
        other, and the row at which each text begins.
        """
        tokens = [self._tokens.of(text) for text in texts]
        tokens = [one if len(one) else np.zeros_like(asked[:1]) for one in tokens]
        ends = np.cumsum([len(one) for one in tokens])
        return [0, *ends[:-1].tolist()], np.concatenate(tokens) @ asked.T
