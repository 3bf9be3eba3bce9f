"""Encoders beside each other, each for the merge and for the search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.comparison import Trial, measured
from toolscope_core.evaluation.measured_toolsets import of_plan
from toolscope_core.evaluation.ranking import ToolsetRanker
from toolscope_core.evaluation.sweeps import SweepPoint
from toolscope_core.merging.pipeline import analyse, plan_merge
from toolscope_core.model.configuration import (
    AcceptPolicy,
    AnalysisConfig,
    PlanConfig,
    RetrievalConfig,
)
from toolscope_core.model.decision import Decision
from toolscope_core.model.protocols import Embedder, Progress, Step, silent
from toolscope_core.model.tool import Tool


@dataclass(frozen=True, slots=True)
class EncoderSweep:
    """What stands while the encoder changes. Each analyses the catalog at the θ that is its
    default, and searches what its merge leaves. ``load`` gives the encoder of a name, ``tokens``
    counts those of a definition; figures are read at ``k``.
    """

    trial: Trial
    log: Sequence[Decision]
    load: Callable[[str], Embedder]
    cache: VectorCache
    tokens: Callable[[Tool], int]
    accept: AcceptPolicy = "auto"
    config: RetrievalConfig = field(default_factory=RetrievalConfig)
    k: int = 10

    def points(
        self, names: Sequence[str], done: Collection[float | str] = (), progress: Progress = silent
    ) -> Iterator[SweepPoint]:
        """A point for each encoder that is not ``done``, as soon as it is there.

        Reports ``Step("sweep", …)`` in encoders. Raises ``ModelError`` for one that cannot be
        loaded.
        """
        trial = replace(self.trial, cutoffs=(self.k,))
        for number, name in enumerate(names):
            progress(Step("sweep", number, len(names)))
            if name in done:
                continue
            encoder = self.load(name)
            analysis = analyse(trial.catalog, AnalysisConfig(), encoder, self.cache)
            plan = plan_merge(analysis, self.log, PlanConfig(accept=self.accept))
            ranker = ToolsetRanker(encoder, self.cache, self.config)
            figures = measured(of_plan(plan, name), trial, ranker, self.tokens)
            yield SweepPoint(name, self.k, self.config, figures)
        progress(Step("sweep", len(names), len(names)))
