"""The time of a search without encoding the request, compared with bm25s and FAISS alone.

 python -m benchmarks.retrieval_speed [--small]

The tools are the 4,076 of Seal-Tools and, without ``--small``, 40,000 from ``large_catalogs``. The
requests are development queries of Seal-Tools. They are split by rule and encoded before the clock
starts. One request is searched for at a time, for the ten best tools, in a process that opens the
index from its folder. The memory is the most that this process used, including the catalog, the
encoder, and the parts of mapped files that it read.
"""

import multiprocessing
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import bm25s
import faiss
import numpy as np

from benchmarks.large_catalogs import large_catalog
from benchmarks.measuring import clocked, data_folder, parser_of, print_machine, read_named
from benchmarks.papers.paper_sets import QUERIES
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache, embed_cached
from toolscope_core.evaluation.comparison import request_of
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.documents import tool_document
from toolscope_core.retrieval.index_files import sparse_terms
from toolscope_core.retrieval.retriever import Retriever

REQUESTS, K = 200, 10
SMALL = 4_076
LIMITS = {(True, "none"): 15, (True, "late"): 120, (False, "none"): 50, (False, "late"): 220}
"""The limits for p95 in ms, keyed by whether the catalog is small and by the reranker."""


def quantiles(run: Callable[[int], object], limit: int | None = None) -> str:
    """The times of ``REQUESTS`` runs, after one run to warm up."""
    run(0)
    times = [1000 * clocked(lambda at=at: run(at)) for at in range(REQUESTS)]
    p50, p95 = np.percentile(times, [50, 95])
    return f"p50 {p50:6.1f}  p95 {p95:6.1f} ms" + (f"   limit {limit} ms" if limit else "")


def measure(catalog: Catalog, requests: Sequence[ToolRequest]) -> None:
    searched = sum(len(one.texts) for one in requests)
    print(f"\nn = {len(catalog.tools):,} tools, {searched:,} texts searched")
    with tempfile.TemporaryDirectory() as name:
        cache = VectorCache(Path(name))
        for rerank in ("none", "late"):
            config = RetrievalConfig(rerank=rerank)
            opened = partial(Retriever, catalog.tools, None, cache, config)
            print(f"index opened, rerank {rerank:4} {clocked(opened):10.2f} s")
            retriever = opened()
            print(
                f"  first search      {clocked(partial(retriever.search, requests[0], K)):8.2f} s"
            )
            print(f"  all texts encoded {clocked(retriever.encode_documents):8.2f} s")
        for rerank in ("none", "late"):
            print(f"another process, rerank {rerank}", flush=True)
            search = multiprocessing.get_context("spawn").Process(
                target=search_alone, args=(catalog, cache, requests, rerank)
            )
            search.start()
            search.join()
        print("peers")
        peers(catalog, cache, requests)


def search_alone(
    catalog: Catalog, cache: VectorCache, requests: Sequence[ToolRequest], rerank: str
) -> None:
    """Print the times of a process that opens the index from its folder and searches."""
    before = peak_gb()
    start = time.perf_counter()
    retriever = Retriever(catalog.tools, None, cache, RetrievalConfig(rerank=rerank))
    limit = "   limit 1 s" if rerank == "none" else ""
    print(f"  index from cache  {time.perf_counter() - start:8.2f} s{limit}")
    for request in requests:  # only few texts at a time are cached with their tokens
        retriever.encode(request.texts)
    times = quantiles(
        lambda at: retriever.search(requests[at], K), LIMITS[len(catalog.tools) <= SMALL, rerank]
    )
    print(f"  search            {times}")
    print(
        f"  memory            {peak_gb():8.2f} GB   limit 2 GB; with the catalog alone {before:.2f}"
    )


def peak_gb() -> float:
    """The peak memory of this process in GB. Mapped files count as far as they were read."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1e6


def peers(catalog: Catalog, cache: VectorCache, requests: Sequence[ToolRequest]) -> None:
    """Print the times of BM25 alone and of the exact inner product alone, on the same texts, for
    whole requests.
    """
    texts, embedder = [tool_document(tool).full for tool in catalog.tools], MiniLmEmbedder()
    sparse = bm25s.BM25()
    sparse.index(list(map(sparse_terms, texts)), show_progress=False)
    terms = [[sparse_terms(one.text)] for one in requests]
    times = quantiles(lambda at: sparse.retrieve(terms[at], k=K, show_progress=False))
    print(f"  bm25s             {times}")
    index = faiss.IndexFlatIP(384)
    index.add(embed_cached(texts, embedder, cache))
    vectors = [embedder.encode([one.text]) for one in requests]
    print(f"  FAISS             {quantiles(lambda at: index.search(vectors[at], K))}")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--small", action="store_true", help="without the 40,000")
    is_small = parser.parse_args().small
    queries = [one for one in read_queries(data_folder("seal-tools") / QUERIES) if one.gold]
    requests = tuple(map(request_of("rules"), queries[:REQUESTS]))
    print_machine()
    measure(read_named("seal-tools"), requests)
    if not is_small:
        measure(large_catalog(), requests)


if __name__ == "__main__":
    main()
