"""How fast the merge graph is at 300, 1,000 and 8,000 tools drawn at once.

The catalogs are tools of Seal-Tools, each on four servers, so that every tool is in the graph.
Rows: finding the part, its places and what is sent, one component of as many tools (the slowest to
lay out), the file to take away; and in Chromium, on a warm server, from the request until the graph
is drawn and the script has ended, and from a click on a tool until Python's answer is shown.

    python -m benchmarks.graph_speed [--skip-browser]
"""

from __future__ import annotations

import statistics
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import networkx as nx

from benchmarks.browser import (
    LONG,
    add_analysed,
    chromium,
    seconds_until_usable,
    serving,
    temporary_settings,
    wait_for_end,
)
from benchmarks.measuring import clocked, parser_of, print_reference, print_row, read_named
from benchmarks.perturbed import catalog_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.environment import Settings
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
CANVAS = ".network canvas"


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--skip-browser", action="store_true")
    options = parser.parse_args()
    with temporary_settings() as settings:
        work = Workspace(settings)
        for size in SIZES:
            in_python(work, size)
        work.close()
        if not options.skip_browser:
            in_chromium(settings)


def copied(size: int) -> Catalog:
    """As many tools, four servers having each."""
    originals = read_named("seal-tools").tools[: size // SERVERS]
    servers = [f"server-{at}" for at in range(SERVERS)]
    return catalog_of(
        replace(tool, id=f"{server}/{tool.id}", server=server)
        for tool in originals
        for server in servers
    )


def whole(size: int) -> Network:
    """One component: a random tree, seeded, and a few more edges."""
    tree = nx.random_labeled_tree(size, seed=SEED)
    extra = nx.gnm_random_graph(size, size // 5, seed=SEED)
    found = sorted({Pair.of(f"{a:05}", f"{b:05}") for a, b in (*tree.edges, *extra.edges)})
    nodes = tuple(Node(f"{at:05}", f"tool_{at}", "server", "proposed") for at in range(size))
    return Network(nodes, tuple(Edge(pair, 0.9) for pair in found))


def in_python(work: Workspace, size: int) -> None:
    own_id = add_analysed(work, f"graph-{size}", copied(size))
    work.review.plan(own_id)
    print(f"\n{size:,} tools")
    graphs = work.service(MergeGraphs)
    print_row("clusters table", clocked(lambda: graphs.clusters(own_id)))
    print_row("part of the graph", clocked(lambda: graphs.network(own_id)))
    part = graphs.network(own_id)
    print_row("the same again", clocked(lambda: graphs.network(own_id)))
    print_row("places", clocked(lambda: layout(part)))
    print_row("drawing as sent", clocked(lambda: as_json(part)))
    print_row("the same again", clocked(lambda: as_json(part)))
    kilobytes = f"{len(as_json(part)) / 1024:,.0f} KiB"
    print(f"{'drawn / edges / sent':<52} {len(part.nodes):,} / {len(part.edges):,} / {kilobytes}")
    print_row("file to take away", clocked(lambda: graph_html(part, "Graph")))
    if size <= 1_000:
        one = whole(size)
        print_row("places of one component", clocked(lambda: layout(one)))


def in_chromium(settings: Settings) -> None:
    print_reference()
    with serving(settings) as url, chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        print()
        for size in SIZES:
            address = f"{url}/graph?catalog=graph-{size}&draw=All"
            ready(page, address)
            seen = [seconds_until_usable(page, address, CANVAS) for _ in range(3)]
            clicks = [clicked(page, node) for node in (5, 17, 29)]
            name = f"Chromium, {size:,} tools"
            print_row(f"{name} usable", statistics.median(seen), USABLE.get(size))
            print_row(f"{name}, click to answer", statistics.median(clicks), CLICK.get(size, SOON))


def ready(page: Page, address: str) -> None:
    """The first visit: a large analysis waits for somebody to ask for it."""
    page.goto(address)
    canvas, analyse = page.locator(CANVAS), page.get_by_role("button", name="Analyse")
    canvas.or_(analyse).first.wait_for(timeout=LONG)
    if analyse.is_visible():
        analyse.click()
    canvas.wait_for(timeout=LONG)
    wait_for_end(page)


def clicked(page: Page, node: int) -> float:
    """Zoomed in on the node, as somebody is who wants to hit it."""
    where = """(root, node) => {
        root.view.network.moveTo({ position: root.view.network.getPosition(node), scale: 1 });
        return root.view.network.canvasToDOM(root.view.network.getPosition(node));
    }"""
    at = page.locator(".network").evaluate(where, node)
    page.wait_for_timeout(500)
    name = page.locator(".network").evaluate("(r, n) => r.view.nodes.get(n).title", node)
    box = page.locator(CANVAS).bounding_box()
    assert box is not None
    began = time.perf_counter()
    page.mouse.click(box["x"] + at["x"], box["y"] + at["y"])
    page.locator("h3", has_text=name.split("\n")[0]).wait_for(timeout=30_000)
    took = time.perf_counter() - began
    wait_for_end(page)
    return took


if __name__ == "__main__":
    main()
