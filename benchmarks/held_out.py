"""Analyse a catalog with a judge that never saw its labels, and check the merge against the labels.

Only the weights of the judge are held out. Its thresholds are those of the shipped judge, which
were chosen with all catalogs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.train_judge import THRESHOLDS, LabelledCatalog, fit, left_out
from toolscope_core.judging.cached_judge import CachedJudge
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.judging.weights import Weights, shipped_weights
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.pair import PairScores


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """The labelled pairs that a merge puts together.

    ``together`` counts all of them, and ``right`` those labelled as merges. ``merges`` counts all
    pairs that are labelled as merges, whether put together or not.
    """

    right: int
    together: int
    merges: int

    def __str__(self) -> str:
        share = f" ({self.right / self.together:.3f})" if self.together else ""
        return f"{self.right}/{self.together}{share}, found {self.right}/{self.merges}"


def judged_unseen(analysis: Analysis, name: str, catalogs: Sequence[LabelledCatalog]) -> Analysis:
    """The analysis of the catalog ``name``. If the catalog has labels, its judge never saw them."""
    if name not in {one.name for one in catalogs}:
        return analysis
    judge = OfflineJudge.of(
        analysis.catalog.tools, analysis.vectors, unseen_weights(catalogs, name)
    )
    old = analysis.scores
    new = judge.pair_probabilities(old.left, old.right)
    scores = PairScores(old.left, old.right, old.similarity, new.same_job, new.family)
    return replace(analysis, cached_judge=CachedJudge.of(judge), scores=scores).without_cache()


def unseen_weights(catalogs: Sequence[LabelledCatalog], name: str) -> Weights:
    """A judge that never saw the labels of ``name``, with the shipped thresholds.

    Its weights are shifted like the shipped ones, so that these thresholds fit.
    """
    shipped, every, unseen = shipped_weights(), fit(catalogs), left_out(catalogs, name)
    models = {
        side: replace(own, intercept=own.intercept + fitted.intercept - before.intercept)
        for side, own, fitted, before in (
            ("job_beside", unseen.job_beside, shipped.job_beside, every.job_beside),
            ("job_across", unseen.job_across, shipped.job_across, every.job_across),
        )
    }
    thresholds = {f"{one}_at": getattr(shipped, f"{one}_at") for one in THRESHOLDS}
    return replace(unseen, **models, **thresholds)


def merge_counts(
    labelled: LabelledCatalog, catalog: Catalog, clusters: Iterable[Sequence[str]]
) -> MergeCounts:
    """The counts of labelled pairs if the ids in each cluster are put together."""
    place: Mapping[str, int] = {tool: at for at, ids in enumerate(clusters) for tool in ids}
    into = np.array([place.get(tool.id, -1 - row) for row, tool in enumerate(catalog.tools)])
    together = into[labelled.left] == into[labelled.right]
    return MergeCounts(
        right=int((together & labelled.merge).sum()),
        together=int(together.sum()),
        merges=int(labelled.merge.sum()),
    )
