"""How well tools are found, without a model: the default on every development set, and variants.

    TOOLSCOPE_DATA=../shared/data python -m benchmarks.retrieval_quality

Recall at 1, 5 and 10 with 95 % bootstrap intervals over queries, unmerged catalogs, MiniLM.
The first row of a set is the default configuration, the same for all sets; α, the text, the weight
of sub-queries and the rules that split requests were chosen on these queries, so the figures are a
little favourable. Peers in the same run: BM25 alone and dense alone. The papers' figures are with
other encoders, rerankers and query halves.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolscope_core.cache import VectorCache
from toolscope_core.catalog import load_paths, read_catalog
from toolscope_core.config import RetrievalConfig, read_environment
from toolscope_core.embedders import embedder_of
from toolscope_core.evaluation.intervals import interval
from toolscope_core.evaluation.metrics import recall
from toolscope_core.evaluation.query_sets import Query, read_queries
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.retrieval.retriever import Retriever

CUTOFFS = (1, 5, 10)
SETS = {
    "bfcl": "ToolScope, Table 5: .880 / .973 / .985",
    "ultratool": "",
    "seal-tools": "ToolScope, Table 5: - / .884 / .935",
}
"""The papers' recall@1 / 5 / 10, where they give it."""

DEFAULT = RetrievalConfig()
VARIANTS: dict[str, tuple[RetrievalConfig, bool]] = {
    "default": (DEFAULT, True),
    "late interaction": (replace(DEFAULT, rerank="late"), True),
    "not split": (DEFAULT, False),
    "split, top1 (eq. 5)": (replace(DEFAULT, assembly="top1"), True),
    "BM25 alone": (replace(DEFAULT, alpha=0.0), False),
    "dense alone": (replace(DEFAULT, alpha=1.0), False),
}


def requests_of(queries: Sequence[Query], split: bool) -> list[ToolRequest]:
    """What is searched for each query."""
    return [ToolRequest(one.text, decompose(one.text) if split else ()) for one in queries]


def row(name: str, queries: Sequence[Query], rankings: Sequence[Sequence[str]]) -> str:
    """A line of the table."""
    cells = []
    for k in CUTOFFS:
        values = [recall(ids, one.gold, k) for one, ids in zip(queries, rankings, strict=True)]
        mean = interval(values)
        cells.append(f"{mean.mean:.3f} [{mean.low:.3f}, {mean.high:.3f}]")
    return f"  {name:22} {'  '.join(cells)}"


def main() -> None:
    settings = read_environment()
    embedder, cache = embedder_of(settings), VectorCache(settings.cache_dir)
    print(f"{platform.platform()}, {platform.processor() or platform.machine()}")
    print(f"  {'':22} {'  '.join(f'recall@{k}'.ljust(20) for k in CUTOFFS)}")
    for name, paper in SETS.items():
        folder = Path(settings.data_dir) / name
        catalog = read_catalog(load_paths([folder / "tools.jsonl"]))
        queries = read_queries(folder / "queries.dev.jsonl")
        print(f"{name}: {len(catalog.tools):,} tools, {len(queries):,} queries. {paper}")
        for label, (config, split) in VARIANTS.items():
            retriever = Retriever(catalog.tools, embedder, cache, config)
            start = time.perf_counter()
            ranked = retriever.search_each(requests_of(queries, split), max(CUTOFFS))
            each = (time.perf_counter() - start) / len(queries)
            rankings = [[one.tool_id for one in places] for places in ranked]
            print(f"{row(label, queries, rankings)}  {each * 1000:.1f} ms a query")


if __name__ == "__main__":
    main()
