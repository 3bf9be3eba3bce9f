"""What decisions on a catalog teach the judge: AUC on pairs left out, against decisions made.

    python -m benchmarks.learning

Of each catalog, the judge never saw the labels (on the MCP registry: never a pair with one of the
two servers). The pairs that a queue would show (probability ≥ .1) are divided at random in two, 20
times: one half is kept back, the other is decided in four orders: at random, riskiest first (the
least probable), surest first, most uncertain first. After 20 to 200 decisions the update is learned
as the screen does, and the area under the ROC curve of the half kept back is printed, beside the
judge alone and a logistic regression that knows these decisions and nothing else: the mean of the
draws. *enough* is how many decisions an order needs for what 100 at random give. *offered* is in
how many draws the screen would have offered the update after 100 at random, *wrongly* in how many
of those it made the half kept back worse.

The penalty of the update was chosen on BFCL and UltraTool; the others were not looked at for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.measuring import print_machine
from benchmarks.train_judge import CATALOGS, REGISTRY, Labelled, left_out, load, unseen
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.judging.judge_update import described, fitted
from toolscope_core.judging.learned_weights import area, learned_from
from toolscope_core.judging.weights import shipped_weights

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

REPORTED = (20, 50, 100, 200)
_STEPS = (10, 20, 30, 50, 70, 100, 140, 200)
_DRAWS, _AT, _LEAST = 20, 100, 40
_SHOWN = 0.1


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labelled pairs of a catalog as the update sees them."""

    name: str
    signals: Floats
    odds: Floats
    same: Floats

    def fit(self, rows: Rows) -> Floats:
        """The log-odds of all pairs after learning from these."""
        every = np.ones(len(rows))
        update = fitted("", self.signals[rows], self.odds[rows], self.same[rows], every)
        return update.log_odds(self.signals, self.odds)

    def afresh(self, rows: Rows) -> Floats:
        """The log-odds of a model that knows these pairs and no judge."""
        if len(set(self.same[rows].tolist())) < 2:
            return np.zeros(len(self.same))
        model = LogisticRegression(C=0.1, max_iter=1000).fit(self.signals[rows], self.same[rows])
        return np.asarray(model.decision_function(self.signals))


ORDERS: Mapping[str, Callable[[Floats], Floats]] = {
    "at random": np.zeros_like,
    "riskiest first": lambda odds: odds,
    "surest first": lambda odds: -odds,
    "most uncertain first": np.abs,
}


def pairs_of(catalogs: Sequence[Labelled], name: str) -> Pairs:
    """The pairs of a catalog that a queue would show, by a judge that never saw their labels."""
    (catalog,) = (one for one in catalogs if one.name == name)
    weights = shipped_weights() if name == REGISTRY else left_out(catalogs, name)
    judge = OfflineJudge.of(catalog.tools, catalog.vectors, weights)
    signals, odds = described(judge, catalog.left, catalog.right)
    if name == REGISTRY:
        probability = np.clip(unseen(catalogs, name).same_job, 0.001, 0.999)
        odds = np.log(probability / (1.0 - probability))
    shown = odds >= np.log(_SHOWN / (1.0 - _SHOWN))
    return Pairs(name, signals[shown], odds[shown], catalog.merge[shown].astype(np.float64))


def report(pairs: Pairs) -> None:
    """The table of one catalog."""
    size, kinds = len(pairs.same), (pairs.same.sum(), (1 - pairs.same).sum())
    print(f"\n{pairs.name}: {size} pairs, {int(kinds[0])} of the same job", flush=True)
    if min(kinds) < _LEAST:
        print(f"  fewer than {_LEAST} of a kind: no curve")
        return
    areas: dict[str, list[list[float]]] = {name: [] for name in (*ORDERS, "no judge", "judge")}
    offered = wrongly = 0
    for seed in range(_DRAWS):
        order = np.random.default_rng(seed).permutation(size)
        held, rest = order[: size // 2], order[size // 2 :]

        def held_area(scores: Floats, held: Rows = held) -> float:
            return area(pairs.same[held], scores[held])

        alone = held_area(pairs.odds)
        areas["judge"].append([alone] * len(_STEPS))
        for name, key in ORDERS.items():
            queue = rest[np.argsort(key(pairs.odds[rest]), kind="stable")]
            areas[name].append([held_area(pairs.fit(queue[:count])) for count in _STEPS])
        areas["no judge"].append([held_area(pairs.afresh(rest[:count])) for count in _STEPS])
        rows = rest[:_AT]
        made = learned_from(
            "", pairs.signals[rows], pairs.odds[rows], pairs.same[rows], rows, np.ones(len(rows))
        )
        if made is not None and made.helps:
            offered += 1
            wrongly += held_area(pairs.fit(rows)) < alone
    means = {name: np.mean(draws, axis=0) for name, draws in areas.items()}
    goal = means["at random"][_STEPS.index(_AT)]
    print(f"  {'':22}{''.join(f'{count:>8}' for count in REPORTED)}  enough")
    for name, values in means.items():
        shown = "".join(f"{values[_STEPS.index(count)]:>8.3f}" for count in REPORTED)
        enough = next((str(c) for c, v in zip(_STEPS, values, strict=True) if v >= goal), "-")
        print(f"  {name:22}{shown}  {enough if name in ORDERS else '':>6}")
    most = min(_STEPS[-1], size // 2)
    print(
        f"  offered after {_AT}: {offered} of {_DRAWS}, wrongly {wrongly}; at most {most} decided"
    )


def main() -> None:
    print_machine(f"{_DRAWS} draws")
    catalogs = [load(name) for name in CATALOGS]
    for name in CATALOGS:
        report(pairs_of(catalogs, name))


if __name__ == "__main__":
    main()
