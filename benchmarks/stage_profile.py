"""Where the time of a merge goes, stage by stage: cold, unchanged, 1 % of the tools changed.

    python -m benchmarks.stage_profile [--catalog seal-tools] [--repeats 5]

Each row of figures is a whole process that does what ``python -m toolscope_core merge`` does, with
a watch laid around the functions of each stage; the time of an inner stage is not the outer's. A
library that a stage loads when it first needs it counts for that stage. Cold is one run, changed
another after it, unchanged the fastest of the repeats.
"""

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

STAGES = (
    *("import", "read", "embed", "candidates", "judge", "graph + correct"),
    *("align + synthesise", "plan", "write"),
)
"""``import`` is everything before the merge begins."""
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
    catalog = catalog_file(given.catalog)
    with tempfile.TemporaryDirectory() as folder:
        cold, changed = run(catalog, folder), run(one_percent_changed(catalog, folder), folder)
        again = [run(catalog, folder) for _ in range(given.repeats)]
    show(given.catalog, cold, changed, min(again, key=lambda one: one["whole"]))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\nthe largest process of all: {peak:.0f} MB, limit {MEMORY_MB} MB")


def one_percent_changed(catalog: Path, folder: str) -> Path:
    """A copy of a catalog of a tool a line, in which every hundredth description says more."""
    lines = catalog.read_text("utf-8").splitlines()
    for at in range(0, len(lines), 100):
        lines[at] = json.dumps(_said_more(json.loads(lines[at])))
    path = Path(folder, catalog.name)
    path.write_text("\n".join(lines), "utf-8")
    return path


def _said_more(record: dict[str, Any]) -> dict[str, Any]:
    key = next(key for key, value in record.items() if "description" in key and value)
    return {**record, key: f"{record[key]} It is quick."}


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
    """Merge once under the watch; seconds by stage in the order of ``STAGES``."""
    gc.disable()  # as the command line does
    from toolscope_core.cli import app

    watch = Watch()
    lay_around(watch)
    watch.seconds["import"] = time.time() - float(os.environ[_BEGAN])
    with redirect_stdout(sys.stderr):
        app(["merge", str(catalog), "--out", str(out)], standalone_mode=False)
    return {stage: watch.seconds.get(stage, 0.0) for stage in STAGES}


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
    from toolscope_core.cli.options import EngineChoice
    from toolscope_core.export import bundle
    from toolscope_core.files import folders
    from toolscope_core.judging.cached_judge import CachedJudge
    from toolscope_core.judging.judge import OfflineJudge
    from toolscope_core.merging import analysing, group_syntheses, grouping, plan_making

    for stage, place, names in (
        ("read", EngineChoice, "read"),
        ("embed", analysing, "embed_cached"),
        ("candidates", analysing, "candidates"),
        ("candidates", analysing, "_first_copies"),
        ("judge", OfflineJudge, "of"),
        ("judge", CachedJudge, "pair_probabilities save"),
        ("graph + correct", grouping, "row_graph correct"),
        ("align + synthesise", group_syntheses, "synthesise guards words_apart"),
        ("plan", plan_making, "build_clusters accept apply_clusters"),
        ("write", bundle, "bundle_of"),
        ("write", folders, "write_folder"),
    ):
        for name in names.split():
            setattr(place, name, watch.around(stage, getattr(place, name)))


def show(catalog: str, *runs: Mapping[str, float]) -> None:
    print(f"\n{catalog}: seconds\n\n| stage | cold | 1 % changed | unchanged |\n|---|--:|--:|--:|")
    for stage in (*STAGES, "rest", "whole"):
        print(f"| {stage} | {' | '.join(f'{run[stage]:.2f}' for run in runs)} |")


if __name__ == "__main__":
    main()
