"""The merge graph for vis-network, which places the nodes by simulating springs.

The view on the page and the downloaded file get the same nodes and edges. These contain catalog
text as plain text, which must always be displayed as text.
"""

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from toolscope_core.model.pair import Pair
from ui.shared import pictures
from ui.shared.data_tables import Column

NodeState = Literal["proposed", "accepted", "kept_apart", "stale", "conflict", "alone"]
EdgeKind = Literal["merge", "joined", "family", "unsure", "never"]
"""The relation between two tools. *merge* is the judge's, *joined* a person's. *family* and
*unsure* are the judge's too, but join nothing. *never* is a person's decision to keep the tools
apart.
"""

LINKS: Mapping[EdgeKind, str] = {
    "merge": "same job (judge)",
    "joined": "same job (a person)",
    "family": "family (judge)",
    "unsure": "looks alike (judge)",
    "never": "kept apart (a person)",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A tool in the merge graph, with the state of its cluster. A tool without a cluster is
    ``alone``.
    """

    id: str
    name: str
    server: str
    state: NodeState


@dataclass(frozen=True, slots=True)
class Edge:
    """Two tools and their relation, with the judge's probability that they are one job (for
    *family*, that they are a family).

    A bridge is an edge without which its component would fall apart. For a bridge, ``parts`` are
    the numbers of tools on the side of the left tool and on the other side.
    """

    pair: Pair
    probability: float
    link: EdgeKind = "merge"
    parts: tuple[int, int] | None = None

    @property
    def joins(self) -> bool:
        """Whether this is an edge of the merge graph. The other edges are only drawn with it."""
        return self.link in ("merge", "joined")


@dataclass(frozen=True, slots=True)
class Network:
    """A part of the merge graph.

    The nodes are sorted by id and include both ends of every edge. ``left_out`` is the number of
    tools that did not fit.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0


def edge_columns(part: Network) -> list[Column[Edge]]:
    """The columns of a table of edges."""
    nodes = {node.id: node for node in part.nodes}
    return [
        Column("tool A", lambda edge: nodes[edge.pair.left].name),
        Column("server A", lambda edge: nodes[edge.pair.left].server),
        Column("tool B", lambda edge: nodes[edge.pair.right].name),
        Column("server B", lambda edge: nodes[edge.pair.right].server),
        Column("relation", lambda edge: LINKS[edge.link]),
        Column("probability", lambda edge: round(edge.probability, 2)),
        Column(
            "tools without it",
            lambda edge: "{:,} and {:,}".format(*edge.parts) if edge.parts else "",
        ),
    ]


def doubtful_first(part: Network) -> tuple[Edge, ...]:
    """The edges in this order: kept apart, doubtful, bridges, then the others, weakest first.
    Families come last.
    """
    order: tuple[EdgeKind, ...] = ("never", "unsure")
    return tuple(
        sorted(
            part.edges,
            key=lambda e: (
                e.link != order[0],
                e.link != order[1],
                e.link == "family",
                not e.parts,
                e.probability,
                e.pair,
            ),
        )
    )


ALT = "Merge graph"
NAMED_NODES = 40
"""Up to this many nodes, names are shown at every zoom. With more nodes, names appear when a person
zooms in.
"""

LABEL_SIZE, CLOSE_LABEL_SIZE = 14, 7
"""The size of letters in the units of the drawing. Letters of the small size can be read only when
zoomed in.
"""

LABEL_FROM, CLOSE_LABEL_FROM = 4, 9
"""Names are drawn if they are at least this many pixels high: almost always, or only where they can
be read.
"""

_LETTERS, CLOSE_LETTERS = 32, 20
"""The maximum number of letters in a name, if there are few names and if there are many."""

SPACING, CROWDED = 130, 50
"""The distance between neighbours in pixels, with names and without."""

LOW, _HIGH = 380, 520
"""The height of the picture in pixels: for up to ``_FEW`` nodes, and for more."""
_FEW = 8

NODE_SHAPES: Mapping[NodeState, tuple[str, str, str]] = {
    "proposed": ("dot", "●", "proposed"),
    "accepted": ("square", "■", "accepted"),
    "kept_apart": ("star", "★", "kept_apart"),
    "stale": ("diamond", "◆", "stale"),
    "conflict": ("triangle", "▲", "conflict"),
    "alone": ("dot", "○", "in no cluster"),
}
"""The shape of each state, the sign for it in the legend, and its name. ``alone`` is hollow."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line style for the edges for which ``holds`` returns true.

    ``width`` is in pixels. ``dashes`` are the lengths of a dash and of a gap.
    """

    name: str
    holds: Callable[[Edge], bool]
    width: float
    color: str = pictures.GREY
    dashes: tuple[int, int] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The style in the form that vis-network takes."""
        dashes = list(self.dashes) if self.dashes else False
        color = {"color": self.color, "highlight": self.color}
        return {"width": self.width, "dashes": dashes, "color": color}

    @property
    def css(self) -> str:
        """The style as a CSS border, for the legend."""
        return f"{min(4, self.width)}px {'dashed' if self.dashes else 'solid'} {self.color}"


LINES = (
    Line(LINKS["never"], lambda e: e.link == "never", 2, pictures.RED, (9, 6)),
    Line(LINKS["unsure"], lambda e: e.link == "unsure", 1.2, pictures.GREY, (2, 5)),
    Line(LINKS["family"], lambda e: e.link == "family", 2, pictures.PALETTE[3], (6, 4)),
    Line("the only link between two parts", lambda e: e.parts is not None, 6, pictures.PALETTE[1]),
    Line(LINKS["joined"], lambda e: e.link == "joined", 3, pictures.PALETTE[2]),
    Line(LINKS["merge"], lambda _: True, 2),
)
"""The line styles. The first one that fits an edge is used."""


@dataclass(frozen=True, slots=True)
class LegendKey:
    """A line of the legend: a sign with its colour (if empty, the colour of the text), or the line
    of an edge.
    """

    text: str
    color: str = ""
    sign: str = ""
    line: Line | None = None


@dataclass(frozen=True)
class Drawing:
    """What vis-network draws, and a name for it.

    Nodes are numbered. ``lines`` are options for edges. ``label_size`` is the size of names in the
    units of the drawing. Names are drawn if they are at least ``label_from`` pixels high.
    ``spacing`` is the distance between neighbours.
    """

    alt: str
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    groups: dict[str, dict[str, Any]]
    lines: list[dict[str, Any]]
    legend: tuple[LegendKey, ...]
    label_size: int = LABEL_SIZE
    label_from: int = LABEL_FROM
    spacing: int = SPACING
    height: int = _HIGH

    @property
    def physics(self) -> dict[str, Any]:
        """The settings for the springs, in the form that vis-network takes."""
        return {
            "solver": "repulsion",
            "repulsion": {"nodeDistance": self.spacing, "springLength": self.spacing},
            "stabilization": {"iterations": 300 if self.spacing == SPACING else 100},
        }

    @cached_property
    def json(self) -> str:
        """The drawing in the form that the view on the page takes."""
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
            "physics": self.physics,
        }
        content = {**parts, **labels, "lines": self.lines, "legend": legend}
        return json.dumps(content, separators=(",", ":"))


@lru_cache(maxsize=8)
def drawing(part: Network) -> Drawing:
    """The drawing of a network. Colours stand for servers, shapes for states, and lines for
    relations.
    """
    has_names = len(part.nodes) <= NAMED_NODES
    letters = _LETTERS if has_names else CLOSE_LETTERS
    servers = pictures.by_server([node.server for node in part.nodes])
    look = {row: at for at, (_, rows) in enumerate(servers) for row in rows}
    number = {node.id: at for at, node in enumerate(part.nodes)}
    nodes, groups = [], {}
    for at, node in enumerate(part.nodes):
        group = f"{look[at]} {node.state}"
        groups[group] = _group(look[at], node.state)
        text = {"title": _node(node), "label": short_text(node.name, letters)}
        nodes.append({"id": at, **text, "group": group})
    edges, used_kinds = [], set()
    for edge in part.edges:
        ends = {"from": number[edge.pair.left], "to": number[edge.pair.right]}
        line = next(at for at, line in enumerate(LINES) if line.holds(edge))
        used_kinds.add(line)
        pulls = edge.joins or edge.link == "family"
        edges.append({**ends, "line": line, "title": _edge(edge), "physics": pulls})
    return Drawing(
        alt=ALT,
        nodes=nodes,
        edges=edges,
        groups=groups,
        lines=[line.options for line in LINES],
        legend=tuple(_legend(part, [name for name, _ in servers], used_kinds)),
        label_size=LABEL_SIZE if has_names else CLOSE_LABEL_SIZE,
        label_from=LABEL_FROM if has_names else CLOSE_LABEL_FROM,
        spacing=SPACING if has_names else CROWDED,
        height=LOW if len(part.nodes) <= _FEW else _HIGH,
    )


def short_text(text: str, limit: int = 80) -> str:
    """Catalog text on one line, cut to ``limit`` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _node(node: Node) -> str:
    return "\n".join(
        filter(None, (short_text(node.name), short_text(node.server), NODE_SHAPES[node.state][2]))
    )


def _edge(edge: Edge) -> str:
    text = LINKS[edge.link]
    if edge.link in ("merge", "family", "unsure"):
        text += f"\nprobability {edge.probability:.2f}"
    if edge.parts:
        text += "\nwithout this link, {:,} and {:,} tools are left".format(*edge.parts)
    return text


def _group(place: int, state: NodeState) -> dict[str, Any]:
    """The options for the nodes of one server (given by its position) and one state.

    For the seventh to the twelfth server, colours repeat and a ring is added; the servers after
    them are grey.
    """
    colour, symbol = pictures.look(place)
    ring = pictures.GREY if symbol != pictures.SYMBOLS[0] else colour
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
    """The servers, states and lines that occur.

    Server names are unescaped, because they were escaped for Plotly.
    """
    states = {node.state for node in part.nodes}
    looks = [pictures.look(at) for at in range(len(servers))]
    return [
        *(
            LegendKey(html.unescape(server), colour, "●" if symbol == pictures.SYMBOLS[0] else "◉")
            for server, (colour, symbol) in zip(servers, looks, strict=True)
        ),
        *(
            LegendKey(name, "", sign)
            for state, (_, sign, name) in NODE_SHAPES.items()
            if state in states
        ),
        *(LegendKey(line.name, line=line) for at, line in enumerate(LINES) if at in lines),
    ]


POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
OPTIONS = {
    "edges": {"smooth": False},
    "layout": {"randomSeed": 1},
    "interaction": {"hover": True, "multiselect": True, "tooltipDelay": 80},
}
_FETCHES = re.compile(r"<(link|script)\b[^>]*?\b(?:href|src)=[^>]*>(?:\s*</\1>)?", re.DOTALL)
_NO_HREF = "h\0ref"
_HEADINGS = re.compile(r"<center>\s*<h1>.*?</h1>\s*</center>", re.DOTALL)


def library() -> str:
    """The copy of vis-network that pyvis contains."""
    import pyvis

    place = Path(pyvis.__file__).parent / "templates" / "lib" / "vis-9.1.2"
    return (place / "vis-network.min.js").read_text("utf-8")


def graph_html(drawing: Drawing) -> str:
    """A standalone page that shows the drawing and the legend."""
    from pyvis.network import Network as Pyvis

    network = Pyvis(height="86vh", width="100%", directed=False, cdn_resources="in_line")
    network.nodes = [{**node, "title": _unlinked(node["title"])} for node in drawing.nodes]
    network.edges = [{**drawing.lines[edge["line"]], **edge} for edge in drawing.edges]
    own = {"groups": drawing.groups, "nodes": _names(drawing), "physics": drawing.physics}
    network.set_options(json.dumps({**OPTIONS, **own}))
    page = _HEADINGS.sub("", _FETCHES.sub("", network.generate_html(notebook=False)))
    page = page.replace(json.dumps(_NO_HREF)[1:-1], r"hr\u0065f")  # JavaScript reads this as href
    head = (
        f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{html.escape(drawing.alt)}</title>"
    )
    keys = "".join(_key(key) for key in drawing.legend)
    legend = f'<p style="font:14px sans-serif;line-height:1.8">{keys}</p>'
    return page.replace("<head>", head, 1).replace("</body>", f"{legend}</body>", 1)


def _names(drawing: Drawing) -> dict[str, object]:
    """The size of the names, and from when on they are drawn."""
    label = {"drawThreshold": drawing.label_from}
    return {"font": {"size": drawing.label_size}, "scaling": {"label": label}}


def _unlinked(text: str) -> str:
    """The text with every ``href`` changed, because pyvis would otherwise write titles as HTML."""
    return text.replace("href", _NO_HREF)


def _key(key: LegendKey) -> str:
    line = key.line
    if line:
        sign = f"border-top:{line.css};padding-right:26px"
    else:
        sign = f"color:{key.color or 'inherit'}"
    mark = f'<span style="display:inline-block;{sign}">{html.escape(key.sign)}</span>'
    return f'<span style="margin-right:18px">{mark} {html.escape(key.text)}</span>'
