"""How fast the map is at 527, 4,076 and 40,000 tools.

Rows: UMAP, t-SNE and silhouettes, each in its own process as the app runs them; the figure, its
table and its size on the wire; in Chromium, from the end of a lasso round some of the tools, and
round nearly all of them, until they are listed, and an action on another page while UMAP runs. The
40,000 tools are those of ``explore_speed``.

    python -m benchmarks.map_speed [--skip-browser] [--only seal-tools] [--projections]
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.explore_speed import (
    CATALOGS,
    FLAGS,
    Perturbed,
    again,
    catalogs,
    clocked,
    prepare,
    reference,
    row,
    serving,
)
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.environment import Settings, read_environment
from toolscope_core.model.protocols import Embedder
from ui.overlap import map_charts
from ui.overlap.maps import MOST_TSNE, Maps
from ui.shared.charts import chart_tables
from ui.shared.services.workspace import Workspace

if TYPE_CHECKING:
    from playwright.sync_api import Page

ACTION = 0.5
LINKED = {4_076: 0.5, 40_000: 1.5}
ACTIONS = 8
RUNNING = "is being computed"
REACHES = (0.05, 0.05, 0.4)
"""Lassos round some tools in the middle, the first of which loads what draws the table below, and
round nearly all.
"""
STEPS, HAND = 6, 25.0
"""Moves of the mouse along each side of a lasso, and the milliseconds between two."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip-browser", action="store_true")
    parser.add_argument("--projections", action="store_true", help="also time what takes minutes")
    parser.add_argument("--only", help="one of livemcpbench, seal-tools, perturbed")
    options = parser.parse_args()
    print(
        f"machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    )
    for name, catalog in catalogs(options.only):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "cache"
            settings = read_environment()
            if name != "perturbed" and settings.cache_dir.exists():  # no projection is known
                unknown = shutil.ignore_patterns("counts")
                shutil.copytree(settings.cache_dir, place, ignore=unknown)
            settings = replace(settings, store_url=f"sqlite:///{folder}/store.db", cache_dir=place)
            measure(settings, name, catalog, options)


def measure(settings: Settings, name: str, catalog: Catalog, options: Any) -> None:
    embedder: Embedder = MiniLmEmbedder()
    if name == "perturbed":
        file = settings.data_dir / CATALOGS[-1][0] / CATALOGS[-1][1]
        embedder = Perturbed(catalog, read_catalog(load_paths([file])))
    work = Workspace(settings, embedder)
    record = work.catalogs.add(name, catalog)
    size = len(catalog.tools)
    print(f"\n{name}: n = {size:,} tools")
    row("analysis (not the map)", clocked(lambda: prepare(work, record.id)))
    if options.projections:
        row("UMAP", clocked(lambda: work.service(Maps).run(record.id, "UMAP")))
        if size <= MOST_TSNE:
            row("t-SNE", clocked(lambda: work.service(Maps).run(record.id, "t-SNE")))
        row("silhouettes, both", clocked(lambda: work.service(Maps).run_silhouettes(record.id)))
    by = work.service(Maps).colours(record.id)[0]
    row(
        "first map, with PCA and words",
        clocked(lambda: work.service(Maps).drawn(record.id, "PCA", by, True)),
    )
    row("map, again", again(lambda: work.service(Maps).drawn(record.id, "PCA", by, True)))
    drawn = work.service(Maps).drawn(record.id, "PCA", by, True)
    picked = range(0, size, 2)
    kilobytes = len(map_charts.tool_map(drawn, picked).to_json()) / 1024
    row(
        f"figure with half selected; {kilobytes:,.0f} KB",
        again(lambda: map_charts.tool_map(drawn, picked)),
    )
    row("its table", again(lambda: chart_tables.map_rows(drawn)))
    work.close()
    if not options.skip_browser:
        in_chromium(settings, name, size)


def in_chromium(settings: Settings, name: str, size: int) -> None:
    from playwright.sync_api import sync_playwright

    reference()
    with serving(settings) as url, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = chromium.new_page(viewport={"width": 1440, "height": 1100})
        address = f"{url}/overlap?catalog={name}&view=Map"
        start = page.goto(f"{address}&method=PCA")
        assert start is not None
        analyse = page.get_by_role("button", name="Analyse")
        page.get_by_role("tab").first.or_(analyse).wait_for(timeout=60_000)
        if analyse.is_visible():  # a large one is not rebuilt while a page waits
            analyse.click()
        page.locator(".js-plotly-plot .nsewdrag").first.wait_for(timeout=900_000)
        ended(page)
        page.wait_for_timeout(3_000)
        for reach in REACHES:
            lasso(page, reach)
            began = time.perf_counter()
            page.mouse.up()
            said = page.get_by_text("tools selected")
            said.wait_for(timeout=120_000)
            ended(page)
            spent = time.perf_counter() - began
            row(f"Chromium, lasso: {said.text_content()}", spent, LINKED.get(size))
            page.get_by_role("button", name="Clear", exact=True).click()
            said.wait_for(state="detached", timeout=60_000)
            page.wait_for_timeout(3_000)
        acted("at rest", page)
        page.goto(address.replace("&method=PCA", ""))
        compute = page.get_by_role("button", name="Compute UMAP")
        page.get_by_text(RUNNING).or_(compute).first.wait_for(timeout=120_000)
        if compute.is_visible():
            compute.click()
        page.get_by_text(RUNNING).wait_for(timeout=60_000)
        other = chromium.new_page(viewport={"width": 1440, "height": 1100})
        other.goto(f"{url}/?catalog={name}")
        acted("while UMAP runs", other)
        if not page.get_by_text(RUNNING).is_visible():
            print("(UMAP was done before the last action)")
        chromium.close()


def lasso(page: Page, reach: float) -> None:
    """Round the middle of the first panel, without letting go, in about the time a hand takes;
    ``reach`` is how far up and to the sides, as a share of the panel.
    """
    box = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    assert box is not None
    low, high = 0.5 - reach, 0.5 + reach
    corners = [(low, low), (high, low), (high, high), (low, high), (low, low + 0.01)]
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for (x, y), (to_x, to_y) in pairwise(places):
        for step in range(1, STEPS + 1):
            page.mouse.move(x + (to_x - x) * step / STEPS, y + (to_y - y) * step / STEPS)
            page.wait_for_timeout(HAND)


def acted(when: str, page: Page) -> None:
    """Change the reviewer's name, which runs the page anew, until it ended."""
    name = page.get_by_label("Your name")
    name.wait_for(timeout=120_000)
    ended(page)
    page.wait_for_timeout(2_000)
    seen = []
    for number in range(ACTIONS):
        began = time.perf_counter()
        name.fill(f"reviewer {number}")
        name.press("Enter")
        page.wait_for_timeout(40)
        ended(page)
        seen.append(time.perf_counter() - began)
        page.wait_for_timeout(400)
    row(f"Chromium, an action {when}, median of {ACTIONS}", statistics.median(seen), ACTION)
    row(f"Chromium, an action {when}, the slowest", max(seen))


def ended(page: Page) -> None:
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(
        timeout=300_000
    )


if __name__ == "__main__":
    main()
