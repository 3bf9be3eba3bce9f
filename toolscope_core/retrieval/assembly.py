"""One ranking from the scores of a request and of its sub-queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from toolscope_core.model.search_configuration import RetrievalConfig, weight_shares
from toolscope_core.retrieval.fusion import best_first, min_max
from toolscope_core.retrieval.sparse import Scores


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
    kept, added = weight_shares(_weight(request, config))
    blended = (kept * whole + added * np.maximum.reduce(parts)).astype(np.float32)
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
    kept, added = weight_shares(_weight(request, config))
    return {0: kept, at: added}


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
    for one in scores:
        top, *others = best_first(one, candidates)
        first += [top] if top not in first else []
        rest[others] = np.maximum(rest[others], min_max(one[others]))
    rest[first] = -1.0
    left = [row for row in best_first(rest, k) if rest[row] >= 0.0]
    rest[first] = 1.0
    return [*first, *left][:k], rest


def brought_by(scores: Sequence[Scores], row: int) -> int:
    """Which of a request's ``texts`` brought a row: of two or more sub-queries the one that scores
    it highest, the first of equal ones; else the request, 0.
    """
    texts = range(1, len(scores)) if len(scores) > 1 else range(1)
    return max(texts, key=lambda number: (scores[number][row], -number))
