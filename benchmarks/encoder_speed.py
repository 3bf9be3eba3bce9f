"""What each form of the default encoder takes, and what it changes, side by side in one run.

    TOOLSCOPE_DATA=../shared/data python -m benchmarks.encoder_speed [--rounds 3] [--texts 600]

torch in float32 was the default, and is what the others are compared with. The texts are those of a
merge and of a search of LiveMCPBench and Seal-Tools, two of each tool. Rounds go through all forms
in turn. A cold start is a process of its own that encodes one text. Pairs are the candidates at the
default threshold; safe merges those that are accepted without a person.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.held_out import FILES, source
from benchmarks.retrieval_quality import DEFAULT, SETS, requests_of
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.encoders import SentenceEmbedder, loaded_encoder
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.packaged_model import DEFAULT_MODEL
from toolscope_core.embedding.quantized_model import fused_model
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.metrics import recall
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.merging.pipeline import analyse, plan_merge
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig
from toolscope_core.model.protocols import TokenEmbedder
from toolscope_core.retrieval.documents import tool_document
from toolscope_core.retrieval.retriever import Retriever

TORCH, HALF, BLOCKS = "torch float32", "torch bfloat16", "ONNX int8 blocks (default)"
_IMPORT = "from toolscope_core.embedding"
COLD = {
    TORCH: f"{_IMPORT}.encoders import SentenceEmbedder as E; E('{DEFAULT_MODEL}')",
    BLOCKS: f"{_IMPORT}.minilm import MiniLmEmbedder as E; E()",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=600)
    parser.add_argument("--catalogs", nargs="*", default=list(FILES), choices=list(FILES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        forms = _forms(Path(folder))
        _speed(forms, options.rounds, _texts(options.texts))
        _cold(options.rounds)
        del forms[HALF]  # gives no numpy vectors of tokens, and starts no sooner than float32
        _quality(forms, options.catalogs, Path(folder))


def _forms(folder: Path) -> dict[str, TokenEmbedder]:
    """The encoder in each form; each form's file stands in ``folder``."""
    import onnx
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    fused = folder / "fused.onnx"
    fused_model().save_model_to_file(str(fused))
    per_tensor = folder / "per-tensor.onnx"
    quantize_dynamic(
        fused,
        per_tensor,
        per_channel=True,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )
    half = SentenceEmbedder(DEFAULT_MODEL)
    half._model = loaded_encoder(DEFAULT_MODEL).to(torch.bfloat16)
    return {
        TORCH: SentenceEmbedder(DEFAULT_MODEL),
        HALF: half,
        "ONNX float32": MiniLmEmbedder(fused),
        "ONNX int8 dynamic": MiniLmEmbedder(per_tensor),
        BLOCKS: MiniLmEmbedder(),
    }


def _texts(count: int) -> list[str]:
    """Texts of merges and searches, those of both catalogs in turn."""
    catalogs = [read_catalog(load_paths([source(name)])) for name in ("livemcpbench", "seal-tools")]
    documents = [map(tool_document, catalog.tools) for catalog in catalogs]
    pairs = zip(*documents, strict=False)
    texts = (text for pair in pairs for one in pair for text in (one.short, one.full))
    return [text for text, _ in zip(texts, range(count), strict=False)]


def _speed(forms: dict[str, TokenEmbedder], rounds: int, texts: list[str]) -> None:
    expected = forms[TORCH].encode(texts)
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(rounds):
        for name, embedder in forms.items():
            embedder.encode(texts[:2])
            seconds[name].append(_seconds(lambda one=embedder: one.encode(texts)))
    print(
        f"machine: {os.cpu_count()} cores, {platform.machine()}; {len(texts)} texts, "
        f"{rounds} rounds\n{'':28}texts/s best  median   x torch   cosine mean  1st percentile"
    )
    for name, embedder in forms.items():
        vectors = embedder.encode(texts).astype(np.float64)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)  # bfloat16's are not quite 1
        cosine = (vectors * expected).sum(axis=1)
        best, median = min(seconds[name]), statistics.median(seconds[name])
        print(
            f"{name:28}{len(texts) / best:12.0f}{len(texts) / median:8.0f}"
            f"{statistics.median(seconds[TORCH]) / median:10.2f}{cosine.mean():14.4f}"
            f"{np.percentile(cosine, 1):16.4f}",
            flush=True,
        )


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


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
        catalog = read_catalog(load_paths([source(catalog_name)]))
        print(f"{catalog_name}: {len(catalog.tools):,} tools")
        expected: tuple[set[tuple[int, int]], set[tuple[str, ...]]] | None = None
        for at, (name, embedder) in enumerate(forms.items()):
            cache = VectorCache(folder / f"cache-{at}")
            analysis = analyse(catalog, AnalysisConfig(threshold=0.6), embedder, cache)
            pairs = _row_pairs(analysis.scores.left, analysis.scores.right)
            plan = plan_merge(analysis, (), PlanConfig("auto"))
            safe = {one.members for one in plan.clusters if one.state == "accepted"}
            expected = expected or (pairs, safe)
            line = (
                f"  {name:28}{len(pairs):7} pairs, -{len(expected[0] - pairs)} "
                f"+{len(pairs - expected[0])}; {len(safe)} safe, -{len(expected[1] - safe)} "
                f"+{len(safe - expected[1])}"
            )
            if catalog_name in SETS:
                path = source(catalog_name).with_name("queries.dev.jsonl")
                queries = [one for one in read_queries(path) if one.gold]
                retriever = Retriever(catalog.tools, embedder, cache, DEFAULT)
                rankings = retriever.search_each(requests_of(queries, True), 5)
                recalls = [
                    recall([place.tool_id for place in places], query.gold, 5)
                    for places, query in zip(rankings, queries, strict=True)
                ]
                line += f"; recall@5 {np.mean(recalls):.4f} of {len(queries)} queries"
            print(line, flush=True)


def _row_pairs(left: NDArray[np.int32], right: NDArray[np.int32]) -> set[tuple[int, int]]:
    return set(zip(left.tolist(), right.tolist(), strict=True))


if __name__ == "__main__":
    main()
