"""The merge graph as a table of clusters, and the part of it that is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.catalog.tokens import PROMPT_SHAPES, Costs
from toolscope_core.datamodel import Cluster, Constraints, MergePlan, Pair, Tool
from toolscope_core.figures.views import Edge, Network, Node, NodeState
from toolscope_core.merging.graph import MergeGraph
from toolscope_core.merging.plan import documented
from toolscope_core.workspace.review import OPEN_STATES

Tools = Mapping[str, Tool]
Copies = Mapping[str, str]

SHOWN_NODES = 300
_NAMED_MEMBERS = 8


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A cluster in the table, or (``kind`` empty) a component that correction took apart.

    ``component`` numbers the connected component it is part of, from 1; ``bridges`` and
    ``intransitive`` (triples a-b-c without a-c) are counted among the members, exact copies as
    one tool. ``tokens`` is what the members cost in every prompt, ``saved`` what merging them takes
    off that.
    """

    name: str
    members: str
    size: int
    tokens: int
    saved: int
    weakest: float
    bridges: int
    intransitive: int
    servers: str
    kind: str
    state: str
    reasons: str
    component: int
    id: str
    tool_ids: tuple[str, ...]

    @property
    def waiting(self) -> bool:
        """Whether it waits for a person."""
        return self.state in OPEN_STATES


def cluster_rows(
    plan: MergePlan, graph: MergeGraph, copies: Copies, costs: Costs
) -> tuple[ClusterRow, ...]:
    """All clusters and all components without one: the largest first, then the weakest.

    ``copies`` maps each tool to the first of equal content; ``costs`` remembers token counts.
    """
    tools = plan.catalog.by_id
    home = {member: cluster for cluster in plan.clusters for member in cluster.members}
    rows: list[ClusterRow] = []
    for number, (component, part) in enumerate(_parts(graph), 1):
        once = _without_copies(part, copies)
        clusters = {home[tool].id: home[tool] for tool in component if tool in home}
        rows += [_row(tools, number, once, cluster, costs) for cluster in clusters.values()]
        if not clusters:
            rows.append(_taken_apart(tools, number, once, component, costs))
    return tuple(sorted(rows, key=lambda row: (-row.size, row.weakest, row.id)))


def network_of(
    plan: MergePlan,
    graph: MergeGraph,
    copies: Copies,
    links: Constraints,
    row_ids: Sequence[str],
    limit: int | None = None,
) -> Network:
    """The components that hold the given rows of the table, whole, at most ``limit`` tools
    (default: ``SHOWN_NODES``).

    Where there are more, the ends of the most probable edges stay.
    """
    home = {member: cluster for cluster in plan.clusters for member in cluster.members}
    wanted, tools = set(row_ids), plan.catalog.by_id
    edges: dict[Pair, Edge] = {}
    for component, part in _parts(graph):
        if wanted & ({component[0]} | {home[tool].id for tool in component if tool in home}):
            bridges = set(_without_copies(part, copies).bridges)
            for pair, probability in part.edges.items():
                bridge = Pair.of(copies[pair.left], copies[pair.right]) in bridges
                edges[pair] = Edge(pair, probability, bridge)
    inside = {tool for pair in edges for tool in (pair.left, pair.right)}
    kept = _strongest(edges.values(), limit or SHOWN_NODES)
    shown = [e for pair, e in sorted(edges.items()) if {pair.left, pair.right} <= kept]
    apart = [p for p in sorted(links.cannot) if {p.left, p.right} <= kept]
    return Network(
        nodes=tuple(_node(tools, tool, home) for tool in sorted(kept)),
        edges=(*shown, *(Edge(pair, 0.0, forbidden=True) for pair in apart)),
        left_out=len(inside - kept),
    )


def _parts(graph: MergeGraph) -> list[tuple[tuple[str, ...], MergeGraph]]:
    """Each component with its own edges."""
    components = graph.components
    number = {tool: at for at, component in enumerate(components) for tool in component}
    edges: list[dict[Pair, float]] = [{} for _ in components]
    for pair, probability in graph.edges.items():
        edges[number[pair.left]][pair] = probability
    return [(c, MergeGraph(e)) for c, e in zip(components, edges, strict=True)]


def _without_copies(part: MergeGraph, copies: Copies) -> MergeGraph:
    """The edges between different contents: a star of copies hangs on no weak link."""
    ends = ((copies[pair.left], copies[pair.right], p) for pair, p in part.edges.items())
    return MergeGraph({Pair.of(a, b): p for a, b, p in ends if a != b})


def _row(tools: Tools, number: int, part: MergeGraph, cluster: Cluster, costs: Costs) -> ClusterRow:
    inside = set(cluster.members)
    tokens = _tokens(tools, cluster.members, costs)
    merged = documented(tools[cluster.canonical], cluster.document)
    return ClusterRow(
        name=cluster.document.name,
        members=_names(tools, cluster.members),
        size=len(cluster.members),
        tokens=tokens,
        saved=tokens - costs.of(merged, PROMPT_SHAPES[0]),
        weakest=cluster.weakest_edge,
        bridges=sum({pair.left, pair.right} <= inside for pair in part.bridges),
        intransitive=len(part.intransitive(cluster.members)),
        servers=_servers(tools, cluster.members),
        kind=cluster.kind,
        state=cluster.state,
        reasons="; ".join(cluster.reasons),
        component=number,
        id=cluster.id,
        tool_ids=cluster.members,
    )


def _taken_apart(
    tools: Tools, number: int, part: MergeGraph, members: Sequence[str], costs: Costs
) -> ClusterRow:
    return ClusterRow(
        name=tools[members[0]].name,
        members=_names(tools, members),
        size=len(members),
        tokens=_tokens(tools, members, costs),
        saved=0,
        weakest=min(part.edges.values(), default=1.0),
        bridges=len(part.bridges),
        intransitive=len(part.intransitive(members)),
        servers=_servers(tools, members),
        kind="",
        state="taken apart",
        reasons="correction leaves no two of these tools together",
        component=number,
        id=members[0],
        tool_ids=tuple(members),
    )


def _tokens(tools: Tools, members: Sequence[str], costs: Costs) -> int:
    return sum(costs.of(tools[member], PROMPT_SHAPES[0]) for member in members)


def _strongest(edges: Iterable[Edge], limit: int) -> set[str]:
    kept: set[str] = set()
    for edge in sorted(edges, key=lambda item: (-item.probability, item.pair)):
        ends = {edge.pair.left, edge.pair.right}
        if len(kept | ends) <= limit:
            kept |= ends
    return kept


def _node(tools: Tools, tool_id: str, home: Mapping[str, Cluster]) -> Node:
    tool = tools[tool_id]
    state: NodeState = home[tool_id].state if tool_id in home else "alone"
    return Node(tool_id, tool.name, tool.server, state)


def _names(tools: Tools, members: Sequence[str]) -> str:
    names = [tools[member].name for member in members[:_NAMED_MEMBERS]]
    more = len(members) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def _servers(tools: Tools, members: Sequence[str]) -> str:
    counts = Counter(tools[member].server for member in members)
    return ", ".join(sorted(name for name in counts if name))
