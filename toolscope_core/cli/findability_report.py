"""Prints how findable tools are in the searches of clients, and chooses the tools for every
prompt.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from toolscope_core.catalog.tokens import Costs
from toolscope_core.cli.terminal import progress, say
from toolscope_core.cli.usage_command import counted_calls
from toolscope_core.decisions.constraints import deferrals
from toolscope_core.evaluation.bench import Bench
from toolscope_core.evaluation.findability import (
    COMPARED,
    FIRST,
    Findability,
    findability,
    mean_share,
    own_requests,
)
from toolscope_core.evaluation.query_sets import read_queries, with_gold_among, with_ids
from toolscope_core.export.eager_choice import LoadingEvidence, eager_ids, loaded_tools
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.search_configuration import ClientName, named_search
from toolscope_core.model.tool import JsonObject
from toolscope_core.retrieval.client_search import CLIENT_SEARCHES

_MOST_NAMED = 5


def findability_by_search(
    catalog: Catalog,
    searches: Iterable[str] | None,
    queries: Path | None,
    embedder: str | None = None,
) -> dict[str, tuple[Findability, ...]]:
    """The findability of every tool, the worst first, in each of ``searches`` (``None`` for all).

    Raises ``ConfigError`` for unreadable queries, and for queries that name no tool of the catalog.
    """
    tools = catalog.tools
    query_set = with_ids(read_queries(queries), tools) if queries else ()
    queries_here = with_gold_among(query_set, catalog.by_id, skip=True)
    if query_set and not any(one.gold for one in queries_here):
        raise ConfigError(f"no query in {queries} names a catalog tool; use tool ids in `gold`")
    bench, requests = Bench.of(catalog, embedder), own_requests(tools, queries_here)
    return {
        name: findability(
            bench.search(named_search(name)).open(tools), requests, progress=progress()
        )
        for name in searches or COMPARED
    }


def findability_json(by_search: Mapping[str, Sequence[Findability]]) -> JsonObject:
    """All figures as JSON values."""
    return {
        name: {
            "share": round(mean_share(rows), 4),
            "first": FIRST,
            "tools": [
                {
                    "tool": row.tool_id,
                    "requests": row.requests,
                    "found": row.hits,
                    "from": row.source,
                    "before": dict(row.before),
                }
                for row in rows
            ],
        }
        for name, rows in by_search.items()
    }


def tell_findability(by_search: Mapping[str, Sequence[Findability]]) -> None:
    """Print one line per search: the mean share, and the tools that the search never finds."""
    approximate = {name for name, one in CLIENT_SEARCHES.items() if one.approximate}
    say(f"share of tools among the first {FIRST} results for their own requests, by search:")
    for name, rows in by_search.items():
        unreachable = [row for row in rows if not row.hits]
        label = f"{name} (approximate)" if name in approximate else name
        say(f"{label:32} {mean_share(rows):.3f}  {quantity(len(unreachable), 'tool')} never found")
        for row in unreachable[:_MOST_NAMED]:
            before = f"; before it: {', '.join(one for one, _ in row.before)}" if row.before else ""
            say(f"    {row.tool_id} ({row.source}){before}")


def least_findability(limits: Iterable[str]) -> dict[str, float]:
    """The required mean share for each search.

    Raises ``ConfigError`` for a text that is not like ``codex=.9``.
    """
    searches, least = (*get_args(ClientName), "own"), {}
    for limit in limits:
        name, _, share = limit.partition("=")
        try:
            least[name] = float(share)
        except ValueError:
            least[name] = -1.0
        if name not in searches or not 0.0 <= least[name] <= 1.0:
            raise ConfigError(
                f"--min-findability is {limit[:60]!r}; use a search ({', '.join(searches)}) and a "
                "share of 0 to 1, such as codex=.9"
            )
    return least


def findability_below(
    catalog: Catalog, least: Mapping[str, float], queries: Path | None, embedder: str | None
) -> str:
    """A sentence on the required shares that are not reached; empty if all are reached."""
    shares = {
        name: mean_share(rows)
        for name, rows in findability_by_search(catalog, least, queries, embedder).items()
    }
    return "; ".join(
        f"findability by {name} is {shares[name]:.3f}, below {limit:g}"
        for name, limit in least.items()
        if shares[name] < limit
    )


def with_eager_tools(
    plan: MergePlan,
    log: Sequence[Decision],
    budget: int,
    usage: Sequence[Path],
    queries: Path | None,
    search: ClientName,
) -> MergePlan:
    """The plan with a choice of tools for every prompt, within a ``budget`` of tokens.

    Raises ``ConfigError`` for an unreadable file.
    """
    catalog = plan.catalog
    calls = counted_calls(usage, catalog.tools)[0].by_id if usage else {}
    (rows,) = findability_by_search(catalog, [search], queries).values()
    evidence = LoadingEvidence(
        {tool_id: one.calls for tool_id, one in calls.items()},
        {row.tool_id: row.share for row in rows},
        deferrals(catalog, log),
    )
    eager = eager_ids(loaded_tools(plan, evidence, budget, Costs()))
    return replace(plan, eager=frozenset(eager))
