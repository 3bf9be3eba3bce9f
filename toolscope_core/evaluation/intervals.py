"""Measures the uncertainty of means over queries: bootstrap intervals, paired p-values, Holm's
correction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.numbers import interval_text, quantity

RESAMPLES = 2_000
_SEED = 20_251
SURE = 0.05
_BLOCK = 250

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """The interval as a text, written by ``interval_text``."""
        return interval_text(self.mean, self.low, self.high)


def interval(values: Sequence[float]) -> Interval:
    """The mean of ``values``, one value per query, with its bootstrap interval.

    The ends are the 2.5 and 97.5 percentiles of the means of 2,000 samples of the same size, drawn
    with replacement. The same values always give the same interval. Raises ``ValueError`` if there
    are no values.
    """
    if not len(values):
        raise ValueError("no query has a value")
    means = _resampled_means(np.asarray(values, dtype=np.float64))
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(np.mean(values)), float(low), float(high))


def share_interval(answers: Sequence[bool]) -> tuple[float, float, float]:
    """The share of right answers with its 95 % interval (Wilson's); 0, 0 and 1 if there are no
    answers.
    """
    if not answers:
        return 0.0, 0.0, 1.0
    from scipy.stats import binomtest

    ends = binomtest(sum(answers), len(answers)).proportion_ci(method="wilson")
    return sum(answers) / len(answers), float(ends.low), float(ends.high)


def rate_text(right: int, total: int) -> str:
    """A rate as text: the value, its 95 % interval (Wilson's), and n."""
    share = share_interval([True] * right + [False] * (total - right))
    return f"{interval_text(*share)} (n = {total:,})" if total else "no rate (n = 0)"


def discordant_p(won: int, lost: int) -> float:
    """The exact two-sided p-value for wins and losses being equally likely.

    This is the sign test. It is McNemar's test if a win is a change from wrong to right. The value
    is 1 if there are no wins and no losses.
    """
    from scipy.stats import binomtest

    return float(binomtest(won, won + lost).pvalue) if won + lost else 1.0


def higher_share_p(before: int, of_before: int, after: int, of_after: int) -> float:
    """The exact one-sided p-value for the share being no higher after than before (Fisher's
    test).
    """
    from scipy.stats import fisher_exact

    table = [[after, of_after - after], [before, of_before - before]]
    return float(fisher_exact(table, alternative="greater").pvalue)


def too_few_text(changes: int) -> str:
    """A text that says that so few changes can never reach ``SURE``; empty if they can."""
    few = discordant_p(changes, 0) >= SURE
    return f"not enough queries to tell (n = {changes:,})" if few else ""


def effect_text(won: int, lost: int, changes: int) -> str:
    """How certain the wins and losses of one of several ``changes`` are, in words.

    The text has the rate of wins with its p-value, and the highest possible p-value after Holm's
    correction. If there are too few wins and losses, it says so.
    """
    p = discordant_p(won, lost)
    return too_few_text(won + lost) or (
        f"rate of wins {rate_text(won, won + lost)}, exact McNemar p {p:.3f}, "
        f"at most {min(1.0, p * changes):.3f} after Holm over {quantity(changes, 'change')}"
    )


def paired_p(before: Sequence[float], after: Sequence[float]) -> float:
    """The two-sided p-value for no difference between two values per query, in the same order.

    It is the share of samples of the centred differences whose mean is at least as far from 0 as
    the observed mean (Efron and Tibshirani 1993, §16.4). It is never below 1 / 2,001, and 1 if
    nothing differs.
    """
    difference, means = _centred(before, after)
    return _share(np.abs(means) >= abs(difference) - 1e-12) if difference else 1.0


def one_sided_p(before: Sequence[float], after: Sequence[float]) -> float:
    """The uncorrected p-value for no gain.

    It is the share of means that are at least as high as the observed one, as in
    Retrieval–Plan–Select (§4.4).
    """
    difference, means = _centred(before, after)
    return _share(means >= difference - 1e-12)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """p-values corrected for multiple comparisons (Holm 1979), in the given order."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    corrected, most = [0.0] * len(p_values), 0.0
    for place, at in enumerate(order):
        most = max(most, min(1.0, (len(p_values) - place) * p_values[at]))
        corrected[at] = most
    return tuple(corrected)


def _centred(before: Sequence[float], after: Sequence[float]) -> tuple[float, _Floats]:
    """The mean difference, and the means of samples of the centred differences."""
    differences = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    if not len(differences):
        return 0.0, np.zeros(RESAMPLES)
    difference = float(differences.mean())
    return difference, _resampled_means(differences - difference)


def _share(extreme: NDArray[np.bool_]) -> float:
    return float((np.count_nonzero(extreme) + 1) / (RESAMPLES + 1))


def _resampled_means(values: _Floats) -> _Floats:
    generator = np.random.default_rng(_SEED)
    blocks = [
        values[generator.integers(len(values), size=(_BLOCK, len(values)))].mean(axis=1)
        for _ in range(RESAMPLES // _BLOCK)
    ]
    return np.concatenate(blocks)


def cohens_kappa(first: Sequence[int], second: Sequence[int]) -> float | None:
    """Cohen's κ for two people's answers (labels, or yes and no) to the same questions, in order.

    ``None`` if there are no answers, or if all answers of both are the same (Cohen 1960).
    """
    if not first or len({*first, *second}) < 2:
        return None
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(first, second))
