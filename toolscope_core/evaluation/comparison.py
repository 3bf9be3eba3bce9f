"""The same queries on two toolsets: what an agent finds, sends and can call in each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
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
    """The arguments after α, and whether none was lost."""
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
"""So many places of a ranking count: for a change, and where what is found is kept."""


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
        with_gold = tuple(query for query in queries if query.gold)
        if not with_gold:
            raise ConfigError("no query has a gold answer; give tool ids under `gold`")
        return cls(catalog, with_gold, tuple(map(request_of, with_gold)), tuple(cutoffs))

    def split_by(self, split: RequestSplit) -> Trial:
        """The same queries, split in another way."""
        return replace(self, requests=tuple(map(request_of(split), self.queries)))


@dataclass(frozen=True, slots=True)
class Measurement:
    """What the queries find in one toolset, in their order. ``tokens`` are those of all its
    definitions, ``token_means`` by cut-off the mean of those of the tools that a query finds.
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
    """The figures of one toolset: tokens of all its definitions, and the mean of those that are
    sent at the largest cut-off; TCCR and UCC are ``None`` without gold ``calls``; ``metrics`` by
    name and cut-off.
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
        """``more`` are the other fields of the class, or other values for these."""
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
    """Those of a toolset that is compared with another."""

    name: str

    @property
    def runnable(self) -> int:
        """How many of the gold calls run."""
        return round(self.calls * (self.tccr or 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedQuery:
    """A query with gold answers and what it finds before the merge, the first ``PLACES``; ``None``
    where it was measured before this was kept.
    """

    id: str
    query: str
    gold: tuple[tuple[str, ...], ...]
    allowed: tuple[str, ...] = ()
    ranking: tuple[str, ...] | None = None

    @classmethod
    def of(cls, query: Query, ranking: Sequence[str], **more: Any) -> Self:
        """``more`` are the other fields of the class."""
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
    """A query on both toolsets: nDCG at the largest cut-off, and for each need its best place,
    from 1; ``None`` where it is not among those.
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
    """nDCG of the query with this id, without a merge and with it."""

    id: str
    ndcg_without: float
    ndcg_with: float


@dataclass(frozen=True, slots=True)
class MergeEffect:
    """What one merge does: ``members`` are the ids of the tools that became ``tool``, ``queries``
    those it touches. A query is touched where it needs a member, or where the members or the merged
    tool are among the places that count; the others are not searched again. ``change`` is the sum
    over its queries of what nDCG gains by it: below 0 the merge harms. So many are ``helped`` and
    ``hurt``. ``joins`` are the queries that need two members or more, which an agent told apart
    before.
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
        """The ids of the queries whose nDCG is another with the merge."""
        return [one.id for one in self.queries if one.ndcg_with != one.ndcg_without]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two toolsets under the same queries. ``changes`` has by metric the mean difference with its
    paired interval, ``p`` the paired p-value of no change, corrected by Holm. ``joined`` are the
    ids of queries that need two tools which are one now, ``forbidden`` the pairs that were merged
    though people said never, which they did of so many as ``never``; ``needing_none`` the queries
    that need no tool. ``merges`` are those that a query meets, ``confusions`` the pairs that
    queries confuse before.
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
        """The queries of which is known what they find, those that need no tool last."""
        return [one for one in (*self.queries, *self.needing_none) if one.ranking is not None]


def request_of(split: RequestSplit) -> Callable[[Query], ToolRequest]:
    """What is searched for a query: split by *rules*, by its own *steps* where it has some, or
    whole. Steps are part of the gold answer: what they reach is a bound.
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
) -> Measurement:
    """The figures of rankings that are there, of at least the largest cut-off."""
    golds = tuple(query.gold for query in relabelled(trial.queries, toolset.phi))
    costs = {tool.id: tokens(tool) for tool in toolset.tools}
    token_means = {
        k: sum(costs[one] for ranking in rankings for one in ranking[:k]) / len(rankings)
        for k in trial.cutoffs
    }
    return Measurement(
        toolset=toolset,
        golds=golds,
        rankings=rankings,
        rows=metric_rows(golds, rankings, trial.cutoffs),
        coverage=coverage(gold_calls(trial.queries, trial.catalog), toolset),
        tokens=sum(costs.values()),
        token_means=token_means,
    )


def compared(trial: Trial, before: Measurement, after: Measurement) -> Comparison:
    """Two measurements of one trial side by side; merges, confusions and what people forbade are
    the caller's to add.
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
