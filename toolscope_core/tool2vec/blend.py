"""Scores of tools' texts and of what was learned put together, with weights from held-out queries.

Each learned score is moved to [0, 1], as the score of the texts is. A tool leans on its own texts
the more, the fewer queries it has; one without any has the score of its texts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from toolscope_core.evaluation.metrics import Gold, ndcg, recall
from toolscope_core.model.protocols import Vectors
from toolscope_core.retrieval.assembly import LearnedShare, best_first
from toolscope_core.tool2vec.linear_head import LinearHead

Floats = NDArray[np.float32]

WEIGHTS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.5, 4.0)
DOUBTS = (0.5, 1.0, 2.0, 4.0)
LEAST_UNSEEN = 1 / 3
"""What held-out queries of tools without a training query count for at least, if there are any."""
_ROUNDS = 2
_CHECKED_AT = (5, 10)


@dataclass(frozen=True, slots=True)
class Blend:
    """``weights`` by the name of a learned score, beside 1 for the texts; ``doubt`` is how many
    queries a tool has where half of what was learned counts. An infinite weight leaves that score
    alone, whatever the others and the doubt.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    doubt: float = 2.0

    def share(self, learned: Mapping[str, Floats], evidence: Floats) -> LearnedShare:
        """For n tools, from learned scores in [0, 1] of shape (n,) each and how many queries a tool
        has, ``TrainingQueries.evidence``.
        """
        total = sum(self.weights.values())
        if total == math.inf:
            alone = next(name for name, weight in self.weights.items() if weight == math.inf)
            return LearnedShare(np.zeros_like(learned[alone]), learned[alone])
        trust = (evidence / (evidence + self.doubt + 1e-9)).astype(np.float32)
        summed = np.zeros(len(evidence), dtype=np.float32)
        for name, weight in self.weights.items():
            if weight:
                summed += np.float32(weight) * learned[name]
        kept = (1 + total * (1 - trust)) / np.float32(1 + total)
        return LearnedShare(kept.astype(np.float32), trust * summed / np.float32(1 + total))


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutQuery:
    """A recorded query, scored by models that were trained without it: what n tools have by their
    texts and by each learned score, shape (n,), and how many training queries each had
    (``evidence``). ``row`` is its place among the training queries.
    """

    row: int
    gold: Gold
    by_text: Floats
    learned: Mapping[str, Floats]
    evidence: Floats
    is_unseen: bool
    fold: int


def ranked(query: HeldOutQuery, blend: Blend, ids: Sequence[str], k: int) -> list[str]:
    """The ids of the k best tools."""
    scores = blend.share(query.learned, query.evidence).scores(query.by_text)
    return [ids[row] for row in best_first(scores, k)]


def chosen_blend(
    queries: Sequence[HeldOutQuery],
    names: Sequence[str],
    ids: Sequence[str],
    begun: Blend | None = None,
) -> Blend:
    """The weights that rank held-out queries best, one learned score after the other; 0 for what
    does not help by more than its standard error. Queries of tools without a training query count
    for a third at least, so that what was learned of others may not push those down. Weights that
    ``begun`` has stay; those of ``names`` come beside them.
    """
    begun = begun or Blend()
    best = replace(begun, weights={**begun.weights, **dict.fromkeys(names, 0.0)})
    if len(queries) < 2:
        return best
    importance = _importance(queries)

    def values_of(blend: Blend) -> NDArray[np.float64]:
        return np.multiply(importance, [_value(one, blend, ids) for one in queries])

    reached = values_of(best)
    for _ in range(_ROUNDS):
        by_weight = ((name, weight) for name in reversed(names) for weight in WEIGHTS)
        for name, weight in by_weight:
            trial = replace(best, weights={**best.weights, name: weight})
            if trial != best and (values := values_of(trial)).mean() > reached.mean():
                best, reached = trial, values
        for doubt in DOUBTS if not begun.weights and any(best.weights.values()) else ():
            trial = replace(best, doubt=doubt)
            if trial != best and (values := values_of(trial)).mean() > reached.mean():
                best, reached = trial, values
    for name in reversed(names):  # what stands on top has to earn its place
        trial = replace(best, weights={**best.weights, name: 0.0})
        if best.weights[name] and not _clear(reached - (values := values_of(trial))):
            best, reached = trial, values
    return best


def _clear(gains: NDArray[np.float64]) -> bool:
    """Whether the mean of paired gains is more than its standard error."""
    return bool(gains.mean() > gains.std() / np.sqrt(len(gains)))


def _importance(queries: Sequence[HeldOutQuery]) -> NDArray[np.float64]:
    """What each query counts for, 1 on average."""
    unseen = np.array([one.is_unseen for one in queries])
    own = float(unseen.mean())
    if own in (0.0, 1.0):
        return np.ones(len(queries))
    share = max(own, LEAST_UNSEEN)
    return np.where(unseen, share / own, (1 - share) / (1 - own))


def _value(query: HeldOutQuery, blend: Blend, ids: Sequence[str]) -> float:
    """The mean of recall@5, recall@10 and nDCG@10."""
    ranking = ranked(query, blend, ids, max(_CHECKED_AT))
    recalls = [recall(ranking, query.gold, k) for k in _CHECKED_AT]
    return (sum(recalls) + ndcg(ranking, query.gold, max(_CHECKED_AT))) / 3


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
