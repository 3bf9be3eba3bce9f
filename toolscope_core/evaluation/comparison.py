"""Compares two toolsets on the same queries: what an agent finds, sends and can call with each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from typing import Any, Literal, Self

from jsonschema_rs import Draft202012Validator

from toolscope_core.catalog.calls import map_call, read_call, takes, validator_of
from toolscope_core.catalog.naming import ids_by_name
from toolscope_core.evaluation.confusions import PairConfusion
from toolscope_core.evaluation.intervals import Interval, interval
from toolscope_core.evaluation.measured_toolsets import Ranker, Rankings, Toolset, joined_queries
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
from toolscope_core.model.configuration import RequestSplit
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import decompose


@dataclass(frozen=True, slots=True)
class GoldCall:
    """A call that a query needs: the id of the tool in the query, and the arguments."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class CallCoverage:
    """How many gold calls a toolset can serve.

    ``runnable`` of the ``calls`` gold calls can be made: the tool exists, α loses no argument, and
    the arguments match the tool's schema. A capability is a tool with a set of argument names;
    ``supported`` of the ``capabilities`` are those whose calls can all be made. The paper only
    requires a tool with arguments of the same names. Here the values count too, and only the tool
    given by φ counts.
    """

    calls: int
    runnable: int
    capabilities: int
    supported: int

    @property
    def tccr(self) -> float | None:
        """Tool-Call Coverage Rate; ``None`` if there are no calls."""
        return self.runnable / self.calls if self.calls else None

    @property
    def ucc(self) -> float | None:
        """Unique Capability Coverage; ``None`` if there are no calls."""
        return self.supported / self.capabilities if self.capabilities else None


def gold_calls(queries: Sequence[Query], catalog: Catalog) -> tuple[GoldCall, ...]:
    """The gold calls of the queries to tools in the catalog, in order.

    A call names its tool by id, or by a name that only one tool has. Other calls are left out.
    """
    ids = ids_by_name(catalog.tools)
    calls = (call for query in queries for call in filter(None, map(read_call, query.calls)))
    return tuple(GoldCall(ids[name], arguments) for name, arguments in calls if name in ids)


def coverage(calls: Sequence[GoldCall], toolset: Toolset) -> CallCoverage:
    """How many of the gold calls can be made with a toolset."""
    tools = toolset.by_id

    @cache
    def validator(tool_id: str) -> Draft202012Validator | None:
        return validator_of(tools[tool_id].schema)

    def runs(call: GoldCall) -> bool:
        new = toolset.phi.get(call.tool, call.tool)
        if new not in tools:
            return False
        arguments, is_whole = mapped_arguments(call, toolset.arguments.get(call.tool))
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


def mapped_arguments(call: GoldCall, alpha: ArgumentMap | None) -> tuple[JsonObject, bool]:
    """The arguments of a call after α, and whether no argument was lost."""
    if alpha is None:
        return call.arguments, True
    call_after = map_call(alpha, call.arguments)
    return call_after.arguments, not call_after.losses


SPLIT_NAMES = {
    "none": "whole",
    "rules": "by rule",
    "steps": "by step",
    "dummy": "by a model",
    "context": "by a model in context",
}
QueryOutcome = Literal["won", "lost", "unchanged"]
PLACES = 10
"""The number of places in a ranking that are stored, and that count for the effect of a change."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The questions that every toolset is asked.

    They are queries with gold answers from ``catalog``, the request that is searched for each
    query, and the cut-offs.
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
        gold_of: Callable[[Query], Gold] = attrgetter("gold"),
    ) -> "Trial":
        """A trial of the queries that have gold answers. Raises ``ConfigError`` if there are
        none.
        """
        with_gold = tuple(query for query in queries if gold_of(query))
        if not with_gold:
            raise ConfigError("no query has a gold answer; use tool ids under `gold`")
        return cls(catalog, with_gold, tuple(map(request_of, with_gold)), tuple(cutoffs))

    def split_by(self, split: RequestSplit) -> "Trial":
        """The same trial with its queries split by another method."""
        return replace(self, requests=tuple(map(request_of(split), self.queries)))


@dataclass(frozen=True, slots=True)
class Measurement:
    """The results of a trial's queries in one toolset, in the order of the queries.

    ``tokens`` are the tokens of all definitions. ``token_means`` has, for each cut-off, the mean
    tokens of the tools found.
    """

    toolset: Toolset
    golds: tuple[Gold, ...]
    rankings: Rankings
    rows: tuple[MetricRow, ...]
    coverage: CallCoverage
    tokens: int
    token_means: Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsetFigures:
    """The figures of one toolset.

    ``tokens`` are the tokens of all definitions, ``tokens_sent`` the mean tokens sent at the
    largest cut-off. ``tccr`` and ``ucc`` are ``None`` if there are no gold ``calls``. ``metrics``
    are keyed by name and cut-off.
    """

    version: str
    tools: int
    tokens: int
    tokens_sent: float
    calls: int
    tccr: float | None
    ucc: float | None
    metrics: Mapping[str, Interval]

    @classmethod
    def of(cls, measurement: Measurement, **more: Any) -> Self:
        """The figures of a measurement; ``more`` sets additional fields or replaces some."""
        own: dict[str, Any] = {
            "version": measurement.toolset.version,
            "tools": len(measurement.toolset.tools),
            "tokens": measurement.tokens,
            "tokens_sent": round(measurement.token_means[max(measurement.token_means)], 3),
            "calls": measurement.coverage.calls,
            "tccr": measurement.coverage.tccr,
            "ucc": measurement.coverage.ucc,
            "metrics": {row.name: row.interval for row in measurement.rows},
        }
        return cls(**own | more)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFigures(ToolsetFigures):
    """The figures of a toolset with a name, for comparisons."""

    name: str

    @property
    def runnable(self) -> int:
        """The number of gold calls that can be made."""
        return round(self.calls * (self.tccr or 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedQuery:
    """A query with gold answers, and the first ``PLACES`` ids that it finds before the merge.

    A field is ``None`` if the query was measured by a version that did not store the field.
    """

    id: str
    query: str
    gold: tuple[tuple[str, ...], ...]
    allowed: tuple[str, ...] = ()
    ranking: tuple[str, ...] | None = None

    @classmethod
    def of(cls, query: Query, ranking: Sequence[str], **more: Any) -> Self:
        """The searched query; ``more`` sets the other fields of the class."""
        return cls(
            id=query.id,
            query=query.text,
            gold=tuple(tuple(sorted(need)) for need in query.gold),
            allowed=tuple(sorted(query.allowed)),
            ranking=tuple(ranking[:PLACES]),
            **more,
        )

    @property
    def as_query(self) -> Query:
        gold = tuple(map(frozenset, self.gold))
        allowed = frozenset(self.allowed)
        return Query(self.id, self.query, gold, allowed=allowed, needs_none=not gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedQuery(SearchedQuery):
    """A query and its results in both toolsets.

    nDCG is measured at the largest cut-off. ``places_before`` and ``places_after`` have the best
    place for each need, counted from 1, or ``None`` if the need is not met within the places.
    """

    outcome: QueryOutcome
    ndcg_before: float
    ndcg_after: float
    places_before: tuple[int | None, ...]
    places_after: tuple[int | None, ...]

    @property
    def change(self) -> float:
        return round(self.ndcg_after - self.ndcg_before, 4)


@dataclass(frozen=True, slots=True)
class QueryEffect:
    """nDCG of the query with this id, without the merge and with it."""

    id: str
    ndcg_without: float
    ndcg_with: float


@dataclass(frozen=True, slots=True)
class MergeEffect:
    """The effect of one merge.

    ``members`` are the ids of the tools that became ``tool``. ``queries`` are those that the merge
    touches: they need a member, or have a member or the merged tool among the places that count.
    Other queries are not searched again. ``change`` is the sum of the queries' gains in nDCG; below
    0, the merge does harm. ``helped`` and ``hurt`` count queries. ``joins`` are queries that need
    two or more members, which an agent could distinguish before.
    """

    tool: str
    members: tuple[str, ...]
    change: float
    helped: int
    hurt: int
    queries: tuple[QueryEffect, ...]
    joins: tuple[str, ...] = ()

    @property
    def changed_queries(self) -> list[str]:
        """The ids of the queries whose nDCG changes with the merge."""
        return [one.id for one in self.queries if one.ndcg_with != one.ndcg_without]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two toolsets compared on the same queries.

    ``changes`` has the mean difference of each metric with its paired interval. ``p`` is the paired
    p-value for no change, corrected by Holm. ``joined`` are the ids of queries that need two tools
    that are now one. ``forbidden`` are pairs that were merged against people's decisions; ``never``
    is the number of such decisions. ``needing_none`` are the queries that need no tool. ``merges``
    are the merges that touch a query. ``confusions`` are the pairs that queries confuse before the
    merge.
    """

    before: NamedFigures
    after: NamedFigures
    changes: Mapping[str, Interval]
    p: Mapping[str, float]
    joined: tuple[str, ...]
    forbidden: tuple[tuple[str, str], ...] = ()
    never: int = 0
    needing_none: tuple[SearchedQuery, ...] = ()
    queries: tuple[ComparedQuery, ...]
    merges: tuple[MergeEffect, ...] = ()
    confusions: tuple[PairConfusion, ...] = ()

    def count(self, outcome: QueryOutcome) -> int:
        return sum(one.outcome == outcome for one in self.queries)

    @property
    def searched(self) -> list[SearchedQuery]:
        """The queries whose results are known; queries that need no tool come last."""
        return [one for one in (*self.queries, *self.needing_none) if one.ranking is not None]


def request_of(split: RequestSplit) -> Callable[[Query], ToolRequest]:
    """A function that makes the request to search for from a query.

    The query is split by *rules*, split into its own *steps* if it has any, or left whole. Steps
    are part of the gold answer, so their results are an upper bound.
    """

    def request(query: Query) -> ToolRequest:
        if split == "steps" and query.steps:
            return ToolRequest(query.text, query.steps, by_rule=False)
        return ToolRequest(query.text, decompose(query.text) if split == "rules" else ())

    return request


def measurement_of(
    toolset: Toolset,
    trial: Trial,
    ranker: Ranker,
    tokens: Callable[[Tool], int],
    progress: Progress = silent,
) -> Measurement:
    """The results of a trial's queries in a toolset, including the correct selection rates without
    a model (see ``offline_rates``).

    ``tokens`` counts the tokens of a definition.
    """
    k = max(trial.cutoffs)
    rankings = ranker.rankings(toolset.tools, trial.requests, k, progress)
    figures = of_rankings(toolset, trial, rankings, tokens)
    by_job = job_rankings(toolset.tools, trial.requests, ranker, progress)
    rates = offline_rates(trial.requests, by_job, rankings, figures.golds, trial.cutoffs)
    return replace(figures, rows=(*figures.rows, *rates))


def of_rankings(
    toolset: Toolset, trial: Trial, rankings: Rankings, tokens: Callable[[Tool], int]
) -> Measurement:
    """The figures of existing rankings, which must be at least as long as the largest cut-off."""
    golds = tuple(query.gold for query in relabelled(trial.queries, toolset.phi))
    costs = {tool.id: tokens(tool) for tool in toolset.tools}
    return Measurement(
        toolset=toolset,
        golds=golds,
        rankings=rankings,
        rows=metric_rows(golds, rankings, trial.cutoffs),
        coverage=coverage(gold_calls(trial.queries, trial.catalog), toolset),
        tokens=sum(costs.values()),
        token_means=token_means(rankings, costs, trial.cutoffs),
    )


def token_means(
    rankings: Rankings, costs: Mapping[str, int], cutoffs: Sequence[int]
) -> dict[int, float]:
    """The mean tokens of the results at each cut-off; ``costs`` has the tokens by id."""
    return {
        k: sum(costs[one] for ranking in rankings for one in ranking[:k]) / len(rankings)
        for k in cutoffs
    }


def compared(trial: Trial, before: Measurement, after: Measurement) -> Comparison:
    """Two measurements of one trial side by side.

    The caller adds merges, confusions and forbidden merges.
    """
    changes = {
        old.name: interval(
            [new_value - value for value, new_value in zip(old.values, new.values, strict=True)]
        )
        for old, new in zip(before.rows, after.rows, strict=True)
    }
    return Comparison(
        before=NamedFigures.of(before, name=before.toolset.name),
        after=NamedFigures.of(after, name=after.toolset.name),
        changes=changes,
        p=p_values(before.rows, after.rows),
        joined=tuple(trial.queries[at].id for at in joined_queries(trial.queries, after.toolset)),
        queries=tuple(
            _compared_query(query, at, before, after, max(trial.cutoffs))
            for at, query in enumerate(trial.queries)
        ),
    )


def _compared_query(
    query: Query, at: int, before: Measurement, after: Measurement, k: int
) -> ComparedQuery:
    old, new = (ndcg(side.rankings[at], side.golds[at], k) for side in (before, after))
    return ComparedQuery.of(
        query,
        before.rankings[at],
        outcome="unchanged" if new == old else "won" if new > old else "lost",
        ndcg_before=round(old, 6),
        ndcg_after=round(new, 6),
        places_before=best_places(before.rankings[at], before.golds[at]),
        places_after=best_places(after.rankings[at], after.golds[at]),
    )
