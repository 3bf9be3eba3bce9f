"""Scores of several searches made comparable, and put together."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.tool_text import split_name
from toolscope_core.model.groups import grouped
from toolscope_core.retrieval.sparse import Scores

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
        named = self._rows.get(split_name(text), [])
        if not named:
            return order, scores
        raised = scores.copy()
        raised[named] = 1.0
        return [*named, *(row for row in order if row not in named)][: len(order)], raised


def best_first(scores: Scores, most: int) -> list[int]:
    """The rows of the ``most`` highest scores, the highest first; equal scores in row order."""
    count = min(most, len(scores))
    if count <= 0:
        return []
    least = -np.partition(-scores, count - 1)[count - 1]
    rows = np.flatnonzero(scores >= least)
    order = rows[np.argsort(-scores[rows], kind="stable")][:count]
    return [int(row) for row in order]
