"""The graph of merges, and what a change of its clusters is called."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.merging.graph import merge_graph, spanning_pairs
from toolscope_core.merging.pair_graph import ClusterChanges, GroupChange, cluster_changes
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair

IDS = tuple("abcdefgh")
EDGES = st.dictionaries(
    st.tuples(st.sampled_from(IDS), st.sampled_from(IDS))
    .filter(lambda ids: ids[0] != ids[1])
    .map(lambda ids: Pair.of(*ids)),
    st.floats(0.5, 1.0),
    max_size=14,
)
NOTHING = Constraints()


@given(EDGES)
def test_components_are_those_of_networkx_in_id_order(edges):
    graph = nx.Graph([(pair.left, pair.right) for pair in edges])
    expected = sorted(tuple(sorted(part)) for part in nx.connected_components(graph))
    assert list(merge_graph(edges, NOTHING).components) == expected


@given(EDGES)
def test_losing_a_bridge_divides_a_component(edges):
    graph = merge_graph(edges, NOTHING)
    for bridge in graph.bridges:
        whole = next(c for c in graph.components if bridge.left in c)
        without = {pair: p for pair, p in edges.items() if pair != bridge}
        parts = merge_graph(without, NOTHING).components
        assert len(whole) > 2
        assert not any(set(whole) <= set(part) for part in parts)


def test_people_add_and_remove_edges():
    edges = {Pair("a", "b"): 0.9, Pair("b", "c"): 0.8}
    links = Constraints(must=(frozenset("cde"),), cannot=frozenset({Pair("a", "b")}))
    graph = merge_graph(edges, links)
    assert graph.components == (("b", "c", "d", "e"),)
    assert graph.edges[Pair("c", "d")] == 1.0


def test_intransitive_triples_are_listed_once():
    edges = {Pair("a", "b"): 0.9, Pair("b", "c"): 0.9, Pair("c", "d"): 0.9, Pair("b", "d"): 0.9}
    graph = merge_graph(edges, NOTHING)
    assert graph.intransitive("abcd") == (("a", "b", "c"), ("a", "b", "d"))
    assert graph.bridges == (Pair("a", "b"),)


@given(EDGES, EDGES)
def test_spanning_pairs_connect_what_all_pairs_do_and_none_could_be_left_out(pairs, joined):
    spanning = spanning_pairs(pairs, joined)

    def parts(*edges):
        graph = nx.Graph([(pair.left, pair.right) for pair in edges])
        graph.add_nodes_from(IDS)
        return nx.number_connected_components(graph)

    assert [pair for pair in pairs if pair in spanning] == spanning
    assert parts(*joined, *spanning) == parts(*joined, *pairs) == parts(*joined) - len(spanning)


SIZE = 8
PARTITIONS = st.lists(st.integers(0, 3), min_size=SIZE, max_size=SIZE).map(
    lambda places: tuple(
        members
        for at in range(4)
        if len(members := tuple(chr(97 + i) for i, p in enumerate(places) if p == at)) > 1
    )
)


def test_changes_are_named():
    before = (("a", "b"), ("c", "d", "e"), ("f", "g"), ("p", "q"))
    after = (("a", "b", "x"), ("c", "d"), ("h", "i"), ("p", "q"))
    assert cluster_changes(before, after) == ClusterChanges(
        appeared=(("h", "i"),),
        grown=(GroupChange(("a", "b", "x"), (("a", "b"), ("x",))),),
        split=(GroupChange(("c", "d", "e"), (("c", "d"), ("e",))),),
        vanished=(("f", "g"),),
    )
    joined = cluster_changes((("a", "b"), ("c", "d", "e")), (("a", "b", "c", "d", "e"),))
    assert joined.grown == (GroupChange(tuple("abcde"), (("c", "d", "e"), ("a", "b"))),)
    assert len(joined) == 1


@given(PARTITIONS, PARTITIONS)
def test_changes_turn_round(before, after):
    there, back = cluster_changes(before, after), cluster_changes(after, before)
    assert there.appeared == back.vanished
    assert there.grown == back.split
    assert len(cluster_changes(before, before)) == 0
    assert (len(there) == 0) == (set(before) == set(after))
