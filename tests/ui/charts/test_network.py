import json
import math
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.properties import examples
from toolscope_core.model.pair import Pair
from ui.graph import network, network_rows
from ui.graph.network_rows import Edge, Network, Node


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
    """The line of each edge, by its ends."""
    drawn = network.drawing(view)
    return {
        (view.nodes[e["from"]].id, view.nodes[e["to"]].id): network.LINES[e["line"]].name
        for e in drawn.edges
    }


FAMILY = part([edge("a1", "b1", 0.8, link="family"), edge("b1", "c1", 0.5, link="family")])


def test_lines_tell_what_stands_between_two_tools():
    assert lines(MIXED) == {
        ("a1", "a2"): "merge, probability 0.95 or more",
        ("a2", "b1"): "bridge: cutting it divides",
        ("b1", "b2"): "merge, probability below 0.95",
        ("b1", "b3"): "merge (accepted by a person)",
        ("a1", "b2"): "never merge",
        ("a2", "b2"): "unsure (judge)",
        ("a2", "b3"): "family, another value",
    }
    looks = {
        line["color"]["color"] + str(line["dashes"]) + str(line["width"])
        for line in network.drawing(MIXED).lines
    }
    assert len(looks) == len(network.LINES), "each has a look of its own"
    assert {line.name for line in network.LINES if line.dashes} == {
        "never merge",
        "unsure (judge)",
        "family, another value",
    }


def test_a_bridge_says_what_falls_apart():
    (bridge,) = [e for e in network.drawing(MIXED).edges if "label" in e]
    assert bridge["label"] == "2 | 3"
    assert "leaves 2 and 3 tools" in bridge["title"]


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
    node = json.loads(network.as_json(Network((Node("i", evil, evil, "stale"),), ())))["nodes"][0]
    assert node["title"].startswith("<img src=x onerror=alert(1)> href &amp; $x$ xx")
    assert len(node["label"]) == 32
    assert node["title"].count("\n") == 2
    assert drawn.legend[0].text.startswith("<img src=x")


def test_colours_say_the_server_the_state_or_the_relation():
    def legend(colour):
        return {key.text for key in network.drawing(MIXED, colour=colour).legend if key.color}

    assert legend("server") == {"a", "b"}
    assert legend("state") == {"proposed", "accepted", "in no cluster"}
    assert legend("relation") == {"duplicates"}
    assert {key.text for key in network.drawing(FAMILY, colour="relation").legend if key.color} == {
        "family"
    }


def test_without_unsure_links_all_tools_stay():
    shown = network.without_unsure(MIXED)
    assert shown.nodes == MIXED.nodes
    assert [e.link for e in MIXED.edges if e not in shown.edges] == ["unsure"]


@examples(5)
@given(st.permutations(range(9)), st.integers(0, 3))
def test_the_layout_does_not_depend_on_the_order(order, seed):
    edges = [edge(f"c{a}", f"c{a + 1}") for a in range(9)]
    view = part(edges)
    shuffled = Network(
        tuple(view.nodes[at] for at in (*order, 9)),
        tuple(edges[at] for at in order),
    )
    assert network.layout(view, seed) == network.layout(shuffled, seed)


@pytest.mark.parametrize("size", [2, 8, 9, 70, 410])
def test_components_do_not_overlap(size):
    chains = [[f"{name}{at:02}" for at in range(size)] for name in "pqrs"]
    places = network.layout(part([edge(a, b) for chain in chains for a, b in pairwise(chain)]))
    assert len(set(places.values())) == 4 * size
    boxes = []
    for chain in chains:
        xs, ys = zip(*(places[node] for node in chain), strict=True)
        boxes.append((min(xs), max(xs), min(ys), max(ys)))
    for one, other in combinations(boxes, 2):
        assert one[1] < other[0] or other[1] < one[0] or one[3] < other[2] or other[3] < one[2], (
            f"{one} {other}"
        )


def test_a_large_component_stands_on_rings_around_its_middle():
    star = [edge("m", f"n{at:03}") for at in range(300)]
    far = [edge(f"n{at:03}", f"o{at:03}") for at in range(150)]
    places = network.layout(part(star + far))
    distance = {i: round(math.dist(place, places["m"]), 6) for i, place in places.items()}
    assert {i[0]: found for i, found in distance.items()}.keys() == {"m", "n", "o"}
    assert len({found for i, found in distance.items() if i[0] == "n"}) == 1
    assert distance["o000"] == pytest.approx(2 * distance["n000"])
    assert len(set(places.values())) == 451


def test_nothing_is_drawn_of_nothing():
    assert network.drawing(Network((), ())).nodes == []


def test_the_table_has_a_row_an_edge_the_doubtful_first():
    rows = network_rows.network_rows(MIXED)
    assert [row["probability"] for row in rows] == [0.0, 0.6, 0.85, 0.7, 0.97, 1.0, 0.8]
    assert rows[0]["relation"] == "never merge (accepted by a person)"
    assert [row["cutting it leaves"] for row in rows] == ["", "", "2 and 3", "", "", "", ""]
    assert rows[0]["tool A"] == "a1"
    assert rows[0]["server B"] == "b"
