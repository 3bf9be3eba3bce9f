"""How fast the merge graph is at 300, 1,000 and 8,000 tools drawn at once.

The catalogs are tools of Seal-Tools, each on four servers, so that every tool is in the graph.
Rows: finding the part, its places and what is sent, one component of as many tools (the slowest to
lay out), the file to take away; and in Chromium, on a warm server, from the request until the graph
is drawn and the script has ended, and from a click on a tool until Python's answer is shown.

    python -m benchmarks.graph_speed [--skip-browser]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import networkx as nx

from benchmarks.explore_speed import CATALOGS, FLAGS, clocked, reference, row, serving
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.environment import Settings, read_environment
from toolscope_core.model.pair import Pair
from ui.graph.components import MergeGraphs
from ui.graph.network import as_json, layout
from ui.graph.network_rows import Edge, Network, Node
from ui.graph.standalone import graph_html
from ui.shared.services.workspace import Workspace

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZES, SERVERS, SEED = (300, 1_000, 4_000, 8_000), 4, 7
USABLE = {8_000: 3.0}
CLICK = {8_000: 1.5}
"""What a catalog of 40,000 may take; smaller graphs what one of 4,076 may."""
SOON = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip-browser", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(read_environment(), store_url=f"sqlite:///{folder}/store.db")
        work = Workspace(settings)
        for size in SIZES:
            in_python(work, size)
        work.close()
        if not options.skip_browser:
            in_chromium(settings)


def copied(size: int) -> Catalog:
    """As many tools, four servers having each."""
    name, file = CATALOGS[-1]
    originals = read_catalog(load_paths([read_environment().data_dir / name / file])).tools
    servers = tuple(Server(f"server-{at}") for at in range(SERVERS))
    tools = [
        replace(tool, id=f"{server.name}/{tool.id}", server=server.name)
        for tool in originals[: size // SERVERS]
        for server in servers
    ]
    return Catalog(tuple(sorted(tools, key=lambda tool: tool.id)), servers, "mcp")


def whole(size: int) -> Network:
    """One component: a random tree, seeded, and a few more edges."""
    tree = nx.random_labeled_tree(size, seed=SEED)
    extra = nx.gnm_random_graph(size, size // 5, seed=SEED)
    found = sorted({Pair.of(f"{a:05}", f"{b:05}") for a, b in (*tree.edges, *extra.edges)})
    nodes = tuple(Node(f"{at:05}", f"tool_{at}", "server", "proposed") for at in range(size))
    return Network(nodes, tuple(Edge(pair, 0.9) for pair in found))


def in_python(work: Workspace, size: int) -> None:
    record = work.catalogs.add(f"graph-{size}", copied(size))
    work.analyses.wait(work.analyses.start(record.id))
    work.review.plan(record.id)
    print(f"\n{size:,} tools")
    row("clusters table", clocked(lambda: work.service(MergeGraphs).clusters(record.id)))
    row("part of the graph", clocked(lambda: work.service(MergeGraphs).network(record.id)))
    part = work.service(MergeGraphs).network(record.id)
    row("the same again", clocked(lambda: work.service(MergeGraphs).network(record.id)))
    row("places", clocked(lambda: layout(part)))
    row("drawing as sent", clocked(lambda: as_json(part)))
    row("the same again", clocked(lambda: as_json(part)))
    print(f"{'drawn / edges / sent':<52} {len(part.nodes):,} / {len(part.edges):,} / "
          f"{len(as_json(part)) / 1024:,.0f} KiB")  # fmt: skip
    row("file to take away", clocked(lambda: graph_html(part, "Graph")))
    if size <= 1_000:
        one = whole(size)
        row("places of one component", clocked(lambda: layout(one)))


def in_chromium(settings: Settings) -> None:
    from playwright.sync_api import sync_playwright

    reference()
    with serving(settings) as url, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = chromium.new_page(viewport={"width": 1440, "height": 1000})
        print()
        for size in SIZES:
            address = f"{url}/graph?catalog=graph-{size}&draw=All"
            ready(page, address)
            seen = [usable(page, address) for _ in range(3)]
            row(f"Chromium, {size:,} tools usable", statistics.median(seen), USABLE.get(size))
            clicks = [clicked(page, node) for node in (5, 17, 29)]
            row(
                f"Chromium, {size:,} tools, click to answer",
                statistics.median(clicks),
                CLICK.get(size, SOON),
            )
        chromium.close()


def ready(page: Page, address: str) -> None:
    """The first visit: a large analysis waits for somebody to ask for it."""
    page.goto(address)
    canvas, analyse = page.locator(".network canvas"), page.get_by_role("button", name="Analyse")
    canvas.or_(analyse).first.wait_for(timeout=300_000)
    if analyse.is_visible():
        analyse.click()
    canvas.wait_for(timeout=300_000)
    ended(page)


def usable(page: Page, address: str) -> float:
    began = time.perf_counter()
    page.goto(address)
    page.locator(".network canvas").wait_for(timeout=300_000)
    ended(page)
    return time.perf_counter() - began


def clicked(page: Page, node: int) -> float:
    """Zoomed in on the node, as somebody is who wants to hit it."""
    where = """(root, node) => {
        root.view.network.moveTo({ position: root.view.network.getPosition(node), scale: 1 });
        return root.view.network.canvasToDOM(root.view.network.getPosition(node));
    }"""
    at = page.locator(".network").evaluate(where, node)
    page.wait_for_timeout(500)
    name = page.locator(".network").evaluate("(r, n) => r.view.nodes.get(n).title", node)
    box = page.locator(".network canvas").bounding_box()
    assert box is not None
    began = time.perf_counter()
    page.mouse.click(box["x"] + at["x"], box["y"] + at["y"])
    page.locator("h3", has_text=name.split("\n")[0]).wait_for(timeout=30_000)
    took = time.perf_counter() - began
    ended(page)
    return took


def ended(page: Page) -> None:
    done = page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
    done.wait_for(timeout=300_000)


if __name__ == "__main__":
    main()
