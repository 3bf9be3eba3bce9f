"""Tool2Vec: a tool's vector is the mean of the vectors of the queries that it serves (§4.1), each
by its weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.protocols import Vectors
from toolscope_core.tool2vec.training_queries import TrainingQueries


@dataclass(frozen=True, slots=True, eq=False)
class UsageVectors:
    """Of m tools the weighted sums of their queries' vectors, float64 of shape (m, d), and how many
    they are, of shape (m,).
    """

    sums: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, queries: TrainingQueries, vectors: Vectors) -> UsageVectors:
        """From queries and the vectors of their texts, of shape (n, d)."""
        sums = np.zeros((len(queries.ids), vectors.shape[1]), dtype=np.float64)
        weighted = vectors.astype(np.float64) * queries.weights[:, None]
        np.add.at(sums, queries.tool, weighted[queries.at])
        return cls(sums, queries.counts)

    def vectors(self, own: Vectors) -> Vectors:
        """float32 of shape (m, d), rows L2-normalised: the mean of a tool's queries; of one without
        any its row of ``own``, the vectors of the tools' texts.
        """
        sums = np.where(self.counts[:, None] > 0, self.sums, own.astype(np.float64))
        return normalised(sums).astype(np.float32)


def normalised(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows with length 1; those of length 0 as they are."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0.0, lengths, 1.0)
