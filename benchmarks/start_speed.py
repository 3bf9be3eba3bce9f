"""Commands from the start of the process, this checkout beside another one: seconds and memory.

    python -m benchmarks.start_speed OTHER [--rounds 3] [--search]

``OTHER`` is a folder with a checkout of another commit and a ``.venv``. Every command is run cold
(an empty cache) once a round, and again with the cache of that round; the two checkouts take turns.
Printed are the least and the median of the rounds, and the largest memory. Bytecode is compiled by
a run before the first. ``--search`` adds the first search of 4,076 tools, which takes minutes.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.measuring import ROOT, catalog_file, parser_of, print_machine, process_environment

EXAMPLE = "examples/catalog.json"
_MEASURED = "--measured"


def main() -> None:
    if sys.argv[1:2] == [_MEASURED]:
        _measure(sys.argv[2:])
        return
    parser = parser_of(__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--search", action="store_true", help="search the 4,076 tools too")
    given = parser.parse_args()
    print_machine()
    large = str(catalog_file("seal-tools"))
    commands = [("merge", EXAMPLE), ("search", EXAMPLE), ("merge", large)]
    commands += [("search", large)] if given.search else []
    checkouts = {"other": given.other.absolute(), "this": ROOT}
    times: defaultdict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for number in range(given.rounds + 1):  # the first compiles bytecode
        with tempfile.TemporaryDirectory() as folder:
            for command, catalog in commands if number else commands[:2]:
                for state in ("cold", "again"):
                    for name, checkout in checkouts.items():
                        took = run(checkout, command, catalog, Path(folder, name))
                        if number:
                            times[f"{command} {Path(catalog).name}", state, name].append(took)
    print(f"rounds: {given.rounds}; seconds: least, median; MB: largest")
    for (command, state, name), rows in times.items():
        seconds = [row[0] for row in rows]
        least, median = min(seconds), statistics.median(seconds)
        most = max(row[1] for row in rows)
        print(f"{command:22}{state:7}{name:7}{least:7.2f}{median:7.2f}{most:7.0f}", flush=True)


def run(checkout: Path, command: str, catalog: str, folder: Path) -> tuple[float, float]:
    """Seconds and MB of one command in a process of its own; its cache and output in ``folder``."""
    rest = ["--out", str(folder / "bundle")] if command == "merge" else ["book a flight to Rome"]
    python = str(checkout / ".venv" / "bin" / "python")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.start_speed", _MEASURED, str(checkout), python, "-m",
         "toolscope_core", command, catalog, *rest],
        cwd=ROOT, check=True, capture_output=True, text=True,
        env=process_environment(TOOLSCOPE_CACHE_DIR=str(folder / "cache")),
    )  # fmt: skip
    seconds, memory = map(float, done.stdout.split())
    return seconds, memory


def _measure(command: list[str]) -> None:
    """Run a command in a folder and print its seconds and megabytes."""
    start = time.perf_counter()
    subprocess.run(command[1:], cwd=command[0], check=True, capture_output=True)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{seconds:.3f} {memory:.0f}")


if __name__ == "__main__":
    main()
