"""The part of the merge graph that is drawn, and its table for those who cannot use a picture."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from toolscope_core.model.pair import Pair
from ui.shared.charts.chart_style import TableRow

NodeState = Literal["proposed", "accepted", "rejected", "stale", "conflict", "alone"]
Link = Literal["merge", "joined", "family", "unsure", "never"]
"""The relation between two tools: the judge's *merge*, a person's, the judge's *family* and its
doubt (which join nothing), a person's *keep apart*."""

LINKS: Mapping[Link, str] = {
    "merge": "same job (judge)",
    "joined": "same job (a person)",
    "family": "same operation, other provider",
    "unsure": "unsure (judge)",
    "never": "kept apart (a person)",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A tool in the merge graph, with the state of its cluster; ``alone`` where it has none."""

    id: str
    name: str
    server: str
    state: NodeState


@dataclass(frozen=True, slots=True)
class Edge:
    """Two tools and the relation between them, with the judge's probability that they are one, of a
    *family* that they are that.

    A bridge holds its component together alone: ``parts`` are the numbers of tools on the side of
    the pair's left tool and on the other side.
    """

    pair: Pair
    probability: float
    link: Link = "merge"
    parts: tuple[int, int] | None = None

    @property
    def joins(self) -> bool:
        """Whether it is an edge of the merge graph; the others are drawn beside those."""
        return self.link in ("merge", "joined")


@dataclass(frozen=True, slots=True)
class Network:
    """A part of the merge graph; both ends of every edge are among the nodes, which are sorted by
    id. ``left_out`` tools did not fit beside the nodes.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0


def network_rows(part: Network, links: Iterable[Edge]) -> list[TableRow]:
    """A row for each of these edges."""
    nodes = {node.id: node for node in part.nodes}
    return [
        {
            "tool A": nodes[edge.pair.left].name,
            "server A": nodes[edge.pair.left].server,
            "tool B": nodes[edge.pair.right].name,
            "server B": nodes[edge.pair.right].server,
            "relation": LINKS[edge.link],
            "probability": round(edge.probability, 2),
            "tools without it": "{:,} and {:,}".format(*edge.parts) if edge.parts else "",
        }
        for edge in links
    ]


def doubtful_first(part: Network) -> tuple[Edge, ...]:
    """The edges: those kept apart, those in doubt, bridges, then the weakest; families last."""
    order: tuple[Link, ...] = ("never", "unsure")
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
