"""What benchmarks of the search share: queries of the data, document variants, rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.measuring import data_folder
from toolscope_core.catalog.document_variants import read_variants
from toolscope_core.evaluation.comparison import request_of
from toolscope_core.evaluation.query_sets import Query, read_queries
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import Split
from toolscope_core.model.tool import Augmentation
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.retriever import Retriever

QUERIES, PLANS, VARIANTS = "queries.dev.jsonl", "plans.dev.jsonl", "augmented.jsonl"


def judged_queries(name: str) -> list[Query]:
    """The development queries of a catalog that have gold answers."""
    return [query for query in read_queries(data_folder(name) / QUERIES) if query.gold]


def recorded_variants(name: str, catalog: Catalog) -> Mapping[str, Augmentation]:
    """The document variants that a model wrote for a catalog, by tool id; none of most."""
    file = data_folder(name) / VARIANTS
    return read_variants(file, catalog).by_id if file.exists() else {}


def requests_of(queries: Sequence[Query], split: Split) -> tuple[ToolRequest, ...]:
    """What is searched for each query."""
    return tuple(map(request_of(split), queries))


def rankings_of(retriever: Retriever, requests: Sequence[ToolRequest], k: int) -> list[list[str]]:
    """The ids of the k best tools for each request."""
    return [[place.tool_id for place in ranking] for ranking in retriever.search_each(requests, k)]
