"""MLC on frozen vectors: one logistic classifier per tool over the vectors of requests (§4.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.protocols import Progress, Step, Vectors, silent
from toolscope_core.tool2vec.training_queries import QUESTION_WEIGHT, TrainingQueries

_Floats = NDArray[np.float32]

_SCALE = 12.0
"""The initial length of a tool's weights: a cosine of 1 changes its logit by this much."""
_EPOCHS, _BATCH, _RATE, _SEED = 15, 512, 0.03, 409
PULL = 1e-4
"""The strength per step with which weights are pulled back to their start."""
_BETAS, _TINY = (0.9, 0.999), 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class LinearHead:
    """One linear classifier per tool: ``weights`` is float32 of shape (m, d), and ``bias`` has
    shape (m,).
    """

    weights: _Floats
    bias: _Floats

    def logits(self, vectors: Vectors) -> _Floats:
        """The tools' logits, float32 of shape (n, m), for request vectors of shape (n, d)."""
        scores: _Floats = vectors @ self.weights.T + self.bias
        return scores


def fitted_head(
    queries: TrainingQueries, vectors: Vectors, centres: Vectors, progress: Progress = silent
) -> LinearHead:
    """The head trained by binary cross-entropy over all tools (Adam) on the queries' vectors.

    The head starts at ``centres``, the tools' Tool2Vec vectors of shape (m, d), and is regularised
    towards these vectors: a tool with two queries stays near their mean. Reports ``Step("classify",
    …)``, counted in epochs; ``progress`` may raise to cancel.
    """
    generator = np.random.default_rng(_SEED)
    state = _Adam.of(np.concatenate([centres * _SCALE, _prior(queries)[:, None]], axis=1))
    inputs = np.concatenate([vectors, np.ones_like(vectors[:, :1])], axis=1)
    importance = queries.weights / np.float32(QUESTION_WEIGHT)
    for epoch in range(_EPOCHS):
        progress(Step("classify", epoch, _EPOCHS))
        order = generator.permutation(len(queries.texts))
        rate = _RATE * (1.0 - epoch / _EPOCHS)
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            own = inputs[rows]
            errors = _sigmoid(own @ state.weights.T) - queries.labels(rows)
            errors *= importance[rows][:, None] / _BATCH
            state.step(errors.T @ own, rate)
    progress(Step("classify", _EPOCHS, _EPOCHS))
    return LinearHead(
        np.ascontiguousarray(state.weights[:, :-1]), np.ascontiguousarray(state.weights[:, -1])
    )


def _prior(queries: TrainingQueries) -> _Floats:
    """The log-odds of each tool for a request orthogonal to it."""
    total = max(len(queries.texts), 1)
    share = (queries.counts + 0.5) / (total + 1.0)
    odds: _Floats = (np.log(share / (1.0 - share)) - _SCALE / 4).astype(np.float32)
    return odds


@dataclass(slots=True, eq=False)
class _Adam:
    """Weights regularised towards their start, with Adam's two moments (Kingma and Ba 2015)."""

    weights: _Floats
    begun: _Floats
    first: _Floats
    second: _Floats
    steps: int = 0

    @classmethod
    def of(cls, weights: _Floats) -> "_Adam":
        own = weights.astype(np.float32)
        return cls(own, own.copy(), np.zeros_like(own), np.zeros_like(own))

    def step(self, gradient: _Floats, rate: float) -> None:
        self.steps += 1
        gradient += np.float32(PULL) * (self.weights - self.begun)
        self.first *= np.float32(_BETAS[0])
        self.first += np.float32(1 - _BETAS[0]) * gradient
        gradient *= gradient
        self.second *= np.float32(_BETAS[1])
        self.second += np.float32(1 - _BETAS[1]) * gradient
        spread = np.sqrt(self.second / np.float32(1 - _BETAS[1] ** self.steps))
        spread += np.float32(_TINY)
        self.weights -= np.float32(rate / (1 - _BETAS[0] ** self.steps)) * self.first / spread


def _sigmoid(logits: _Floats) -> _Floats:
    result: _Floats = np.exp(-np.clip(logits, -30.0, 30.0))
    result += np.float32(1.0)
    return np.reciprocal(result, out=result)


@dataclass(frozen=True, slots=True, eq=False)
class UsageVectors:
    """The weighted sums of m tools' query vectors, float64 of shape (m, d), and their counts, shape
    (m,).
    """

    sums: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, queries: TrainingQueries, vectors: Vectors) -> "UsageVectors":
        """The usage vectors computed from queries and the vectors of their texts, which have shape
        (n, d).
        """
        sums = np.zeros((len(queries.ids), vectors.shape[1]), dtype=np.float64)
        weighted = vectors.astype(np.float64) * queries.weights[:, None]
        np.add.at(sums, queries.tool, weighted[queries.at])
        return cls(sums, queries.counts)

    def vectors(self, own: Vectors) -> Vectors:
        """The mean vector of each tool's queries, float32 of shape (m, d) with L2-normalised rows.

        A tool without queries has its row in ``own``, the vectors of the tools' texts.
        """
        sums = np.where(self.counts[:, None] > 0, self.sums, own.astype(np.float64))
        return normalised(sums).astype(np.float32)


def normalised(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows scaled to the length 1; rows of zeros stay unchanged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0.0, lengths, 1.0)
