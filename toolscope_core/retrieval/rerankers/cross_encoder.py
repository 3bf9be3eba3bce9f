"""A cross-encoder reads a request and a document together and says how well they fit."""

from __future__ import annotations

from collections.abc import Sequence

from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import PairScorer
from toolscope_core.retrieval.fusion import min_max
from toolscope_core.retrieval.rerankers.reranker import RerankInputs, RowScores


def cross_encoder(inputs: RerankInputs) -> CrossEncoding:
    """The reranker with the model that the configuration names. Raises ``ConfigError`` without."""
    if inputs.scorer is None:
        raise ConfigError("the search was given no cross-encoder; give its scorer, or rerank late")
    return CrossEncoding([one.full for one in inputs.documents], inputs.scorer)


class CrossEncoding:
    """A cross-encoder over the full texts of documents."""

    def __init__(self, full: Sequence[str], scorer: PairScorer) -> None:
        self._full, self._scorer = full, scorer

    def of(self, texts: Sequence[str]) -> RowScores:
        """See ``Reranker``. Raises ``ModelError`` as the scorer does."""
        return lambda text, rows: min_max(
            self._scorer.scores(text, [self._full[row] for row in rows])
        )
