"""The merge graph as a table of clusters, the part of it that is drawn, and what a bridge holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.tokens import Costs
from toolscope_core.decisions.constraints import constraints
from toolscope_core.merging.clusters import documented
from toolscope_core.merging.graph import MergeGraph
from toolscope_core.merging.pair_graph import family_edges, joined_pairs, judged_edges, unsure_pairs
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Constraints
from toolscope_core.model.numbers import listed
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import Tool, sorted_ids
from ui.graph.network_rows import Edge, Link, Network, Node, NodeState
from ui.shared.cards.queue import OPEN_STATES, is_family
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace

Tools = Mapping[str, Tool]

SHOWN_NODES = 300
"""Up to as many tools of chosen clusters are drawn, with the doubtful pairs among them."""
OVERVIEW_NODES = 8_000
_NAMED_MEMBERS = 8


@dataclass(frozen=True, eq=False)
class Merging:
    """The merge graph, and what is around it: the plan made of it, people's links, the pairs that
    the judge is ``unsure`` of, and those of ``families``, with their probabilities. ``copies`` maps
    each tool to the first of equal content. Of its edges ``judged`` are the judge's, and ``joined``
    hold together what people put together.
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
        """The cluster of each tool that is in one."""
        return {member: cluster for cluster in self.plan.clusters for member in cluster.members}

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """Each component with its own edges, in the order of the first ids."""
        components = MergeGraph(self._edges).components
        number = {tool: at for at, tools in enumerate(components) for tool in tools}
        edges: list[dict[Pair, float]] = [{} for _ in components]
        for pair, probability in self._edges.items():
            edges[number[pair.left]][pair] = probability
        parts = [MergeGraph(inside) for inside in edges]
        merges = tuple(
            Component(tools, part, self._without_copies(part.edges))
            for tools, part in zip(components, parts, strict=True)
        )
        return (*merges, *self._family_components(number))

    @cached_property
    def judged_once(self) -> MergeGraph:
        """The judge's edges between different contents."""
        return self._without_copies(self.judged)

    def bridges(self, component: Component) -> tuple[Pair, ...]:
        """The bridges of a component that no person put together, between different contents."""
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

    def _family_components(self, number: Mapping[str, int]) -> Iterator[Component]:
        """The families that no edges of the merge graph hold together. ``number`` is that of the
        component of each tool that is in one.
        """
        apart = MergeGraph({})
        for cluster in self.plan.clusters:
            places = {number.get(member, -1) for member in cluster.members}
            if is_family(cluster) and (len(places) > 1 or places == {-1}):
                yield Component(cluster.members, apart, apart)


@dataclass(frozen=True, slots=True)
class Component:
    """A connected component: its tools, its edges, and those between different contents.

    A star of copies hangs on no weak link, so bridges are those of ``once``.
    """

    tools: tuple[str, ...]
    part: MergeGraph
    once: MergeGraph


@dataclass(frozen=True, slots=True)
class Bridge:
    """An edge that alone holds its component together.

    ``sides`` are the tools that fall apart without it, those with the pair's left tool first;
    ``cluster`` is the one that holds both ends, ``None`` where correction keeps them apart already.
    """

    pair: Pair
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    cluster: Cluster | None

    @property
    def groups(self) -> list[list[str]]:
        """The two parts of the cluster, as *recut* takes them; empty without a cluster."""
        inside = self.cluster.members if self.cluster else ()
        return [[tool for tool in side if tool in inside] for side in self.sides if inside]


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A cluster in the table, or (``kind`` empty) a component that correction took apart; *family*
    is the kind of a cluster whose tools are one operation for several values.

    ``component`` numbers the connected component it is part of, from 1; ``density`` (the share of
    pairs that the judge would merge, in a family finds one), ``bridges`` and ``intransitive``
    (triples a-b-c without a-c) are those of the members, exact copies as one tool; what people
    joined is none of them. ``tokens`` is what the members cost in every prompt,
    ``saved`` what merging them takes off that.
    """

    name: str
    members: str
    size: int
    tokens: int
    saved: int
    density: float
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


class MergeGraphs:
    """The merge graphs of analysed catalogs, under the decisions so far. Each method raises
    ``JobError`` before the analysis is finished.
    """

    def __init__(self, work: Workspace) -> None:
        self._analyses = work.analyses
        self._review = work.review
        self._costs = work.catalogs.costs
        self._graphs: ResultCache[Merging] = ResultCache()
        self._clusters: ResultCache[tuple[ClusterRow, ...]] = ResultCache()
        self._networks: ResultCache[ResultCache[Network]] = ResultCache()

    def clusters(self, catalog_id: int) -> tuple[ClusterRow, ...]:
        """Rows of the merge graph, the largest cluster first."""
        merging, costs = self._merging(catalog_id), self._costs
        return self._clusters.get(catalog_id, (merging,), lambda: cluster_rows(merging, costs))

    def network(self, catalog_id: int, row_ids: Sequence[str] | None = None) -> Network:
        """The components that hold the given rows, or all, for drawing."""
        merging, wanted = self._merging(catalog_id), None if row_ids is None else tuple(row_ids)
        networks = self._networks.get(catalog_id, (merging,), ResultCache)
        return networks.get(wanted, (), lambda: network_of(merging, wanted))

    def bridge(self, catalog_id: int, pair: Pair) -> Bridge | None:
        """What falls apart without the edge of ``pair``, where it is a bridge."""
        return bridge_of(self._merging(catalog_id), pair)

    def _merging(self, catalog_id: int) -> Merging:
        analysis, log = self._analyses.required(catalog_id), self._review.log(catalog_id)

        def make() -> Merging:
            links = constraints(analysis.catalog, log)
            return Merging(
                plan=self._review.plan(catalog_id),
                judged=judged_edges(analysis, log),
                joined=joined_pairs(analysis, links),
                copies=analysis.copies,
                links=links,
                unsure=unsure_pairs(analysis),
                families=family_edges(analysis),
            )

        return self._graphs.get(catalog_id, (analysis,), make, state=len(log))


def cluster_rows(merging: Merging, costs: Costs) -> tuple[ClusterRow, ...]:
    """All clusters and all components without one: the largest first, then the weakest.

    ``costs`` remembers token counts.
    """
    home = merging.home
    rows: list[ClusterRow] = []
    for number, component in enumerate(merging.components, 1):
        inside = set(component.tools)
        clusters = {home[t].id: home[t] for t in component.tools if t in home}
        clusters = {key: c for key, c in clusters.items() if inside.issuperset(c.members)}
        rows += [_row(merging, number, component, cluster, costs) for cluster in clusters.values()]
        if not clusters:
            rows.append(_taken_apart(merging, number, component, costs))
    return tuple(sorted(rows, key=lambda row: (-row.size, row.weakest, row.id)))


def network_of(
    merging: Merging, row_ids: Collection[str] | None = None, limit: int | None = None
) -> Network:
    """The components that hold the given rows of the table, or all; at most ``limit`` tools
    (default: ``SHOWN_NODES``, of all ``OVERVIEW_NODES``).

    Whole components stay, the larger first; where not even one fits, the ends of its most probable
    edges do.
    """
    home, tools = merging.home, merging.plan.catalog.by_id
    limit = limit or (OVERVIEW_NODES if row_ids is None else SHOWN_NODES)
    rows = None if row_ids is None else set(row_ids)
    wanted = [
        one
        for one in merging.components
        if rows is None or rows & {one.tools[0], *(home[t].id for t in one.tools if t in home)}
    ]
    states: dict[str, NodeState] = {tool: cluster.state for tool, cluster in home.items()}
    kept = _fitting(wanted, limit)
    edges = {edge.pair: edge for part in wanted for edge in _edges(merging, part, kept)}
    for pair in merging.links.cannot:
        if {pair.left, pair.right} <= kept:
            edges[pair] = Edge(pair, 0.0, "never")
    if len(kept) <= SHOWN_NODES:
        beside: dict[Link, Mapping[Pair, float]]
        beside = {"family": merging.families, "unsure": merging.unsure}
        for link, pairs in beside.items():
            for pair, probability in pairs.items():
                if {pair.left, pair.right} <= kept:
                    edges.setdefault(pair, Edge(pair, probability, link))
    return Network(
        nodes=tuple(
            Node(one, tools[one].name, tools[one].server, states.get(one, "alone"))
            for one in sorted(kept)
        ),
        edges=tuple(edge for _, edge in sorted(edges.items())),
        left_out=len({tool for component in wanted for tool in component.tools}) - len(kept),
    )


def bridge_of(merging: Merging, pair: Pair) -> Bridge | None:
    """What the edge of ``pair`` holds together; ``None`` where it is no bridge."""
    copies, home = merging.copies, merging.home
    ends = Pair.of(copies[pair.left], copies[pair.right])
    for component in merging.components:
        if pair.left in component.tools and ends in merging.bridges(component):
            left, right = (frozenset(side) for side in component.once.without(ends))
            if copies[pair.left] in right:
                left, right = right, left
            own = home.get(pair.left)
            return Bridge(
                pair=pair,
                sides=(
                    sorted_ids(tool for tool in component.tools if copies[tool] in left),
                    sorted_ids(tool for tool in component.tools if copies[tool] in right),
                ),
                cluster=own if own and pair.right in own.members else None,
            )
    return None


def _edges(merging: Merging, component: Component, kept: Collection[str]) -> Iterator[Edge]:
    """The edges between tools that are kept, with what each bridge holds together."""
    copies = merging.copies
    parts = component.once.parts(Counter(copies[tool] for tool in component.tools))
    bridges = set(merging.bridges(component))
    must = {tool: at for at, group in enumerate(merging.links.must) for tool in group}
    for pair, probability in component.part.edges.items():
        if pair.left in kept and pair.right in kept:
            ends = Pair.of(copies[pair.left], copies[pair.right])
            fallen = parts[ends] if ends in bridges else None
            if fallen and ends.left != copies[pair.left]:
                fallen = (fallen[1], fallen[0])
            joined = must.get(pair.left, -1) == must.get(pair.right, -2)
            yield Edge(pair, probability, "joined" if joined else "merge", fallen)


def _fitting(components: Sequence[Component], limit: int) -> set[str]:
    kept: set[str] = set()
    for component in sorted(components, key=lambda one: (-len(one.tools), one.tools)):
        if len(kept) + len(component.tools) <= limit:
            kept.update(component.tools)
        elif not kept:
            kept = _strongest(component.part.edges, limit)
    return kept


def _row(
    merging: Merging, number: int, component: Component, cluster: Cluster, costs: Costs
) -> ClusterRow:
    tools = merging.plan.catalog.by_id
    inside, family = set(cluster.members), is_family(cluster)
    contents = {merging.copies[member] for member in inside}
    pairs = (Pair.of(a, b) for a, b in combinations(sorted(contents), 2))
    linked = merging.families if family else merging.judged_once.edges
    links = [pair for pair in pairs if pair in linked]
    tokens = _tokens(tools, cluster.members, costs)
    merged = documented(tools[cluster.canonical], cluster.document)
    return ClusterRow(
        name=cluster.document.name,
        members=listed((tools[member].name for member in cluster.members), _NAMED_MEMBERS),
        size=len(cluster.members),
        tokens=tokens,
        saved=tokens - costs.of(merged, PROMPT_SHAPES[0]),
        density=_density(contents, links),
        weakest=cluster.weakest_edge,
        bridges=sum({p.left, p.right} <= contents for p in merging.bridges(component)),
        intransitive=len(merging.judged_once.intransitive(contents)),
        servers=_servers(tools, cluster.members),
        kind="family" if family else cluster.kind,
        state=cluster.state,
        reasons="; ".join(cluster.reasons),
        component=number,
        id=cluster.id,
        tool_ids=cluster.members,
    )


def _taken_apart(merging: Merging, number: int, component: Component, costs: Costs) -> ClusterRow:
    tools, members, once = merging.plan.catalog.by_id, component.tools, component.once
    contents = {tool for pair in once.edges for tool in (pair.left, pair.right)}
    return ClusterRow(
        name=tools[members[0]].name,
        members=listed((tools[member].name for member in members), _NAMED_MEMBERS),
        size=len(members),
        tokens=_tokens(tools, members, costs),
        saved=0,
        density=_density(contents, once.edges),
        weakest=min(once.edges.values(), default=1.0),
        bridges=len(merging.bridges(component)),
        intransitive=len(once.intransitive(members)),
        servers=_servers(tools, members),
        kind="",
        state="taken apart",
        reasons="correction leaves no two of these tools together",
        component=number,
        id=members[0],
        tool_ids=tuple(members),
    )


def _density(contents: Collection[str], links: Iterable[Pair]) -> float:
    """The share of pairs that are links, in hundredths; 1 for a single content."""
    pairs = len(contents) * (len(contents) - 1) // 2
    edges = sum(pair.left in contents and pair.right in contents for pair in links)
    return round(edges / pairs, 2) if pairs else 1.0


def _tokens(tools: Tools, members: Sequence[str], costs: Costs) -> int:
    return sum(costs.of(tools[member], PROMPT_SHAPES[0]) for member in members)


def _strongest(edges: Mapping[Pair, float], limit: int) -> set[str]:
    kept: set[str] = set()
    for pair in sorted(edges, key=lambda pair: (-edges[pair], pair)):
        ends = {pair.left, pair.right} - kept
        if len(kept) + len(ends) <= limit:
            kept |= ends
    return kept


def _servers(tools: Tools, members: Sequence[str]) -> str:
    return ", ".join(sorted({tools[member].server for member in members} - {""}))
