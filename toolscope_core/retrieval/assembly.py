"""Makes one ranking from the scores of a request and its sub-queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.cluster import grouped
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.search_configuration import RetrievalConfig, weight_shares
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.index_files import Scores
from toolscope_core.wording.tool_text import split_name

EPSILON = 1e-9


def min_max(scores: Scores) -> Scores:
    """The scores scaled to [0, 1] (ToolScope, eq. 5); all 0 if they are equal."""
    if not len(scores):
        return scores.astype(np.float32)
    low, high = float(scores.min()), float(scores.max())
    return ((scores - low) / (high - low + EPSILON)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Gain:
    """How a variant raises a document's scores for any request.

    The mean rises by ``shift`` deviations of all plain scores. The scores also spread more, which
    ``ratio`` corrects.
    """

    shift: float
    ratio: float


DENSE_GAIN, SPARSE_GAIN = Gain(0.3, 0.85), Gain(1.17, 0.7)
"""Measured with variants for half of UltraTool, over 200 development queries."""
SEEN_AS = 10
"""The number of the catalog's own documents that the gain above counts as."""


def levelled(scores: Scores, plain: Scores, augmented: NDArray[np.bool_], gain: Gain) -> Scores:
    """The scores of ``augmented`` documents, scaled to the level of the same documents as
    ``plain``.

    They get the mean and deviation of the plain scores if there are enough of them, or else the
    usual ``gain``. The others keep their plain scores. Without this, longer documents would rank
    first, because they are closer to any request.
    """
    level = plain.copy()
    own, as_plain = scores[augmented], plain[augmented]
    share = len(own) / (len(own) + SEEN_AS)
    usual = plain.mean() + gain.shift * plain.std()
    mean = share * own.mean() + (1 - share) * usual
    ratio = share * as_plain.std() / (own.std() + EPSILON) + (1 - share) * gain.ratio
    target = share * as_plain.mean() + (1 - share) * plain.mean()
    level[augmented] = target + ratio * (own - mean)
    return level


def weighted(dense: Scores, sparse: Scores, dense_weight: float) -> tuple[Scores, Scores]:
    """Dense and sparse scores scaled to [0, 1] and weighted, each of shape (n,).

    Their sum is the hybrid score (ToolScope, eq. 4, where the dense weight is called α).
    """
    return np.float32(dense_weight) * min_max(dense), np.float32(1 - dense_weight) * min_max(sparse)


class NamedRows:
    """Rows by the words of their names, so that a request for an exact name finds it first."""

    def __init__(self, names: Iterable[str]) -> None:
        names = list(names)
        self._rows = grouped(range(len(names)), lambda row: split_name(names[row]))

    def first(self, text: str, order: list[int], scores: Scores) -> tuple[list[int], Scores]:
        """The order with rows whose whole name is the text moved to the front, and their scores set
        to 1.

        The order keeps its length.
        """
        matches = self._rows.get(split_name(text), [])
        if not matches:
            return order, scores
        raised = scores.copy()
        raised[matches] = 1.0
        return [*matches, *(row for row in order if row not in matches)][: len(order)], raised


def best_first(scores: Scores, most: int) -> list[int]:
    """The rows of the ``most`` highest scores, highest first, ties by row."""
    count = min(most, len(scores))
    if count <= 0:
        return []
    least = -np.partition(-scores, count - 1)[count - 1]
    rows = np.flatnonzero(scores >= least)
    order = rows[np.argsort(-scores[rows], kind="stable")][:count]
    return [int(row) for row in order]


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """An agent's request and its sub-queries; there are none if the request is a single job.

    ``by_rule`` is false if a person or a model wrote the sub-queries; then they weigh more.
    """

    text: str
    subqueries: tuple[str, ...] = ()
    by_rule: bool = True

    @property
    def texts(self) -> tuple[str, ...]:
        """The request and, if there are two or more, its sub-queries."""
        return (self.text, *(self.subqueries if len(self.subqueries) > 1 else ()))


def assembled(
    request: ToolRequest, scores: Sequence[Scores], k: int, config: RetrievalConfig
) -> tuple[list[int], Scores]:
    """The rows of the k best tools, and the score of every row, from the scores of the request's
    ``texts``.
    """
    whole, *parts = scores
    if not parts:
        return best_first(whole, k), whole
    if config.assembly == "top1":
        return top1_assembly(parts, k, config.candidates)
    own_share, part_share = weight_shares(_weight(request, config))
    blended = (own_share * whole + part_share * np.maximum.reduce(parts)).astype(np.float32)
    return best_first(blended, k), blended


def text_shares(
    request: ToolRequest, scores: Sequence[Scores], row: int, config: RetrievalConfig
) -> dict[int, float]:
    """The weight of each of the request's ``texts`` in the score of a row; the weights sum to 1.

    Under *top1*, the text that found the row has all the weight.
    """
    at = brought_by(scores, row)
    if not at or config.assembly == "top1":
        return {at: 1.0}
    own_share, part_share = weight_shares(_weight(request, config))
    return {0: own_share, at: part_share}


def _weight(request: ToolRequest, config: RetrievalConfig) -> float:
    return config.subquery_weight if request.by_rule else config.step_weight


def top1_assembly(scores: Sequence[Scores], k: int, candidates: int) -> tuple[list[int], Scores]:
    """The rows of k tools from the sub-queries (ToolScope, §3.3 and eq. 5), and every row's score.

    The best of each sub-query come first, in the order of the sub-queries, with score 1. Then come
    the other candidates of each, min-max normalised among themselves, highest first.
    """
    rest = np.full(len(scores[0]), -1.0, dtype=np.float32)
    first: list[int] = []
    for scores_of_part in scores:
        top, *others = best_first(scores_of_part, candidates)
        first += [top] if top not in first else []
        rest[others] = np.maximum(rest[others], min_max(scores_of_part[others]))
    rest[first] = -1.0
    next_best = [row for row in best_first(rest, k) if rest[row] >= 0.0]
    rest[first] = 1.0
    return [*first, *next_best][:k], rest


def brought_by(scores: Sequence[Scores], row: int) -> int:
    """Which of a request's ``texts`` found a row.

    It is the sub-query with the highest score, the first of equal ones; 0 (the request) if there
    are fewer than two sub-queries.
    """
    texts = range(1, len(scores)) if len(scores) > 1 else range(1)
    return max(texts, key=lambda number: (scores[number][row], -number))


@dataclass(frozen=True, slots=True)
class LearnedShare:
    """How learned scores change the text scores of n tools.

    A tool's score is ``own``, in [0, 1], times its text score, plus ``learned``.
    """

    own: Scores
    learned: Scores

    def scores(self, by_text: Scores) -> Scores:
        """The scores of the tools, float32 of shape (n,), from their text scores."""
        return self.own * by_text + self.learned


class LearnedScorer(Protocol):
    """Scores the tools of one toolset, in the given order."""

    def share(self, request: ToolRequest, vectors: Sequence[Vectors]) -> LearnedShare:
        """The learned scores for a request, from the vectors of its ``texts``."""


class LearnedRanking(Protocol):
    """A trained model; it may know other tools than the ones being searched."""

    @property
    def embedder(self) -> str:
        """The name of the embedding model whose vectors it was trained on."""

    def over(self, tools: Sequence[Tool]) -> LearnedScorer:
        """The scorer of these tools; unknown tools keep their text score."""
