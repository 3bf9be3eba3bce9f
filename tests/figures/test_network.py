import math
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.datamodel import Pair
from toolscope_core.figures import network, tables
from toolscope_core.figures.views import Edge, Network, Node


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
        edge("a2", "b1", 0.85, bridge=True),
        edge("b1", "b2", 0.7),
        edge("a1", "b2", 0.0, forbidden=True),
    ],
    {"b2": "alone", "b1": "accepted"},
)


def traces(view):
    return {trace.name: trace for trace in network.network(view).data if trace.name}


def test_lines_tell_bridges_probability_and_never_merge():
    drawn = traces(MIXED)
    assert drawn["never merge"].line.dash == "dash"
    assert drawn["bridge"].line.width > drawn["probability 0.95 or more"].line.width
    assert len(drawn["probability below 0.80"].x) == 3
    assert "probability 0.80 to 0.95" not in drawn, "a bridge is drawn once"


def test_markers_tell_the_state_and_the_legend_explains_those_present():
    drawn = traces(MIXED)
    assert list(drawn["a"].marker.symbol) == ["circle", "circle"]
    assert list(drawn["b"].marker.symbol) == ["square", "circle-open"]
    assert {"proposed", "accepted", "alone"} <= drawn.keys()
    assert "stale" not in drawn


def test_an_edge_can_be_read_by_the_pointer():
    (unseen,) = [t for t in network.network(MIXED).data if not t.name and len(t.x) == 4]
    assert list(unseen.text) == [
        "a1<br>a2<br>probability 0.97",
        "a2<br>b1<br>probability 0.85, bridge",
        "b1<br>b2<br>probability 0.70",
        "a1<br>b2<br>never merge",
    ]


def test_names_are_escaped_and_left_to_the_pointer_in_a_crowd():
    few = Network((Node("x", "<b>n", "<i>s", "stale"),), ())
    node = next(trace for trace in network.network(few).data if trace.text)
    assert node.mode == "markers+text"
    assert list(node.text) == ["&lt;b&gt;n"]
    assert node.customdata[0][0] == "&lt;b&gt;n<br>&lt;i&gt;s"
    crowd = part([edge(f"n{a:02}", f"n{a + 1:02}") for a in range(50)])
    assert all(trace.mode != "markers+text" for trace in network.network(crowd).data)


@given(st.permutations(range(9)), st.integers(0, 3))
def test_the_layout_does_not_depend_on_the_order(order, seed):
    edges = [edge(f"c{a}", f"c{a + 1}") for a in range(9)]
    view = part(edges)
    shuffled = Network(
        tuple(view.nodes[at] for at in (*order, 9)),
        tuple(edges[at] for at in order),
    )
    assert network.layout(view, seed) == network.layout(shuffled, seed)


@pytest.mark.parametrize("size", [2, 8, 9, 70])
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


def test_every_node_is_inside_the_shown_range():
    figure = network.network(MIXED)
    for x, y in network.layout(MIXED).values():
        assert figure.layout.xaxis.range[0] < x < figure.layout.xaxis.range[1]
        assert figure.layout.yaxis.range[0] < y < figure.layout.yaxis.range[1]


def test_nothing_is_drawn_of_nothing():
    assert math.isfinite(network.network(Network((), ())).layout.xaxis.range[0])


def test_the_twin_has_a_row_an_edge_the_doubtful_first():
    rows = tables.network_rows(MIXED)
    assert [row["note"] for row in rows] == ["never merge", "", "bridge", ""]
    assert [row["probability"] for row in rows] == [0.0, 0.7, 0.85, 0.97]
    assert rows[0]["one"] == "a1"
    assert rows[0]["other's server"] == "b"
