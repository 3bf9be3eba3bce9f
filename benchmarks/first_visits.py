"""How long each page takes on its first visit, with LiveMCPBench (527 tools).

A fresh browser context (an empty cache) opens each page on a server that is up and has shown this
page to nobody: *title* is when the page's title stands, *whole* when the script has run to its end.
*again* is the same for the next person. Beside it an app of one line, measured in the same way: the
time of Streamlit's own files and connection, below which no page can be.

    python -m benchmarks.first_visits [--rounds 3]
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.explore_speed import reference, serving
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.model.environment import Settings, read_environment
from ui.shared.services.workspace import Workspace

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
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
ENDED = '[data-testid="stApp"][data-test-script-state="notRunning"]'
Times = tuple[float, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = range(parser.parse_args().rounds)
    from playwright.sync_api import sync_playwright

    print(f"machine: {os.cpu_count()} cores, {platform.machine()}, {len(rounds)} rounds")
    reference()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        settings = prepared(Path(folder))
        plain = Path(folder) / "plain.py"
        plain.write_text("import streamlit as st\nst.title('Nothing')\n")
        with serving(settings, "streamlit", "run", str(plain)) as address:
            floor = [visit(browser, f"{address}/") for _ in range(2 * len(rounds))]
        print_row("an app of one line", floor[:1], floor[1:])
        first: dict[str, list[Times]] = defaultdict(list)
        again: dict[str, list[Times]] = defaultdict(list)
        for _ in rounds:
            with serving(settings) as address:
                for name, path in PAGES.items():
                    page = f"{address}/{path}catalog=Whole"
                    first[name].append(visit(browser, page))
                    again[name].append(visit(browser, page))
        for name in PAGES:
            print_row(name, first[name], again[name])
    print(f"limit: {LIMIT} s, whole, first visit")


def prepared(folder: Path, name: str = "livemcpbench") -> Settings:
    """The settings of a store that holds this catalog as *Whole*, analysed."""
    data = read_environment().data_dir
    settings = Settings(f"sqlite:///{folder / 'store.db'}", folder / "cache", data)
    work = Workspace(settings)
    catalog = read_catalog(load_paths([data / name]))
    work.analyses.wait(work.analyses.start(work.catalogs.add("Whole", catalog).id))
    work.close()
    return settings


def visit(browser: Browser, address: str) -> Times:
    """Seconds from the request until the title stands, and until the script has run to its end."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    start = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.locator("h1").first.wait_for(timeout=120_000)
    title = time.perf_counter() - start
    page.locator(ENDED).wait_for(timeout=120_000)
    whole = time.perf_counter() - start
    context.close()
    return title, whole


def print_row(name: str, first: list[Times], again: list[Times]) -> None:
    (title, whole), (title_again, whole_again) = (
        (statistics.median(column) for column in zip(*times, strict=True))
        for times in (first, again)
    )
    print(
        f"{name:<20} first: title {title:5.2f} s, whole {whole:5.2f} s   "
        f"again: title {title_again:5.2f} s, whole {whole_again:5.2f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
