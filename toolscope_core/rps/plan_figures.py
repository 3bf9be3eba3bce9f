"""How good the plans of a query set are (Retrieval–Plan–Select, §4.6, tables 9 to 11)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from toolscope_core.evaluation.intervals import Interval, interval
from toolscope_core.evaluation.metrics import Gold, set_metrics
from toolscope_core.evaluation.selection import is_correct
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.rps.plans import RequestPlan


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """What plans of queries reach and take. ``precision``, ``recall`` and ``f1`` are macro averages
    of the set S of tools that a plan calls against the needs R (§4.1: |R∩S|/|S|, |R∩S|/|R|,
    2PR/(P+R)); ``exact`` is the share of queries of which S is exactly what is needed. The others
    are means a query: ``jobs``, ``searches`` (rankings), ``tools_called``, ``tools_shown`` to the
    worker, and ``tokens_shown`` of their definitions.
    """

    queries: int
    precision: Interval
    recall: Interval
    f1: Interval
    exact: Interval
    jobs: float
    searches: float
    tools_called: float
    tools_shown: float
    tokens_shown: float

    def as_json(self) -> JsonObject:
        return asdict(self)


def plan_figures(
    plans: Sequence[RequestPlan], golds: Sequence[Gold], tokens: Callable[[Tool], int]
) -> PlanFigures:
    """The figures of plans and what each needs, in one order; ``tokens`` counts those of a
    definition.
    """
    called = [frozenset(plan.tool_ids) for plan in plans]
    rows = [set_metrics(set(ids), gold) for ids, gold in zip(called, golds, strict=True)]
    exact = [float(is_correct(ids, gold)) for ids, gold in zip(called, golds, strict=True)]
    shown = [[one.tool for step in plan.steps for one in step.candidates] for plan in plans]
    precision, recall, f1 = map(interval, zip(*rows, strict=True))
    return PlanFigures(
        len(plans),
        precision,
        recall,
        f1,
        interval(exact),
        jobs=_mean(len(plan.steps) for plan in plans),
        searches=_mean(plan.searches for plan in plans),
        tools_called=_mean(map(len, called)),
        tools_shown=_mean(map(len, shown)),
        tokens_shown=_mean(sum(map(tokens, tools)) for tools in shown),
    )


def _mean(counts: Iterable[int]) -> float:
    numbers = list(counts)
    return sum(numbers) / len(numbers)
