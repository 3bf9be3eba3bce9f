"""One setting moved while the others stand: what each value gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from toolscope_core.evaluation.comparison import Measured, Trial, measured
from toolscope_core.evaluation.measured_toolsets import of_plan
from toolscope_core.evaluation.ranking import Ranker
from toolscope_core.merging.pipeline import Analysis, own_thresholds, plan_of, proposed
from toolscope_core.model.configuration import (
    AcceptPolicy,
    Knob,
    MergeThresholds,
    PlanConfig,
    RetrievalConfig,
)
from toolscope_core.model.decision import Decision
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, Step, silent
from toolscope_core.model.tool import Tool

KS = (1, 2, 3, 5, 7, 10, 15, 20, 30)
DENSE_WEIGHTS = tuple(step / 10 for step in range(11))
CANDIDATES = (5, 10, 15, 20, 30, 40, 50)
THETAS, HIGHEST_THETA = 12, 0.95


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """What one value, a number or the name of an encoder, gives: a toolset measured under a
    configuration of the search. ``k`` is the cut-off that its figures are read at.
    """

    value: float | str
    k: int
    config: RetrievalConfig
    measured: Measured


def values_of(knob: Knob, analysis: Analysis) -> tuple[float, ...]:
    """The values that a sweep goes through, ascending; none for encoders, which have names."""
    if knob == "theta":
        least = analysis.threshold
        step = (HIGHEST_THETA - least) / (THETAS - 1)
        return tuple(round(least + step * number, 4) for number in range(THETAS))
    return {"alpha": DENSE_WEIGHTS, "candidates": CANDIDATES, "k": KS}.get(knob, ())


def plan_at(
    analysis: Analysis, log: Sequence[Decision], theta: float, accept: AcceptPolicy
) -> MergePlan:
    """The merge where pairs merge from cosine ``theta`` on."""
    thresholds = MergeThresholds(theta, own_thresholds(analysis).probability)
    return plan_of(
        analysis, proposed(analysis, log, thresholds=thresholds), PlanConfig(accept=accept)
    )


@dataclass(frozen=True, slots=True)
class SettingSweep:
    """What stands while one setting moves: the decisions, the accept policy, the configuration of
    the search and the cut-off ``k``. ``ranker_of`` gives the search of a configuration, ``tokens``
    counts those of a definition.
    """

    analysis: Analysis
    log: Sequence[Decision]
    trial: Trial
    ranker_of: Callable[[RetrievalConfig], Ranker]
    tokens: Callable[[Tool], int]
    accept: AcceptPolicy = "auto"
    config: RetrievalConfig = field(default_factory=RetrievalConfig)
    k: int = 10

    def points(
        self, knob: Knob, done: Collection[float | str] = (), progress: Progress = silent
    ) -> Iterator[SweepPoint]:
        """A point for each value that is not ``done``, as soon as it is there. *theta* measures
        what the merge exports, the others the toolset under the standing decisions. Two values with
        the same toolset and search are searched once.

        Reports ``Step("sweep", …)`` in points. For encoders see ``EncoderSweep``.
        """
        values = values_of(knob, self.analysis)
        trial = replace(self.trial, cutoffs=KS if knob == "k" else (self.k,))
        plan = plan_of(
            self.analysis, proposed(self.analysis, self.log), PlanConfig(accept=self.accept)
        )
        standing, last, ranker = of_plan(plan, "as planned"), None, None
        for number, value in enumerate(values):
            progress(Step("sweep", number, len(values)))
            if value in done:
                continue
            config, toolset = self._config(knob, value), standing
            if knob == "theta":
                plan = plan_at(self.analysis, self.log, value, self.accept)
                toolset = of_plan(plan, f"θ {value:g}")
            if last is None or (last.config, last.measured.toolset.version) != (
                config,
                toolset.version,
            ):
                if ranker is None or last is None or last.config != config:
                    ranker = self.ranker_of(config)
                figures = measured(toolset, trial, ranker, self.tokens)
            k = int(value) if knob == "k" else self.k
            last = SweepPoint(value, k, config, replace(figures, toolset=toolset))
            yield last
        progress(Step("sweep", len(values), len(values)))

    def _config(self, knob: Knob, value: float) -> RetrievalConfig:
        if knob == "alpha":
            return replace(self.config, dense_weight=value)
        return replace(self.config, candidates=int(value)) if knob == "candidates" else self.config
