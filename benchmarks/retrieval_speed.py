"""How long a search takes beyond encoding the request, beside bm25s and FAISS alone.

    TOOLSCOPE_DATA=../shared/data python -m benchmarks.retrieval_speed [--small]

Seal-Tools' 4,076 tools and, without ``--small``, 40,000 seeded variations of them with vectors
moved a little. The requests are development queries, split by rule; what their texts are encoded to
is there before the clock starts. One request at a time, the ten best, in a process that opens the
index from its folder; memory is the most that this process held, the catalog, the requests' vectors
and the mapped files that it touched among it.
"""

from __future__ import annotations

import multiprocessing
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import bm25s
import faiss
import numpy as np

from benchmarks.explore_speed import LARGE, NOISE, SEED, perturbed
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.embed_once import embed_cached
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.token_cache import TokenCache
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import RetrievalConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.protocols import TokenEmbedder, Vectors
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.retrieval.documents import tool_document
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.retrieval.sparse import sparse_terms

REQUESTS, K = 200, 10
LIMITS = {(4_076, "none"): 15, (4_076, "late"): 120, (LARGE, "none"): 50, (LARGE, "late"): 220}
"""p95 in ms."""


class Recorded:
    """An embedder that looks its texts up: those of a catalog, which are those of ``originals``
    moved a little, and those of requests.
    """

    name = "recorded"

    def __init__(self, catalog: Catalog, originals: Catalog, asked: Sequence[str]) -> None:
        model, folder = MiniLmEmbedder(), read_environment().cache_dir
        by_id = {tool.id: tool for tool in originals.tools}
        sources: dict[str, str] = {}
        for tool in catalog.tools:
            old = tool_document(by_id[tool.raw.get("from", tool.id)])
            new = tool_document(tool)
            sources |= {new.short: old.short, new.full: old.full}
        self._source = sources
        texts = list(dict.fromkeys([*sources.values(), *asked]))
        self._vectors = dict(
            zip(texts, embed_cached(texts, model, VectorCache(folder)), strict=True)
        )
        self._tokens = TokenCache(folder).ensure(list(dict.fromkeys(sources.values())), model)
        self._asked = dict(zip(asked, model.encode_tokens(asked), strict=True))
        self._random = np.random.default_rng(SEED)

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows = np.stack([self._vectors[self._source.get(text, text)] for text in texts])
        if texts[0] in self._asked:
            return rows
        noise = self._random.normal(size=rows.shape) * NOISE / np.sqrt(rows.shape[1])
        moved = (rows + noise).astype(np.float32)
        normalised: Vectors = moved / np.linalg.norm(moved, axis=1, keepdims=True)
        return normalised

    def encode_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        return [
            self._asked[text] if text in self._asked else self._tokens.of(self._source[text])
            for text in texts
        ]


def quantiles(run: Callable[[int], object], limit: int | None = None) -> str:
    """The times of ``REQUESTS`` runs after one that does not count."""
    times = []
    for number in range(-1, REQUESTS):
        start = time.perf_counter()
        run(max(0, number))
        times.append((time.perf_counter() - start) * 1000)
    p50, p95 = np.percentile(times[1:], [50, 95])
    return f"p50 {p50:6.1f}  p95 {p95:6.1f} ms" + (f"   limit {limit} ms" if limit else "")


class RecordedEmbedder:
    """What a search needs of an embedder once the index is there: the request's own vectors."""

    name = Recorded.name

    def __init__(self, vectors: Mapping[str, Vectors], tokens: Mapping[str, Vectors]) -> None:
        self._vectors, self._tokens = vectors, tokens

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vectors[text] for text in texts])

    def encode_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        return [self._tokens[text] for text in texts]


def measure(catalog: Catalog, originals: Catalog, requests: Sequence[ToolRequest]) -> None:
    size = len(catalog.tools)
    asked = list(dict.fromkeys(text for one in requests for text in one.texts))
    embedder = Recorded(catalog, originals, asked)
    vectors = dict(zip(asked, embedder.encode(asked), strict=True))
    tokens = dict(zip(asked, embedder.encode_tokens(asked), strict=True))
    print(f"\nn = {size:,} tools, {sum(len(one.texts) for one in requests):,} texts searched")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rerank in ("none", "late"):
            start = time.perf_counter()
            Retriever(catalog.tools, embedder, VectorCache(folder), RetrievalConfig(rerank=rerank))
            print(f"index built, rerank {rerank:4} {time.perf_counter() - start:10.2f} s")
        for rerank in ("none", "late"):
            print(f"another process, rerank {rerank}", flush=True)
            search = multiprocessing.get_context("spawn").Process(
                target=search_alone,
                args=(catalog, RecordedEmbedder(vectors, tokens), folder, requests, rerank),
            )
            search.start()
            search.join()
        print("peers")
        peers(catalog, embedder, requests)


def search_alone(
    catalog: Catalog,
    embedder: RecordedEmbedder,
    folder: Path,
    requests: Sequence[ToolRequest],
    rerank: str,
) -> None:
    """Prints the times of a process that opens the index from its folder and searches."""
    before = held()
    start = time.perf_counter()
    config = RetrievalConfig(rerank=rerank)
    retriever = Retriever(catalog.tools, embedder, VectorCache(folder), config)
    limit = "   limit 1 s" if rerank == "none" else ""
    print(f"  index from cache  {time.perf_counter() - start:8.2f} s{limit}")
    times = quantiles(
        lambda at: retriever.search(requests[at], K), LIMITS.get((len(catalog.tools), rerank))
    )
    print(f"  search            {times}")
    print(f"  memory            {held():8.2f} GB   limit 2 GB; with the catalog alone {before:.2f}")


def held() -> float:
    """The most memory that this process has held, in GB: mapped files that it touched too."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1e6


def peers(catalog: Catalog, embedder: TokenEmbedder, requests: Sequence[ToolRequest]) -> None:
    """BM25 alone and exact inner product alone, on the same texts, for the request alone."""
    documents = [tool_document(tool) for tool in catalog.tools]
    sparse = bm25s.BM25()
    sparse.index([sparse_terms(one.full) for one in documents], show_progress=False)
    terms = [[sparse_terms(one.text)] for one in requests]
    times = quantiles(lambda at: sparse.retrieve(terms[at], k=K, show_progress=False))
    print(f"  bm25s             {times}")
    index = faiss.IndexFlatIP(384)
    index.add(embedder.encode([one.full for one in documents]))
    vectors = [embedder.encode([one.text]) for one in requests]
    print(f"  FAISS             {quantiles(lambda at: index.search(vectors[at], K))}")


def main() -> None:
    data = Path(read_environment().data_dir) / "seal-tools"
    originals = read_catalog(load_paths([data / "tools.jsonl"]))
    queries = read_queries(data / "queries.dev.jsonl")[:REQUESTS]
    requests = [ToolRequest(one.text, decompose(one.text)) for one in queries]
    print(f"{platform.platform()}, {platform.processor() or platform.machine()}")
    measure(originals, originals, requests)
    if "--small" not in sys.argv[1:]:
        measure(perturbed(originals, LARGE), originals, requests)


if __name__ == "__main__":
    main()
