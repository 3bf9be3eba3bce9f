import time
from dataclasses import replace

import numpy as np
import pytest

from tests.ui.services.small_workspace import MAIL, SUM, TOOLS, catalog
from toolscope_core.catalog.tokens import tool_tokens
from toolscope_core.model.catalog import Catalog, Finding, worst_first
from toolscope_core.model.configuration import MergeThresholds
from toolscope_core.model.errors import JobError
from toolscope_core.model.pair import Pair, PairScores
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Tool
from ui.catalog import overview_panel
from ui.overlap import curves, maps, threshold_panel
from ui.shared.graph import components
from ui.shared.pairs import pair_list
from ui.shared.pairs.pair_list import PairFilter, pair_counts
from ui.shared.services import searches
from ui.shared.services.searches import Lookup
from ui.shared.tools import catalog_tables

COST = {tool.id: tool_tokens(tool) for tool in TOOLS}


@pytest.fixture(scope="module")
def own(shared):
    """One for all tests; each adds catalogs under names of its own."""
    return shared


@pytest.fixture(scope="module")
def analysis(shared):
    work, catalog_id = shared
    return work.snapshot(catalog_id).analysed


@pytest.fixture(scope="module")
def plan(shared):
    work, catalog_id = shared
    return work.snapshot(catalog_id).plan


# --- what a catalog holds ---------------------------------------------------------------------


def test_rows_count_declared_parameters_and_findings():
    tools = (
        Tool("a", "none_declared"),
        Tool("b", "takes_none", "d " * 300, schema={"type": "object", "properties": {}}),
    )
    found = (
        Finding("b", "warn", "cites", "description", "m"),
        Finding("b", "block", "hidden", "name", "m", "<U+200B>"),
        Finding("b", "warn", "orders", "description", "m"),
    )
    odd = Catalog(tools, findings=found)
    first, second = catalog_tables.tool_rows(odd, {"a": 1, "b": 2})
    assert (first.parameters, first.findings) == (None, "")
    assert (second.parameters, second.findings) == (0, "1 block, 2 warn")
    assert len(second.description) == 400
    ranked = worst_first(odd.findings)
    assert [one.severity for one in ranked] == ["block", "warn", "warn"]
    assert ranked[0].excerpt == "<U+200B>"


def test_servers_come_by_size_with_their_share_of_the_tokens(work, catalog_id):
    rows = catalog_tables.servers(work.snapshot(catalog_id))
    assert [(row.name, row.tools) for row in rows] == [("alpha", 4), ("beta", 3), ("gamma", 1)]
    assert catalog_tables.server_rows(Catalog((Tool("a", "a"),)), {"a": 1}) == ()
    today = overview_panel.today(work.snapshot(catalog_id))
    assert sum(row.tokens for row in rows) == today.tokens > 0


def test_what_a_search_did_not_need_is_encoded_once_by_a_job(work, catalog_id):
    lookup = Lookup("send a mail", split=False, config=RetrievalConfig(candidates=1))
    assert searches.look(work.snapshot(catalog_id), lookup) is not None
    job = work.snapshot(catalog_id).job(searches.KIND)
    while work.analyses.watch(job.id).live:
        time.sleep(0.02)
    _, toolsets = searches.open_toolsets(work.snapshot(catalog_id), lookup)
    assert all(one.retriever.is_encoded for one in toolsets)
    searches.look(work.snapshot(catalog_id), lookup)
    assert work.snapshot(catalog_id).job(searches.KIND).id == job.id


# --- overlap ----------------------------------------------------------------------------------


def test_what_needs_an_analysis_says_so(own):
    work, _ = own
    record = work.catalogs.add("New", catalog(MAIL, SUM))
    for ask in (
        components.clusters,
        curves.curve,
        lambda now: threshold_panel.moved_clusters(now, MergeThresholds(0.9, 0.9)),
        lambda now: maps.points(now, "PCA"),
        lambda now: searches.look(now, Lookup("x")),
    ):
        with pytest.raises(JobError, match="not been analysed"):
            ask(work.snapshot(record.id))


def test_pairs_come_ranked_and_filtered_and_the_cap_is_told(work, catalog_id, analysis):
    found = pair_list.matching(work.snapshot(catalog_id), PairFilter())
    keys = [(-row.same_job, -row.similarity, row.left_id, row.right_id) for row in found.rows]
    assert keys == sorted(keys)
    assert found.total == found.matching == len(analysis.scores)
    counts = pair_counts(work.snapshot(catalog_id).analysis)
    assert counts.merge == sum(row.verdict == "merge" for row in found.rows) > 0
    few = pair_list.pair_list(analysis, PairFilter(), COST, limit=2)
    assert few.rows == found.rows[:2]
    assert few.matching == found.matching


def test_the_verdict_follows_the_thresholds_of_the_judge(analysis):
    weights = analysis.judge.weights
    below = weights.merge_at - 1e-6
    at = np.array([weights.merge_at, below, below, weights.unsure_at, 0.01, 0.0])
    family = np.array([1.0, weights.family_at, weights.family_at - 1e-6, 0.0, 0.9, 0.0])
    left, right = np.arange(6, dtype=np.int32), np.full(6, 7, np.int32)
    judged = replace(analysis, scores=PairScores(left, right, at, at, family))
    pairs = pair_list.pair_list(judged, PairFilter(), COST)
    verdicts = ["merge", "family", "unsure", "unsure", "family", "keep"]
    assert [row.verdict for row in pairs.rows] == verdicts
    counts = pair_counts(judged)
    assert (counts.merge, counts.family, counts.unsure, counts.keep) == (1, 2, 2, 1)
    assert counts.total == pairs.total == 6
    families = pair_list.pair_list(judged, PairFilter("family"), COST).rows
    assert [row.family for row in families] == [0.9, weights.family_at], "by their own probability"


# --- the merge graph --------------------------------------------------------------------------


IDS = a, b, c, d = ("alpha/get_weather", "alpha/list_files", "beta/add_numbers", "gamma/send_mail")
CHAIN = {Pair.of(a, b): 0.9, Pair.of(b, c): 0.8, Pair.of(c, d): 0.7}


def merging(plan, clusters=(), edges=None, copies=None, **around):
    """The merge graph with these edges (a chain of four) and clusters."""
    plan = replace(plan, clusters=tuple(clusters))
    alone = {tool.id: tool.id for tool in plan.catalog.tools}
    return components.MergeNetwork(plan, edges or CHAIN, {**alone, **(copies or {})}, **around)


def chained(plan, *members):
    mail = next(cluster for cluster in plan.clusters if len(cluster.members) == 3)
    return replace(mail, id="chain", members=members)


def test_what_a_person_accepts_is_no_bridge_and_makes_nothing_denser(plan):
    """Four tools accepted as one: the judge joins three of the six pairs, whoever accepts them."""
    accepted = {"links": components.Constraints(must=(frozenset(IDS),))}
    star = {Pair.of(a, other): 0.1 for other in (b, c, d)}
    one = merging(plan, [chained(plan, *IDS)], joined=star, **accepted)
    (row,) = components.cluster_rows(one)
    assert (row.bridges, row.density, row.intransitive) == (0, 0.5, 2)
    drawn = components.network_of(one, "chain")
    assert {edge.pair: edge.probability for edge in drawn.edges} == {**star, **CHAIN}
    assert {edge.parts for edge in drawn.edges} == {None}
    assert components.bridge_of(one, Pair.of(b, c)) is None
    only_star = merging(plan, [chained(plan, *IDS)], {Pair.of(a, b): 0.9}, joined=star, **accepted)
    (row,) = components.cluster_rows(only_star)
    assert (row.bridges, row.density, row.intransitive) == (0, 0.17, 0)
    assert components.bridge_of(only_star, Pair.of(a, b)) is None


def test_what_people_and_the_judge_say_beside_the_graph_is_drawn(plan):
    links = components.Constraints(
        cannot=frozenset({Pair.of(a, d), Pair.of(a, "beta/send_mail")}), must=(frozenset({a, b}),)
    )
    doubts = {Pair.of(a, c): 0.6, Pair.of(a, "beta/send_mail"): 0.5, Pair.of(a, d): 0.5}
    around = merging(plan, [chained(plan, a, b)], links=links, unsure=doubts)
    drawn = components.network_of(around, "chain")
    assert {edge.pair: edge.link for edge in drawn.edges} == {
        Pair.of(a, b): "joined",
        Pair.of(b, c): "merge",
        Pair.of(c, d): "merge",
        Pair.of(a, d): "never",
        Pair.of(a, c): "unsure",
    }


def test_too_large_a_component_keeps_the_cluster(plan):
    few = components.network_of(merging(plan, [chained(plan, b, c, d)]), "chain", limit=3)
    assert ({node.id for node in few.nodes}, few.left_out) == ({b, c, d}, 1)
    assert {edge.pair for edge in few.edges} == {Pair.of(b, c), Pair.of(c, d)}
    assert components.network_of(merging(plan), "gone").nodes == ()


def test_copies_stand_with_their_first_on_one_side_of_a_bridge(plan):
    """The copy of the last tool has the smaller id, so sides and pair run against each other."""
    copy = "alpha/add_numbers"
    edges = {Pair.of(a, b): 0.9, Pair.of(b, d): 0.8, Pair.of(copy, d): 1.0, Pair.of(copy, b): 1.0}
    edges[Pair.of(a, c)] = 0.9
    doubled = merging(plan, edges=edges, copies={copy: d})
    found = components.bridge_of(doubled, Pair.of(copy, b))
    assert found.sides == ((copy, d), (a, b, c))
    parts = components._edges(doubled, doubled.components[a], {a, b, c, d, copy})
    assert {edge.pair: edge.parts for edge in parts} == {
        Pair.of(a, b): (2, 3),
        Pair.of(a, c): (4, 1),
        Pair.of(b, d): (3, 2),
        Pair.of(copy, b): (2, 3),
        Pair.of(copy, d): None,
    }


def test_every_bridge_of_a_random_graph_weighs_what_falls_apart():
    rng = np.random.default_rng(3)
    for _ in range(40):
        size = int(rng.integers(3, 14))
        ends = rng.integers(0, size, (size + 2, 2)).tolist()
        edges = {Pair.of(f"{i:02}", f"{j:02}"): 0.9 for i, j in ends if i != j}
        graph = components.MergeGraph(edges)
        weights = {tool: int(rng.integers(1, 4)) for part in graph.components for tool in part}
        found = graph.parts(weights)
        assert set(found) == set(graph.bridges)
        for pair, sizes in found.items():
            sides = graph.without(pair)
            assert pair.left in sides[0]
            assert sizes == tuple(sum(weights[tool] for tool in side) for side in sides)
