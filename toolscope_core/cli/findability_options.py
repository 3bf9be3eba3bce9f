"""Findability as ``inspect`` says it and ``check`` limits it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from toolscope_core.cli.terminal import progress, say
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.search_configuration import ClientName, RetrievalConfig
from toolscope_core.model.tool import JsonObject

if TYPE_CHECKING:
    from toolscope_core.evaluation.findability import Findability
    from toolscope_core.model.catalog import Catalog

OWN_SEARCH = "toolscope"
SEARCHES = (*get_args(ClientName), OWN_SEARCH)
_MOST_NAMED = 5

OwnQueries = Annotated[
    Path | None,
    typer.Option(
        "--queries",
        help="For findability: JSONL or CSV with `query` and `gold`; tools that no query names "
        "alone are searched by their own words.",
    ),
]


def findability_by_search(
    catalog: Catalog, searches: Iterable[str], queries: Path | None
) -> dict[str, tuple[Findability, ...]]:
    """For each of some searches the findability of every tool, the worst first. Raises
    ``ConfigError`` for queries that cannot be read or that name none of the tools.
    """
    from toolscope_core.embedding.vector_cache import VectorCache
    from toolscope_core.evaluation.findability import findability, own_requests
    from toolscope_core.evaluation.query_sets import read_queries, with_gold_among
    from toolscope_core.llm.embedders import embedder_of
    from toolscope_core.retrieval.client_search import SearchSetup

    settings, tools = read_environment(), catalog.tools
    query_set = read_queries(queries) if queries else ()
    requests = own_requests(tools, with_gold_among(query_set, catalog.by_id, skip=True))
    encoder, cache = embedder_of(settings), VectorCache(settings.cache_dir)
    rows = {}
    for name in searches:
        config = RetrievalConfig(client=next((x for x in get_args(ClientName) if x == name), None))
        search = SearchSetup(encoder, cache, config, servers=catalog.servers).open(tools)
        rows[name] = findability(search, requests, progress=progress())
    return rows


def findability_json(by_search: Mapping[str, Sequence[Findability]]) -> JsonObject:
    """Everything, as JSON values."""
    from toolscope_core.evaluation.findability import FIRST, mean_share

    return {
        name: {
            "share": round(mean_share(rows), 4),
            "first": FIRST,
            "tools": [
                {
                    "tool": row.tool_id,
                    "requests": row.requests,
                    "found": row.found,
                    "from": row.source,
                    "before": dict(row.before),
                }
                for row in rows
            ],
        }
        for name, rows in by_search.items()
    }


def tell_findability(by_search: Mapping[str, Sequence[Findability]]) -> None:
    """A line a search: the mean share, and the tools that it never finds."""
    from toolscope_core.evaluation.findability import FIRST, mean_share

    say(f"how often a tool is among the first {FIRST} for its own requests, by search:")
    for name, rows in by_search.items():
        lost = [row for row in rows if not row.found]
        say(f"{name:18} {mean_share(rows):.3f}  {quantity(len(lost), 'tool')} never found")
        for row in lost[:_MOST_NAMED]:
            before = f"; before it: {', '.join(one for one, _ in row.before)}" if row.before else ""
            say(f"    {row.tool_id} ({row.source}){before}")


def least_findability(limits: Iterable[str]) -> dict[str, float]:
    """The least mean share by search. Raises ``ConfigError`` for what is not like ``codex=.9``."""
    least = {}
    for limit in limits:
        name, _, share = limit.partition("=")
        try:
            least[name] = float(share)
        except ValueError:
            least[name] = -1.0
        if name not in SEARCHES or not 0.0 <= least[name] <= 1.0:
            raise ConfigError(
                f"--min-findability is {limit[:60]!r}; give a search ({', '.join(SEARCHES)}) and a "
                "share of 0 to 1, such as codex=.9"
            )
    return least


def findability_below(catalog: Catalog, least: Mapping[str, float], queries: Path | None) -> str:
    """Which of the least shares are not reached, in a sentence; empty if all are."""
    from toolscope_core.evaluation.findability import mean_share

    shares = {
        name: mean_share(rows)
        for name, rows in findability_by_search(catalog, least, queries).items()
    }
    return "; ".join(
        f"findability by {name} is {shares[name]:.3f}, below {wanted:g}"
        for name, wanted in least.items()
        if shares[name] < wanted
    )
