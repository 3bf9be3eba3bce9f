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

import argparse
import contextlib
import os
import platform
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.candidate_pairs import pairs_above
from toolscope_core.embedding.embed_once import embed_cached
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.tool_text import tool_text
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.configuration import LEAST_PROBABILITY, MergeThresholds
from toolscope_core.model.environment import Settings, read_environment
from toolscope_core.model.protocols import Embedder, Vectors
from toolscope_core.model.tool import Tool
from ui.overlap import curve_charts, heatmap_charts, map_charts
from ui.overlap.curves import THRESHOLDS, Curves
from ui.overlap.figures import CellMeasure
from ui.overlap.heatmaps import Heatmaps
from ui.overlap.maps import Maps
from ui.overlap.thresholds import Thresholds
from ui.shared.pairs.pair_list import PairFilter, PairLists
from ui.shared.services.workspace import Workspace

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[1]
CATALOGS = (("livemcpbench", "servers.json"), ("seal-tools", "tools.jsonl"))
LARGE, SEED, SERVERS, NOISE = 40_000, 7, 400, 0.35
USABLE = {4_076: 1.5, LARGE: 3.0}
CURVE, SLIDER = 15.0, 0.3
VIEWS = ("Pairs", "Curve", "Threshold", "Heatmap", "Map")
SHOWN = ".js-plotly-plot .main-svg, [data-testid=stDataFrame] canvas"
FOUND = "text=Overlapping clusters"
PAGES = {"first page": ("/?", FOUND), **{view: (f"/overlap?view={view}&", SHOWN) for view in VIEWS}}
"""Of each page the address, and what is on the screen once it is of use."""
LOADS, PATIENCE = 5, 30.0
STEP = 0.06
"""How far the slider is moved at a time, as a share of its track."""
BARE = "import streamlit as st\nst.title('x')\nst.tabs(['a', 'b'])[0].dataframe({'x': [1]})\n"
"""An app that does nothing: what no page of Streamlit is faster than."""
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
SYNONYMS = {"get": "fetch", "create": "make", "retrieve": "look up", "find": "search", "the": "a"}


def blocks(work: Workspace, catalog_id: int, measure: CellMeasure) -> Any:
    by = work.service(Heatmaps).groupings(catalog_id)[0]
    threshold = work.analyses.get(catalog_id).threshold
    return heatmap_charts.heatmap(
        work.service(Heatmaps).block_grid(catalog_id, by, measure).grid, threshold
    )


def two_blocks(work: Workspace, catalog_id: int) -> Any:
    """The two largest."""
    by = work.service(Heatmaps).groupings(catalog_id)[0]
    found = sorted(
        work.service(Heatmaps).blocks(catalog_id, by), key=lambda block: -len(block.rows)
    )
    threshold = work.analyses.get(catalog_id).threshold
    return heatmap_charts.heatmap(
        work.service(Heatmaps).tile(catalog_id, *found[:2]).grid, threshold
    )


FIGURES: dict[str, Callable[[Workspace, int], Any]] = {
    "curve": lambda work, i: curve_charts.collision_curve(work.service(Curves).curve(i)),
    "sweep": lambda work, i: curve_charts.sweep_chart(
        work.service(Thresholds).sweep(i, work.service(Thresholds).in_use(i), "similarity"), 0
    ),
    "blocks, pairs": lambda work, i: blocks(work, i, "pairs"),
    "blocks, mean": lambda work, i: blocks(work, i, "mean"),
    "two blocks": two_blocks,
    "map": lambda work, i: map_charts.tool_map(work.service(Maps).drawn(i, "PCA", "states", True)),
}
"""A row for each picture: how the page builds it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip-browser", action="store_true")
    parser.add_argument("--only", help="one of livemcpbench, seal-tools, perturbed")
    options = parser.parse_args()
    print(
        f"machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(read_environment(), store_url=f"sqlite:///{folder}/store.db")
        for name, catalog in catalogs(options.only):
            if name == "perturbed":  # vectors that no model made stay out of the user's cache
                settings = replace(settings, cache_dir=Path(folder) / "cache")
            measure(settings, name, catalog, not options.skip_browser)


def catalogs(only: str | None) -> list[tuple[str, Catalog]]:
    data = read_environment().data_dir
    found = [(name, read_catalog(load_paths([data / name / file]))) for name, file in CATALOGS]
    found.append(("perturbed", perturbed(found[-1][1], LARGE)))
    return [(name, catalog) for name, catalog in found if only in (None, name)]


def perturbed(catalog: Catalog, size: int) -> Catalog:
    """``size`` tools on ``SERVERS`` servers: seeded variations of those of ``catalog``."""
    rng = np.random.default_rng(SEED)
    sources = rng.integers(0, len(catalog.tools), size)
    tools = [varied(catalog.tools[source], at, rng) for at, source in enumerate(sources.tolist())]
    servers = tuple(Server(name) for name in sorted({tool.server for tool in tools}))
    return Catalog(tuple(sorted(tools, key=lambda tool: tool.id)), servers, "mcp")


def varied(tool: Tool, number: int, rng: np.random.Generator) -> Tool:
    """Another name, other words, a parameter less or more; ``raw`` names the original."""
    words = [SYNONYMS.get(w, w) if rng.random() < 0.7 else w for w in tool.description.split()]
    properties = dict((tool.schema or {}).get("properties") or {})
    if properties and rng.random() < 0.3:
        properties.pop(str(rng.choice(list(properties))))
    if rng.random() < 0.3:
        properties[f"option_{rng.integers(9)}"] = {"type": "string"}
    required = [name for name in (tool.schema or {}).get("required", []) if name in properties]
    server = f"server-{rng.integers(SERVERS):03d}"
    return Tool(
        id=f"{server}/{tool.name}-{number:05d}",
        name=f"{tool.name}{rng.choice(['', 'V2', 'Now', 'ById', 'Info'])}",
        description=" ".join(words),
        server=server,
        schema={"type": "object", "properties": properties, "required": required},
        raw={"from": tool.id},
    )


class Perturbed:
    """An embedder that knows its texts: originals as the model has them, variations beside them."""

    name = "all-MiniLM-L6-v2"

    def __init__(self, catalog: Catalog, originals: Catalog) -> None:
        texts = [tool_text(tool) for tool in originals.tools]
        cache = VectorCache(read_environment().cache_dir)
        known = embed_cached(texts, MiniLmEmbedder(), cache)
        rows = {tool.id: row for row, tool in enumerate(originals.tools)}
        rng = np.random.default_rng(SEED)
        vectors = known[[rows[tool.raw["from"]] for tool in catalog.tools]]
        noise = rng.normal(size=vectors.shape) * NOISE / np.sqrt(vectors.shape[1])
        vectors = (vectors + noise).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self._known = {tool_text(t): v for t, v in zip(catalog.tools, vectors, strict=True)}

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._known[text] for text in texts])


def measure(settings: Settings, name: str, catalog: Catalog, browser: bool) -> None:
    embedder: Embedder = MiniLmEmbedder()
    if name == "perturbed":
        file = read_environment().data_dir / CATALOGS[-1][0] / CATALOGS[-1][1]
        embedder = Perturbed(catalog, read_catalog(load_paths([file])))
    work = Workspace(settings, embedder)
    record = work.catalogs.add(name, catalog)
    size = len(catalog.tools)
    print(f"\n{name}: n = {size:,} tools")
    row("analysis (not a view)", clocked(lambda: prepare(work, record.id)))
    row("plan, once (not a view)", clocked(lambda: work.review.plan(record.id)))
    first = work.review.plan(record.id).clusters[0]
    said = work.review.decide(record.id, "accept", first, "benchmark")
    row("plan after a decision", clocked(lambda: work.review.plan(record.id)))
    work.review.undo(record.id, "benchmark", said.seq)
    vectors = work.analyses.get(record.id).vectors
    row("one dense product of the same size", clocked(lambda: product(vectors)))
    exact = clocked(lambda: pairs_above(vectors, np.array(THRESHOLDS)))
    row("exact curve, one variant", exact, CURVE)
    work.service(Curves).run(record.id)
    row("pairs table", again(lambda: work.service(PairLists).matching(record.id, PairFilter())))
    for view, build in FIGURES.items():
        figure = build(work, record.id)
        size_kb = len(figure.to_json()) / 1024
        row(f"{view}, built again; {size_kb:,.0f} KB", again(lambda b=build: b(work, record.id)))
    own = work.service(Thresholds).in_use(record.id)
    work.service(Thresholds).moved(record.id, own)
    for near, probable in ((0.7, own.probability), (0.7, 0.65), (own.similarity, 0.5)):
        cut = MergeThresholds(near, probable)
        spent = clocked(lambda c=cut: work.service(Thresholds).moved(record.id, c))
        row(f"slider to θ = {near:.2f}, p = {probable:.2f}, first time", spent, SLIDER)
    work.close()
    if browser:
        in_chromium(settings, name, size)


def prepare(work: Workspace, catalog_id: int) -> None:
    work.analyses.wait(work.analyses.start(catalog_id))


def in_chromium(settings: Settings, name: str, size: int) -> None:
    """Each view on its own address, the second time: the server knows the analysis then."""
    from playwright.sync_api import sync_playwright

    reference()
    with tempfile.TemporaryDirectory() as folder, serving(settings) as url, sync_playwright() as pw:
        chromium = pw.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = chromium.new_page(viewport={"width": 1440, "height": 1000})
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE)
        with serving(settings, "streamlit", "run", str(bare)) as empty:
            row("Chromium, an app that does nothing", loads(page, empty, SHOWN))
        analyse = page.get_by_role("button", name="Analyse")
        found = page.locator(FOUND)
        began = time.perf_counter()
        page.goto(f"{url}/?catalog={name}")
        found.or_(analyse).wait_for(timeout=60_000)
        row("Chromium, first page after a restart", time.perf_counter() - began)
        if analyse.is_visible():  # a large one is not rebuilt while a page waits
            analyse.click()
        found.wait_for(timeout=900_000)
        for view, (path, shown) in PAGES.items():
            address = f"{url}{path}catalog={name}"
            if view == "Map":
                row("Chromium, Map while UMAP may be made", usable(page, address, shown))
                page.get_by_text("is being computed").wait_for(state="detached", timeout=600_000)
            row(f"Chromium, {view} usable", loads(page, address, shown), USABLE.get(size))
            if view == "Threshold":
                told = "Chromium, the slider let go until the figures change"
                row(told, stepped(page), SLIDER)
        chromium.close()


def stepped(page: Page) -> float:
    """The median of some steps, from letting go of the slider until the figures are others."""
    slider = page.get_by_role("slider", name=re.compile("Least probability"))
    figures = page.get_by_test_id("stMetricValue")
    track = page.get_by_role("group", name=re.compile("Least probability")).bounding_box()
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
    seen = [usable(page, address, shown) for _ in range(LOADS + 1)]
    return statistics.median(seen[1:])


def usable(page: Page, address: str, shown: str) -> float:
    """Until the script ended, and the tab's picture or table, or the overview, is on the screen."""
    began = time.perf_counter()
    page.goto(address)
    page.get_by_role("tab").first.wait_for(timeout=300_000)
    page.locator(shown).first.wait_for(timeout=300_000)
    ended = page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
    ended.wait_for(timeout=300_000)
    return time.perf_counter() - began


@contextlib.contextmanager
def serving(settings: Settings, *start: str) -> Iterator[str]:
    """An app on a free port, over the measured store and cache: ``start`` is what Python runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", *(start or ("ui",)), "--server.port", str(port)]
    command += ["--server.fileWatcherType", "none", "--server.headless", "true"]
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "TOOLSCOPE_STORE_URL": settings.store_url,
        "TOOLSCOPE_CACHE_DIR": str(settings.cache_dir),
    }
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet)
    try:
        for _ in range(120):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2)
                break
            time.sleep(0.5)
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(20)


def product(vectors: Vectors) -> None:
    for start in range(0, len(vectors), 2048):
        vectors[start : start + 2048] @ vectors.T


def clocked(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def again(work: Callable[[], object], repeats: int = 3) -> float:
    return statistics.median(clocked(work) for _ in range(repeats))


def reference() -> None:
    """How fast this machine is just now: its speed varies by a factor of two and more."""
    row("4,000,000 additions in Python, as a reference", clocked(lambda: _added(4_000_000)))


def _added(times: int) -> int:
    total = 0
    for number in range(times):
        total += number
    return total


def row(what: str, seconds: float, limit: float | None = None) -> None:
    told = f"limit {limit:g} s" if limit else ""
    print(f"{what:<52} {seconds:>9.3f} s   {told}", flush=True)


if __name__ == "__main__":
    main()
