"""How long each page takes on its first visit, with LiveMCPBench (527 tools).

A fresh browser context (an empty cache) opens each page on a server that is up and has shown this
page to nobody: *title* is when the page's title stands, *whole* when the script has run to its end.
*again* is the same for the next person. Beside it an app of one line, measured in the same way: the
time of Streamlit's own files and connection, below which no page can be.

    python -m benchmarks.first_visits [--rounds 3]
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.browser import analyse_named, chromium, serving, temporary_settings, wait_for_end
from benchmarks.measuring import parser_of, print_machine, print_reference

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LIMIT = 1.5
PAGES = {
    "Catalog": "?",
    **{
        f"Overlap, {view}": f"overlap?view={view}&"
        for view in ("Pairs", "Curve", "Heatmap", "Map")
    },
    **{
        name: f"{name.lower()}?"
        for name in (
            "Graph", "Review", "Documents", "Export", "Retrieval", "Evaluation", "History",
            "Settings",
        )
    },
}  # fmt: skip
PLAIN = "import streamlit as st\nst.title('Nothing')\n"
Times = tuple[float, float]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print_machine(f"{rounds} rounds")
    print_reference()
    first: dict[str, list[Times]] = defaultdict(list)
    again: dict[str, list[Times]] = defaultdict(list)
    with chromium() as browser, temporary_settings() as settings:
        with serving(settings, PLAIN) as address:
            floor = [visit(browser, f"{address}/") for _ in range(2 * rounds)]
        print_row("an app of one line", floor[:1], floor[1:])
        analyse_named(settings, "livemcpbench")
        for _ in range(rounds):
            with serving(settings) as address:
                for name, path in PAGES.items():
                    page = f"{address}/{path}catalog=Whole"
                    first[name].append(visit(browser, page))
                    again[name].append(visit(browser, page))
    for name in PAGES:
        print_row(name, first[name], again[name])
    print(f"limit: {LIMIT} s, whole, first visit")


def visit(browser: Browser, address: str) -> Times:
    """Seconds from the request until the title stands, and until the script has run to its end."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    start = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.locator("h1").first.wait_for(timeout=120_000)
    title = time.perf_counter() - start
    wait_for_end(page)
    whole = time.perf_counter() - start
    context.close()
    return title, whole


def print_row(name: str, first: Sequence[Times], again: Sequence[Times]) -> None:
    cells = [f"{name:<20}"]
    for visit_name, times in (("first", first), ("again", again)):
        title, whole = (statistics.median(column) for column in zip(*times, strict=True))
        cells.append(f"{visit_name}: title {title:5.2f} s, whole {whole:5.2f} s  ")
    print(*cells, flush=True)


if __name__ == "__main__":
    main()
