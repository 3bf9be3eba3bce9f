"""What the offline judge can learn from people's decisions on one catalog, and whether it helps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from toolscope_core.decisions.constraints import suspended_decisions
from toolscope_core.decisions.log import active
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.judging.judge_update import JudgeUpdate, described, fitted
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Decision
from toolscope_core.model.pair import Pair

LEAST_DECISIONS, LEAST_OF_A_KIND = 20, 5
"""Fewer decisions, or fewer pairs decided one way, teach nothing that could be checked."""
_FOLDS, _RESAMPLES, _SEED = 5, 1_000, 411

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A pair of tools that a person looked at in decision ``seq``, and whether it is one job.
    ``weight`` makes a decision on n tools count as n − 1 pairs, however many it holds.
    """

    pair: Pair
    same: bool
    seq: int
    weight: float


@dataclass(frozen=True, slots=True)
class Learned:
    """An update from ``decisions`` decisions on ``pairs`` pairs, with what it gave on those left
    out of its training (five folds, a decision whole in one): the area under the ROC curve before
    and after, and the 90 % interval of the difference over resampled decisions.
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
        """Whether the gain is more than chance explains."""
        return self.low > 0.0


def lessons(catalog: Catalog, log: Sequence[Decision]) -> tuple[Lesson, ...]:
    """The pairs that people decided on one card at a time, the last word on each.

    What was decided in a batch (*accept safe*, *In bulk*) is left out: nobody looked at it alone.
    So is what has changed since. A family is not one job.
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
        weight = (len(item.members) - 1) / max(len(taught), 1)
        for pair, same in taught:
            latest[pair] = Lesson(pair, same, item.seq, min(weight, 1.0))
    return tuple(latest.values())


def learned(judge: OfflineJudge, taught: Sequence[Lesson]) -> Learned | None:
    """The update from the lessons, on the tools of ``judge``; ``None`` where there are fewer than
    ``LEAST_DECISIONS`` decisions, or ``LEAST_OF_A_KIND`` pairs of one kind.
    """
    row = {tool.id: at for at, tool in enumerate(judge.tools)}
    ends = [(row[one.pair.left], row[one.pair.right]) for one in taught]
    left, right = np.array(ends, dtype=np.int32).reshape(-1, 2).T
    return learned_from(
        judge.name,
        *described(judge, left, right),
        np.array([one.same for one in taught], dtype=np.float64),
        np.array([one.seq for one in taught]),
        np.array([one.weight for one in taught]),
    )


def learned_from(
    judge: str, signals: Floats, odds: Floats, same: Floats, seqs: Rows, weight: Floats
) -> Learned | None:
    """As ``learned``, of m pairs as columns: ``described`` signals and log-odds, whether each is
    the same job (1 or 0), its decision, and its weight.
    """
    kinds, decisions = (same.sum(), len(same) - same.sum()), len(set(seqs.tolist()))
    if decisions < LEAST_DECISIONS or min(kinds) < LEAST_OF_A_KIND:
        return None

    def fit(rows: Rows) -> JudgeUpdate:
        return fitted(judge, signals[rows], odds[rows], same[rows], weight[rows])

    after = odds.copy()
    for training, left_out in _folds(same, seqs):
        after[left_out] = fit(training).log_odds(signals[left_out], odds[left_out])
    low, high = _gain(same, seqs, odds, after)
    update = fit(np.arange(len(same)))
    return Learned(update, decisions, len(same), area(same, odds), area(same, after), low, high)


def area(same: Floats, score: Floats) -> float:
    """The area under the ROC curve; both kinds must be there."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(same, score))


def _answers(item: Decision) -> Iterator[tuple[str, str, bool]]:
    """Fingerprints of the pairs that a decision answers, and whether each is one job."""
    match item.action:
        case "accept":
            same = item.detail.get("relation") != "parametric"
            yield from ((a, b, same) for a, b in combinations(item.members, 2))
        case "reject":
            yield from ((a, b, False) for a, b in combinations(item.members, 2))
        case "split" | "recut":
            groups = item.detail["groups"]
            for one, other in combinations(groups, 2):
                yield from ((a, b, False) for a, b in product(one, other))
        case "drop":
            dropped = item.detail["drop"]
            rest = [member for member in item.members if member not in dropped]
            yield from ((a, b, False) for a, b in product(dropped, rest))


def _folds(same: Floats, groups: Rows) -> Iterator[tuple[Rows, ...]]:
    from sklearn.model_selection import StratifiedGroupKFold

    folds = StratifiedGroupKFold(_FOLDS, shuffle=True, random_state=_SEED)
    yield from folds.split(np.zeros(len(same)), same, groups)


def _gain(same: Floats, groups: Rows, before: Floats, after: Floats) -> tuple[float, float]:
    """The 90 % interval of the gain in area over resampled decisions."""
    rng = np.random.default_rng(_SEED)
    rows_of = [np.flatnonzero(groups == seq) for seq in np.unique(groups)]
    gains = []
    for _ in range(_RESAMPLES):
        drawn = np.concatenate([rows_of[at] for at in rng.integers(0, len(rows_of), len(rows_of))])
        if 0 < same[drawn].sum() < len(drawn):
            gains.append(area(same[drawn], after[drawn]) - area(same[drawn], before[drawn]))
    low, high = np.quantile(gains, [0.05, 0.95])
    return float(low), float(high)
