"""The graphs in Chromium: clicks that reach Python, a split at a bridge, hostile titles."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_hostile_catalog import PROPOSALS

COUNTERS = {
    "count_words": "The length of a text in words.",
    "count_text_words": "Count words in a string.",
    "length_in_words": "Number of words in a document.",
    "words_of_text": "Count how many words a text has.",
}
"""One cluster, to which *length_in_words* belongs only by its link to *count_words*."""

PARAMETERS = {"text": "The text", "language": "Its language", "encoding": "How it is written"}
EVIL = " <img src=x onerror=alert(1)> href"
BRIDGE = "count_words — length_in_words"
CLUSTER = ".st-key-network .network"
ADDED = set()
"""Catalogs that were added, each with the address of its app."""


MIDDLE = """async (root, nodes) => {
    const middle = () => {
        const network = root.view.network;
        const at = nodes.map((node) => network.canvasToDOM(network.getPosition(node)));
        return ["x", "y"].map((axis) => at.reduce((sum, place) => sum + place[axis], 0) / at.length);
    };
    let place = middle();
    for (let frames = 0; frames < 20; frames++) {
        await new Promise(requestAnimationFrame);
        const now = middle();
        if (now[0] !== place[0] || now[1] !== place[1]) frames = 0;
        place = now;
    }
    return place;
}"""


def add(watched, path, name, note="", counters=()):
    """A catalog of the tools, each on a server of its own, analysed unless another test has added
    it; then its graph.
    """
    if (watched.url, name) in ADDED:
        return graph(watched, name)
    schema = {
        "type": "object",
        "properties": {
            key: {"type": "string", "description": text} for key, text in PARAMETERS.items()
        },
        "required": ["text"],
    }
    found = [
        {
            "server": f"s{at}{note}",
            "tools": [
                {"name": f"{tool}{note}", "description": f"{text}{note}", "inputSchema": schema}
            ],
        }
        for at, (tool, text) in enumerate(counters or COUNTERS.items())
    ]
    (path / f"{name}.json").write_text(json.dumps(found))
    page = watched.upload(path / f"{name}.json")
    page.get_by_role("button", name="Add catalog").click()
    expect(page).to_have_url(re.compile(f"catalog={name}"))
    expect(page.get_by_text(PROPOSALS).first).to_be_visible()
    ADDED.add((watched.url, name))
    return graph(watched, name)


def clusters(page):
    """Their table, of which the box of the first row is clicked."""
    return page.locator('[class*="clusters_"] [data-testid="stDataFrame"]')


def graph(watched, name):
    """The one cluster, chosen by its row and drawn."""
    page = watched.open("graph", catalog=name)
    page.locator('[class*="clusters_"] canvas').first.wait_for()
    watched.settled()
    clusters(page).click(position={"x": 18, "y": 52})
    page.locator(f"{CLUSTER} canvas").wait_for()
    return watched.settled()


def click(page, *nodes, times=1):
    """Click a node, or with two the middle of the edge between them, once they stand still."""
    x, y = page.locator(CLUSTER).evaluate(MIDDLE, nodes)
    page.locator(f"{CLUSTER} .canvas").click(position={"x": x, "y": y}, click_count=times)


def test_a_click_selects_the_tool_and_survives_a_reload(watched, tmp_path):
    page = add(watched, tmp_path, "counters")
    click(page, 1)
    heading = page.locator("strong", has_text="count_text_words")
    expect(heading).to_be_visible()
    expect(page.get_by_text("1 tool from the merge graph")).to_be_visible()
    watched.settled()
    chosen = "root => root.view.network.getSelectedNodes()"
    assert page.locator(CLUSTER).evaluate(chosen) == [1]
    faint = "root => root.view.nodes.get().filter(node => node.off).map(node => node.id)"
    assert page.locator(CLUSTER).evaluate(faint) == [0, 2, 3]
    page.reload()
    expect(heading).to_be_visible()
    click(page, 0, 3)
    expect(page.locator("strong", has_text="count_words — words_of_text")).to_be_visible()
    page.get_by_text("Compare the pair").click()
    expect(page.locator("h3").first).to_have_text("count_words and words_of_text")


BOXES = """root => {
    const { network, nodes, numbers, labels } = root.view, boxes = [];
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${labels.size}px arial`;
    for (const { id, label } of nodes.get()) {
        const { left, right, top, bottom } = network.getBoundingBox(id);
        const middle = network.getPosition(id).x, half = pen.measureText(label).width / 2;
        boxes.push([Math.min(left, middle - half), Math.max(right, middle + half), top, bottom]);
    }
    for (const { x, y, side, up } of numbers) boxes.push([x - side, x + side, y - up, y + up]);
    return boxes;
}"""


def test_no_name_or_number_lies_on_another_and_the_frame_is_used(watched, tmp_path):
    watched.page.set_viewport_size({"width": 900, "height": 900})
    copies = [("count_words", COUNTERS["count_words"])] * 20
    page = add(watched, tmp_path, "crowd", "-with-a-long-name", copies)
    servers = page.locator(".st-key-servers_network .network")
    servers.locator("canvas").wait_for()
    watched.settled()
    boxes = servers.evaluate(BOXES)
    nodes = servers.evaluate("root => root.view.nodes.length")
    assert nodes >= 10 and len(boxes) > nodes + 10, "lines have their number"
    for at, (left, right, top, bottom) in enumerate(boxes):
        for x0, x1, y0, y1 in boxes[:at]:
            assert min(right, x1) - max(left, x0) < 1 or min(bottom, y1) - max(top, y0) < 1
    frame = servers.locator(".canvas").bounding_box()
    lefts, rights, tops, bottoms = zip(*boxes, strict=True)
    assert min(lefts) > -1 and max(rights) < frame["width"] + 1
    assert min(tops) > -1 and max(bottoms) < frame["height"] + 1
    assert max(rights) - min(lefts) > 0.6 * frame["width"]
    assert max(bottoms) - min(tops) > 0.6 * frame["height"]


def test_a_line_between_two_servers_opens_them_side_by_side(watched):
    page = watched.open("graph", catalog="Example")
    servers = page.locator(".st-key-servers_network .network")
    servers.locator("canvas").wait_for()
    watched.settled()
    names = servers.evaluate("root => root.view.nodes.get().map(node => node.label)")
    ends = [names.index(name) for name in ("attic-archive", "cellar-files")]
    x, y = servers.evaluate(MIDDLE, ends)
    servers.locator(".canvas").click(position={"x": x, "y": y})
    expect(page).to_have_url(re.compile("/review.*servers="))
    expect(page.get_by_text(re.compile("attic-archive and cellar-files")).first).to_be_visible()


@pytest.mark.nightly
def test_a_double_click_opens_the_tool(watched, tmp_path):
    page = add(watched, tmp_path, "counters")
    click(page, 1, times=2)
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("count_text_words")


@pytest.mark.nightly
def test_arrows_and_enter_choose_a_tool(watched, tmp_path):
    page = add(watched, tmp_path, "counters")
    page.locator(f"{CLUSTER} .canvas").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    expect(page.locator(f"{CLUSTER} .announcement")).to_contain_text("count_words")
    page.keyboard.press("Enter")
    expect(page.locator("strong", has_text="count_words")).to_be_visible()


def test_the_table_leads_to_the_bridge_by_keys(watched, tmp_path):
    page = add(watched, tmp_path, "counters")
    table = page.locator('[class*="st-key-links_"] [data-testid="stDataFrame"]')
    table.locator('canvas[data-testid="data-grid-canvas"]').focus()
    for key in ("ArrowDown", "ArrowDown", "Shift+Space"):  # past the two doubtful ones
        page.keyboard.press(key)
    expect(page.locator("strong", has_text=BRIDGE)).to_be_visible()
    expect(page.get_by_role("button", name="Split here")).to_be_visible()
    watched.settled()
    expect(page).to_have_url(re.compile("drawn="))
    clusters(page).click(position={"x": 18, "y": 52})
    expect(page.locator(CLUSTER)).to_have_count(0)
    expect(page).not_to_have_url(re.compile("drawn="))


@pytest.mark.nightly  # test_hostile_catalog.py draws hostile titles by day
def test_hostile_titles_run_nothing_here_or_in_the_file(watched, tmp_path):
    copies = [("count_words", COUNTERS["count_words"])] * 3
    page = add(watched, tmp_path, "hostile-graph", EVIL, copies)
    network = page.locator(CLUSTER)
    watched.settled()
    click(page, 1)
    expect(page.locator("strong", has_text="words <img")).to_be_visible()
    tip = page.locator(f"{CLUSTER} .vis-tooltip")
    expect(tip).to_contain_text("words <img src=x onerror=alert(1)> href")
    title = "root => root.view.nodes.get(1).title"
    for drawn in (network, page.locator(".st-key-servers_network .network")):
        assert not drawn.locator("img, script, a, svg").count()
        assert "<img" in drawn.evaluate(title)
    expect(page.locator(f"{CLUSTER} .legend")).to_contain_text("<img src=")
    with page.expect_download() as caught:
        page.locator(".st-key-network_HTML button").click()
    path = tmp_path / "graph.html"
    caught.value.save_as(path)
    taken = page.context.new_page()
    seen, trouble = [], []
    taken.on("request", lambda request: seen.append(request.url))
    taken.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
    taken.on("pageerror", lambda error: trouble.append(str(error)))
    taken.goto(f"file://{path}")
    taken.locator("#mynetwork canvas").wait_for()
    x, y = taken.evaluate(
        "() => { const at = network.canvasToDOM(network.getPosition(1)); return [at.x, at.y]; }"
    )
    taken.locator("#mynetwork").hover(position={"x": x, "y": y})
    expect(taken.locator(".vis-tooltip")).to_contain_text("words <img src=x")
    assert seen == [f"file://{path}"]
    assert trouble == []
    assert taken.locator("img, iframe, a").count() == 0
