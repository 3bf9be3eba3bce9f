"""Measures how well a search distinguishes requests that a tool serves from those that none
serves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from toolscope_core.evaluation.intervals import Interval, interval
from toolscope_core.retrieval.fitting import Fit


@dataclass(frozen=True, slots=True)
class Refusals:
    """How often a search says that no tool fits.

    ``served`` is the share among requests that a tool serves, ``unserved`` the share among requests
    that need no tool. ``auroc`` says how well the probabilities separate the two. ``unserved`` and
    ``auroc`` are ``None`` if there are no requests that need no tool.
    """

    served: Interval
    unserved: Interval | None
    auroc: float | None

    @classmethod
    def of(cls, served: Iterable[Fit | None], unserved: Iterable[Fit | None]) -> "Refusals | None":
        """The refusals of a search; ``None`` if the search cannot refuse."""
        ours, others = list(filter(None, served)), list(filter(None, unserved))
        if not ours:
            return None
        own = interval([float(one.is_none) for one in ours])
        if not others:
            return cls(own, None, None)
        return cls(
            own,
            interval([float(one.is_none) for one in others]),
            auroc([one.probability for one in ours], [one.probability for one in others]),
        )


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """The share of pairs, one value from each list, in which the first is higher; a tie counts
    as half.
    """
    differences = np.subtract.outer(np.asarray(higher), np.asarray(lower))
    return float((differences > 0).mean() + (differences == 0).mean() / 2)
