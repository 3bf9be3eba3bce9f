"""The merge graph: tools are joined if the judge says *merge* (ToolScope, graph construction).

An edge exists if M_C(a, b) = 1 (equation 1 of the paper), or if a person said so. A person's *never
merge* removes an edge. The graph is built on networkx; every result is in id order.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import networkx as nx

from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import sorted_ids


@dataclass(frozen=True, slots=True)
class MergeGraph:
    """Edges with their merge probabilities, in [0, 1]. Only tools with an edge are in the graph."""

    edges: Mapping[Pair, float]

    @property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """The connected components of two or more tools. Each is sorted, and they are ordered by
        first id.
        """
        components = nx.connected_components(_network(self.edges))
        return tuple(sorted(sorted_ids(component) for component in components))

    @property
    def bridges(self) -> tuple[Pair, ...]:
        """The edges whose removal would split a component of three or more tools, sorted."""
        graph = _network(self.edges)
        return tuple(
            sorted(
                Pair.of(a, b)
                for a, b in nx.bridges(graph)
                if len(graph[a]) > 1 or len(graph[b]) > 1
            )
        )

    def parts(self, weights: Mapping[str, int]) -> dict[Pair, tuple[int, int]]:
        """For each bridge, the weight of the tools on its left tool's side and on
        the other side.
        """
        graph, bridges = _network(self.edges), set(self.bridges)
        sides: dict[Pair, tuple[int, int]] = {}
        below = {tool: weights[tool] for tool in graph}
        for component in self.components if bridges else ():
            tree = list(nx.dfs_edges(graph, component[0]))
            for parent, child in reversed(tree):
                below[parent] += below[child]
            whole = below[component[0]]
            for parent, child in tree:
                pair, own = Pair.of(parent, child), below[child]
                if pair in bridges:
                    left = own if pair.left == child else whole - own
                    sides[pair] = (left, whole - left)
        return sides

    def without(self, bridge: Pair) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tools on the side of the bridge's left tool, and the tools on the other side, both
        sorted.
        """
        graph = _network(self.edges)
        graph.remove_edge(bridge.left, bridge.right)
        left, right = (
            nx.node_connected_component(graph, end) for end in (bridge.left, bridge.right)
        )
        return sorted_ids(left), sorted_ids(right)

    def intransitive(self, members: Iterable[str]) -> tuple[tuple[str, str, str], ...]:
        """Triples (a, b, c) with edges a-b and b-c but no edge a-c, where a < c, sorted."""
        graph = _network(self.edges).subgraph(list(members))
        return tuple(
            sorted(
                (a, b, c)
                for b in graph
                for a in graph[b]
                for c in graph[b]
                if a < c and not graph.has_edge(a, c)
            )
        )


def merge_graph(edges: Mapping[Pair, float], constraints: Constraints) -> MergeGraph:
    """The graph of the judged ``edges`` after people's decisions.

    Must-links are added with probability 1.0, and cannot-links are removed.
    """
    allowed = {pair: p for pair, p in edges.items() if pair not in constraints.cannot}
    for group in constraints.must:
        first, *rest = sorted(group)
        allowed.update({Pair.of(first, other): 1.0 for other in rest})
    return MergeGraph(allowed)


def spanning_pairs(pairs: Iterable[Pair], joined: Iterable[Pair]) -> list[Pair]:
    """The pairs whose tools are not already connected by the ``joined`` pairs or
    by earlier pairs.
    """
    parts: nx.utils.UnionFind[str] = nx.utils.UnionFind()
    for pair in joined:
        parts.union(pair.left, pair.right)
    spanning = []
    for pair in pairs:
        if parts[pair.left] != parts[pair.right]:
            parts.union(pair.left, pair.right)
            spanning.append(pair)
    return spanning


def _network(edges: Mapping[Pair, float]) -> nx.Graph:
    graph = nx.Graph()
    graph.add_weighted_edges_from((pair.left, pair.right, p) for pair, p in sorted(edges.items()))
    return graph
