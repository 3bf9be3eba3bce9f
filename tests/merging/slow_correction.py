"""Correction the slow way, pair by pair over ids: what the fast one has to agree with."""

from itertools import combinations

import networkx as nx
import numpy as np

from toolscope_core.model.cluster import Group
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import sorted_ids


def slow_correct(edges, judge, merge_at, constraints, copies, *, divide=True):
    graph = nx.Graph([(pair.left, pair.right) for pair in edges])
    groups = []
    for component in nx.connected_components(graph):
        nodes = nodes_of(sorted(component), constraints, copies)
        allowed = kept_apart(nodes, constraints)
        strength = np.minimum(strengths(nodes, graph, judge), allowed)
        parts = agglomerate(
            witnessed_strengths(strength, merge_at) if divide else allowed, merge_at
        )
        for part in parts:
            fixed = [row for row in part if frozenset(nodes[row]) in constraints.must]
            free = [row for row in part if row not in fixed]
            proposed = sorted_ids(tool for row in free for tool in nodes[row])
            if len(proposed) > 1:
                weakest = float(strength[np.ix_(free, free)].min())
                groups.append(Group(proposed, weakest, len(parts) > 1, weakest < merge_at))
            for nth, row in enumerate(fixed):
                pairs = [Pair.of(a, b) for a, b in combinations(nodes[row], 2)]
                least = float(judge(pairs).min())
                newcomers = () if nth else proposed
                groups.append(Group(nodes[row], least, decided=True, newcomers=newcomers))
    return tuple(sorted(groups, key=lambda group: group.members))


def nodes_of(component, constraints, copies):
    spoken_of = {tool for pair in constraints.cannot for tool in (pair.left, pair.right)}
    leader = {tool: min(group) for group in constraints.must for tool in group}
    free = {tool for tool in component if tool not in leader and tool not in spoken_of}
    nodes = {}
    for tool in component:
        first = copies.get(tool, tool)
        own = first if tool in free and first in free else tool
        nodes.setdefault(leader.get(tool, own), []).append(tool)
    return sorted(sorted_ids(members) for members in nodes.values())


def strengths(nodes, graph, judge):
    strength = np.eye(len(nodes))
    for a, b in combinations(range(len(nodes)), 2):
        if joined(nodes[a], nodes[b], graph) or any(
            joined(nodes[a], other, graph) and joined(other, nodes[b], graph) for other in nodes
        ):
            pairs = [Pair.of(left, right) for left in nodes[a] for right in nodes[b]]
            strength[a, b] = strength[b, a] = judge(pairs).min()
    return strength


def joined(one, other, graph):
    return one != other and any(graph.has_edge(a, b) for a in one for b in other)


def witnessed_strengths(strength, merge_at):
    witnessed = strength.copy()
    for a, b in combinations(range(len(strength)), 2):
        if 0.0 < strength[a, b] < merge_at:
            witness = max(min(strength[a, c], strength[b, c]) for c in range(len(strength)))
            witnessed[a, b] = witnessed[b, a] = (strength[a, b] + witness) / 2.0
    return witnessed


def kept_apart(nodes, constraints):
    allowed = np.ones((len(nodes), len(nodes)))
    for a, b in combinations(range(len(nodes)), 2):
        if any(Pair.of(x, y) in constraints.cannot for x in nodes[a] for y in nodes[b]):
            allowed[a, b] = allowed[b, a] = 0.0
    return allowed


def agglomerate(strength, merge_at):
    """Complete linkage by its definition: the two parts whose weakest pair is strongest, of equal
    ones the first.
    """
    parts = [[row] for row in range(len(strength))]
    while len(parts) > 1:
        weakest = {
            (a, b): strength[np.ix_(parts[a], parts[b])].min()
            for a, b in combinations(range(len(parts)), 2)
        }
        a, b = max(weakest, key=weakest.get)
        if weakest[a, b] < merge_at - 1e-9:
            break
        parts[a] = sorted(parts[a] + parts.pop(b))
    return parts
