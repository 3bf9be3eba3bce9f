"""The time of a new version of which a share of the tools has changed, beside a full run.

    python -m benchmarks.version_speed [--share 0.01]

4,076 tools of Seal-Tools, an empty cache, one process: the first version, then one in which 1 % of
the descriptions have one more sentence, then one without one tool; by stage, and the plan
afterwards. Only changed tools are embedded, and only their words compared with others'. All pairs
get new probabilities: a signal is relative to the whole catalog (what all of its tools share is
taken away first), so a pair of two unchanged tools can come out otherwise.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.held_out import source
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.merging.pipeline import analyse, plan_merge
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig
from toolscope_core.model.protocols import Step

LIMIT = 0.03


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=0.01)
    share = parser.parse_args().share
    first = read_catalog(load_paths([source("seal-tools")]))
    size = len(first.tools)
    chosen = np.random.default_rng(0).choice(size, round(size * share), replace=False)
    changed = set(chosen.tolist())
    second = replace(
        first,
        tools=tuple(
            replace(tool, description=f"{tool.description} It is quick.") if at in changed else tool
            for at, tool in enumerate(first.tools)
        ),
    )
    third = replace(first, tools=first.tools[1:])
    embedder = MiniLmEmbedder()
    embedder.encode(["loads the model"])
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {size} tools")
    print(f"{'':28}{'embed':>8}{'compare':>9}{'judge':>8}{'merge':>8}{'all':>8}{'plan':>8}  share")
    with tempfile.TemporaryDirectory() as folder:
        cache, full = VectorCache(Path(folder)), 0.0
        versions = {"the whole": first, f"{len(changed)} changed": second, "one gone": third}
        for name, catalog in versions.items():
            stages, plan = timed(catalog, embedder, cache)
            whole = sum(stages.values())
            full = full or whole
            columns = "".join(f"{seconds:>8.2f}" for seconds in (*stages.values(), whole, plan))
            print(f"{name:28} {columns}  {whole / full:.1%} (goal {LIMIT:.0%})", flush=True)


def timed(
    catalog: Catalog, embedder: SentenceEmbedder, cache: VectorCache
) -> tuple[dict[str, float], float]:
    """Seconds by stage, and those of the first plan."""
    stages = dict.fromkeys(("embed", "compare", "judge", "merge"), 0.0)
    last, stage = time.perf_counter(), "embed"

    def watch(step: Step) -> None:
        nonlocal last, stage
        now = time.perf_counter()
        stages[stage] += now - last
        last, stage = now, step.stage

    analysis = analyse(catalog, AnalysisConfig(), embedder, cache, watch)
    watch(Step("end", 0, 0))
    stages.pop("end", None)
    start = time.perf_counter()
    plan_merge(analysis, (), PlanConfig())
    return stages, time.perf_counter() - start


if __name__ == "__main__":
    main()
