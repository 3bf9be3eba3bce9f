"""What a reranker is, and what it is made from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolscope_core.model.protocols import Embedder, PairScorer, Progress
from toolscope_core.retrieval.documents import SearchDocument
from toolscope_core.retrieval.request_vectors import RequestVectors
from toolscope_core.retrieval.sparse import Scores

RowScores = Callable[[str, Sequence[int]], Scores]
"""For a text and rows of documents float32 of shape (len(rows),) in [0, 1]."""


Reranker = Callable[[Sequence[str]], RowScores]
"""Gives what scores documents anew for each of these texts, and for no others."""


@dataclass(frozen=True, slots=True)
class RerankInputs:
    """What a search has: its documents, how it embeds them and requests, and the cross-encoder that
    its configuration names, if it does.
    """

    documents: Sequence[SearchDocument]
    embedder: Embedder
    requests: RequestVectors
    scorer: PairScorer | None
    progress: Progress
