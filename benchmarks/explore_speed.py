"""How fast the first page and the Overlap views are at 527, 4,076 and 40,000 tools.

Rows: the plan, first and after a decision; time to build each picture and its size on the wire;
the exact collision curve, beside one dense product of the same size; moving the threshold; and in
Chromium, on a warm server, from the request to the end of the page's script with the view on the
screen, beside an app that does nothing.

The 40,000 tools are Seal-Tools perturbed by a seeded generator: renamed, reworded, a parameter
dropped or added. Their vectors are those of their originals plus noise that stands in for the
rewording: embedding 40,000 texts would take many minutes and measure something else.

    python -m benchmarks.explore_speed [--skip-browser] [--only seal-tools]
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measuring import clocked, parser_of, print_machine, print_reference, read_named
from benchmarks.papers.__main__ import print_row
from benchmarks.perturbed import LARGE, CatalogEmbedder, perturbed_catalog
from toolscope_core.embedding.candidate_pairs import pairs_above
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.merging.analysis import own_thresholds
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import LEAST_PROBABILITY, MergeThresholds
from toolscope_core.model.environment import Settings
from toolscope_core.model.protocols import Embedder, Vectors
from toolscope_core.wording.tool_text import tool_text
from ui.overlap import (
    collisions,
    curve_panel,
    curves,
    heatmap_charts,
    map_charts,
    maps,
    threshold_panel,
)
from ui.overlap.collisions import CellMeasure, Grid, tile
from ui.overlap.curves import THRESHOLDS
from ui.shared.pairs import pair_list
from ui.shared.pairs.pair_list import PairFilter
from ui.shared.services import review
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot
from ui.shared.tools.tool_blocks import groupings

if TYPE_CHECKING:
    from playwright.sync_api import Page

CATALOGS = ("livemcpbench", "seal-tools", "perturbed")
USABLE = {4_076: 1.5, LARGE: 3.0}
CURVE, SLIDER = 15.0, 0.3
VIEWS = ("Pairs", "Threshold", "Heatmap", "Map")
SHOWN = ".js-plotly-plot .main-svg, [data-testid=stDataFrame] canvas"
NEXT_STEPS = "text=Next steps"
PAGES = {
    "first page": ("/?", NEXT_STEPS),
    **{view: (f"/overlap?view={view}&", SHOWN) for view in VIEWS},
    "Graph": ("/graph?", ".network canvas"),
}
"""Of each page the address, and what is on the screen once it is of use."""
LOADS, PATIENCE = 5, 30.0
STEP = 0.06
"""How far the slider is moved at a time, as a share of its track."""
BARE = "import streamlit as st\nst.title('x')\nst.tabs(['a', 'b'])[0].dataframe({'x': [1]})\n"
"""An app that does nothing: what no page of Streamlit is faster than."""


def blocks(snapshot: Snapshot, measure: CellMeasure) -> Any:
    by = groupings(snapshot.catalog)[0]
    return _heatmap(snapshot, collisions.grid_of(snapshot, by, measure).grid)


def two_blocks(snapshot: Snapshot) -> Any:
    """The two largest."""
    every = collisions.blocks(snapshot.plan, groupings(snapshot.catalog)[0])
    largest = sorted(every, key=lambda block: -len(block.rows))[:2]
    return _heatmap(snapshot, tile(snapshot.analysis, *largest).grid)


def _heatmap(snapshot: Snapshot, grid: Grid) -> Any:
    return heatmap_charts.heatmap(grid, snapshot.analysis.threshold)


FIGURES: dict[str, Callable[[Snapshot], Any]] = {
    "curve": lambda snapshot: curve_panel.collision_curve(curves.curve(snapshot)),
    "blocks, pairs": lambda snapshot: blocks(snapshot, "pairs"),
    "blocks, mean": lambda snapshot: blocks(snapshot, "mean"),
    "two blocks": two_blocks,
    "map": lambda snapshot: map_charts.tool_map(maps.drawn(snapshot, "PCA", "states", beside=True)),
}
"""A row for each picture: how the page builds it."""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--skip-browser", action="store_true")
    parser.add_argument("--only", choices=CATALOGS)
    options = parser.parse_args()
    print_machine()
    with temporary_settings() as settings:
        for name in [options.only] if options.only else CATALOGS:
            embedder: Embedder = MiniLmEmbedder()
            catalog = read_named("seal-tools" if name == "perturbed" else name)
            if name == "perturbed":
                originals, catalog = catalog, perturbed_catalog(catalog)
                embedder = CatalogEmbedder(catalog, originals, lambda tool: [tool_text(tool)])
            measure(Workspace(settings, embedder), name, catalog)
            if not options.skip_browser:
                in_chromium(settings, name, len(catalog.tools))


def measure(work: Workspace, name: str, catalog: Catalog) -> None:
    print(f"\n{name}: n = {len(catalog.tools):,} tools")
    ids: list[int] = []
    seconds = clocked(lambda: ids.append(add_analysed(work, name, catalog)))
    print_row("analysis (not a view)", seconds)
    (own_id,) = ids
    print_row("plan, once (not a view)", clocked(lambda: work.snapshot(own_id).plan))
    first = work.snapshot(own_id)
    decision = review.decide(first, "accept", first.plan.clusters[0], "benchmark")
    print_row("plan after a decision", clocked(lambda: work.snapshot(own_id).plan))
    review.undo(first, "benchmark", decision.seq)
    snapshot = work.snapshot(own_id)
    vectors = snapshot.analysis.vectors
    print_row("one dense product of the same size", clocked(lambda: product(vectors)))
    exact = clocked(lambda: pairs_above(vectors, np.array(THRESHOLDS)))
    print_row("exact curve, one variant", exact, CURVE)
    curves.run(snapshot)
    print_row("pairs table", again(lambda: pair_list.matching(snapshot, PairFilter())))
    for view, build in FIGURES.items():
        size_kb = len(build(snapshot).to_json()) / 1024
        seconds = again(lambda b=build: b(snapshot))
        print_row(f"{view}, built again; {size_kb:,.0f} KB", seconds)
    own = own_thresholds(snapshot.analysis)
    threshold_panel.moved_clusters(snapshot, own)
    for near, probable in ((0.7, own.probability), (0.7, 0.65), (own.similarity, 0.5)):
        cut = MergeThresholds(near, probable)
        seconds = clocked(lambda c=cut: threshold_panel.moved_clusters(snapshot, c))
        print_row(f"slider to θ = {near:.2f}, p = {probable:.2f}, first time", seconds, SLIDER)
    work.close()


def in_chromium(settings: Settings, name: str, size: int) -> None:
    """Each view on its own address, the second time: the server knows the analysis then."""
    print_reference()
    with serving(settings) as url, serving(settings, BARE) as empty, chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        print_row("Chromium, an app that does nothing", loads(page, empty, SHOWN))
        analyse = page.get_by_role("button", name="Analyse")
        next_steps = page.locator(NEXT_STEPS)
        began = time.perf_counter()
        page.goto(f"{url}/?catalog={name}")
        next_steps.or_(analyse).wait_for(timeout=60_000)
        print_row("Chromium, first page after a restart", time.perf_counter() - began)
        if analyse.is_visible():  # a large one is not rebuilt while a page waits
            analyse.click()
        next_steps.wait_for(timeout=900_000)
        for view, (path, shown) in PAGES.items():
            address = f"{url}{path}catalog={name}"
            if view == "Map":
                seconds = seconds_until_usable(page, address, shown)
                print_row("Chromium, Map while UMAP may be made", seconds)
                page.get_by_text("is being computed").wait_for(state="detached", timeout=600_000)
            print_row(f"Chromium, {view} usable", loads(page, address, shown), USABLE.get(size))
            if view == "Threshold":
                row = "Chromium, the slider let go until the figures change"
                print_row(row, stepped(page), SLIDER)


def stepped(page: Page) -> float:
    """The median of some steps, from letting go of the slider until the figures are others."""
    slider = page.get_by_role("slider", name=re.compile("Probability threshold"))
    figures = page.get_by_test_id("stMetricValue")
    track = page.get_by_role("group", name=re.compile("Probability threshold")).bounding_box()
    assert track is not None
    y, low = track["y"] + track["height"] / 2, LEAST_PROBABILITY
    seen = []
    for _ in range(LOADS):
        page.wait_for_timeout(2_000)
        before, value = figures.all_inner_texts(), float(slider.input_value())
        x = track["x"] + (value - low) / (1.0 - low) * track["width"]
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - STEP * track["width"], y, steps=3)
        page.mouse.up()
        began = time.perf_counter()
        while figures.all_inner_texts() == before:
            if time.perf_counter() - began > PATIENCE:
                raise RuntimeError(f"a step changed none of {before} in {PATIENCE} s")
        seen.append(time.perf_counter() - began)
    return statistics.median(seen)


def loads(page: Page, address: str, shown: str) -> float:
    """The median of some loads, after one that fills the caches."""
    seconds = [seconds_until_usable(page, address, shown) for _ in range(LOADS + 1)]
    return statistics.median(seconds[1:])


def product(vectors: Vectors) -> None:
    for start in range(0, len(vectors), 2048):
        vectors[start : start + 2048] @ vectors.T


def again(work: Callable[[], object]) -> float:
    return statistics.median(clocked(work) for _ in range(3))


if __name__ == "__main__":
    main()
