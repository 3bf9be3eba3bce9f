"""What benchmarks of the search share: queries of the data, ways to split them, rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.measuring import data_folder, user_cache
from toolscope_core.catalog.document_variants import read_variants
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.evaluation.comparison import request_of
from toolscope_core.evaluation.intervals import Interval
from toolscope_core.evaluation.query_sets import Query, read_queries
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import RetrievalConfig, Split
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.retrieval.subqueries import recorded_splits

DEFAULT = RetrievalConfig()
PLANS = "plans.dev.jsonl"


def dev_queries(name: str) -> list[Query]:
    """The development queries of a catalog."""
    return list(read_queries(data_folder(name) / "queries.dev.jsonl"))


def judged_queries(name: str) -> list[Query]:
    """Those that have gold answers."""
    return [query for query in dev_queries(name) if query.gold]


def recorded_variants(name: str, catalog: Catalog) -> Mapping[str, Augmentation]:
    """The document variants that a model wrote for a catalog, by tool id; none of most."""
    file = data_folder(name) / "augmented.jsonl"
    return read_variants(file, catalog).by_id if file.exists() else {}


def planned_queries(name: str) -> list[Query]:
    """The queries with gold answers of which splits by a model are recorded."""
    recorded = recorded_splits(data_folder(name) / PLANS, "dummy")
    return [query for query in judged_queries(name) if query.id in recorded]


def requests_of(queries: Sequence[Query], split: Split) -> tuple[ToolRequest, ...]:
    """What is searched for each query."""
    return tuple(map(request_of(split), queries))


def split_ways(name: str, queries: Sequence[Query]) -> dict[str, tuple[ToolRequest, ...]]:
    """What is searched for ``planned_queries``, by how they are split."""
    ways = {"not split": requests_of(queries, "none"), "by rule": requests_of(queries, "rules")}
    for kind in ("dummy", "context"):
        splits = recorded_splits(data_folder(name) / PLANS, kind)
        ways[kind] = tuple(
            ToolRequest(query.text, splits[query.id], by_rule=False) for query in queries
        )
    return {**ways, "gold steps": requests_of(queries, "steps")}


def retriever_of(tools: Sequence[Tool], config: RetrievalConfig = DEFAULT) -> Retriever:
    """A search with the default encoder."""
    return Retriever(tools, MiniLmEmbedder(), user_cache(), config)


def rankings_of(retriever: Retriever, requests: Sequence[ToolRequest], k: int) -> list[list[str]]:
    """The ids of the k best tools for each request."""
    return [[place.tool_id for place in ranking] for ranking in retriever.search_each(requests, k)]


def interval_text(interval: Interval) -> str:
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
