"""What the scan says of clean catalogs, beside its limits, and how long it takes.

The catalogs are public benchmarks in which nobody planted anything, so every *block* and *warn*
is a false alarm or a text that deserves a look; ``--show`` prints them.

    python -m benchmarks.scan_figures [--show]
"""

from collections import Counter
from collections.abc import Sequence

from benchmarks.measuring import clocked, parser_of, print_machine, read_named
from toolscope_core.catalog.scan.scanner import scan_catalog
from toolscope_core.model.catalog import Catalog, Finding

CLEAN = ("seal-tools", "bfcl")
OTHERS = ("ultratool", "bfcl-live", "livemcpbench", "docker-mcp")
LIMITS = {"block": 0.2, "warn": 3.0}
SECONDS = 1.0


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--show", action="store_true", help="print each block and warn finding")
    show = parser.parse_args().show
    print_machine()
    print(f"{'catalog':<14}{'tools':>7}{'block':>19}{'warn':>19}{'info':>7}{'seconds':>9}")
    total: Counter[str] = Counter()
    for name in CLEAN:
        total += measure(name, show)
    row("both clean", total, LIMITS)
    for name in OTHERS:
        measure(name, show)
    print("limits: " + ", ".join(f"{name} < {most} %" for name, most in LIMITS.items()), end="")
    print(f" of the tools of both clean catalogs; {SECONDS} s for the 4,076 of seal-tools")


def measure(name: str, show: bool) -> Counter[str]:
    """Counts of tools with a finding of each severity; the total is under ``tools``."""
    catalog = read_named(name)
    seconds = clocked(lambda: scan_catalog(catalog.tools))
    findings = scan_catalog(catalog.tools)
    counts = counted(catalog, findings)
    row(name, counts, {}, f"{seconds:>9.2f}")
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
