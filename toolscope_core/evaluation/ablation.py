"""What each part of ToolScope gives: reranker × merger × correction (ToolScope, table 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from toolscope_core.evaluation.comparison import Measured, Trial, measured
from toolscope_core.evaluation.measured_toolsets import as_it_is, of_plan
from toolscope_core.evaluation.ranking import Ranker
from toolscope_core.merging.pipeline import Analysis, plan_of, proposed
from toolscope_core.model.configuration import PlanConfig, RetrievalConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.protocols import Progress, Step, silent
from toolscope_core.model.tool import Tool


@dataclass(frozen=True, slots=True)
class AblationRow:
    """The parts that are on, and what they give. The merger takes all proposals, as the paper's
    does; the correction divides groups that do not hold together.
    """

    reranker: bool
    merger: bool
    correction: bool
    measured: Measured


@dataclass(frozen=True, slots=True)
class Ablation:
    """What stands while parts go on and off: see ``sweeps.SettingSweep``."""

    analysis: Analysis
    log: Sequence[Decision]
    trial: Trial
    ranker_of: Callable[[RetrievalConfig], Ranker]
    tokens: Callable[[Tool], int]

    def rows(self, progress: Progress = silent) -> Iterator[AblationRow]:
        """Six rows; a correction without a merger has nothing to correct. Reports
        ``Step("sweep", …)`` in rows.
        """
        plans = {
            correct: plan_of(
                self.analysis,
                proposed(self.analysis, self.log, divide=correct),
                PlanConfig(accept="all", correct=correct),
            )
            for correct in (False, True)
        }
        toolsets = {
            (False, False): as_it_is(self.analysis.catalog),
            (True, False): of_plan(plans[False], "merged"),
            (True, True): of_plan(plans[True], "merged and corrected"),
        }
        steps, config = 2 * len(toolsets), RetrievalConfig()
        for half, is_reranked in enumerate((False, True)):
            ranker = self.ranker_of(replace(config, rerank="auto" if is_reranked else "none"))
            for number, ((merger, correction), toolset) in enumerate(toolsets.items()):
                progress(Step("sweep", half * len(toolsets) + number, steps))
                figures = measured(toolset, self.trial, ranker, self.tokens)
                yield AblationRow(is_reranked, merger, correction, figures)
        progress(Step("sweep", steps, steps))
