"""How well Auto-Correction tells wrong clusters from right ones, and what switching it off does.

    python -m benchmarks.correction_quality

ToolScope (appendix K.2) reads Auto-Correction with GPT-4o as a classifier of wrong clusters:
precision .955, recall .933, F1 .944 on 48 clusters. Here the clusters are built from labels
(``labelled_clusters``), the judge never saw the catalog, and a cluster is called wrong when
correction does not leave it as it is. Intervals: 95 %, over resampled clusters, which share tools,
so they are somewhat narrow. Then the paper's ablation: what is proposed with correction and
without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from benchmarks.held_out import analysed, kept, unseen_weights
from benchmarks.labelled_clusters import Example, examples
from benchmarks.measuring import bootstrap_ends, f1_of_masks
from benchmarks.train_judge import CATALOGS, WHOLE, Labelled, load
from toolscope_core.merging.contracted_graph import RowGraph
from toolscope_core.merging.correction import correct
from toolscope_core.merging.pipeline import Analysis, plan_merge
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Constraints

_GRID = tuple(step / 20 for step in range(1, 20))


@dataclass(frozen=True, slots=True)
class Audit:
    """The clusters of a catalog and, per cut in ascending order, which are called wrong."""

    name: str
    wrong: NDArray[np.bool_]
    called: dict[float, NDArray[np.bool_]]


def main() -> None:
    labelled = [load(name) for name in CATALOGS]
    merged = [catalog for catalog in labelled if catalog.name in WHOLE]
    analyses = [analysed(c.name, unseen_weights(labelled, c.name)) for c in merged]
    weights = analyses[0].judge.weights
    cuts = (*_GRID, weights.merge_at, weights.unsure_at)
    audits = [audit(c, a, cuts) for c, a in zip(merged, analyses, strict=True)]
    audits = [one for one in audits if len(one.wrong)]  # some labels make no cluster
    print("called wrong: precision, recall, F1 with 95 % intervals")
    for at, meaning in (
        (weights.merge_at, "a pair inside is not a merge: as shipped"),
        (weights.unsure_at, "a pair inside is a keep"),
    ):
        print(f"\ncut below {at:.2f} ({meaning})")
        for one in audits:
            row(one.name, one.wrong, one.called[at])
        row("all", *joined(audits, [at] * len(audits)))
    print("\ncut chosen for F1 on the other catalogs")
    chosen = [best([b for b in audits if b is not a]) for a in audits]
    for one, at in zip(audits, chosen, strict=True):
        row(f"{one.name} ({at:.2f})", one.wrong, one.called[at])
    row("all", *joined(audits, chosen))
    print("\nproposed clusters and labelled pairs in them: right/together, merges found")
    for catalog, analysis in zip(merged, analyses, strict=True):
        ablation(catalog, analysis)


def audit(catalog: Labelled, analysis: Analysis, cuts: Sequence[float]) -> Audit:
    made = examples(catalog)
    return Audit(
        name=catalog.name,
        wrong=np.array([one.wrong for one in made]),
        called={
            at: np.array([is_called_wrong(analysis, one, at) for one in made])
            for at in sorted(set(cuts))
        },
    )


def is_called_wrong(analysis: Analysis, example: Example, cut_at: float) -> bool:
    """Whether correction changes the cluster, which it is given as a set: all pairs joined."""
    ids = tuple(analysis.rows)
    ends = np.array(list(combinations(sorted(example.rows), 2)), dtype=np.int32)
    graph = RowGraph(ids, analysis.first, ends[:, 0], ends[:, 1])
    groups = correct(graph, analysis.row_probabilities, cut_at, Constraints())
    return [set(group.members) for group in groups] != [{ids[row] for row in example.rows}]


def best(audits: Sequence[Audit]) -> float:
    """The cut with the greatest F1 over the clusters of all the audits, the least on ties."""
    return max(_GRID, key=lambda at: (f1_of_masks(*joined(audits, [at] * len(audits)))[2], -at))


def joined(
    audits: Sequence[Audit], cuts: Sequence[float]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    called = [one.called[at] for one, at in zip(audits, cuts, strict=True)]
    return np.concatenate([one.wrong for one in audits]), np.concatenate(called)


def row(name: str, wrong: NDArray[np.bool_], called: NDArray[np.bool_]) -> None:
    ends = bootstrap_ends(lambda at: f1_of_masks(called[at], wrong[at]), len(wrong))
    cells = [
        f"{value:.3f} [{low:.3f}, {high:.3f}]"
        for value, low, high in zip(f1_of_masks(called, wrong), *ends, strict=True)
    ]
    print(f"  {name:<18} n {len(wrong):>3}, {int(wrong.sum()):>3} wrong   {'   '.join(cells)}")


def ablation(catalog: Labelled, analysis: Analysis) -> None:
    for divide in (True, False):
        plan = plan_merge(analysis, (), PlanConfig(correct=divide))
        members = [cluster.members for cluster in plan.clusters]
        print(
            f"  {catalog.name:<12} {'correct' if divide else 'no-correct':<11}"
            f"{len(members):>4} clusters of {sum(map(len, members)):>4} tools, the largest "
            f"{max(map(len, members), default=0):>3}   {kept(catalog, analysis.catalog, members)}"
        )


if __name__ == "__main__":
    main()
