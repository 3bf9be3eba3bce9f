"""Learns an update of the offline judge from people's decisions on one catalog, and tests it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from toolscope_core.decisions.constraints import suspended_decisions
from toolscope_core.decisions.log import active
from toolscope_core.embedding.candidate_pairs import PairRows
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.judging.signals import SIGNALS
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Decision
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import JsonObject, digest

PENALTY = 10.0
"""How strongly a changed weight is held back. It was chosen on the labels of BFCL and UltraTool,
where 3 to 10 gave the largest gain from 30 to 200 answers. It was not chosen on any of the catalogs
that are reported.
"""
_PENALTY_OF_START = 0.1
_LEAST = 0.001


@dataclass(frozen=True, slots=True)
class JudgeUpdate:
    """A correction to the log-odds from the judge called ``judge``.

    The update is the sum of ``start``, ``slope`` times the judge's log-odds, and a weight for each
    standardised signal, by name. This sum is added to the log-odds.
    """

    judge: str
    start: float
    slope: float
    weights: Mapping[str, float]

    @property
    def version(self) -> str:
        """The version of the update; updates with equal versions judge equally."""
        return digest(self.as_json())[:12]

    def as_json(self) -> JsonObject:
        return asdict(self)

    @classmethod
    def of_json(cls, content: JsonObject) -> JudgeUpdate:
        """The inverse of ``as_json``. Raises ``ValueError``, ``KeyError`` or ``TypeError`` for
        another form.
        """
        return cls(
            str(content["judge"]),
            float(content["start"]),
            float(content["slope"]),
            {str(name): float(weight) for name, weight in content["weights"].items()},
        )

    def probabilities(self, judge: OfflineJudge, left: PairRows, right: PairRows) -> _Floats:
        """Probability of the same job for each pair of rows, float64 (m,); the two rows in any
        order.
        """
        return expit(self.log_odds(*described(judge, left, right)))

    def log_odds(self, signals: _Floats, odds: _Floats) -> _Floats:
        """The updated log-odds (m,), from ``described``."""
        weights = np.array([self.weights.get(name, 0.0) for name in SIGNALS])
        return np.asarray(odds * (1.0 + self.slope) + self.start + signals @ weights)


def described(judge: OfflineJudge, left: PairRows, right: PairRows) -> tuple[_Floats, _Floats]:
    """The standardised signals (m, len(SIGNALS)) and the judge's log-odds (m,) for pairs of rows.

    A signal that cannot be measured is 0; the log-odds for 0 and 1 are limited to ± 6.9.
    """
    if not len(left):
        return np.zeros((0, len(SIGNALS))), np.zeros(0)
    low, high = np.minimum(left, right), np.maximum(left, right)
    probability = np.clip(judge.probabilities(low, high), _LEAST, 1.0 - _LEAST)
    return judge.standard_signals(low, high), np.log(probability / (1.0 - probability))


def fitted(
    judge: str, signals: _Floats, odds: _Floats, same: _Floats, weight: _Floats
) -> JudgeUpdate:
    """The update with the maximum weighted likelihood for the answers ``same`` (m,; 1 the same job,
    0 not).

    The normal prior is centred on no change: logistic regression with the judge's log-odds as
    offset and a ridge penalty.
    """
    from scipy.optimize import minimize

    columns = np.column_stack([np.ones(len(odds)), odds, signals])
    penalty = np.full(columns.shape[1], PENALTY)
    penalty[0] = _PENALTY_OF_START

    def loss(change: _Floats) -> tuple[float, _Floats]:
        now = odds + columns @ change
        surprise = weight @ (np.logaddexp(0.0, now) - same * now)
        slope = columns.T @ (weight * (expit(now) - same)) + penalty * change
        return float(surprise + 0.5 * (penalty * change * change).sum()), slope

    best = minimize(loss, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B").x.round(6)
    weights = dict(zip(SIGNALS, best[2:].tolist(), strict=True))
    return JudgeUpdate(judge, float(best[0]), float(best[1]), weights)


def expit(odds: _Floats) -> _Floats:
    """Log-odds as probabilities."""
    return np.asarray(1.0 / (1.0 + np.exp(-odds)))


LEAST_DECISIONS, LEAST_OF_A_KIND = 20, 5
"""With fewer decisions, or fewer pairs of either answer, an update could not be checked."""
_FOLDS, _RESAMPLES, _SEED = 5, 1_000, 411

_Floats = NDArray[np.float64]
LessonRows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A pair of tools that a person reviewed in decision ``seq``, and whether the two do one job.

    ``weight`` makes a decision on n tools count as n − 1 pairs, however many pairs it has.
    """

    pair: Pair
    same: bool
    seq: int
    weight: float


@dataclass(frozen=True, slots=True)
class WeightUpdate:
    """An update from ``decisions`` decisions on ``pairs`` pairs, with its held-out result.

    The result comes from five folds that keep each decision whole: the area under the ROC curve
    before and after, and the 90 % interval of the difference over resampled decisions.
    """

    update: JudgeUpdate
    decisions: int
    pairs: int
    before: float
    after: float
    low: float
    high: float

    @property
    def helps(self) -> bool:
        """Whether the gain is more than chance."""
        return self.low > 0.0


def lessons(catalog: Catalog, log: Sequence[Decision]) -> tuple[Lesson, ...]:
    """The pairs that people decided one card at a time, the last answer on each.

    Batches (*accept safe*, *In bulk*) are left out, because nobody reviewed their pairs one by one.
    Changed tools are left out too. A family does not count as one job.
    """
    stale = suspended_decisions(catalog, log)
    prints = {tool.fingerprint: tool.id for tool in reversed(catalog.tools)}
    latest: dict[Pair, Lesson] = {}
    for item in active(log):
        if "batch" in item.detail or item.seq in stale:
            continue
        taught = [
            (Pair.of(prints[a], prints[b]), same)
            for a, b, same in _answers(item)
            if a in prints and b in prints and prints[a] != prints[b]
        ]
        weight = (len(item.fingerprints) - 1) / max(len(taught), 1)
        for pair, same in taught:
            latest[pair] = Lesson(pair, same, item.seq, min(weight, 1.0))
    return tuple(latest.values())


def learned(judge: OfflineJudge, taught: Sequence[Lesson]) -> WeightUpdate | None:
    """The update from the lessons, on the tools of ``judge``.

    ``None`` if there are fewer than ``LEAST_DECISIONS`` decisions, or fewer than
    ``LEAST_OF_A_KIND`` pairs with either answer.
    """
    row = {tool.id: at for at, tool in enumerate(judge.tools)}
    ends = [(row[one.pair.left], row[one.pair.right]) for one in taught]
    left, right = np.array(ends, dtype=np.int32).reshape(-1, 2).T
    signals, odds = described(judge, left, right)
    same = np.array([one.same for one in taught], dtype=np.float64)
    seqs, weight = np.array([one.seq for one in taught]), np.array([one.weight for one in taught])
    kinds, decisions = (same.sum(), len(same) - same.sum()), len(set(seqs.tolist()))
    if decisions < LEAST_DECISIONS or min(kinds) < LEAST_OF_A_KIND:
        return None

    def fit(rows: LessonRows) -> JudgeUpdate:
        return fitted(judge.name, signals[rows], odds[rows], same[rows], weight[rows])

    after = odds.copy()
    for training, left_out in _folds(same, seqs):
        after[left_out] = fit(training).log_odds(signals[left_out], odds[left_out])
    low, high = _gain(same, seqs, odds, after)
    update = fit(np.arange(len(same)))
    return WeightUpdate(
        update, decisions, len(same), area(same, odds), area(same, after), low, high
    )


def area(same: _Floats, score: _Floats) -> float:
    """The area under the ROC curve; both answers must occur."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(same, score))


def _answers(item: Decision) -> Iterator[tuple[str, str, bool]]:
    """Fingerprints of the pairs that a decision answers, and whether each is one job."""
    match item.action:
        case "accept":
            same = item.detail.get("relation") != "family"
            yield from ((a, b, same) for a, b in combinations(item.fingerprints, 2))
        case "keep_apart":
            yield from ((a, b, False) for a, b in combinations(item.fingerprints, 2))
        case "split" | "recut":
            groups = item.detail["groups"]
            for one, other in combinations(groups, 2):
                yield from ((a, b, False) for a, b in product(one, other))
        case "drop":
            dropped = item.detail["drop"]
            rest = [member for member in item.fingerprints if member not in dropped]
            yield from ((a, b, False) for a, b in product(dropped, rest))


def _folds(same: _Floats, groups: LessonRows) -> Iterator[tuple[LessonRows, ...]]:
    from sklearn.model_selection import StratifiedGroupKFold

    folds = StratifiedGroupKFold(_FOLDS, shuffle=True, random_state=_SEED)
    yield from folds.split(np.zeros(len(same)), same, groups)


def _gain(
    same: _Floats, groups: LessonRows, before: _Floats, after: _Floats
) -> tuple[float, float]:
    """The 90 % interval of the gain in area over resampled decisions."""
    rng = np.random.default_rng(_SEED)
    rows_of = [np.flatnonzero(groups == seq) for seq in np.unique(groups)]
    gains = []
    for _ in range(_RESAMPLES):
        sample = np.concatenate([rows_of[at] for at in rng.integers(0, len(rows_of), len(rows_of))])
        if 0 < same[sample].sum() < len(sample):
            gains.append(area(same[sample], after[sample]) - area(same[sample], before[sample]))
    low, high = np.quantile(gains, [0.05, 0.95])
    return float(low), float(high)
