"""How soon a selection is in every linked view, at 4,076 and 40,000 tools.

On the server: keeping the selection, and each view's whole script with a selection of 30 tools and
of three in four, run by Streamlit's own test harness (which reads the result back and so takes
longer than a server). In Chromium: from the click on *Only these*, which hides all others, and from
the one that shows them again, dimmed, to the end of the page's script, by when what it draws is on
the screen.

    python -m benchmarks.selection_speed [--skip-browser] [--only seal-tools]
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import streamlit as st
from streamlit.testing.v1 import AppTest

from benchmarks.explore_speed import (
    CATALOGS,
    FLAGS,
    LARGE,
    ROOT,
    Perturbed,
    again,
    catalogs,
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
from ui.shared import page_frame
from ui.shared.services.workspace import Workspace
from ui.shared.tools import tool_selection

LIMITS = {4_076: 0.5, LARGE: 1.5}
TURNS = 4
VIEWS = {
    "Tools": ("catalog", {}),
    "Pairs": ("overlap", {}),
    "Heatmap": ("overlap", {"view": "Heatmap"}),
    "Map": ("overlap", {"view": "Map", "method": "PCA"}),
    "Graph": ("graph", {}),
    "Review": ("review", {}),
    "Documents": ("documents", {}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip-browser", action="store_true")
    parser.add_argument("--only", help="one of seal-tools, perturbed")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # Streamlit warns of each script that no server runs
    print(f"machine: {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(read_environment(), store_url=f"sqlite:///{folder}/store.db")
        for name, catalog in catalogs(options.only):
            if len(catalog.tools) not in LIMITS:
                continue
            if name == "perturbed":  # vectors that no model made stay out of the user's cache
                settings = replace(settings, cache_dir=Path(folder) / "cache")
            on_the_server(settings, name, catalog)
            if not options.skip_browser:
                in_chromium(settings, name, catalog)


def on_the_server(settings: Settings, name: str, catalog: Catalog) -> None:
    embedder: Embedder = MiniLmEmbedder()
    if name == "perturbed":
        file = read_environment().data_dir / CATALOGS[-1][0] / CATALOGS[-1][1]
        embedder = Perturbed(catalog, read_catalog(load_paths([file])))
    work = Workspace(settings, embedder)
    record = work.catalogs.add(name, catalog)
    size = len(catalog.tools)
    print(f"\n{name}: n = {size:,} tools")
    prepare(work, record.id)
    ids = [tool.id for tool in catalog.tools]
    few, many = ids[: 30 * 7 : 7], ids[: size * 3 // 4]
    row(f"keep {len(many):,} tools", again(lambda: work.selections.keep(record.id, many, "it")))
    page_frame.workspace = lambda: work
    for view, (page, query) in VIEWS.items():
        app = opened(page, record.name, query)
        for chosen in (few, many):
            spent = again(lambda app=app, chosen=chosen: select(app, record.id, work, chosen))
            row(f"{view} with {len(chosen):,} selected", spent, LIMITS[size])
    work.close()


def opened(page: str, name: str, query: dict[str, str]) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600)
    app.query_params.update({"catalog": name, **query})
    app.run()
    if page != "catalog":
        app.switch_page(f"pages/{page}.py")
        app.query_params.update(query)
        app.run()
    assert not app.exception, app.exception
    return app


def select(app: AppTest, catalog_id: int, work: Workspace, ids: list[str]) -> None:
    """Another selection each time, so that nothing is known yet."""
    kept = work.selections.keep(catalog_id, ids[time.perf_counter_ns() % 9 :], "it")
    assert kept is not None
    app.session_state[tool_selection.HELD] = {catalog_id: kept.key}
    app.run()
    assert not app.exception, app.exception


def in_chromium(settings: Settings, name: str, catalog: Catalog) -> None:
    from playwright.sync_api import sync_playwright

    reference()
    size = len(catalog.tools)
    work = Workspace(settings, MiniLmEmbedder())
    record = next(record for record in work.catalogs.newest() if record.name == name)
    ids = [tool.id for tool in catalog.tools]
    chosen = work.selections.keep(record.id, ids[: 30 * 7 : 7], "it")
    assert chosen is not None
    work.close()
    with serving(settings) as url, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = chromium.new_page(viewport={"width": 1440, "height": 1000})
        page.goto(f"{url}/overlap?catalog={name}")
        page.get_by_role("button", name="Analyse").or_(page.get_by_role("tab").first).wait_for()
        analyse = page.get_by_role("button", name="Analyse")
        if analyse.is_visible():
            analyse.click()
        page.get_by_role("tab").first.wait_for(timeout=300_000)
        ended = page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
        for view, (place, query) in VIEWS.items():
            path = "" if place == "catalog" else place
            asked = {"catalog": name, "sel": chosen.key, **query}
            told = "&".join(f"{key}={value}" for key, value in asked.items())
            page.goto(f"{url}/{path}?{told}")
            switch = page.get_by_text("Only these")
            switch.wait_for(timeout=300_000)
            ended.wait_for(timeout=300_000)
            spent = []
            for turn in range(2 * TURNS):
                page.wait_for_timeout(1_500)
                began = time.perf_counter()
                switch.click()
                page.wait_for_url(lambda now, on=turn % 2 == 0: ("only=" in now) is on)
                ended.wait_for(timeout=60_000)
                spent.append(time.perf_counter() - began)
            for way, turns in (("only these", spent[::2]), ("all again", spent[1::2])):
                row(f"Chromium, {view}: {way}", statistics.median(turns), LIMITS[size])
        chromium.close()


if __name__ == "__main__":
    st.cache_resource.clear()
    main()
