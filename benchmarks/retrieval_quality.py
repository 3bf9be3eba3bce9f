"""How well tools and servers are found, without a model: the default on every development set.

    python -m benchmarks.retrieval_quality

Recall with 95 % bootstrap intervals over queries, unmerged catalogs, MiniLM. The first row of a set
is the default configuration, the same for all sets, and the others change it. α, the text, the
weights and the rules that split requests were chosen on these queries, so the figures are a little
favourable. Peers in the same run: BM25 alone, dense alone, and for servers the paper's two
baselines and its algorithm. The papers' figures are with other encoders, rerankers and halves of
the queries. The splits *dummy* and *context* are a language model's, recorded for 240 queries.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.measuring import print_machine, read_named, user_cache
from benchmarks.searching import (
    DEFAULT,
    dev_queries,
    interval_text,
    judged_queries,
    planned_queries,
    rankings_of,
    requests_of,
    retriever_of,
    split_ways,
)
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.evaluation.intervals import interval
from toolscope_core.evaluation.metrics import Gold, recall
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import RetrievalConfig, Split
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.servers import ServerRetriever

CUTOFFS, SERVER_CUTOFFS = (1, 5, 10), (1, 3, 5)
SETS = {
    "bfcl": "ToolScope, Table 5: .880 / .973 / .985",
    "ultratool": "",
    "seal-tools": "ToolScope, Table 5: - / .884 / .935",
    "livemcpbench": "",
}
"""The papers' recall@1 / 5 / 10 where they give it."""

PLAIN, LATE = replace(DEFAULT, rerank="none"), replace(DEFAULT, rerank="late")
VARIANTS: dict[str, tuple[RetrievalConfig, Split]] = {
    "default": (DEFAULT, "rules"),
    "no reranking": (PLAIN, "rules"),
    "not split": (DEFAULT, "none"),
    "split, top1 (eq. 5)": (replace(DEFAULT, assembly="top1"), "rules"),
    "BM25 alone": (replace(PLAIN, dense_weight=0.0), "none"),
    "dense alone": (replace(PLAIN, dense_weight=1.0), "none"),
}
SERVER_VARIANTS: dict[str, RetrievalConfig] = {
    "default": DEFAULT,
    "late interaction": LATE,
    "tools only": replace(DEFAULT, corpus="tools"),
    "servers only": replace(DEFAULT, corpus="servers"),
    "best document alone": replace(DEFAULT, server_weight=0.0),
}
"""The last is the paper's algorithm 1."""


def main() -> None:
    print_machine()
    for name, paper in SETS.items():
        catalog, queries = read_named(name), judged_queries(name)
        heading(f"{name}: {len(catalog.tools):,} tools, {len(queries):,} queries. {paper}", CUTOFFS)
        for label, (config, split) in VARIANTS.items():
            tool_row(label, catalog, queries, requests_of(queries, split), config)
    recorded_splits("ultratool")
    servers("livemcpbench")


def recorded_splits(name: str) -> None:
    """Queries of which splits by a model are recorded, beside other splits."""
    catalog, queries = read_named(name), planned_queries(name)
    heading(f"{name}: the {len(queries)} queries with recorded splits", CUTOFFS)
    for config, suffix in ((DEFAULT, ""), (PLAIN, ", no rerank")):
        for kind, requests in split_ways(name, queries).items():
            tool_row(f"{kind}{suffix}", catalog, queries, requests, config)


def servers(name: str) -> None:
    catalog = read_named(name)
    owners = {tool.id: tool.owner for tool in catalog.tools}
    queries = [query for query in dev_queries(name) if query.server_gold(owners)]
    golds = [query.server_gold(owners) for query in queries]
    count = len(set(owners.values()))
    splits: dict[str, Split] = {
        "the request": "none",
        "split by rule": "rules",
        "gold steps": "steps",
    }
    for kind, split in splits.items():
        title = f"{name} servers, {kind}: {count} servers, {len(queries)} queries"
        heading(title, SERVER_CUTOFFS)
        for label, config in SERVER_VARIANTS.items():
            retriever = ServerRetriever(catalog, MiniLmEmbedder(), user_cache(), config)
            ranked = retriever.search_each(requests_of(queries, split), max(SERVER_CUTOFFS))
            rankings = [[one.server for one in places] for places in ranked]
            places = [one for ranking in ranked for one in ranking]
            share = sum(one.tool_id is not None for one in places) / len(places)
            line = row(label, golds, rankings, SERVER_CUTOFFS)
            print(f"{line}  {share:.0%} of places from tools", flush=True)


def tool_row(
    label: str,
    catalog: Catalog,
    queries: Sequence[Query],
    requests: Sequence[ToolRequest],
    config: RetrievalConfig,
) -> None:
    retriever = retriever_of(catalog.tools, config)
    start = time.perf_counter()
    rankings = rankings_of(retriever, requests, max(CUTOFFS))
    each = (time.perf_counter() - start) / len(queries)
    line = row(label, [one.gold for one in queries], rankings, CUTOFFS)
    print(f"{line}  {each * 1000:.1f} ms a query", flush=True)


def row(
    name: str, golds: Sequence[Gold], rankings: Sequence[Sequence[str]], cutoffs: Sequence[int]
) -> str:
    """A line of the table."""
    cells = []
    for k in cutoffs:
        values = [recall(ids, gold, k) for gold, ids in zip(golds, rankings, strict=True)]
        cells.append(interval_text(interval(values)))
    return f"  {name:22} {'  '.join(cells)}"


def heading(text: str, cutoffs: Sequence[int]) -> None:
    print(f"{text}\n  {'':22} {'  '.join(f'recall@{k}'.ljust(20) for k in cutoffs)}", flush=True)


if __name__ == "__main__":
    main()
