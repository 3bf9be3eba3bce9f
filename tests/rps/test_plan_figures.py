"""Figures of plans, worked out by hand."""

import pytest

from toolscope_core.model.tool import Tool
from toolscope_core.rps.planner import plan_figures
from toolscope_core.rps.workers import Candidate, PlannedCall, PlannedStep, RequestPlan

TOOLS = {name: Tool(name, name, name) for name in "abcd"}


def step(shown, called, phrasings=()):
    candidates = tuple(Candidate(TOOLS[name], 0.5) for name in shown)
    return PlannedStep("job", candidates, tuple(map(PlannedCall, called)), "", phrasings)


def test_sets_are_averaged_over_queries_and_work_is_counted():
    """The first plan calls *a* and *b* for *a* and *c*: half of both. The second drops *d*, which
    nobody needs, and has exactly *b*.
    """
    plans = (
        RequestPlan("r", (step("ab", "a", ("other words",)), step("bcd", "b"))),
        RequestPlan("s", (step("bd", "bd"),), dropped={"d": "not needed"}),
    )
    golds = ((frozenset("a"), frozenset("c")), (frozenset("bd"),))
    figures = plan_figures(plans, golds, lambda tool: 10)
    assert figures.queries == 2
    assert figures.precision.mean == (0.5 + 1) / 2
    assert figures.recall.mean == (0.5 + 1) / 2
    assert figures.f1.mean == pytest.approx((0.5 + 1) / 2)
    assert figures.exact.mean == 0.5
    assert (figures.jobs, figures.searches) == (1.5, (3 + 1) / 2)
    assert (figures.tools_called, figures.tools_shown) == (1.5, (5 + 2) / 2)
    assert figures.tokens_shown == 35.0
    assert figures.as_json()["recall"]["low"] <= 0.75
