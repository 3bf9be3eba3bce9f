"""One ranking from the scores of a request and its sub-queries: fused, and put together."""

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
    """The scores moved to [0, 1] (ToolScope, eq. 5); all 0 where they are equal."""
    if not len(scores):
        return scores.astype(np.float32)
    low, high = float(scores.min()), float(scores.max())
    return ((scores - low) / (high - low + EPSILON)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Gain:
    """What a variant adds to a document's scores for any request: its mean lies ``shift``
    deviations of all plain scores higher, and they spread wider, so ``ratio`` brings them back.
    """

    shift: float
    ratio: float


DENSE_GAIN, SPARSE_GAIN = Gain(0.3, 0.85), Gain(1.17, 0.7)
"""As seen where half of UltraTool has variants, over 200 development queries."""
SEEN_AS = 10
"""The gain above counts for as much as so many documents of the catalog itself."""


def levelled(scores: Scores, plain: Scores, augmented: NDArray[np.bool_], gain: Gain) -> Scores:
    """The scores of ``augmented`` documents at the level that the same ones have as ``plain``: with
    the mean and the deviation of those, as far as there are enough of them to tell, else by the
    usual ``gain``. The others have their plain scores. Longer documents are closer to any request,
    and would rank first for that.
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
    """Dense and sparse scores moved to [0, 1] and weighted, each of shape (n,); their sum is the
    hybrid score (ToolScope, eq. 4, where the dense weight is called α).
    """
    return np.float32(dense_weight) * min_max(dense), np.float32(1 - dense_weight) * min_max(sparse)


class NamedRows:
    """Rows by the words of their names, so that what is asked for by its exact name stands first,
    whatever else a search reads.
    """

    def __init__(self, names: Iterable[str]) -> None:
        names = list(names)
        self._rows = grouped(range(len(names)), lambda row: split_name(names[row]))

    def first(self, text: str, order: list[int], scores: Scores) -> tuple[list[int], Scores]:
        """The order, as long as it was, with the rows whose whole name is the text before the
        others, and the scores with 1 for these.
        """
        matches = self._rows.get(split_name(text), [])
        if not matches:
            return order, scores
        raised = scores.copy()
        raised[matches] = 1.0
        return [*matches, *(row for row in order if row not in matches)][: len(order)], raised


def best_first(scores: Scores, most: int) -> list[int]:
    """The rows of the ``most`` highest scores, the highest first; equal scores in row order."""
    count = min(most, len(scores))
    if count <= 0:
        return []
    least = -np.partition(-scores, count - 1)[count - 1]
    rows = np.flatnonzero(scores >= least)
    order = rows[np.argsort(-scores[rows], kind="stable")][:count]
    return [int(row) for row in order]


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """What an agent is asked, and the sub-queries that it was split into; none for one job.

    ``by_rule`` is false where a person or a model wrote them: then they weigh more.
    """

    text: str
    subqueries: tuple[str, ...] = ()
    by_rule: bool = True

    @property
    def texts(self) -> tuple[str, ...]:
        """The request and, where there are two or more, its sub-queries."""
        return (self.text, *(self.subqueries if len(self.subqueries) > 1 else ()))


def assembled(
    request: ToolRequest, scores: Sequence[Scores], k: int, config: RetrievalConfig
) -> tuple[list[int], Scores]:
    """The rows of the k best and every row's score, from those of the request's ``texts``."""
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
    """How much each of the request's ``texts`` weighs in the score of a row; 1 together. Under
    *top1* all of it is the one that brought the row.
    """
    at = brought_by(scores, row)
    if not at or config.assembly == "top1":
        return {at: 1.0}
    own_share, part_share = weight_shares(_weight(request, config))
    return {0: own_share, at: part_share}


def _weight(request: ToolRequest, config: RetrievalConfig) -> float:
    return config.subquery_weight if request.by_rule else config.step_weight


def top1_assembly(scores: Sequence[Scores], k: int, candidates: int) -> tuple[list[int], Scores]:
    """Rows of the k tools that are put together from sub-queries (ToolScope, §3.3 and eq. 5), and
    the score of every row.

    The best of each sub-query first, in the order of the sub-queries; then the other candidates of
    each, min-max normalised among themselves, the highest first. Those first have score 1.
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
    """Which of a request's ``texts`` brought a row: of two or more sub-queries the one that scores
    it highest, the first of equal ones; else the request, 0.
    """
    texts = range(1, len(scores)) if len(scores) > 1 else range(1)
    return max(texts, key=lambda number: (scores[number][row], -number))


@dataclass(frozen=True, slots=True)
class LearnedShare:
    """For n tools how much of the score of their texts stays, in [0, 1], and what was learned: a
    tool's score is ``own`` times that of its texts, plus ``learned``.
    """

    own: Scores
    learned: Scores

    def scores(self, by_text: Scores) -> Scores:
        """float32 of shape (n,) from the scores of the texts."""
        return self.own * by_text + self.learned


class LearnedScorer(Protocol):
    """Scores the tools of one toolset, in the order in which it was given."""

    def share(self, request: ToolRequest, vectors: Sequence[Vectors]) -> LearnedShare:
        """What was learned about a request, from the vectors of its ``texts``."""


class LearnedRanking(Protocol):
    """A trained model, which may have learned about other tools than are searched."""

    @property
    def embedder(self) -> str:
        """The name of the model whose vectors it learned from."""

    def over(self, tools: Sequence[Tool]) -> LearnedScorer:
        """The scorer of these tools; those that it does not know keep the score of their texts."""
