"""What requests find among the tools of a profile, beside the whole toolset."""

from __future__ import annotations

from collections.abc import Sequence

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.tokens import Costs
from toolscope_core.evaluation.comparison import Trial, compared, of_rankings, request_of
from toolscope_core.evaluation.measured_toolsets import of_plan
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.ranking import Ranker
from toolscope_core.model.numbers import interval_text, quantity
from toolscope_core.model.plan import MergePlan
from toolscope_core.profiles.profile_plan import profile_plan
from toolscope_core.profiles.profile_tools import ProfileTools

CUTOFFS = (1, 5, 10)


def effect_lines(
    plan: MergePlan, chosen: ProfileTools, queries: Sequence[Query], ranker: Ranker, costs: Costs
) -> list[str]:
    """The recall of the queries that have answers, on the whole toolset and on the profile, and the
    paired difference, each with its interval; a line for each cut-off. Empty where none has any.
    """
    if not chosen.tools or not any(one.gold for one in queries):
        return []
    trial = Trial.of(plan.catalog, queries, request_of("rules"), CUTOFFS)
    before, after = (
        of_rankings(
            side,
            trial,
            ranker.rankings(side.tools, trial.requests, max(CUTOFFS)),
            lambda tool: costs.of(tool, PROMPT_SHAPES[0]),
        )
        for side in (of_plan(plan, "whole"), of_plan(profile_plan(plan, chosen), "profile"))
    )
    changes = compared(trial, before, after).changes
    lines = [
        f"{own.name}: whole toolset {whole}, profile {text}, difference {change}"
        for old, own in zip(before.rows, after.rows, strict=True)
        if own.metric == "recall"
        for whole, text, change in [
            [
                interval_text(one.mean, one.low, one.high)
                for one in (old.interval, own.interval, changes[own.name])
            ]
        ]
    ]
    return [*lines, f"measured on {quantity(len(trial.queries), 'request')} with answers"]
