"""What the default encoder takes, and what it changes, beside the original in torch.

    python -m benchmarks.encoder_speed [--rounds 3] [--texts 600]

The texts are those of a merge and of a search of LiveMCPBench and Seal-Tools, two of each tool.
Rounds go through both in turn. A cold start is a process of its own that encodes one text. Pairs
are the candidates at the default threshold; safe merges those that are accepted without a person.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import (
    add_catalogs,
    clocked,
    data_folder,
    parser_of,
    print_machine,
    read_named,
)
from benchmarks.searching import QUERIES, judged_queries, rankings_of, requests_of
from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.packaged_model import DEFAULT_MODEL
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.metrics import recall
from toolscope_core.merging.pipeline import analyse, plan_merge
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig
from toolscope_core.model.protocols import TokenEmbedder
from toolscope_core.retrieval.documents import tool_document
from toolscope_core.retrieval.retriever import Retriever

TORCH, BLOCKS = "torch float32", "ONNX int8 blocks (default)"
_IMPORT = "from toolscope_core.embedding"
COLD = {
    TORCH: f"{_IMPORT}.encoders import SentenceEmbedder as E; E('{DEFAULT_MODEL}')",
    BLOCKS: f"{_IMPORT}.minilm import MiniLmEmbedder as E; E()",
}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=600)
    add_catalogs(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        forms: dict[str, TokenEmbedder] = {
            TORCH: SentenceEmbedder(DEFAULT_MODEL),
            BLOCKS: MiniLmEmbedder(),
        }
        _speed(forms, options.rounds, _texts(options.texts))
        _cold(options.rounds)
        _quality(forms, options.catalogs, Path(folder))


def _texts(count: int) -> list[str]:
    """Texts of merges and searches, those of both catalogs in turn."""
    catalogs = map(read_named, ("livemcpbench", "seal-tools"))
    documents = [map(tool_document, catalog.tools) for catalog in catalogs]
    pairs = zip(*documents, strict=False)
    texts = [text for pair in pairs for one in pair for text in (one.short, one.full)]
    return texts[:count]


def _speed(forms: dict[str, TokenEmbedder], rounds: int, texts: list[str]) -> None:
    expected = forms[TORCH].encode(texts)
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(rounds):
        for name, embedder in forms.items():
            embedder.encode(texts[:2])
            seconds[name].append(clocked(lambda one=embedder: one.encode(texts)))
    print_machine(f"{len(texts)} texts", f"{rounds} rounds")
    print(f"{'':28}texts/s best  median   x torch   cosine mean  1st percentile")
    for name, embedder in forms.items():
        cosine = (embedder.encode(texts) * expected).sum(axis=1)
        best, median = min(seconds[name]), statistics.median(seconds[name])
        print(
            f"{name:28}{len(texts) / best:12.0f}{len(texts) / median:8.0f}"
            f"{statistics.median(seconds[TORCH]) / median:10.2f}{cosine.mean():14.4f}"
            f"{np.percentile(cosine, 1):16.4f}",
            flush=True,
        )


def _cold(rounds: int) -> None:
    """Seconds and memory of a process that starts, encodes one text and ends."""
    for name, start in COLD.items():
        code = (
            f"from pathlib import Path; {start}.encode(['get the weather']); "
            "lines = Path('/proc/self/status').read_text().splitlines(); "
            "print(next(one.split()[1] for one in lines if one.startswith('VmHWM')))"
        )
        runs: list[float] = []
        for _ in range(rounds):
            begin = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True, text=True
            )
            runs.append(time.perf_counter() - begin)
        print(
            f"cold start, {name}: {min(runs):.2f} s best, {statistics.median(runs):.2f} s median, "
            f"{int(done.stdout) // 1024} MiB at the most",
            flush=True,
        )


def _quality(forms: dict[str, TokenEmbedder], catalogs: list[str], folder: Path) -> None:
    """Candidate pairs and safe merges that change, and recall@5 by the default search."""
    for catalog_name in catalogs:
        catalog = read_named(catalog_name)
        print(f"{catalog_name}: {len(catalog.tools):,} tools")
        expected: tuple[set[Any], ...] = ()
        for at, (name, embedder) in enumerate(forms.items()):
            cache = VectorCache(folder / f"cache-{at}")
            analysis = analyse(catalog, AnalysisConfig(threshold=0.6), embedder, cache)
            ends = (analysis.scores.left.tolist(), analysis.scores.right.tolist())
            plan = plan_merge(analysis, (), PlanConfig("auto"))
            safe = {one.members for one in plan.clusters if one.state == "accepted"}
            merges = (set(zip(*ends, strict=True)), safe)
            expected = expected or merges
            changes = [
                f"{len(own)} {kind}, -{len(other - own)} +{len(own - other)}"
                for kind, own, other in zip(("pairs", "safe"), merges, expected, strict=True)
            ]
            print(f"  {name:28} {'; '.join(changes)}", end="")
            print(_recall(catalog_name, catalog, embedder, cache), flush=True)


def _recall(name: str, catalog: Catalog, embedder: TokenEmbedder, cache: VectorCache) -> str:
    """Recall@5 in words; nothing where there are no queries."""
    if not (data_folder(name) / QUERIES).exists():
        return ""
    queries = judged_queries(name)
    retriever = Retriever(catalog.tools, embedder, cache)
    rankings = rankings_of(retriever, requests_of(queries, "rules"), 5)
    recalls = [recall(ids, one.gold, 5) for ids, one in zip(rankings, queries, strict=True)]
    return f"; recall@5 {np.mean(recalls):.4f} of {len(queries)} queries"


if __name__ == "__main__":
    main()
