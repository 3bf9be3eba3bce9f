"""Late interaction: a request and a tool compared token by token, with the encoder's own vectors.

After ColBERT (Khattab and Zaharia 2020), without its training: each token of one side takes its
best cosine on the other, and the mean of those is the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from toolscope_core.backends import Progress, TokenEmbedder, Vectors, silent
from toolscope_core.retrieval.fusion import min_max
from toolscope_core.retrieval.sparse import Scores
from toolscope_core.retrieval.token_cache import TokenCache

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
        folder: Path,
        progress: Progress = silent,
    ) -> None:
        self._short, self._full, self._embedder = short, full, embedder
        self._tokens = TokenCache(folder).ensure([*short, *full], embedder, progress)

    def encode(self, texts: Sequence[str]) -> list[Vectors]:
        """The token vectors of requests, for ``scores``."""
        return self._embedder.encode_tokens(texts)

    def scores(self, asked: Vectors, rows: Sequence[int]) -> Scores:
        """float32 of shape (len(rows),) in [0, 1]: both directions, min-max among these tools.
        ``asked`` are the token vectors of the request.
        """
        by_tool = [_mean_of_best(self._tokens.of(self._short[row]), asked) for row in rows]
        by_request = [_mean_of_best(asked, self._tokens.of(self._full[row])) for row in rows]
        sides = (np.array(side, dtype=np.float32) for side in (by_tool, by_request))
        tool_side, request_side = map(min_max, sides)
        mixed: Scores = TOOL_SIDE * tool_side + (1 - TOOL_SIDE) * request_side
        return mixed.astype(np.float32)


def _mean_of_best(tokens: Vectors, others: Vectors) -> float:
    """The mean over ``tokens`` of the highest cosine to one of ``others``; 0 without tokens."""
    if not len(tokens) or not len(others):
        return 0.0
    return float((tokens @ others.T).max(axis=1).mean())
