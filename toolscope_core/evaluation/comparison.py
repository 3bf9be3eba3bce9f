"""The same queries on two toolsets: what an agent finds, sends and can call in each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from jsonschema_rs import Draft202012Validator

from toolscope_core.catalog.calls import map_call, read_call, takes, validator_of
from toolscope_core.catalog.naming import ids_by_name
from toolscope_core.evaluation.intervals import Interval, interval
from toolscope_core.evaluation.measured_toolsets import Ranker, Rankings, Toolset
from toolscope_core.evaluation.metrics import (
    Gold,
    MetricRow,
    best_places,
    metric_rows,
    ndcg,
    p_values,
)
from toolscope_core.evaluation.query_sets import Query, relabelled
from toolscope_core.evaluation.selection import job_rankings, offline_rates
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.configuration import Split
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import decompose


@dataclass(frozen=True, slots=True)
class GoldCall:
    """A call that a query needs: the id of the tool as the query names it, and the arguments."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class CallCoverage:
    """Of ``calls`` gold calls ``runnable`` can be made on the toolset: their tool is there, no
    argument is lost on the way by α, and the arguments validate against its schema. Of
    ``capabilities`` (a tool with a set of argument names) ``supported`` are those of which every
    call can be made.

    The paper asks for a tool that has arguments of the same names; here values count too, and only
    the tool that φ leads to.
    """

    calls: int
    runnable: int
    capabilities: int
    supported: int

    @property
    def tccr(self) -> float | None:
        """Tool-Call CallCoverage Rate; ``None`` without calls."""
        return self.runnable / self.calls if self.calls else None

    @property
    def ucc(self) -> float | None:
        """Unique Capability CallCoverage; ``None`` without calls."""
        return self.supported / self.capabilities if self.capabilities else None


def gold_calls(queries: Sequence[Query], catalog: Catalog) -> tuple[GoldCall, ...]:
    """The gold calls of the queries, in order, that are to tools of the catalog: by id, or by a
    name that one tool has. What is no such call is left out.
    """
    ids = ids_by_name(catalog.tools)
    calls = (call for query in queries for call in filter(None, map(read_call, query.calls)))
    return tuple(GoldCall(ids[name], arguments) for name, arguments in calls if name in ids)


def coverage(calls: Sequence[GoldCall], toolset: Toolset) -> CallCoverage:
    """Which gold calls can be made on a toolset."""
    tools = toolset.by_id

    @cache
    def validator(tool_id: str) -> Draft202012Validator | None:
        return validator_of(tools[tool_id].schema)

    def runs(call: GoldCall) -> bool:
        new = toolset.phi.get(call.tool, call.tool)
        if new not in tools:
            return False
        arguments, is_whole = mapped(call, toolset.arguments.get(call.tool))
        return is_whole and takes(validator(new), arguments)

    by_capability: dict[tuple[str, ...], list[bool]] = {}
    for call in calls:
        capability = (call.tool, *sorted(call.arguments))
        by_capability.setdefault(capability, []).append(runs(call))
    return CallCoverage(
        calls=len(calls),
        runnable=sum(map(sum, by_capability.values())),
        capabilities=len(by_capability),
        supported=sum(map(all, by_capability.values())),
    )


def mapped(call: GoldCall, alpha: ArgumentMap | None) -> tuple[JsonObject, bool]:
    """The arguments after α, and whether none was lost."""
    if alpha is None:
        return call.arguments, True
    moved = map_call(alpha, call.arguments)
    return moved.arguments, not moved.lost


SPLIT_NAMES = {
    "none": "whole",
    "rules": "by rule",
    "steps": "by step",
    "dummy": "by a model",
    "context": "by a model in context",
}
Outcome = Literal["won", "lost", "unchanged"]


@dataclass(frozen=True, slots=True)
class Trial:
    """What every toolset is asked: queries with gold answers, which name tools of ``catalog``, what
    is searched for each, and the cut-offs.
    """

    catalog: Catalog
    queries: tuple[Query, ...]
    requests: tuple[ToolRequest, ...]
    cutoffs: tuple[int, ...]

    @classmethod
    def of(
        cls,
        catalog: Catalog,
        queries: Iterable[Query],
        request_of: Callable[[Query], ToolRequest],
        cutoffs: Sequence[int],
    ) -> Trial:
        """The queries that have gold answers. Raises ``ConfigError`` where none has."""
        judged = tuple(query for query in queries if query.gold)
        if not judged:
            raise ConfigError("no query has a gold answer; give tool ids under `gold`")
        return cls(catalog, judged, tuple(map(request_of, judged)), tuple(cutoffs))

    def split_by(self, split: Split) -> Trial:
        """The same queries, split in another way."""
        return replace(self, requests=tuple(map(request_of(split), self.queries)))


@dataclass(frozen=True, slots=True)
class Measured:
    """What the queries find in one toolset, in their order. ``tokens`` are those of all its
    definitions, ``sent`` by cut-off the mean of those of the tools that a query finds.
    """

    toolset: Toolset
    golds: tuple[Gold, ...]
    rankings: Rankings
    rows: tuple[MetricRow, ...]
    coverage: CallCoverage
    tokens: int
    sent: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A query on both toolsets: nDCG at the largest cut-off, and for each need its best
    place, from 1; ``None`` where it is not among those.
    """

    query: Query
    before: float
    after: float
    places_before: tuple[int | None, ...]
    places_after: tuple[int | None, ...]

    @property
    def outcome(self) -> Outcome:
        if self.after == self.before:
            return "unchanged"
        return "won" if self.after > self.before else "lost"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two toolsets under the same queries. ``changes`` has by metric the mean difference with its
    paired interval, ``p`` the paired p-value of no change, corrected by Holm.
    """

    before: Measured
    after: Measured
    changes: Mapping[str, Interval]
    p: Mapping[str, float]
    queries: tuple[QueryChange, ...]

    def count(self, outcome: Outcome) -> int:
        return sum(one.outcome == outcome for one in self.queries)


def request_of(split: Split) -> Callable[[Query], ToolRequest]:
    """What is searched for a query: split by *rules*, by its own *steps* where it has some, or
    whole. Steps are part of the gold answer: what they reach is a bound.
    """

    def request(query: Query) -> ToolRequest:
        if split == "steps" and query.steps:
            return ToolRequest(query.text, query.steps, by_rule=False)
        return ToolRequest(query.text, decompose(query.text) if split == "rules" else ())

    return request


def measured(
    toolset: Toolset,
    trial: Trial,
    ranker: Ranker,
    tokens: Callable[[Tool], int],
    progress: Progress = silent,
) -> Measured:
    """What the queries of a trial find in a toolset, and the rates of correct selections without a
    model (``offline_rates``); ``tokens`` counts those of a definition.
    """
    k = max(trial.cutoffs)
    rankings = ranker.rankings(toolset.tools, trial.requests, k, progress)
    figures = of_rankings(toolset, trial, rankings, tokens)
    by_job = job_rankings(toolset.tools, trial.requests, ranker, progress)
    rates = offline_rates(trial.requests, by_job, rankings, figures.golds, trial.cutoffs)
    return replace(figures, rows=(*figures.rows, *rates))


def of_rankings(
    toolset: Toolset, trial: Trial, rankings: Rankings, tokens: Callable[[Tool], int]
) -> Measured:
    """The figures of rankings that are there, of at least the largest cut-off."""
    golds = tuple(query.gold for query in relabelled(trial.queries, toolset.phi))
    costs = {tool.id: tokens(tool) for tool in toolset.tools}
    sent = {
        k: sum(costs[one] for ranking in rankings for one in ranking[:k]) / len(rankings)
        for k in trial.cutoffs
    }
    return Measured(
        toolset=toolset,
        golds=golds,
        rankings=rankings,
        rows=metric_rows(golds, rankings, trial.cutoffs),
        coverage=coverage(gold_calls(trial.queries, trial.catalog), toolset),
        tokens=sum(costs.values()),
        sent=sent,
    )


def compared(trial: Trial, before: Measured, after: Measured) -> Comparison:
    """Two measurements of one trial side by side."""
    changes = {
        old.name: interval(
            [new_value - value for value, new_value in zip(old.values, new.values, strict=True)]
        )
        for old, new in zip(before.rows, after.rows, strict=True)
    }
    p = p_values(before.rows, after.rows)
    return Comparison(before, after, changes, p, _query_changes(trial, before, after))


def _query_changes(trial: Trial, before: Measured, after: Measured) -> tuple[QueryChange, ...]:
    k = max(trial.cutoffs)
    return tuple(
        QueryChange(
            query,
            ndcg(before.rankings[at], before.golds[at], k),
            ndcg(after.rankings[at], after.golds[at], k),
            best_places(before.rankings[at], before.golds[at]),
            best_places(after.rankings[at], after.golds[at]),
        )
        for at, query in enumerate(trial.queries)
    )
