"""How good the offline judge is on catalogs it was not trained on, beside plain cosine.

    python -m benchmarks.judge_quality

Every figure of a catalog comes from a judge that never saw it: the area under the ROC curve with
a 95 % bootstrap interval, precision (with a 95 % Wilson interval) and recall at the thresholds,
what the candidate threshold costs, calibration as it stands and after two corrections for the
catalog's share of merges, and what each signal is worth. The thresholds of the weights file were
chosen on the same predictions, so the figures at them are a little favourable; the areas are not.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.metrics import brier_score_loss, roc_auc_score

from benchmarks.held_out import unseen_weights
from benchmarks.train_judge import (
    CATALOGS,
    FUNCTIONS,
    Labelled,
    acceptable,
    load,
    probabilities,
)
from toolscope_core.merging.judge import OfflineJudge, shipped_weights
from toolscope_core.merging.signals import SIGNALS
from toolscope_core.providers import DEFAULT_MODEL
from toolscope_core.similarity import cosines, default_threshold, nearest

Numbers = NDArray[np.float64]

_RESAMPLES = 1000
_TIMED_PAIRS = 100_000
_TIME_LIMIT = 20.0
_NEIGHBOURS = 30
_BINS = 10
_ROUNDS = 200


def area(merge: NDArray[np.bool_], score: Numbers) -> str:
    """The area with its 95 % interval over resampled pairs."""
    draws = [roc_auc_score(merge[at], score[at]) for at in _draws(merge)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{roc_auc_score(merge, score):.3f} [{low:.3f}, {high:.3f}]"


def _draws(merge: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    drawn = [rng.integers(0, len(merge), len(merge)) for _ in range(_RESAMPLES)]
    return [at for at in drawn if merge[at].any() and not merge[at].all()]


def share(right: int, of: int) -> str:
    """``right / of`` with its 95 % Wilson interval."""
    if not of:
        return "none"
    low, high = binomtest(right, of).proportion_ci(method="wilson")
    return f"{right} of {of} = {right / of:.3f} [{low:.3f}, {high:.3f}]"


def report(catalog: Labelled, predicted: Numbers) -> None:
    shipped = shipped_weights()
    cosine = cosines(catalog.vectors, catalog.left, catalog.right)
    merges = int(catalog.merge.sum())
    print(f"\n{catalog.name}: {len(catalog.merge)} pairs, {merges} merges")
    print(f"  AUC judge {area(catalog.merge, predicted)}   cosine {area(catalog.merge, cosine)}")
    everything = np.ones(len(catalog.merge), dtype=np.bool_)
    for name, at, among in (
        (f"auto  (≥ {shipped.auto_at:.2f}, no guard)", shipped.auto_at, acceptable(catalog)),
        (f"merge (≥ {shipped.merge_at:.2f})", shipped.merge_at, everything),
    ):
        chosen = among & (predicted >= at)
        right = int((catalog.merge & chosen).sum())
        print(f"  {name:<32} right {share(right, int(chosen.sum()))}, found {right} of {merges}")
    kept = int((catalog.merge & (predicted >= shipped.unsure_at)).sum())
    print(f"  not keep (≥ {shipped.unsure_at:.2f}): {kept} of {merges} merges")
    report_candidates(catalog)
    report_calibration(catalog, predicted)


def report_candidates(catalog: Labelled) -> None:
    threshold = default_threshold(DEFAULT_MODEL)
    found = nearest(catalog.vectors, _NEIGHBOURS, threshold)
    codes = set((found.left.astype(np.int64) * len(catalog.tools) + found.right).tolist())
    low, high = np.minimum(catalog.left, catalog.right), np.maximum(catalog.left, catalog.right)
    labelled = (low.astype(np.int64) * len(catalog.tools) + high)[catalog.merge]
    kept = sum(int(code) in codes for code in labelled)
    print(
        f"  θ {threshold}: {len(found)} candidate pairs, {kept} of {len(labelled)} merges in them"
    )


def report_calibration(catalog: Labelled, predicted: Numbers) -> None:
    """Brier score and calibration error: as shipped, and with the odds moved to a share of merges
    that is estimated from the predictions alone (EM of Saerens et al. 2002) or known.
    """
    actual, guessed = float(catalog.merge.mean()), estimated_share(predicted)
    print(
        f"  share of merges: {actual:.2f} labelled, {predicted.mean():.2f} expected by the judge, "
        f"{guessed:.2f} by EM"
    )
    for name, moved in (
        ("as shipped", predicted),
        ("EM prior", with_share(predicted, guessed)),
        ("true prior", with_share(predicted, actual)),
    ):
        score = brier_score_loss(catalog.merge, moved)
        error = calibration_error(catalog.merge, moved)
        print(f"    {name:<11} Brier {score:.3f}   calibration error {error:.3f}")


def with_share(predicted: Numbers, of_merges: float) -> Numbers:
    """The probabilities with their odds, which are of an even share, moved to another."""
    odds = predicted * of_merges
    return odds / (odds + (1.0 - predicted) * (1.0 - of_merges))


def estimated_share(predicted: Numbers) -> float:
    """The share of merges in which the moved probabilities have themselves as mean."""
    found = 0.5
    for _ in range(_ROUNDS):
        found = float(np.clip(with_share(predicted, found).mean(), 0.01, 0.99))
    return found


def calibration_error(merge: NDArray[np.bool_], predicted: Numbers) -> float:
    """Mean distance of predicted and actual share over ten bins of equal width, by their size."""
    bins = np.minimum((predicted * _BINS).astype(int), _BINS - 1)
    gaps = [
        abs(float(predicted[bins == at].mean()) - float(merge[bins == at].mean()))
        * float((bins == at).mean())
        for at in np.unique(bins)
    ]
    return sum(gaps)


def report_ablation(catalogs: Sequence[Labelled], whole: dict[str, Numbers]) -> None:
    """The mean area of all catalogs lost without each signal, with a paired 95 % interval."""
    print("\nwithout a signal: mean AUC lost over the four catalogs [95 % interval], and each")
    for at, signal in enumerate(SIGNALS):
        less = [replace(catalog, signals=_without(catalog, at)) for catalog in catalogs]
        lost, drawn = [], []
        for catalog in catalogs:
            weights = unseen_weights(less, catalog.name)
            weight = tuple(0.0 if row == at else w for row, w in enumerate(weights.weight))
            predicted = probabilities(catalog, replace(weights, weight=weight))
            merge, full = catalog.merge, whole[catalog.name]
            lost.append(roc_auc_score(merge, full) - roc_auc_score(merge, predicted))
            drawn.append(
                [
                    roc_auc_score(merge[rows], full[rows])
                    - roc_auc_score(merge[rows], predicted[rows])
                    for rows in _draws(merge)[:200]
                ]
            )
        low, high = np.quantile(np.mean(drawn, axis=0), [0.025, 0.975])
        each = "  ".join(f"{one:+.3f}" for one in lost)
        print(f"  {signal:<18} {np.mean(lost):+.4f} [{low:+.4f}, {high:+.4f}]   {each}")


def _without(catalog: Labelled, signal: int) -> Numbers:
    signals = catalog.signals.copy()
    signals[:, signal] = np.nan
    return signals


def report_time(catalog: Labelled) -> None:
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, len(catalog.tools), (2, _TIMED_PAIRS)).astype(np.int32)
    start = time.perf_counter()
    prepared = OfflineJudge.of(catalog.tools, catalog.vectors)
    ready = time.perf_counter()
    prepared.probabilities(left, right)
    done = time.perf_counter()
    print(
        f"\n{catalog.name}: {len(catalog.tools)} tools prepared in {ready - start:.2f} s, "
        f"{_TIMED_PAIRS} pairs judged in {done - ready:.2f} s (limit {_TIME_LIMIT:.0f} s)"
    )


def main() -> None:
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    catalogs = [load(name) for name in CATALOGS]
    whole = {}
    for catalog in catalogs:
        predicted = probabilities(catalog, unseen_weights(catalogs, catalog.name))
        whole[catalog.name] = predicted
        report(catalog, predicted)
    areas = {c.name: roc_auc_score(c.merge, whole[c.name]) for c in catalogs}
    mean = np.mean([areas[name] for name in FUNCTIONS])
    print(f"\nmean AUC of the function catalogs {mean:.3f} (goal .88, aim .90), ", end="")
    print(f"MCP servers {areas['docker-mcp']:.3f} (goal .78, aim .90)")
    report_ablation(catalogs, whole)
    report_time(max(catalogs, key=lambda catalog: len(catalog.tools)))


if __name__ == "__main__":
    main()
