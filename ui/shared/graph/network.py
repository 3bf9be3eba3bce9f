"""The merge graph as vis-network draws it; all places are computed here, none in the browser.

The same nodes and edges go to the page's view and into the file to take away. Text of a catalog is
plain text in them and must be set as text wherever it is shown.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import networkx as nx

from ui.shared.charts import chart_style
from ui.shared.charts.chart_style import GREY, PALETTE, RED
from ui.shared.graph.network_rows import LINKS, Edge, Network, Node, NodeState

ALT = "Merge graph"
NAMED_NODES = 40
"""Up to as many nodes carry their names at every zoom; those of more appear when zoomed in."""

LABEL_SIZE, CLOSE_LABEL_SIZE = 14, 7
"""Letters in the units of the drawing: the small ones are readable only from near."""

LABEL_FROM, CLOSE_LABEL_FROM = 4, 9
"""Pixels from which on names are drawn: always, as good as, and where they can be read."""

LETTERS, CLOSE_LETTERS = 32, 20
"""Letters of a name, and of one among many."""

CIRCLE = 8
"""Up to as many nodes of a component stand on a circle."""

MEDIUM = 60
"""Up to as many stand by their distances in the graph, which is slow beyond: springs hold more."""

ABOVE = -52
"""Pixels by which a name goes up to stand above its dot."""

SPACING, CROWDED = 130, 50
"""Pixels between neighbours, with names and without."""

NODE_SHAPES: Mapping[NodeState, tuple[str, str, str]] = {
    "proposed": ("dot", "●", "proposed"),
    "accepted": ("square", "■", "accepted"),
    "rejected": ("star", "★", "rejected"),
    "stale": ("diamond", "◆", "stale"),
    "conflict": ("triangle", "▲", "conflict"),
    "alone": ("dot", "○", "in no cluster"),
}
"""The shape of each state, its sign in the legend, and its name; ``alone`` is hollow."""

Position = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """The line of edges for which ``holds`` is true; ``width`` in pixels, ``dashes`` on and off."""

    name: str
    holds: Callable[[Edge], bool]
    width: float
    color: str = GREY
    dashes: tuple[int, int] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """As vis-network reads it."""
        dashes = list(self.dashes) if self.dashes else False
        color = {"color": self.color, "highlight": self.color}
        return {"width": self.width, "dashes": dashes, "color": color}

    @property
    def css(self) -> str:
        """As a border of the legend."""
        return f"{min(4, self.width)}px {'dashed' if self.dashes else 'solid'} {self.color}"


LINES = (
    Line(LINKS["never"], lambda e: e.link == "never", 2, RED, (9, 6)),
    Line(LINKS["unsure"], lambda e: e.link == "unsure", 1.2, GREY, (2, 5)),
    Line(LINKS["family"], lambda e: e.link == "family", 2, PALETTE[3], (6, 4)),
    Line("the only link between two parts", lambda e: e.parts is not None, 6, PALETTE[1]),
    Line(LINKS["joined"], lambda e: e.link == "joined", 3, PALETTE[2]),
    Line(LINKS["merge"], lambda _: True, 2),
)
"""The first that holds draws the edge."""


@dataclass(frozen=True, slots=True)
class LegendKey:
    """A line of the legend: a sign in a colour (the text's own where empty), or an edge's line."""

    text: str
    color: str = ""
    sign: str = ""
    line: Line | None = None


@dataclass(frozen=True)
class Drawing:
    """The input of vis-network, and what it is called: nodes are numbered, ``lines`` edge options,
    ``label_size`` that of the names in the units of the drawing, which are drawn from
    ``label_from`` pixels on.
    """

    alt: str
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    groups: dict[str, dict[str, Any]]
    lines: list[dict[str, Any]]
    legend: tuple[LegendKey, ...]
    label_size: int = LABEL_SIZE
    label_from: int = LABEL_FROM
    height: int = 520

    @cached_property
    def json(self) -> str:
        """The drawing as the page's view reads it."""
        legend = [
            {
                "text": key.text,
                "color": key.color,
                "sign": key.sign,
                "line": key.line and key.line.css,
            }
            for key in self.legend
        ]
        parts = {"nodes": self.nodes, "edges": self.edges, "groups": self.groups}
        labels = {
            "alt": self.alt,
            "height": self.height,
            "labelSize": self.label_size,
            "labelFrom": self.label_from,
        }
        content = {**parts, **labels, "lines": self.lines, "legend": legend}
        return json.dumps(content, separators=(",", ":"))


@lru_cache(maxsize=8)
def drawing(part: Network, seed: int = 0) -> Drawing:
    """Colour is the server, shape the state, line the relation of two tools.

    ``seed`` decides the layout.
    """
    joined = [(e.pair.left, e.pair.right) for e in part.edges if e.joins or e.link == "family"]
    places = layout([node.id for node in part.nodes], joined, seed)
    named = len(part.nodes) <= NAMED_NODES
    around: dict[str, list[str]] = {}
    for edge in part.edges:
        around.setdefault(edge.pair.left, []).append(edge.pair.right)
        around.setdefault(edge.pair.right, []).append(edge.pair.left)
    letters = LETTERS if named else CLOSE_LETTERS
    servers = chart_style.by_server([node.server for node in part.nodes])
    look = {row: at for at, (_, rows) in enumerate(servers) for row in rows}
    number = {node.id: at for at, node in enumerate(part.nodes)}
    nodes, groups = [], {}
    for at, node in enumerate(part.nodes):
        group = f"{look[at]} {node.state}"
        groups[group] = _group(look[at], node.state)
        position = placed(at, places[node.id], SPACING if named else CROWDED)
        text = {"title": _node(node), "label": short_text(node.name, letters)}
        up = {"font": {"vadjust": ABOVE}} if _upper(node.id, places, around) else {}
        nodes.append({**position, **text, "group": group, **up})
    edges, used = [], set()
    for edge in part.edges:
        ends = {"from": number[edge.pair.left], "to": number[edge.pair.right]}
        line = next(at for at, line in enumerate(LINES) if line.holds(edge))
        used.add(line)
        edges.append({**ends, "line": line, "title": _edge(edge)})
    return Drawing(
        alt=ALT,
        nodes=nodes,
        edges=edges,
        groups=groups,
        lines=[line.options for line in LINES],
        legend=tuple(_legend(part, [name for name, _ in servers], used)),
        label_size=LABEL_SIZE if named else CLOSE_LABEL_SIZE,
        label_from=LABEL_FROM if named else CLOSE_LABEL_FROM,
        height=380 if len(part.nodes) <= CIRCLE else 520,
    )


def _upper(node: str, places: Mapping[str, Position], around: Mapping[str, Sequence[str]]) -> bool:
    """Whether the lines of a node lead down, so that its name is legible above it."""
    ups = [places[other][1] for other in around.get(node, ())]
    return bool(ups) and places[node][1] > sum(ups) / len(ups) + 0.05


def placed(number: int, place: Position, spacing: float) -> dict[str, Any]:
    """A node at its place, in pixels of the drawing."""
    return {"id": number, "x": round(place[0] * spacing), "y": round(-place[1] * spacing)}


def short_text(text: str, limit: int = 80) -> str:
    """Text of a catalog on one line, cut to ``limit`` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def layout(
    ids: Iterable[str], pairs: Iterable[tuple[str, str]], seed: int = 0
) -> dict[str, Position]:
    """A place for every node: each component by itself, the larger first, in rows.

    Equal for equal ids and pairs in any order.
    """
    graph = nx.Graph()
    graph.add_nodes_from(sorted(ids))
    graph.add_edges_from(sorted(pairs))
    components = sorted(
        (sorted(component) for component in nx.connected_components(graph)),
        key=lambda members: (-len(members), members),
    )
    radii = [0.5 * math.sqrt(len(members)) for members in components]
    width = 1.6 * math.sqrt(sum(4 * radius**2 for radius in radii))
    places: dict[str, Position] = {}
    x = y = tallest = 0.0
    for members, radius in zip(components, radii, strict=True):
        if x > 0 and x + 2 * radius > width:
            x, y, tallest = 0.0, y - tallest, 0.0
        tallest = max(tallest, 2 * radius + 0.8)
        for node, (across, up) in _arrange(graph, members, seed).items():
            places[node] = (x + radius * (1 + across), y - radius * (1 - up))
        x += 2 * radius + 0.8
    return places


def _arrange(graph: nx.Graph, members: Sequence[str], seed: int) -> dict[str, Position]:
    """Places in the square from -1 to 1."""
    if len(members) <= CIRCLE:
        turn = 2 * math.pi / len(members)  # from the top: the names of two stand apart
        return {m: (math.sin(turn * i), math.cos(turn * i)) for i, m in enumerate(members)}
    inside = nx.Graph()
    inside.add_nodes_from(members)
    inside.add_edges_from(sorted(tuple(sorted(edge)) for edge in graph.edges(members)))
    if len(members) <= MEDIUM:
        places = nx.kamada_kawai_layout(inside)
    else:
        places = nx.spring_layout(inside, seed=seed, iterations=100)
    return {member: (float(at[0]), float(at[1])) for member, at in places.items()}


def _node(node: Node) -> str:
    return "\n".join(
        filter(None, (short_text(node.name), short_text(node.server), NODE_SHAPES[node.state][2]))
    )


def _edge(edge: Edge) -> str:
    text = LINKS[edge.link]
    if edge.link in ("merge", "family", "unsure"):
        text += f"\nprobability {edge.probability:.2f}"
    if edge.parts:
        text += "\nwithout it {:,} and {:,} tools are left".format(*edge.parts)
    return text


def _group(place: int, state: NodeState) -> dict[str, Any]:
    """Options of the nodes of one server, by its place, and one state; colours repeat from the
    seventh server on, with a ring.
    """
    colour, symbol = chart_style.look(place)
    ring = GREY if symbol != chart_style.SYMBOLS[0] else colour
    hollow = "rgba(128,128,128,0.15)" if state == "alone" else colour
    return {
        "shape": NODE_SHAPES[state][0],
        "size": 11,
        "borderWidth": 3 if hollow != colour or ring != colour else 1,
        "color": {
            "background": hollow,
            "border": ring,
            "highlight": {"background": hollow, "border": ring},
        },
    }


def _legend(part: Network, servers: Sequence[str], lines: set[int]) -> list[LegendKey]:
    """The servers (labelled for Plotly, hence unescaped), states and lines that occur."""
    states = {node.state for node in part.nodes}
    looks = [chart_style.look(at) for at in range(len(servers))]
    return [
        *(
            LegendKey(
                html.unescape(server), colour, "●" if symbol == chart_style.SYMBOLS[0] else "◉"
            )
            for server, (colour, symbol) in zip(servers, looks, strict=True)
        ),
        *(
            LegendKey(name, "", sign)
            for state, (_, sign, name) in NODE_SHAPES.items()
            if state in states
        ),
        *(LegendKey(line.name, line=line) for at, line in enumerate(LINES) if at in lines),
    ]
