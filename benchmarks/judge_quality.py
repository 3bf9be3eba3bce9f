"""The quality of the offline judge outside its training data, compared with plain cosine.

 python -m benchmarks.judge_quality

For each catalog, a judge that never saw the catalog is measured (on the MCP registry: never saw a
pair with one of the two servers). The benchmark prints the area under the ROC curve of *same job*
against everything, against families and against the rest, with a 95 % bootstrap interval. It also
prints how many are right at the merge threshold among the pairs that one schema could serve (with a
95 % Wilson interval), how many families are recognised as such, and the calibration. Then comes the
value of each signal.

The thresholds in the file of weights were chosen on the same predictions, so the figures at the
thresholds are a little too favourable; the areas are not. The labels of Seal-Tools and of whole
APIs are ours. They were never used for training, but signals were chosen with Seal-Tools in view.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import brier_score_loss, roc_auc_score

from benchmarks import train_judge
from benchmarks.measuring import bootstrap_ends, catalog_file, json_rows, print_machine
from toolscope_core.embedding.candidate_pairs import cosines
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.judging.judge import PairProbabilities
from toolscope_core.judging.signals import SIGNALS
from toolscope_core.judging.weights import shipped_weights

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]

_OWN = Path(__file__).with_name("data") / "relations"
_BINS = 10


def area(merge: Mask, score: Numbers) -> str:
    """The area with its 95 % interval over resampled pairs. A dash if there are only pairs of one
    kind.
    """
    if merge.all() or not merge.any():
        return "-"

    def drawn(at: NDArray[np.int64]) -> float:
        has_both = merge[at].any() and not merge[at].all()
        return float(roc_auc_score(merge[at], score[at])) if has_both else np.nan

    low, high = bootstrap_ends(drawn, len(merge))
    return f"{roc_auc_score(merge, score):.3f} [{low:.3f}, {high:.3f}]"


def report(catalog: train_judge.LabelledCatalog, pair_probabilities: PairProbabilities) -> None:
    """Print the figures for one catalog, on the pairs that are labelled by which tool could serve
    whom.
    """
    afresh = catalog.only(catalog.afresh)
    pair_probabilities = PairProbabilities(
        pair_probabilities.same_job[catalog.afresh], pair_probabilities.family[catalog.afresh]
    )
    cosine = cosines(afresh.vectors, afresh.left, afresh.right)
    everything = np.ones(len(afresh.merge), dtype=np.bool_)
    print(
        f"\n{catalog.name}: {len(afresh.merge)} pairs, {int(afresh.merge.sum())} of the same job, "
        f"{int(afresh.family.sum())} families"
    )
    places = {"": everything}
    if afresh.same_server.any() and not afresh.same_server.all():
        places |= {" across servers": ~afresh.same_server, " on one server": afresh.same_server}
    for place, among in places.items():
        for against, rest in (
            ("everything", everything),
            ("families", afresh.merge | afresh.family),
            ("the rest", ~afresh.family),
        ):
            rows = among & rest
            ours, plain = (
                area(afresh.merge[rows], of[rows]) for of in (pair_probabilities.same_job, cosine)
            )
            print(f"  AUC{place} against {against:<11} judge {ours}   cosine {plain}")
    report_thresholds(afresh, pair_probabilities)
    error = calibration_error(afresh.merge, pair_probabilities.same_job)
    brier = brier_score_loss(afresh.merge, pair_probabilities.same_job)
    print(f"  Brier {brier:.3f}, calibration error {error:.3f}")


def report_thresholds(
    catalog: train_judge.LabelledCatalog, pair_probabilities: PairProbabilities
) -> None:
    weights = shipped_weights()
    right = catalog.serves != "none"
    among = train_judge.prunable(catalog) & (pair_probabilities.same_job >= weights.merge_at)
    print(
        f"  merge (≥ {weights.merge_at:.2f}), of what one schema could serve: right "
        f"{rate_text(int((right & among).sum()), int(among.sum()))}"
    )
    called = (pair_probabilities.family >= weights.family_at) & (
        pair_probabilities.family > pair_probabilities.same_job
    )
    hits = int((called & catalog.family).sum())
    print(
        f"  family (≥ {weights.family_at:.2f}): precision {rate_text(hits, int(called.sum()))}, "
        f"recall {rate_text(hits, int(catalog.family.sum()))}"
    )
    hits = int((catalog.merge & (pair_probabilities.same_job >= weights.unsure_at)).sum())
    print(f"  not keep (≥ {weights.unsure_at:.2f}): {hits} of {int(catalog.merge.sum())} same jobs")


def calibration_error(merge: Mask, predicted: Numbers) -> float:
    """The mean distance between predicted and actual shares over ten equal bins, weighted by bin
    size.
    """
    bins = np.minimum((predicted * _BINS).astype(int), _BINS - 1)
    errors = [
        abs(float(predicted[bins == at].mean()) - float(merge[bins == at].mean()))
        * float((bins == at).mean())
        for at in np.unique(bins)
    ]
    return sum(errors)


def report_ablation(
    catalogs: Sequence[train_judge.LabelledCatalog], unseen: dict[str, PairProbabilities]
) -> None:
    """Print how much of the area is lost without each signal, for each catalog and on average."""
    without_registry = [catalog for catalog in catalogs if catalog.name != train_judge.REGISTRY]
    names = ", ".join(catalog.name for catalog in without_registry)
    print(f"\nwithout a signal, AUC lost: mean, and each of {names}")
    for at, signal in enumerate(SIGNALS):
        less = [replace(catalog, signals=_without(catalog, at)) for catalog in catalogs]
        losses = []
        for catalog in without_registry:
            ablated = train_judge.unseen(less, catalog.name).same_job[catalog.afresh]
            merge, full = (
                catalog.merge[catalog.afresh],
                unseen[catalog.name].same_job[catalog.afresh],
            )
            losses.append(roc_auc_score(merge, full) - roc_auc_score(merge, ablated))
        by_catalog = "  ".join(f"{one:+.3f}" for one in losses)
        print(f"  {signal:<18} {np.mean(losses):+.4f}   {by_catalog}")


def _without(catalog: train_judge.LabelledCatalog, signal: int) -> Numbers:
    signals = catalog.signals.copy()
    signals[:, signal] = np.nan
    return signals


def main() -> None:
    print_machine()
    catalogs = [train_judge.load(name) for name in train_judge.CATALOGS]
    unseen = {catalog.name: train_judge.unseen(catalogs, catalog.name) for catalog in catalogs}
    for catalog in catalogs:
        report(catalog, unseen[catalog.name])
    seal = train_judge.labelled(
        "seal-tools", catalog_file("seal-tools"), json_rows(_OWN / "seal-tools.jsonl")
    )
    report(seal, train_judge.by_signals(seal, train_judge.fit(catalogs)))
    print("\nMCP registry: goal .88 against families and against everything", end="")
    print("; families told as such: goal .70 and .70")
    report_ablation(catalogs, unseen)


if __name__ == "__main__":
    main()
