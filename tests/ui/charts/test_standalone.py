import re
from dataclasses import replace

from tests.ui.charts.test_network import MIXED
from toolscope_core.model.pair import Pair
from ui.shared.graph.network import Edge, Network, Node, drawing, graph_html, library

EVIL = "<img src=x onerror=alert(1)> href=//evil.example </script><script>alert(2)</script>"


def hostile():
    nodes = (Node("a", EVIL, EVIL, "proposed"), Node("b", EVIL, "href", "proposed"))
    return graph_html(replace(drawing(Network(nodes, (Edge(Pair.of("a", "b"), 0.9),))), alt=EVIL))


def test_the_file_fetches_nothing():
    page = graph_html(drawing(MIXED))
    tags = re.findall(r"<(?:link|script|img|iframe)\b[^>]*>", page)
    assert set(tags) == {"<script>", '<script type="text/javascript">'}
    assert "default-src 'none'" in page
    assert page.index("Content-Security-Policy") < page.index("<script")


def test_hostile_text_stays_text():
    page = hostile()
    assert "alert(2)</script>" not in page
    assert "<img" not in page
    assert "popup.innerHTML" not in page, "pyvis would put titles into innerHTML"
    assert "<title>&lt;img" in page


def test_the_file_holds_the_drawing_and_its_legend():
    page = graph_html(drawing(MIXED))
    for said in ("the only link between two parts", "kept apart", "accepted"):
        assert said in page
    assert "vis-network" in library()[:200]
