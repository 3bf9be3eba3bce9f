"""How soon pages can be used in Chromium: first and later visits, and typical actions.

 python -m benchmarks.page_speed [--catalogs livemcpbench seal-tools large] [--rounds 3]

Each round uses a server that was just started. A *first* visit has an empty browser cache and a
page that this server has not shown before; *again* are later visits. The seconds run from the
request until the content of the page is there and its script has ended. For comparison, there is an
app with one line, which shows the minimum for any Streamlit page. Then the probability threshold is
moved, and keys are pressed on Review, and the time runs until the figures, or the card, have
changed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import measuring
from benchmarks.large_catalogs import large_catalog
from toolscope_core.model.configuration import LEAST_PROBABILITY
from toolscope_core.model.environment import Settings, read_environment
from ui.shared.services.workspace import Workspace

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LIMITS = {"livemcpbench": (1.5, None), "seal-tools": (None, 1.5), "large": (None, 3.0)}
"""The limits in seconds for a first visit, and for later ones."""
STEP_LIMIT = 0.3
CHART = ".js-plotly-plot .main-svg, [data-testid=stDataFrame] canvas"
NEXT_STEPS = "text=Next steps"
PAGES = {
    "Catalog": ("?", NEXT_STEPS),
    **{
        f"Overlap, {view}": (f"overlap?view={view}&", CHART)
        for view in ("Pairs", "Threshold", "Heatmap", "Map")
    },
    "Graph": ("graph?", ".network canvas"),
    **{
        name.capitalize(): (f"{name}?", "h1")
        for name in "review documents profiles export retrieval evaluation history settings".split()
    },
}
"""The address of each page, and what is on the screen once the page can be used."""
KEYS = {"J": "the next cluster", "A": "accept", "X": "keep apart", "S": "skip"}
PLAIN = "import streamlit as st\nst.title('Nothing')\n"
VISITS, STEPS, PRESSES = 5, 5, 7
STEP = 0.12
"""How far the slider is moved each time, as a share of its track."""
ENDED = '[data-testid="stApp"][data-test-script-state="notRunning"]'
ANOTHER_CARD = f"url => location.href !== url && document.querySelector({ENDED!r})"
PATIENCE = 900_000
"""How many milliseconds to wait for something to appear."""
PAUSE = 5.0
"""If nothing has changed after this many seconds, moving the slider has no effect."""


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = measuring.parser_of(__doc__)
    parser.add_argument("--catalogs", nargs="*", default=list(LIMITS), choices=list(LIMITS))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    measuring.print_machine(f"{options.rounds} rounds of {VISITS} visits")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        for name in options.catalogs:
            measure(browser, name, options.rounds)
        browser.close()


def measure(browser: Browser, name: str, rounds: int) -> None:
    """Print the figures for one catalog, which is analysed in a store of its own."""
    catalog = large_catalog() if name == "large" else measuring.read_named(name)
    print(f"\n{name}: n = {len(catalog.tools):,} tools")
    times: defaultdict[str, list[list[float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(
            read_environment(), store_url=f"sqlite:///{folder}/store.db", cache_dir=Path(folder)
        )
        work = Workspace(settings)
        work.analyses.wait(work.analyses.start(work.catalogs.add(name, catalog).id))
        work.close()
        plain = Path(folder, "plain.py")
        plain.write_text(PLAIN)
        for _ in range(rounds):
            with serving(settings, "streamlit", "run", str(plain)) as address:
                times["an app of one line"].append(visits(browser, f"{address}/", "h1"))
            with serving(settings, "ui") as address:
                for title, (path, text) in PAGES.items():
                    page = f"{address}/{path}catalog={name}"
                    times[title].append(visits(browser, page, text))
        first_limit, limit = LIMITS[name]
        for title, rows in times.items():
            print_times(f"{title}, first", [row[0] for row in rows], first_limit)
            print_times(f"{title}, again", [one for row in rows for one in row[1:]], limit)
        with serving(settings, "ui") as address:
            page = new_page(browser)
            load(page, f"{address}/overlap?view=Threshold&catalog={name}", CHART)
            print_times("slider let go until the figures change", slider_steps(page), STEP_LIMIT)
            load(page, f"{address}/review?catalog={name}", "h1")
            page.locator("h1").first.click()
            for key, action in KEYS.items():
                print_times(f"{key}, {action}", key_presses(page, key.lower()), STEP_LIMIT)


@contextmanager
def serving(settings: Settings, *module: str) -> Iterator[str]:
    """Start a module that serves the store and the cache in these settings. Yields its address."""
    port = measuring.free_port()
    options = {"port": port, "fileWatcherType": "none", "headless": "true"}
    process = subprocess.Popen(
        [sys.executable, "-m", *module, *(f"--server.{key}={options[key]}" for key in options)],
        cwd=measuring.ROOT,
        env=measuring.process_environment(
            TOOLSCOPE_STORE_URL=settings.store_url, TOOLSCOPE_CACHE_DIR=str(settings.cache_dir)
        ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        measuring.wait_for_port(port)
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(20)


def new_page(browser: Browser) -> Page:
    """A page in an empty browser."""
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    page.set_default_timeout(PATIENCE)
    return page


def load(page: Page, address: str, text: str) -> None:
    """Load a page and wait until it can be used. A large catalog is analysed only on request."""
    page.goto(address)
    analyse = page.get_by_role("button", name="Analyse")
    page.locator(text).first.or_(analyse).first.wait_for()
    if analyse.is_visible():
        analyse.click()
        page.locator(text).first.wait_for()
    page.locator(ENDED).wait_for()


def visits(browser: Browser, address: str, text: str) -> list[float]:
    """The seconds of a first visit with an empty browser, and of later visits."""
    page = new_page(browser)
    seconds = [measuring.clocked(lambda: load(page, address, text)) for _ in range(VISITS + 1)]
    page.close()
    return seconds


def slider_steps(page: Page) -> list[float]:
    """The seconds from releasing the probability threshold until the figures change."""
    name = re.compile("Probability threshold")
    slider, figures = page.get_by_role("slider", name=name), page.get_by_test_id("stMetricValue")
    track = page.get_by_role("group", name=name).bounding_box()
    assert track is not None
    y, seconds = track["y"] + track["height"] / 2, []
    for _ in range(STEPS):
        page.wait_for_timeout(2_000)
        share = (float(slider.input_value()) - LEAST_PROBABILITY) / (1 - LEAST_PROBABILITY)
        x = track["x"] + share * track["width"]
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - STEP * track["width"], y, steps=3)
        before = figures.all_inner_texts()
        page.mouse.up()
        began = time.perf_counter()
        while (same := figures.all_inner_texts() == before) and began + PAUSE > time.perf_counter():
            pass
        if not same:  # there may be no pair between the two positions
            seconds.append(time.perf_counter() - began)
    return seconds


def key_presses(page: Page, key: str) -> list[float]:
    """The seconds from pressing a key until the address has another cluster and
    its card is drawn.
    """
    seconds = []
    for _ in range(PRESSES):
        page.wait_for_timeout(700)  # a person looks at the card
        before, start = page.url, time.perf_counter()
        page.keyboard.press(key)
        page.wait_for_function(ANOTHER_CARD, arg=before, timeout=30_000)
        seconds.append(time.perf_counter() - start)
    return seconds


def print_times(title: str, seconds: list[float], limit: float | None = None) -> None:
    middle, high = np.percentile(seconds, (50, 95))
    limit_text = f"limit {limit:g} s" if limit else ""
    print(f"{title:<42} median {middle:6.3f} s   p95 {high:6.3f} s   {limit_text}", flush=True)


if __name__ == "__main__":
    main()
