"""A small update of the offline judge from pairs that people decided on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import Rows
from toolscope_core.judging.signals import SIGNALS
from toolscope_core.model.tool import JsonObject, digest

if TYPE_CHECKING:
    from toolscope_core.judging.judge import OfflineJudge

Floats = NDArray[np.float64]

PENALTY = 10.0
"""How strongly a changed weight is held back: chosen on the labels of BFCL and UltraTool, where 3
to 10 gave most from 30 to 200 answers. Chosen on none of the catalogs that are reported.
"""
_PENALTY_OF_START = 0.1
_LEAST = 0.001


@dataclass(frozen=True, slots=True)
class JudgeUpdate:
    """What is added to the log-odds of the judge called ``judge``: ``start``, ``slope`` times its
    own log-odds, and a weight for each standardised signal, by its name.
    """

    judge: str
    start: float
    slope: float
    weights: Mapping[str, float]

    @property
    def version(self) -> str:
        """Equal versions judge equally."""
        return digest(self.as_json())[:12]

    def as_json(self) -> JsonObject:
        return {
            "judge": self.judge,
            "start": self.start,
            "slope": self.slope,
            "weights": dict(self.weights),
        }

    @classmethod
    def of_json(cls, content: JsonObject) -> JudgeUpdate:
        """The inverse of ``as_json``. Raises ``ValueError``, ``KeyError`` or ``TypeError`` where it
        is none.
        """
        return cls(
            str(content["judge"]),
            float(content["start"]),
            float(content["slope"]),
            {str(name): float(weight) for name, weight in content["weights"].items()},
        )

    def probabilities(self, judge: OfflineJudge, left: Rows, right: Rows) -> Floats:
        """Probability of the same job of each pair of rows, float64 (m,); each row pair in any
        order.
        """
        return expit(self.log_odds(*described(judge, left, right)))

    def log_odds(self, signals: Floats, odds: Floats) -> Floats:
        """The updated log-odds (m,), from ``described``."""
        weights = np.array([self.weights.get(name, 0.0) for name in SIGNALS])
        return np.asarray(odds * (1.0 + self.slope) + self.start + signals @ weights)


def described(judge: OfflineJudge, left: Rows, right: Rows) -> tuple[Floats, Floats]:
    """Of pairs of rows the standardised signals (m, len(SIGNALS)), 0 where one cannot be measured,
    and the judge's log-odds of the same job (m,), those of 0 and 1 held within ± 6.9.
    """
    if not len(left):
        return np.zeros((0, len(SIGNALS))), np.zeros(0)
    low, high = np.minimum(left, right), np.maximum(left, right)
    probability = np.clip(judge.probabilities(low, high), _LEAST, 1.0 - _LEAST)
    return judge.standard_signals(low, high), np.log(probability / (1.0 - probability))


def fitted(judge: str, signals: Floats, odds: Floats, same: Floats, weight: Floats) -> JudgeUpdate:
    """The update that maximises the weighted likelihood of the answers ``same`` (m,; 1 the same
    job, 0 not) under a normal prior around no change: logistic regression with the judge's log-odds
    as offset and a ridge penalty.
    """
    from scipy.optimize import minimize

    columns = np.column_stack([np.ones(len(odds)), odds, signals])
    penalty = np.full(columns.shape[1], PENALTY)
    penalty[0] = _PENALTY_OF_START

    def loss(change: Floats) -> tuple[float, Floats]:
        now = odds + columns @ change
        surprise = weight @ (np.logaddexp(0.0, now) - same * now)
        slope = columns.T @ (weight * (expit(now) - same)) + penalty * change
        return float(surprise + 0.5 * (penalty * change * change).sum()), slope

    best = minimize(loss, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B").x.round(6)
    weights = dict(zip(SIGNALS, best[2:].tolist(), strict=True))
    return JudgeUpdate(judge, float(best[0]), float(best[1]), weights)


def expit(odds: Floats) -> Floats:
    """Log-odds as probabilities."""
    return np.asarray(1.0 / (1.0 + np.exp(-odds)))
