"""The best documents of a search scored anew, by their tokens or by a cross-encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from toolscope_core.model.protocols import PairScorer
from toolscope_core.retrieval.fusion import min_max
from toolscope_core.retrieval.sparse import Scores

RowScores = Callable[[str, Sequence[int]], Scores]
"""For a text and rows of documents float32 of shape (len(rows),) in [0, 1]."""


class Reranker(Protocol):
    """Scores some documents anew."""

    def of(self, texts: Sequence[str]) -> RowScores:
        """What scores documents for each of ``texts``, and for no others."""
        ...


class CrossEncoding:
    """A cross-encoder over the full texts of documents."""

    def __init__(self, full: Sequence[str], scorer: PairScorer) -> None:
        self._full, self._scorer = full, scorer

    def of(self, texts: Sequence[str]) -> RowScores:
        """See ``Reranker``. Raises ``ModelError`` as the scorer does."""
        return lambda text, rows: min_max(
            self._scorer.scores(text, [self._full[row] for row in rows])
        )
