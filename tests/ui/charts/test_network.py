import json

from toolscope_core.model.pair import Pair
from ui.shared import data_tables
from ui.shared.graph import network
from ui.shared.graph.network import Edge, Network, Node


def part(edges, states=None):
    states = states or {}
    ids = sorted({i for e in edges for i in (e.pair.left, e.pair.right)})
    nodes = [Node(i, i, i[0], states.get(i, "proposed")) for i in ids]
    return Network(tuple(nodes), tuple(edges))


def edge(a, b, probability=0.9, **kind):
    return Edge(Pair.of(a, b), probability, **kind)


MIXED = part(
    [
        edge("a1", "a2", 0.97),
        edge("a2", "b1", 0.85, parts=(2, 3)),
        edge("b1", "b2", 0.7),
        edge("b1", "b3", 1.0, link="joined"),
        edge("a1", "b2", 0.0, link="never"),
        edge("a2", "b2", 0.6, link="unsure"),
        edge("a2", "b3", 0.8, link="family"),
    ],
    {"b2": "alone", "b1": "accepted"},
)


def lines(view):
    """The kind of each edge's line, by its ends."""
    drawn = network.drawing(view)
    return {
        (view.nodes[e["from"]].id, view.nodes[e["to"]].id): kind_of(network.LINES[e["line"]])
        for e in drawn.edges
    }


def kind_of(line):
    """The link that the line stands for, or ``bridge``."""
    return {text: link for link, text in network.LINKS.items()}.get(line.name, "bridge")


def test_lines_tell_what_stands_between_two_tools():
    assert lines(MIXED) == {
        ("a1", "a2"): "merge",
        ("a2", "b1"): "bridge",
        ("b1", "b2"): "merge",
        ("b1", "b3"): "joined",
        ("a1", "b2"): "never",
        ("a2", "b2"): "unsure",
        ("a2", "b3"): "family",
    }
    drawn = network.drawing(MIXED).lines
    looks = {f"{one['color']['color']} {one['dashes']} {one['width']}" for one in drawn}
    assert len(looks) == len(network.LINES), "each has a look of its own"
    dashed = {kind_of(line) for line in network.LINES if line.dashes}
    assert dashed == {"never", "unsure", "family"}


def test_a_bridge_says_what_falls_apart():
    (title,) = [
        e["title"] for e in network.drawing(MIXED).edges if "without this link" in e["title"]
    ]
    assert "0.85" in title and "2 and 3 tools" in title


def test_shapes_tell_the_state_and_the_legend_explains_what_occurs():
    drawn = network.drawing(MIXED)
    shape = {MIXED.nodes[n["id"]].id: drawn.groups[n["group"]]["shape"] for n in drawn.nodes}
    assert (shape["a1"], shape["b1"], shape["b2"]) == ("dot", "square", "dot")
    groups = {MIXED.nodes[n["id"]].id: n["group"] for n in drawn.nodes}
    hollow, full = (drawn.groups[groups[i]]["color"]["background"] for i in ("b2", "a1"))
    assert hollow.startswith("rgba")
    assert not full.startswith("rgba")
    told = [key.text for key in drawn.legend]
    assert {"a", "b", "proposed", "accepted", "in no cluster"} < set(told)
    assert "stale" not in told
    assert [key.text for key in drawn.legend if key.line] == [line.name for line in network.LINES]


def test_text_of_a_catalog_stays_as_it_is_and_on_one_line():
    evil = "<img src=x onerror=alert(1)> href &amp; $x$\n" + "x" * 200
    drawn = network.drawing(Network((Node("i", evil, evil, "stale"),), ()))
    node = json.loads(drawn.json)["nodes"][0]
    assert node["title"].startswith(evil[:50].replace("\n", " "))
    assert len(node["label"]) == 32
    assert node["title"].count("\n") == 2
    assert drawn.legend[0].text.startswith("<img src=x")


def test_only_what_joins_pulls_tools_together():
    edges = network.drawing(MIXED).edges
    pulls = {kind_of(network.LINES[e["line"]]) for e in edges if e["physics"]}
    assert pulls == {"merge", "joined", "bridge", "family"}


def test_the_table_has_a_row_an_edge_the_doubtful_first():
    rows = data_tables.records(network.doubtful_first(MIXED), network.edge_columns(MIXED))
    assert [row["probability"] for row in rows] == [0.0, 0.6, 0.85, 0.7, 0.97, 1.0, 0.8]
    assert rows[0]["relation"] == "kept apart (a person)"
    assert [row["tools without it"] for row in rows] == ["", "", "2 and 3", "", "", "", ""]
    assert rows[0]["tool A"] == "a1"
    assert rows[0]["server B"] == "b"
