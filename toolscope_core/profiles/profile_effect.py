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
from toolscope_core.evaluation.measured_toolsets import of_plan
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.ranking import Ranker
from toolscope_core.model.numbers import interval_text, quantity
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


def effect_lines(comparison: Comparison) -> list[str]:
    """Recall on the whole toolset and on the profile, and the paired difference, each with its
    interval; a line for each cut-off.
    """
    before = {row.name: row.interval for row in comparison.before.rows}
    lines = []
    for row in comparison.after.rows:
        if row.metric == "recall":
            three = before[row.name], row.interval, comparison.changes[row.name]
            whole, own, change = (interval_text(one.mean, one.low, one.high) for one in three)
            sides = f"whole toolset {whole}, profile {own}"
            lines.append(f"{row.name}: {sides}, difference {change}")
    return [*lines, f"measured on {quantity(len(comparison.queries), 'request')} with answers"]
