"""How long a search takes beyond encoding the request, beside bm25s and FAISS alone.

    python -m benchmarks.retrieval_speed [--small]

Seal-Tools' 4,076 tools and, without ``--small``, 40,000 seeded variations of them with vectors
moved a little. The requests are development queries, split by rule; what their texts are encoded to
is there before the clock starts. One request at a time, the ten best, in a process that opens the
index from its folder; memory is the most that this process held, the catalog, the requests' vectors
and the mapped files that it touched among it.
"""

import multiprocessing
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import bm25s
import faiss
import numpy as np

from benchmarks.measuring import clocked, data_folder, parser_of, print_machine, read_named
from benchmarks.papers.paper_sets import QUERIES
from benchmarks.perturbed import LARGE, CatalogEmbedder, RecordedEmbedder, perturbed_catalog
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.comparison import request_of
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.protocols import TokenEmbedder
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.documents import tool_document
from toolscope_core.retrieval.index_files import sparse_terms
from toolscope_core.retrieval.retriever import Retriever

REQUESTS, K = 200, 10
LIMITS = {(4_076, "none"): 15, (4_076, "late"): 120, (LARGE, "none"): 50, (LARGE, "late"): 220}
"""p95 in ms."""


def quantiles(run: Callable[[int], object], limit: int | None = None) -> str:
    """The times of ``REQUESTS`` runs after one that does not count."""
    times = [1000 * clocked(lambda at=at: run(max(0, at))) for at in range(-1, REQUESTS)]
    p50, p95 = np.percentile(times[1:], [50, 95])
    return f"p50 {p50:6.1f}  p95 {p95:6.1f} ms" + (f"   limit {limit} ms" if limit else "")


def document_texts(tool: Tool) -> tuple[str, str]:
    document = tool_document(tool)
    return document.short, document.full


def measure(catalog: Catalog, originals: Catalog, requests: Sequence[ToolRequest]) -> None:
    texts = list(dict.fromkeys(text for one in requests for text in one.texts))
    embedder = CatalogEmbedder(catalog, originals, document_texts, texts)
    searched = sum(len(one.texts) for one in requests)
    print(f"\nn = {len(catalog.tools):,} tools, {searched:,} texts searched")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rerank in ("none", "late"):
            config = RetrievalConfig(rerank=rerank)
            seconds = clocked(
                lambda config=config: Retriever(
                    catalog.tools, embedder, VectorCache(folder), config
                )
            )
            print(f"index built, rerank {rerank:4} {seconds:10.2f} s")
        for rerank in ("none", "late"):
            print(f"another process, rerank {rerank}", flush=True)
            search = multiprocessing.get_context("spawn").Process(
                target=search_alone, args=(catalog, embedder.of_requests, folder, requests, rerank)
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
    parser = parser_of(__doc__)
    parser.add_argument("--small", action="store_true", help="without the 40,000")
    is_small = parser.parse_args().small
    originals = read_named("seal-tools")
    judged = [one for one in read_queries(data_folder("seal-tools") / QUERIES) if one.gold]
    requests = tuple(map(request_of("rules"), judged[:REQUESTS]))
    print_machine()
    measure(originals, originals, requests)
    if not is_small:
        measure(perturbed_catalog(originals), originals, requests)


if __name__ == "__main__":
    main()
