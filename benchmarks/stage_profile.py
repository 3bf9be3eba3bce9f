"""The time of a merge, stage by stage: cold, unchanged, and with 1 % of the tools changed.

 python -m benchmarks.stage_profile [--catalog seal-tools] [--repeats 5]
 python -m benchmarks.stage_profile --tools 10000 100000 [--engines local ray-1 ray-2]
 [--folder F]

Each row of figures is a whole process that does what ``python -m toolscope_core merge`` does, with
timers around the functions of each stage. The time of an inner stage is not part of the outer
one's. A library that a stage loads when it first needs it counts for that stage. *Cold* is one run,
*changed* is another run after it, and *unchanged* is the fastest of the repeats.

With ``--tools``, catalogs from ``large_catalogs`` are merged in shards with an empty cache. The
benchmark prints the time and memory of each stage, and how many of the planted copies are found.
``ray-2`` is a cluster on this machine with two workers. Its memory is that of the command itself,
without the workers. The slope is that of the logarithm of the time against the logarithm of the
number of tools; 1 means linear.
"""

from __future__ import annotations

import gc
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.large_catalogs import PlantedCopy

STAGES = (
    *("import", "read", "embed", "candidates", "judge", "graph + correct"),
    *("align + synthesise", "plan", "write", "rest"),
)
"""``import`` is everything before the merge begins. ``rest`` is the time outside the timers."""
MEMORY_MB = 2048
_INSIDE, _BEGAN, _MEMORY = "--inside", "STAGE_PROFILE_BEGAN", "STAGE_PROFILE_MEMORY"

Report = dict[str, Any]
"""The figures of one merge: ``seconds`` and ``peaks`` (MB) for each stage, and the seconds of the
``whole``.
"""


def main() -> None:
    if sys.argv[1:2] == [_INSIDE]:
        print(json.dumps(merge_watched(sys.argv[2:])))
        return
    # imported here, so that it is not part of a merge that is profiled
    from benchmarks.measuring import parser_of, print_machine

    parser = parser_of(__doc__)
    parser.add_argument("--catalog", default="seal-tools", help="a folder of the data")
    parser.add_argument("--repeats", type=int, default=5, help="unchanged runs")
    parser.add_argument("--tools", type=int, nargs="*", default=[])
    parser.add_argument("--engines", nargs="+", default=["local", "ray-1", "ray-2"])
    parser.add_argument("--folder", type=Path, help="where catalogs and bundles go, to be kept")
    options = parser.parse_args()
    print_machine()
    with TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if options.tools:
            for engine in options.engines:
                show_growth(engine, [merge_large(engine, n, folder) for n in options.tools])
        else:
            show_versions(options.catalog, options.repeats, folder)


def show_versions(name: str, repeats: int, folder: Path) -> None:
    """Print the stages of a first merge, of one after small changes, and of one without changes."""
    from benchmarks.measuring import catalog_file

    def merge(path: Path) -> Report:
        return run([str(path), "--out", f"{folder}/bundle"], folder / "cache")

    catalog = catalog_file(name)
    cold, changed = merge(catalog), merge(one_percent_changed(catalog, folder))
    again = min((merge(catalog) for _ in range(repeats)), key=lambda one: one["whole"])
    rows = {"cold": cold, "1 % changed": changed, "unchanged": again}
    print_stages(f"{name}: seconds", rows, lambda report, stage: f"{report['seconds'][stage]:.2f}")
    print_row("whole", [f"{report['whole']:.2f}" for report in rows.values()])
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\nthe largest process of all: {peak:.0f} MB, limit {MEMORY_MB} MB")


def one_percent_changed(catalog: Path, folder: Path) -> Path:
    """A copy of a catalog that has one tool per line. In the copy, every hundredth description is
    longer.
    """
    lines = catalog.read_text("utf-8").splitlines()
    for at in range(0, len(lines), 100):
        record = json.loads(lines[at])
        key = next(key for key, value in record.items() if "description" in key and value)
        lines[at] = json.dumps({**record, key: f"{record[key]} It is quick."})
    path = folder / catalog.name
    path.write_text("\n".join(lines), "utf-8")
    return path


def merge_large(engine: str, tools: int, folder: Path) -> Report:
    """The report of one merge of a large catalog, with how many of the planted copies it found."""
    from benchmarks.large_catalogs import write_large

    catalog, bundle = folder / f"catalog-{tools}", folder / f"bundle-{engine}-{tools}"
    catalog.mkdir(parents=True, exist_ok=True)
    planted = write_large(tools, catalog)
    kind, _, workers = engine.partition("-")
    variables = {_MEMORY: "1"}
    if workers:
        variables["RAY_OVERRIDE_RESOURCES"] = json.dumps({"CPU": int(workers)})
    with TemporaryDirectory() as cache:
        arguments = [str(catalog), "--shards", "--out", str(bundle), "--engine", kind]
        return run(arguments, Path(cache), **variables) | recovered(bundle, planted)


def run(arguments: Sequence[str], cache: Path, **variables: str) -> Report:
    """The report of a merge with these arguments, in a process of its own."""
    from benchmarks.measuring import ROOT, process_environment

    variables |= {"TOOLSCOPE_CACHE_DIR": str(cache), _BEGAN: str(time.time())}
    start = time.perf_counter()
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.stage_profile", _INSIDE, *arguments],
        cwd=ROOT,
        env=process_environment(**variables),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    whole = time.perf_counter() - start
    report: Report = json.loads(process.stdout)
    report["seconds"]["rest"] = whole - sum(report["seconds"].values())
    return {**report, "whole": whole}


def merge_watched(arguments: Sequence[str]) -> Report:
    """Merge in this process, with timers."""
    gc.disable()  # the command line does this too
    from toolscope_core.cli import app

    watch = Watch(with_memory=_MEMORY in os.environ)
    lay_around(watch)
    watch.seconds["import"] = time.time() - float(os.environ[_BEGAN])
    with redirect_stdout(sys.stderr):
        app(["merge", *arguments], standalone_mode=False)
    return {
        part: {stage: values[stage] for stage in STAGES[:-1]}
        for part, values in (("seconds", watch.seconds), ("peaks", watch.peaks))
    }


class Watch:
    """The seconds of each stage. While an inner stage runs, the timer of the outer one is stopped.

    With memory, there is also the peak of this process during each stage, in MB.
    """

    def __init__(self, *, with_memory: bool) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.peaks: defaultdict[str, float] = defaultdict(float)
        self._with_memory = with_memory
        self._running = ["rest"]
        self._since = time.perf_counter()

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
        def watched(*args: Any, **kwargs: Any) -> Any:
            with self.on(stage):
                return function(*args, **kwargs)

        return watched

    def _book(self) -> None:
        now, stage = time.perf_counter(), self._running[-1]
        self.seconds[stage] += now - self._since
        self._since = now
        if self._with_memory:  # the peak since the last call (Linux)
            status = Path("/proc/self/status").read_text()
            Path("/proc/self/clear_refs").write_text("5")
            peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
            self.peaks[stage] = max(self.peaks[stage], peak)


def lay_around(watch: Watch) -> None:
    """Put a timer around each stage's functions, in the place from which they are called."""
    from toolscope_core.cli import merge_command
    from toolscope_core.cli.options import EngineChoice
    from toolscope_core.export import bundle
    from toolscope_core.files import folders
    from toolscope_core.judging.cached_judge import CachedJudge
    from toolscope_core.judging.judge import OfflineJudge
    from toolscope_core.merging import analysing, group_syntheses, grouping

    for stage, place, names in (
        ("read", EngineChoice, "read"),
        ("embed", analysing, "embed_cached"),
        ("candidates", analysing, "candidates"),
        ("candidates", analysing, "_first_copies"),
        ("judge", OfflineJudge, "of"),
        ("judge", CachedJudge, "pair_probabilities save"),
        ("graph + correct", grouping, "row_graph correct"),
        ("align + synthesise", group_syntheses, "synthesise guards words_apart"),
        ("plan", analysing, "build_clusters accept apply_clusters"),
        ("write", bundle, "bundle_of"),
        ("write", folders, "write_folder"),
        ("write", merge_command, "write_folder"),
    ):
        for name in names.split():
            setattr(place, name, watch.around(stage, getattr(place, name)))


def recovered(bundle: Path, planted: Sequence[PlantedCopy]) -> Report:
    """How many of the planted copies are a judged pair, and how many are in one proposal."""
    from benchmarks.measuring import json_rows
    from toolscope_core.catalog.sources import files_of

    counts = json.loads((bundle / "manifest.json").read_bytes())["counts"]
    entries = json.loads((bundle / "relabel.json").read_bytes())["entries"]
    ids = {(row["server"], row["old_name"]): row["old_id"] for row in entries}
    copies = {
        frozenset((ids[one.tool], ids[one.copy]))
        for one in planted
        if one.tool in ids and one.copy in ids
    }
    rows = (row for file in files_of(bundle, "pairs.jsonl") for row in json_rows(file))
    pairs = copies & {frozenset((row["left"], row["right"])) for row in rows}
    clusters = json.loads((bundle / "clusters.json").read_bytes())
    cluster_of = {member: row["cluster_id"] for row in clusters for member in row["members"]}
    together = [pair for pair in copies if len({cluster_of.get(one, one) for one in pair}) == 1]
    return {
        "tools": counts["tools_before"],
        "pairs": counts["judged_pairs"],
        "clusters": counts["clusters"],
        "planted": len(copies),
        "planted judged": len(pairs),
        "planted together": len(together),
    }


def show_growth(engine: str, reports: Sequence[Report]) -> None:
    rows = {f"{report['tools']:,} tools": report for report in reports}

    def cell(report: Report, stage: str) -> str:
        return f"{report['seconds'][stage]:,.0f} ({report['peaks'].get(stage, 0):,.0f})"

    print_stages(f"{engine}: seconds (MB)", rows, cell)
    for name in ("whole", "pairs", "clusters", "planted", "planted judged", "planted together"):
        print_row(name, [f"{report[name]:,.0f}" for report in reports])
    if len(reports) > 1:
        first, last = reports[-2:]
        slope = math.log(last["whole"] / first["whole"]) / math.log(last["tools"] / first["tools"])
        print(f"slope of the last two: {slope:.2f}")


def print_stages(
    title: str, reports: Mapping[str, Report], cell: Callable[[Report, str], str]
) -> None:
    print(f"\n{title}\n")
    print_row("stage", list(reports))
    print(f"|---|{'--:|' * len(reports)}")
    for stage in STAGES:
        print_row(stage, [cell(report, stage) for report in reports.values()])


def print_row(name: str, cells: Sequence[str]) -> None:
    print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
