"""The merge graph as a Plotly figure; all places are computed here, none in the browser."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import plotly.graph_objects as go

from toolscope_core.figures import style
from toolscope_core.figures.style import GREY, PALETTE, RED, label
from toolscope_core.figures.views import Edge, Network, NodeState

NAMED_NODES = 40
"""Up to as many nodes carry their names; more would overlap."""

MARGIN = 0.5
"""Room around the nodes for their names; the nodes of a circle are about 1 apart."""

CIRCLE = 8
"""Up to as many nodes of a component stand on a circle."""

MEDIUM = 60
"""Up to as many stand by their distances in the graph (slow beyond), more by springs."""

MARKERS: Mapping[NodeState, str] = {
    "proposed": "circle",
    "accepted": "square",
    "rejected": "x",
    "stale": "diamond",
    "conflict": "triangle-up",
    "alone": "circle-open",
}

Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Line:
    """How the edges that ``holds`` for are drawn; ``width`` in pixels."""

    name: str
    holds: Callable[[Edge], bool]
    width: float
    color: str = GREY
    opacity: float = 1.0
    dash: str = "solid"


_LINES = (
    _Line("never merge", lambda e: e.forbidden, 2, RED, dash="dash"),
    _Line("bridge", lambda e: e.bridge, 5, PALETTE[1], 0.75),
    _Line("probability 0.95 or more", lambda e: e.probability >= 0.95, 2.6),
    _Line("probability 0.80 to 0.95", lambda e: e.probability >= 0.8, 1.8, opacity=0.7),
    _Line("probability below 0.80", lambda _: True, 1.1, opacity=0.5),
)
"""The first that holds draws the edge."""


def network(part: Network, seed: int = 0) -> go.Figure:
    """Colour is the server, marker the state, line the probability.

    Bridges are thick, *never merge* is dashed red. ``seed`` decides the layout.
    """
    places = layout(part, seed)
    traces = [*_edges(part, places), *_nodes(part, places), *_keys(part)]
    figure = style.figure(traces, height=340 if len(part.nodes) <= CIRCLE else 560)
    style.hide_axes(figure)
    for update, axis in ((figure.update_xaxes, 0), (figure.update_yaxes, 1)):
        along = [place[axis] for place in places.values()] or [0.0]
        update(range=[min(along) - MARGIN, max(along) + MARGIN])
    return figure


def layout(part: Network, seed: int = 0) -> dict[str, Place]:
    """A place for every node id: each component by itself, the larger first, in rows.

    The same for the same part whatever its order.
    """
    graph = nx.Graph()
    graph.add_nodes_from(sorted(node.id for node in part.nodes))
    graph.add_edges_from(sorted((edge.pair.left, edge.pair.right) for edge in part.edges))
    components = sorted(
        (sorted(found) for found in nx.connected_components(graph)),
        key=lambda members: (-len(members), members),
    )
    radii = [0.5 * math.sqrt(len(members)) for members in components]
    width = 1.6 * math.sqrt(sum(4 * radius**2 for radius in radii))
    places: dict[str, Place] = {}
    x = y = tallest = 0.0
    for members, radius in zip(components, radii, strict=True):
        if x > 0 and x + 2 * radius > width:
            x, y, tallest = 0.0, y - tallest, 0.0
        tallest = max(tallest, 2 * radius + 0.8)
        for node, (across, up) in _arrange(graph, members, seed).items():
            places[node] = (x + radius * (1 + across), y - radius * (1 - up))
        x += 2 * radius + 0.8
    return places


def _arrange(graph: nx.Graph, members: Sequence[str], seed: int) -> dict[str, Place]:
    """Places in the square from -1 to 1."""
    if len(members) <= CIRCLE:
        turn = 2 * math.pi / len(members)
        return {m: (math.cos(turn * i), math.sin(turn * i)) for i, m in enumerate(members)}
    inside = nx.Graph()
    inside.add_nodes_from(members)
    inside.add_edges_from(sorted(tuple(sorted(edge)) for edge in graph.edges(members)))
    if len(members) <= MEDIUM:
        found = nx.kamada_kawai_layout(inside)
    else:
        found = nx.spring_layout(inside, seed=seed, iterations=100)
    return {member: (float(at[0]), float(at[1])) for member, at in found.items()}


def _edges(part: Network, places: Mapping[str, Place]) -> list[go.Scatter]:
    drawn: dict[str, list[Edge]] = {line.name: [] for line in _LINES}
    for edge in part.edges:
        drawn[next(line.name for line in _LINES if line.holds(edge))].append(edge)
    traces = [
        go.Scatter(
            x=_path(drawn[line.name], places, 0),
            y=_path(drawn[line.name], places, 1),
            mode="lines",
            name=line.name,
            line={"width": line.width, "color": line.color, "dash": line.dash},
            opacity=line.opacity,
            hoverinfo="skip",
        )
        for line in reversed(_LINES)
        if drawn[line.name]
    ]
    return [*traces, _edge_hovers(part, places)]


def _path(edges: Sequence[Edge], places: Mapping[str, Place], axis: int) -> list[float | None]:
    """One coordinate of all edges as a single line with gaps."""
    ends = ((places[edge.pair.left][axis], places[edge.pair.right][axis]) for edge in edges)
    return [value for a, b in ends for value in (a, b, None)]


def _edge_hovers(part: Network, places: Mapping[str, Place]) -> go.Scatter:
    """Unseen markers on the middle of the edges, since a line has no hover of its own."""
    names = {node.id: label(node.name) for node in part.nodes}
    ends = [(places[edge.pair.left], places[edge.pair.right]) for edge in part.edges]
    return go.Scatter(
        x=[(a[0] + b[0]) / 2 for a, b in ends],
        y=[(a[1] + b[1]) / 2 for a, b in ends],
        mode="markers",
        marker={"size": 12, "opacity": 0, "color": GREY},
        text=[
            f"{names[edge.pair.left]}<br>{names[edge.pair.right]}<br>{_said(edge)}"
            for edge in part.edges
        ],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )


def _said(edge: Edge) -> str:
    if edge.forbidden:
        return "never merge"
    return f"probability {edge.probability:.2f}{', bridge' if edge.bridge else ''}"


def _nodes(part: Network, places: Mapping[str, Place]) -> list[go.Scatter]:
    mode = "markers+text" if len(part.nodes) <= NAMED_NODES else "markers"
    traces = []
    for place, (server, rows) in enumerate(style.by_server([n.server for n in part.nodes])):
        nodes = [part.nodes[row] for row in rows]
        colour, _ = style.look(place)
        traces.append(
            go.Scatter(
                x=[places[node.id][0] for node in nodes],
                y=[places[node.id][1] for node in nodes],
                mode=mode,
                name=server,
                marker={
                    "size": 14,
                    "color": colour,
                    "symbol": [MARKERS[node.state] for node in nodes],
                    "line": {"width": 1.5, "color": colour},
                },
                text=[label(node.name, 32) for node in nodes],
                textposition="top center",
                customdata=[[style.hover(node.name, node.server), node.state] for node in nodes],
                hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
            )
        )
    return traces


def _keys(part: Network) -> list[go.Scatter]:
    """Entries of the legend that say which marker stands for which state."""
    present = {node.state for node in part.nodes}
    return [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=state,
            marker={"size": 10, "color": GREY, "symbol": MARKERS[state]},
            hoverinfo="skip",
        )
        for state in MARKERS
        if state in present
    ]
