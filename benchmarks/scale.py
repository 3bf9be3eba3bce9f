"""A merge of very many tools: time and memory by stage, and the planted copies that it finds.

    python -m benchmarks.scale [--tools 10000 100000] [--engines local ray-1 ray-2] [--folder F]

Each run is a process that does what ``python -m toolscope_core merge --shards`` does on a catalog
of ``large_catalogs``, with empty caches. ``ray-2`` is a cluster of this machine with two workers;
its memory is the command's own, without the workers'. The slope is that of the logarithm of the
time against that of the number of tools: 1 is linear.
"""

import json
import math
import os
import subprocess
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.stage_profile import STAGES, Watch, lay_around

_INSIDE, _BEGAN = "--inside", "STAGE_PROFILE_BEGAN"


def main() -> None:
    if sys.argv[1:2] == [_INSIDE]:
        print(json.dumps(_merged(*sys.argv[2:])))
        return
    from benchmarks.measuring import parser_of, print_machine

    parser = parser_of(__doc__)
    parser.add_argument("--tools", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--engines", nargs="+", default=["local", "ray-1", "ray-2"])
    parser.add_argument("--folder", type=Path, help="where catalogs and bundles go, to be kept")
    given = parser.parse_args()
    print_machine()
    with TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        runs = {
            engine: [_run(engine, tools, folder) for tools in given.tools]
            for engine in given.engines
        }
    for engine, rows in runs.items():
        _show(engine, rows)


def _run(engine: str, tools: int, folder: Path) -> dict[str, Any]:
    """One merge in a process of its own, and how many of the planted copies it found."""
    from benchmarks.large_catalogs import write_large
    from benchmarks.measuring import ROOT, process_environment

    catalog, bundle = folder / f"catalog-{tools}", folder / f"bundle-{engine}-{tools}"
    catalog.mkdir(parents=True, exist_ok=True)
    planted = write_large(tools, catalog)
    with TemporaryDirectory() as cache:
        done = subprocess.run(
            [*(sys.executable, "-m", "benchmarks.scale", _INSIDE), engine, catalog, bundle],
            cwd=ROOT,
            env=process_environment(TOOLSCOPE_CACHE_DIR=cache, **{_BEGAN: str(time.time())}),
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    report: dict[str, Any] = json.loads(done.stdout)
    return {**report, **_recovered(bundle, planted)}


class MemoryWatch(Watch):
    """Also the most memory of this process while each stage ran, in MB."""

    def __init__(self) -> None:
        super().__init__()
        self.peaks: dict[str, float] = {}

    def _book(self) -> None:
        stage = self._running[-1] if self._running else "rest"
        super()._book()
        self.peaks[stage] = max(self.peaks.get(stage, 0.0), _peak_since_last())


def _merged(engine: str, catalog: str, bundle: str) -> dict[str, Any]:
    """Seconds and memory by stage of one merge in this process."""
    import gc

    gc.disable()  # as the command line does
    from toolscope_core.cli import app

    kind, _, workers = engine.partition("-")
    if workers:
        os.environ["RAY_OVERRIDE_RESOURCES"] = json.dumps({"CPU": int(workers)})
    watch, began = MemoryWatch(), float(os.environ[_BEGAN])
    lay_around(watch)
    watch.seconds["import"] = time.time() - began
    arguments = ["merge", catalog, "--shards", "--out", bundle, "--engine", kind]
    with redirect_stdout(sys.stderr):
        app(arguments, standalone_mode=False)
    return {"seconds": watch.seconds, "peaks": watch.peaks, "whole": time.time() - began}


def _peak_since_last() -> float:
    """The most memory of this process since the last call, in MB (Linux)."""
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")
    return int(peak.split()[1]) / 1024


def _recovered(bundle: Path, planted: list[Any]) -> dict[str, Any]:
    """What of the planted copies is a judged pair, and what stands in one proposal."""
    from benchmarks.measuring import json_rows
    from toolscope_core.catalog.sources import files_of

    manifest = json.loads((bundle / "manifest.json").read_bytes())
    entries = json.loads((bundle / "relabel.json").read_bytes())["entries"]
    ids = {(row["server"], row["old_name"]): row["old_id"] for row in entries}
    wanted = {
        frozenset((ids[one.tool], ids[one.copy]))
        for one in planted
        if one.tool in ids and one.copy in ids
    }
    judged = set()
    for file in files_of(bundle, "pairs.jsonl"):
        for row in json_rows(file):
            pair = frozenset((row["left"], row["right"]))
            if pair in wanted:
                judged.add(pair)
    clusters = json.loads((bundle / "clusters.json").read_bytes())
    cluster_of = {member: row["cluster_id"] for row in clusters for member in row["members"]}
    together = [pair for pair in wanted if len({cluster_of.get(one, one) for one in pair}) == 1]
    counts = manifest["counts"]
    return {
        "tools": counts["tools_before"],
        "pairs": counts["judged_pairs"],
        "clusters": counts["clusters"],
        "planted": len(wanted),
        "planted judged": len(judged),
        "planted together": len(together),
    }


def _show(engine: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{engine}: seconds (MB)\n")
    sizes = (f"{row['tools']:,} tools" for row in rows)
    print(f"| stage | {' | '.join(sizes)} |")
    print(f"|---|{'--:|' * len(rows)}")
    for stage in STAGES:
        cells = (
            f"{row['seconds'].get(stage, 0):,.0f} ({row['peaks'].get(stage, 0):,.0f})"
            for row in rows
        )
        print(f"| {stage} | {' | '.join(cells)} |")
    for name in ("whole", "pairs", "clusters", "planted", "planted judged", "planted together"):
        print(f"| {name} | {' | '.join(f'{row[name]:,.0f}' for row in rows)} |")
    if len(rows) > 1:
        first, last = rows[-2:]
        slope = math.log(last["whole"] / first["whole"]) / math.log(last["tools"] / first["tools"])
        print(f"slope of the last two: {slope:.2f}")


if __name__ == "__main__":
    main()
