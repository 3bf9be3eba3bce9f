"""How well tools and servers are found, without a model: the default on every development set.

    TOOLSCOPE_DATA=../shared/data python -m benchmarks.retrieval_quality

Recall with 95 % bootstrap intervals over queries, unmerged catalogs, MiniLM. The first row of a set
is the default configuration, the same for all sets, and the others change it. α, the text, the
weights and the rules that split requests were chosen on these queries, so the figures are a little
favourable. Peers in the same run: BM25 alone, dense alone, and for servers the paper's two
baselines and its algorithm. The papers' figures are with other encoders, rerankers and halves of
the queries. The splits *dummy* and *context* are a language model's, recorded for 240 queries.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.intervals import interval
from toolscope_core.evaluation.metrics import Gold, recall
from toolscope_core.evaluation.query_sets import Query, read_queries
from toolscope_core.llm.embedders import embedder_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import RetrievalConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.retrieval.servers import ServerRetriever
from toolscope_core.retrieval.subqueries import recorded_splits

CUTOFFS, SERVER_CUTOFFS = (1, 5, 10), (1, 3, 5)
SETS = {
    "bfcl": ("tools.jsonl", "ToolScope, Table 5: .880 / .973 / .985"),
    "ultratool": ("tools.jsonl", ""),
    "seal-tools": ("tools.jsonl", "ToolScope, Table 5: - / .884 / .935"),
    "livemcpbench": ("servers.json", ""),
}
"""The catalog's file, and the papers' recall@1 / 5 / 10 where they give it."""

DEFAULT = RetrievalConfig()
PLAIN, LATE = replace(DEFAULT, rerank="none"), replace(DEFAULT, rerank="late")
VARIANTS: dict[str, tuple[RetrievalConfig, bool]] = {
    "default": (DEFAULT, True),
    "no reranking": (PLAIN, True),
    "not split": (DEFAULT, False),
    "split, top1 (eq. 5)": (replace(DEFAULT, assembly="top1"), True),
    "BM25 alone": (replace(PLAIN, dense_weight=0.0), False),
    "dense alone": (replace(PLAIN, dense_weight=1.0), False),
}
SERVER_VARIANTS: dict[str, RetrievalConfig] = {
    "default": DEFAULT,
    "late interaction": LATE,
    "tools only": replace(DEFAULT, corpus="tools"),
    "servers only": replace(DEFAULT, corpus="servers"),
    "best document alone": replace(DEFAULT, server_weight=0.0),
}
"""The last is the paper's algorithm 1."""

Rankings = Sequence[Sequence[str]]


def requests_of(queries: Sequence[Query], split: bool) -> list[ToolRequest]:
    """What is searched for each query, split by rule or not."""
    return [ToolRequest(one.text, decompose(one.text) if split else ()) for one in queries]


def row(name: str, golds: Sequence[Gold], rankings: Rankings, cutoffs: Sequence[int]) -> str:
    """A line of the table."""
    cells = []
    for k in cutoffs:
        values = [recall(ids, gold, k) for gold, ids in zip(golds, rankings, strict=True)]
        mean = interval(values)
        cells.append(f"{mean.mean:.3f} [{mean.low:.3f}, {mean.high:.3f}]")
    return f"  {name:22} {'  '.join(cells)}"


def heading(text: str, cutoffs: Sequence[int]) -> None:
    print(f"{text}\n  {'':22} {'  '.join(f'recall@{k}'.ljust(20) for k in cutoffs)}", flush=True)


class Bench:
    """Catalogs of the data folder, searched."""

    def __init__(self) -> None:
        settings = read_environment()
        self.data = Path(settings.data_dir)
        self.embedder, self.cache = embedder_of(settings), VectorCache(settings.cache_dir)

    def tools(self, name: str, file: str, paper: str) -> None:
        catalog = read_catalog(load_paths([self.data / name / file]))
        queries = [one for one in read_queries(self.data / name / "queries.dev.jsonl") if one.gold]
        heading(f"{name}: {len(catalog.tools):,} tools, {len(queries):,} queries. {paper}", CUTOFFS)
        for label, (config, split) in VARIANTS.items():
            self._tool_row(label, catalog, queries, requests_of(queries, split), config)

    def splits(self) -> None:
        """UltraTool's queries of which splits by a model are recorded, beside other splits."""
        catalog = read_catalog(load_paths([self.data / "ultratool" / "tools.jsonl"]))
        plans = self.data / "ultratool" / "plans.dev.jsonl"
        splits = {kind: recorded_splits(plans, kind) for kind in ("dummy", "context")}
        queries = [
            one
            for one in read_queries(self.data / "ultratool" / "queries.dev.jsonl")
            if one.id in splits["dummy"]
        ]
        kinds = {
            "not split": requests_of(queries, False),
            "by rule": requests_of(queries, True),
            **{
                kind: [ToolRequest(q.text, recorded[q.id], by_rule=False) for q in queries]
                for kind, recorded in splits.items()
            },
            "gold steps": [ToolRequest(q.text, q.steps, by_rule=False) for q in queries],
        }
        heading(f"ultratool: the {len(queries)} queries with recorded splits", CUTOFFS)
        for config in (DEFAULT, PLAIN):
            for kind, requests in kinds.items():
                label = kind if config is DEFAULT else f"{kind}, no rerank"
                self._tool_row(label, catalog, queries, requests, config)

    def servers(self) -> None:
        catalog = read_catalog(load_paths([self.data / "livemcpbench" / "servers.json"]))
        owners = {tool.id: tool.owner for tool in catalog.tools}
        queries = [
            one
            for one in read_queries(self.data / "livemcpbench" / "queries.dev.jsonl")
            if one.server_gold(owners)
        ]
        golds = [one.server_gold(owners) for one in queries]
        count = len(set(owners.values()))
        for name, requests in {
            "the request": requests_of(queries, False),
            "split by rule": requests_of(queries, True),
            "gold steps": [ToolRequest(q.text, q.steps, by_rule=False) for q in queries],
        }.items():
            heading(
                f"livemcpbench servers, {name}: {count} servers, {len(queries)} queries",
                SERVER_CUTOFFS,
            )
            for label, config in SERVER_VARIANTS.items():
                retriever = ServerRetriever(catalog, self.embedder, self.cache, config)
                ranked = retriever.search_each(requests, max(SERVER_CUTOFFS))
                rankings = [[one.server for one in places] for places in ranked]
                places = [one for ranking in ranked for one in ranking]
                share = sum(one.tool_id is not None for one in places) / len(places)
                line = row(label, golds, rankings, SERVER_CUTOFFS)
                print(f"{line}  {share:.0%} of places from tools", flush=True)

    def _tool_row(
        self,
        label: str,
        catalog: Catalog,
        queries: Sequence[Query],
        requests: Sequence[ToolRequest],
        config: RetrievalConfig,
    ) -> None:
        retriever = Retriever(catalog.tools, self.embedder, self.cache, config)
        start = time.perf_counter()
        ranked = retriever.search_each(requests, max(CUTOFFS))
        each = (time.perf_counter() - start) / len(queries)
        rankings = [[one.tool_id for one in places] for places in ranked]
        line = row(label, [one.gold for one in queries], rankings, CUTOFFS)
        print(f"{line}  {each * 1000:.1f} ms a query", flush=True)


def main() -> None:
    print(f"{platform.platform()}, {platform.processor() or platform.machine()}")
    bench = Bench()
    for name, (file, paper) in SETS.items():
        bench.tools(name, file, paper)
    bench.splits()
    bench.servers()


if __name__ == "__main__":
    main()
