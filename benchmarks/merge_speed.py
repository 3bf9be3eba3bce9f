"""How long a merge takes, cold and unchanged, beside the least work it contains.

Each row runs the command line as a whole process, imports included, in a fresh cache (cold) and
again (unchanged). In the same run: FAISS exact search and one dense product of the same size.

    python benchmarks/merge_speed.py [--repeats 3]
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.candidate_pairs import nearest
from toolscope_core.embedding.embed_once import embed_cached
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.tool_text import tool_text
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.environment import read_environment

ROOT = Path(__file__).resolve().parents[1]
CATALOGS = (
    ("livemcpbench", "servers.json", 30.0, None),
    ("seal-tools", "tools.jsonl", 90.0, 5.0),
)
MEMORY_MB = 2048
IMPORT_SECONDS = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3, help="unchanged runs (median is shown)")
    repeats = parser.parse_args().repeats
    data = read_environment().data_dir
    print(
        f"machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    )
    imported = median(repeats, lambda: timed(["-c", "import toolscope_core"])) - median(
        repeats, lambda: timed(["-c", "pass"])
    )
    row("import toolscope_core (over an empty process)", f"{imported:.3f} s", f"{IMPORT_SECONDS} s")
    for name, file, cold_limit, warm_limit in CATALOGS:
        measure(name, data / name / file, repeats, cold_limit, warm_limit)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    row("largest process of all", f"{peak:.0f} MB", f"{MEMORY_MB} MB")


def measure(name: str, path: Path, repeats: int, cold: float, warm: float | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        command = ["-m", "toolscope_core", "merge", str(path), "--out", f"{folder}/bundle"]
        first = timed(command, cache)
        again = median(repeats, lambda: timed(command, cache))
        catalog = read_catalog(load_paths([path]))
        texts = [tool_text(tool) for tool in catalog.tools]
        vectors = embed_cached(texts, MiniLmEmbedder(), VectorCache(cache))
    print(f"\n{name}: n = {len(catalog.tools)} tools, {vectors.shape[1]} dimensions")
    row("merge, cold, imports included", f"{first:.1f} s", f"{cold:.0f} s")
    row("merge, unchanged, imports included", f"{again:.1f} s", f"{warm:.0f} s" if warm else "-")
    seconds = median(repeats, lambda: clocked(lambda: nearest(vectors, 30, 0.6)))
    product = median(repeats, lambda: clocked(lambda: vectors @ vectors.T))
    row("  of it: 30 nearest by FAISS, exact", f"{seconds:.3f} s", "-")
    row("one dense product of the same size", f"{product:.3f} s", "-")


def timed(arguments: list[str], cache: Path | None = None) -> float:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    if cache:
        environment["TOOLSCOPE_CACHE_DIR"] = str(cache)
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, check=True, capture_output=True
    )
    return time.perf_counter() - start


def clocked(work: object) -> float:
    start = time.perf_counter()
    np.asarray(work())  # type: ignore[operator]
    return time.perf_counter() - start


def median(repeats: int, measure_once: object) -> float:
    return statistics.median(measure_once() for _ in range(repeats))  # type: ignore[operator]


def row(what: str, figure: str, limit: str) -> None:
    print(f"{what:<46} {figure:>10}   limit {limit}")


if __name__ == "__main__":
    main()
