"""The learned scores of tools for requests: of Tool2Vec vectors, classifiers and the refiner."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.protocols import Vectors
from toolscope_core.tool2vec.linear_head import LinearHead

Floats = NDArray[np.float32]

DESCRIPTION, TOOL2VEC, MLC, TUNED, REFINER = "description", "tool2vec", "mlc", "tuned", "refiner"
PART_WEIGHT = 0.5
"""What the best of a request's sub-queries counts for beside the request itself."""


class QueryClassifier(Protocol):
    """A tuned encoder with a head over all tools."""

    def logits(self, texts: Sequence[str]) -> Floats:
        """float32 of shape (len(texts), m)."""


class CandidateRefiner(Protocol):
    """Scores the candidates of a request together."""

    def logits(self, text: str, candidates: Vectors, scores: Floats) -> Floats:
        """float32 of shape (N,) from the candidates' vectors, (N, d), and first scores, (N,)."""


def stretched(scores: Floats) -> Floats:
    """Each row moved to [0, 1]; shape (n, m)."""
    low, high = scores.min(axis=-1, keepdims=True), scores.max(axis=-1, keepdims=True)
    moved: Floats = ((scores - low) / (high - low + 1e-9)).astype(np.float32)
    return moved


def assembled_parts(scores: Floats) -> Floats:
    """Scores of a request, shape (m,), from those of its texts, the request first, (t, m)."""
    if len(scores) == 1:
        return np.asarray(scores[0], dtype=np.float32)
    whole, best = scores[0], scores[1:].max(axis=0)
    joined: Floats = ((whole + PART_WEIGHT * best) / (1 + PART_WEIGHT)).astype(np.float32)
    return joined


def stage_scores(
    centres: Vectors, head: LinearHead | None, vectors: Vectors, name: str = TOOL2VEC
) -> dict[str, Floats]:
    """By name the scores of a request in [0, 1], shape (m,), from the vectors of its texts;
    ``name`` is that of the cosine to ``centres``.
    """
    scores = {name: np.asarray(vectors @ centres.T, dtype=np.float32)}
    if head is not None:
        scores[MLC] = head.logits(vectors)
    return {name: stretched(assembled_parts(one)) for name, one in scores.items()}
