"""Where the time of a merge goes, stage by stage, cold and unchanged, beside each stage's share.

    python -m benchmarks.stage_profile [--catalog seal-tools] [--repeats 5]

Each row of figures is a whole process that does what ``python -m toolscope_core merge`` does, with
a watch laid around the functions of each stage; the time of an inner stage is not the outer's. A
library that a stage loads when it first needs it counts for that stage. The shares divide the
limit for Seal-Tools, 90 s cold and 5 s unchanged; no stage may take twice its share. Cold is one
run, unchanged the fastest of the repeats.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from pathlib import Path
from typing import Any

SHARES = {  # seconds of 90 (cold) and of 5 (unchanged)
    "import": (2.0, 0.5),
    "read": (1.0, 0.6),
    "scan": (1.0, 0.7),
    "embed": (78.0, 0.2),
    "candidates": (1.0, 0.4),
    "judge": (2.0, 0.7),
    "graph + correct": (1.0, 0.3),
    "align + synthesise": (1.0, 0.3),
    "plan": (0.5, 0.2),
    "write": (2.5, 1.1),
}
"""What each stage may take of the limit; ``import`` is everything before the merge begins."""

MEMORY_MB = 2048
_INSIDE, _BEGAN = "--inside", "STAGE_PROFILE_BEGAN"


def main() -> None:
    if sys.argv[1:2] == [_INSIDE]:
        print(json.dumps(profiled(*map(Path, sys.argv[2:]))))
        return
    # what is imported here is no part of a merge that is profiled
    from benchmarks.measuring import catalog_file, parser_of, print_machine

    parser = parser_of(__doc__)
    parser.add_argument("--catalog", default="seal-tools", help="a folder of the data")
    parser.add_argument("--repeats", type=int, default=5, help="unchanged runs")
    given = parser.parse_args()
    print_machine()
    with tempfile.TemporaryDirectory() as folder:
        runs = [run(catalog_file(given.catalog), folder) for _ in range(1 + given.repeats)]
    show(given.catalog, runs[0], min(runs[1:], key=lambda one: one["whole"]))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\nthe largest process of all: {peak:.0f} MB, limit {MEMORY_MB} MB")


def run(catalog: Path, folder: str) -> dict[str, float]:
    """Seconds by stage of one process, and ``whole``; ``rest`` is what no stage explains."""
    from benchmarks.measuring import ROOT, process_environment

    command = [sys.executable, "-m", "benchmarks.stage_profile", _INSIDE]
    start = time.perf_counter()
    done = subprocess.run(
        [*command, str(catalog), f"{folder}/bundle"],
        cwd=ROOT,
        env=process_environment(
            TOOLSCOPE_CACHE_DIR=f"{folder}/cache", **{_BEGAN: str(time.time())}
        ),
        check=True,
        capture_output=True,
        text=True,
    )
    whole = time.perf_counter() - start
    stages = json.loads(done.stdout)
    return {**stages, "rest": whole - sum(stages.values()), "whole": whole}


def profiled(catalog: Path, out: Path) -> dict[str, float]:
    """Merge once under the watch; seconds by stage in the order of ``SHARES``."""
    gc.disable()  # as the command line does
    import toolscope_core.cli  # noqa: F401 - as the command line does
    from toolscope_core.cli.merge_command import merge

    watch = Watch()
    lay_around(watch)
    watch.seconds["import"] = time.time() - float(os.environ[_BEGAN])
    with redirect_stdout(sys.stderr):
        merge([catalog], out)
    return {stage: watch.seconds.get(stage, 0.0) for stage in SHARES}


class Watch:
    """Seconds by stage; while an inner stage runs, the outer's watch stands still."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._running: list[str] = []
        self._since = 0.0

    @contextmanager
    def on(self, stage: str) -> Iterator[None]:
        self._book()
        self._running.append(stage)
        try:
            yield
        finally:
            self._book()
            self._running.pop()

    def around(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def watched(*given: Any, **named: Any) -> Any:
            with self.on(stage):
                return function(*given, **named)

        return watched

    def _book(self) -> None:
        now = time.perf_counter()
        if self._running:
            stage = self._running[-1]
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


def lay_around(watch: Watch) -> None:
    """Replace each stage's functions, where they are called, by watched ones."""
    from toolscope_core.catalog import readers
    from toolscope_core.cli import merge_command
    from toolscope_core.export import bundle
    from toolscope_core.files import folders
    from toolscope_core.judging.judge import OfflineJudge
    from toolscope_core.merging import analysing, group_syntheses, grouping, plan_making

    for stage, place, names in (
        ("read", merge_command, "load_paths read_isolated"),
        ("scan", readers, "scan_catalog"),
        ("embed", analysing, "embed_cached"),
        ("candidates", analysing, "candidates"),
        ("candidates", analysing, "_first_copies"),
        ("judge", OfflineJudge, "of pair_probabilities"),
        ("graph + correct", grouping, "row_graph correct"),
        ("align + synthesise", group_syntheses, "synthesise guards unit_conflicts"),
        ("plan", plan_making, "build_clusters accept apply_clusters"),
        ("write", bundle, "bundle_files"),
        ("write", folders, "write_folder"),
    ):
        for name in names.split():
            setattr(place, name, watch.around(stage, getattr(place, name)))


def show(catalog: str, cold: Mapping[str, float], warm: Mapping[str, float]) -> None:
    print(f"\n{catalog}: seconds, and the stage's share\n")
    print("| stage | cold | share | unchanged | share |\n|---|--:|--:|--:|--:|")
    for stage, (first, again) in SHARES.items():
        late = cold[stage] > 2 * first or warm[stage] > 2 * again
        print(
            f"| {stage} | {cold[stage]:.2f} | {first:.1f} | {warm[stage]:.2f} | {again:.1f} |"
            f"{' **over twice its share**' if late else ''}"
        )
    print(f"| rest | {cold['rest']:.2f} | - | {warm['rest']:.2f} | - |")
    first, again = map(sum, zip(*SHARES.values(), strict=True))
    print(f"| whole | {cold['whole']:.2f} | {first:.0f} | {warm['whole']:.2f} | {again:.0f} |")


if __name__ == "__main__":
    main()
