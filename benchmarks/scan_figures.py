"""What the scan says of clean catalogs, beside its limits, and how long it takes.

The catalogs are public benchmarks in which nobody planted anything, so every *block* and *warn*
is a false alarm or a text that deserves a look; ``--show`` prints them.

    python -m benchmarks.scan_figures [--show]
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.scan.scanner import scan_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.environment import read_environment

CLEAN = ("seal-tools/tools.jsonl", "bfcl/tools.jsonl")
OTHERS = (
    "ultratool/tools.jsonl",
    "bfcl-live/tools.jsonl",
    "livemcpbench/servers.json",
    "docker-mcp/servers.json",
)
LIMITS = {"block": 0.2, "warn": 3.0}
SECONDS = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="print each block and warn finding")
    show = parser.parse_args().show
    data = read_environment().data_dir
    print(
        f"machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    )
    print(f"{'catalog':<14}{'tools':>7}{'block':>19}{'warn':>19}{'info':>7}{'seconds':>9}")
    total: Counter[str] = Counter()
    for file in CLEAN:
        total += measure(data / file, show)
    row("both clean", total, LIMITS)
    for file in OTHERS:
        measure(data / file, show)
    print("limits: " + ", ".join(f"{name} < {most} %" for name, most in LIMITS.items()), end="")
    print(f" of the tools of both clean catalogs; {SECONDS} s for the 4,076 of seal-tools")


def measure(path: Path, show: bool) -> Counter[str]:
    """Counts of tools with a finding of each severity; the total is under ``tools``."""
    catalog = read_catalog(load_paths([path]))
    start = time.perf_counter()
    findings = scan_catalog(catalog.tools)
    seconds = time.perf_counter() - start
    counts = counted(catalog, findings)
    row(path.parent.name, counts, {}, f"{seconds:>9.2f}")
    for (severity, code), count in sorted(Counter((f.severity, f.code) for f in findings).items()):
        print(f"    {severity:<6} {code:<18} {count:>5}")
    if show:
        for item in findings:
            if item.severity != "info":
                print(
                    f"      {item.severity} {item.tool_id}: {item.message}\n        {item.excerpt}"
                )
    return counts


def counted(catalog: Catalog, findings: Sequence[Finding]) -> Counter[str]:
    marked = {(item.severity, item.tool_id) for item in findings}
    return Counter(severity for severity, _ in marked) + Counter(tools=len(catalog.tools))


def row(name: str, counts: Counter[str], limits: dict[str, float], seconds: str = "") -> None:
    def share(severity: str) -> str:
        percent = 100 * counts[severity] / counts["tools"]
        limit = f" < {limits[severity]}" if severity in limits else ""
        return f"{counts[severity]} ({percent:.2f} %{limit})"

    print(
        f"{name:<14}{counts['tools']:>7}{share('block'):>19}{share('warn'):>19}{counts['info']:>7}"
        f"{seconds}"
    )


if __name__ == "__main__":
    main()
