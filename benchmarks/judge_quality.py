"""How good the offline judge is on catalogs it was not trained on, beside plain cosine.

    python -m benchmarks.judge_quality

Area under the ROC curve with a 95 % bootstrap interval, precision and recall at the thresholds
(of pairs whose parameters are declared), what the candidate threshold costs, and times. The
thresholds of the weights file were chosen on the same held-out predictions, so the figures at
them are slightly favourable; the areas are not.
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from benchmarks.train_judge import CATALOGS, FUNCTIONS, Labelled, left_out, load, probabilities
from toolscope_core.merging.judge import OfflineJudge, shipped_weights
from toolscope_core.providers import DEFAULT_MODEL
from toolscope_core.similarity import cosines, default_threshold, nearest

_RESAMPLES = 1000
_TIMED_PAIRS = 100_000
_NEIGHBOURS = 30


def area(merge: NDArray[np.bool_], score: NDArray[np.float64]) -> str:
    """The area with its 95 % interval over resampled pairs."""
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(_RESAMPLES):
        at = rng.integers(0, len(merge), len(merge))
        if merge[at].any() and not merge[at].all():
            draws.append(roc_auc_score(merge[at], score[at]))
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{roc_auc_score(merge, score):.3f} [{low:.3f}, {high:.3f}]"


def report(catalog: Labelled, predicted: NDArray[np.float64]) -> None:
    shipped = shipped_weights()
    cosine = cosines(catalog.vectors, catalog.left, catalog.right)
    print(f"{catalog.name}: {len(catalog.merge)} pairs, {int(catalog.merge.sum())} merges")
    print(f"  AUC judge {area(catalog.merge, predicted)}   cosine {area(catalog.merge, cosine)}")
    clear = catalog.declared
    for name, at in (("auto", shipped.auto_at), ("merge", shipped.merge_at)):
        chosen = clear & (predicted >= at)
        right = int((catalog.merge & chosen).sum())
        print(
            f"  {name} (≥ {at:.2f}): {right} of {int(chosen.sum())} right, "
            f"{right} of {int((catalog.merge & clear).sum())} merges found"
        )
    threshold = default_threshold(DEFAULT_MODEL)
    found = nearest(catalog.vectors, _NEIGHBOURS, threshold)
    codes = set((found.left.astype(np.int64) * len(catalog.tools) + found.right).tolist())
    low, high = np.minimum(catalog.left, catalog.right), np.maximum(catalog.left, catalog.right)
    labelled = (low.astype(np.int64) * len(catalog.tools) + high)[catalog.merge]
    kept = sum(int(code) in codes for code in labelled)
    print(
        f"  θ {threshold}: {len(found)} candidate pairs, {kept} of {len(labelled)} merges in them"
    )


def report_time(catalog: Labelled) -> None:
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, len(catalog.tools), (2, _TIMED_PAIRS)).astype(np.int32)
    start = time.perf_counter()
    prepared = OfflineJudge.of(catalog.tools, catalog.vectors)
    ready = time.perf_counter()
    prepared.probabilities(left, right)
    done = time.perf_counter()
    print(
        f"{catalog.name}: {len(catalog.tools)} tools prepared in {ready - start:.2f} s, "
        f"{_TIMED_PAIRS} pairs judged in {done - ready:.2f} s"
    )


def main() -> None:
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    catalogs = [load(name) for name in CATALOGS]
    shipped = shipped_weights()
    areas = {}
    for catalog in catalogs:
        unseen = replace(
            left_out(catalogs, catalog.name),
            same_server=shipped.same_server,
            merge_at=shipped.merge_at,
            unsure_at=shipped.unsure_at,
        )
        predicted = probabilities(catalog, unseen)
        areas[catalog.name] = roc_auc_score(catalog.merge, predicted)
        report(catalog, predicted)
    mean = np.mean([areas[name] for name in FUNCTIONS])
    print(f"mean AUC of the function catalogs: {mean:.3f}")
    report_time(max(catalogs, key=lambda catalog: len(catalog.tools)))


if __name__ == "__main__":
    main()
