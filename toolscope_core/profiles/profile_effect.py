"""What queries find among the tools of a profile, beside the whole toolset."""

from __future__ import annotations

from collections.abc import Sequence

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.tokens import Costs
from toolscope_core.evaluation.comparison import (
    Comparison,
    Trial,
    compared,
    of_rankings,
    request_of,
)
from toolscope_core.evaluation.confusions import PairConfusion, pair_confusions
from toolscope_core.evaluation.measured_toolsets import of_plan
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.ranking import Ranker
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.profiles.profile_plan import profile_plan
from toolscope_core.profiles.profile_tools import ProfileTools

CUTOFFS = (1, 5, 10)


def beside_whole(
    plan: MergePlan,
    chosen: ProfileTools,
    queries: Sequence[Query],
    ranker: Ranker,
    costs: Costs,
    progress: Progress = silent,
) -> Comparison:
    """The queries that have gold answers on the whole toolset (before) and on the profile (after).
    Raises ``ConfigError`` where none has.
    """
    trial = Trial.of(plan.catalog, queries, request_of("rules"), CUTOFFS)
    sides = of_plan(plan, "whole toolset"), of_plan(profile_plan(plan, chosen), "profile")
    before, after = (
        of_rankings(
            side,
            trial,
            ranker.rankings(side.tools, trial.requests, max(CUTOFFS), progress),
            lambda tool: costs.of(tool, PROMPT_SHAPES[0]),
        )
        for side in sides
    )
    return compared(trial, before, after)


def remaining_confusions(comparison: Comparison) -> tuple[PairConfusion, ...]:
    """The tools of the profile that the queries confuse, the costliest pair first."""
    return pair_confusions(comparison.after.golds, comparison.after.rankings)
