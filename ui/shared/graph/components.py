"""The merge graph: its clusters, what is drawn of a cluster, and what a bridge connects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from toolscope_core.decisions.constraints import constraints
from toolscope_core.merging.graph import MergeGraph
from toolscope_core.merging.pair_graph import family_edges, joined_pairs, judged_edges, unsure_pairs
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import sorted_ids
from ui.shared.cards.queue import is_family
from ui.shared.graph import FEWEST
from ui.shared.graph.network import Edge, EdgeKind, Network, Node, NodeState
from ui.shared.kept import kept
from ui.shared.snapshot import Snapshot

SHOWN_NODES = 300
"""The maximum number of tools that are drawn."""
NETWORKS_KEPT = 16


@dataclass(frozen=True, eq=False)
class MergeNetwork:
    """The merge graph and what is drawn around it.

    An edge is either ``judged`` by the judge or ``joined`` by people. ``plan`` is the resulting
    plan, and ``links`` are those that people made. ``unsure`` are the pairs about which the judge
    is unsure, and ``families`` the pairs of families. All pairs have their probabilities.
    ``copies`` maps each tool to the first tool with the same content.
    """

    plan: MergePlan
    judged: Mapping[Pair, float]
    copies: Mapping[str, str]
    joined: Mapping[Pair, float] = field(default_factory=dict)
    links: Constraints = field(default_factory=Constraints)
    unsure: Mapping[Pair, float] = field(default_factory=dict)
    families: Mapping[Pair, float] = field(default_factory=dict)

    @cached_property
    def home(self) -> Mapping[str, Cluster]:
        """The cluster of each tool that is in a cluster."""
        return {member: cluster for cluster in self.plan.clusters for member in cluster.members}

    @cached_property
    def components(self) -> Mapping[str, Component]:
        """The component of each tool that has an edge."""
        components = MergeGraph(self._edges).components
        number = {tool: at for at, tools in enumerate(components) for tool in tools}
        edges: list[dict[Pair, float]] = [{} for _ in components]
        for pair, probability in self._edges.items():
            edges[number[pair.left]][pair] = probability
        parts = [
            Component(tools, MergeGraph(inside), self._without_copies(inside))
            for tools, inside in zip(components, edges, strict=True)
        ]
        return {tool: parts[at] for tool, at in number.items()}

    def components_of(self, tools: Iterable[str]) -> tuple[Component, ...]:
        """The components that contain at least one of the tools."""
        parts = [self.components[tool] for tool in tools if tool in self.components]
        return tuple({part.tools: part for part in parts}.values())

    @cached_property
    def judged_once(self) -> MergeGraph:
        """The judge's edges between tools with different content."""
        return self._without_copies(self.judged)

    def bridges(self, component: Component) -> tuple[Pair, ...]:
        """The bridges of a component between tools with different content that no person has put
        together.
        """
        group = self._group_of_content
        return tuple(
            pair
            for pair in component.once.bridges
            if group.get(pair.left, -1) != group.get(pair.right, -2)
        )

    @property
    def _edges(self) -> Mapping[Pair, float]:
        return {**self.joined, **self.judged}

    @cached_property
    def _group_of_content(self) -> Mapping[str, int]:
        return {self.copies[t]: at for at, group in enumerate(self.links.must) for t in group}

    def _without_copies(self, edges: Mapping[Pair, float]) -> MergeGraph:
        ends = ((self.copies[pair.left], self.copies[pair.right], p) for pair, p in edges.items())
        return MergeGraph({Pair.of(a, b): p for a, b, p in ends if a != b})


@dataclass(frozen=True, slots=True)
class Component:
    """A connected component: its tools, its edges, and the edges between tools with different
    content.

    Bridges are looked for in ``once``, because copies in a star do not depend on a weak link.
    """

    tools: tuple[str, ...]
    part: MergeGraph
    once: MergeGraph


@dataclass(frozen=True, slots=True)
class Bridge:
    """An edge without which its component would fall apart.

    ``sides`` are the two groups of tools that would remain. The first has the pair's left tool.
    ``cluster`` contains both tools of the pair; it is ``None`` if correction already separates
    them.
    """

    sides: tuple[tuple[str, ...], tuple[str, ...]]
    cluster: Cluster | None

    @property
    def groups(self) -> list[list[str]]:
        """The two parts of the cluster, in the form that *recut* takes. Empty without a cluster."""
        inside = self.cluster.members if self.cluster else ()
        return [[tool for tool in side if tool in inside] for side in self.sides if inside]


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A row of the table: a cluster of three or more tools.

    ``density`` is the share of pairs that the judge would merge; in a family, it is the share that
    the judge would mark as a family. ``intransitive`` counts the triples a-b-c without a-c.
    ``density``, ``bridges`` and ``intransitive`` count exact copies as one tool and ignore people's
    links.
    """

    cluster: Cluster
    density: float
    bridges: int
    intransitive: int


@kept()
def clusters(snapshot: Snapshot) -> tuple[ClusterRow, ...]:
    """The clusters of three or more tools, largest first."""
    return cluster_rows(_merging(snapshot))


@kept(limit=NETWORKS_KEPT)
def network(snapshot: Snapshot, cluster_id: str) -> Network:
    """A cluster and its links, ready to be drawn. Empty if the plan no longer has the cluster."""
    return network_of(_merging(snapshot), cluster_id)


def bridge(snapshot: Snapshot, pair: Pair) -> Bridge | None:
    """The bridge at the edge ``pair``; ``None`` if that edge is not a bridge."""
    return bridge_of(_merging(snapshot), pair)


@kept()
def _merging(snapshot: Snapshot) -> MergeNetwork:
    analysis, log = snapshot.analysis, snapshot.log
    links = constraints(analysis.catalog, log)
    return MergeNetwork(
        plan=snapshot.plan,
        judged=judged_edges(analysis, log),
        joined=joined_pairs(analysis, links),
        copies=analysis.copies,
        links=links,
        unsure=unsure_pairs(analysis),
        families=family_edges(analysis),
    )


def cluster_rows(merging: MergeNetwork) -> tuple[ClusterRow, ...]:
    """The clusters of at least ``FEWEST`` tools, largest first; equally large ones with the weakest
    first.
    """
    clusters = [one for one in merging.plan.clusters if len(one.members) >= FEWEST]
    ordered = sorted(clusters, key=lambda one: (-len(one.members), one.weakest_edge, one.id))
    return tuple(_row(merging, cluster) for cluster in ordered)


def network_of(merging: MergeNetwork, cluster_id: str, limit: int = SHOWN_NODES) -> Network:
    """The cluster with the components of its members: at most ``limit`` tools, the members first.

    Empty if the plan has no such cluster.
    """
    members = next((one.members for one in merging.plan.clusters if one.id == cluster_id), ())
    parts = merging.components_of(members)
    tool_ids = dict.fromkeys((*members, *(tool for part in parts for tool in part.tools)))
    shown_ids = set(list(tool_ids)[:limit])
    edges = {edge.pair: edge for part in parts for edge in _edges(merging, part, shown_ids)}
    for pair in merging.links.cannot:
        if {pair.left, pair.right} <= shown_ids:
            edges[pair] = Edge(pair, 0.0, "never")
    weaker_edges: dict[EdgeKind, Mapping[Pair, float]]
    weaker_edges = {"family": merging.families, "unsure": merging.unsure}
    for link, pairs in weaker_edges.items():
        for pair, probability in pairs.items():
            if {pair.left, pair.right} <= shown_ids:
                edges.setdefault(pair, Edge(pair, probability, link))
    tools, home = merging.plan.catalog.by_id, merging.home
    states: dict[str, NodeState] = {tool: home[tool].state for tool in shown_ids if tool in home}
    return Network(
        nodes=tuple(
            Node(one, tools[one].name, tools[one].server, states.get(one, "alone"))
            for one in sorted(shown_ids)
        ),
        edges=tuple(edge for _, edge in sorted(edges.items())),
        left_out=len(tool_ids) - len(shown_ids),
    )


def bridge_of(merging: MergeNetwork, pair: Pair) -> Bridge | None:
    """The bridge at the edge ``pair``; ``None`` if that edge is not a bridge."""
    copies, home = merging.copies, merging.home
    ends = Pair.of(copies[pair.left], copies[pair.right])
    for component in merging.components_of([pair.left]):
        if ends in merging.bridges(component):
            left, right = (frozenset(side) for side in component.once.without(ends))
            if copies[pair.left] in right:
                left, right = right, left
            own = home.get(pair.left)
            return Bridge(
                sides=(
                    sorted_ids(tool for tool in component.tools if copies[tool] in left),
                    sorted_ids(tool for tool in component.tools if copies[tool] in right),
                ),
                cluster=own if own and pair.right in own.members else None,
            )
    return None


def _edges(merging: MergeNetwork, component: Component, shown: Collection[str]) -> Iterator[Edge]:
    """The edges between the shown tools. A bridge has the sizes of the parts that it connects."""
    copies = merging.copies
    parts = component.once.parts(Counter(copies[tool] for tool in component.tools))
    bridges = set(merging.bridges(component))
    must = {tool: at for at, group in enumerate(merging.links.must) for tool in group}
    for pair, probability in component.part.edges.items():
        if pair.left in shown and pair.right in shown:
            ends = Pair.of(copies[pair.left], copies[pair.right])
            fallen = parts[ends] if ends in bridges else None
            if fallen and ends.left != copies[pair.left]:
                fallen = (fallen[1], fallen[0])
            is_joined = must.get(pair.left, -1) == must.get(pair.right, -2)
            yield Edge(pair, probability, "joined" if is_joined else "merge", fallen)


def _row(merging: MergeNetwork, cluster: Cluster) -> ClusterRow:
    contents = {merging.copies[member] for member in cluster.members}
    pairs = [Pair.of(a, b) for a, b in combinations(sorted(contents), 2)]
    linked = merging.families if is_family(cluster) else merging.judged_once.edges
    bridges = (p for part in merging.components_of(cluster.members) for p in merging.bridges(part))
    return ClusterRow(
        cluster,
        density=round(sum(pair in linked for pair in pairs) / len(pairs), 2) if pairs else 1.0,
        bridges=sum({p.left, p.right} <= contents for p in bridges),
        intransitive=len(merging.judged_once.intransitive(contents)),
    )
