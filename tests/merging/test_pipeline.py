import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.analyses import analysed
from tests.support.catalogs import example_catalog
from tests.support.fakes import WordEmbedder
from tests.support.properties import examples
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source, load_paths
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.query_sets import example_path
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.llm.embedding import embedder_of
from toolscope_core.merging import group_syntheses
from toolscope_core.merging.analysing import analyse, judge_at_lowest_thresholds, plan_merge
from toolscope_core.merging.grouping import groups_at
from toolscope_core.merging.pair_graph import judged_edges
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import (
    LEAST_PROBABILITY,
    AnalysisConfig,
    MergeThresholds,
    PlanConfig,
)
from toolscope_core.model.decision import Constraints, Decision
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import CatalogError, ConfigError
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return analysed(example_catalog(), tmp_path_factory.mktemp("example"), threshold=0.4)


MERGE_ALL = PlanConfig(accept="all", gateway=True)


def test_every_near_pair_is_judged_once_in_row_order(example):
    rows = list(zip(example.scores.left, example.scores.right, strict=True))
    assert rows == sorted(set(rows))
    assert all(left < right for left, right in rows)
    further = example.scores.similarity < 0.4 - 1e-6
    assert 0 < further.sum() == len(example.far_candidates(0.0)) < len(rows) / 10
    assert ((example.scores.same_job >= 0) & (example.scores.same_job <= 1)).all()


def test_any_pair_can_be_asked_for_and_the_answer_is_remembered(example):
    ids = [tool.id for tool in example.catalog.tools[:3]]
    pairs = [Pair(ids[0], ids[1]), Pair(ids[1], ids[2])]
    first = example.probabilities(pairs)
    assert np.array_equal(first, example.probabilities(pairs))
    assert example.verdict(pairs[0]).same_job == pytest.approx(first[0])


def test_the_plan_without_decisions_makes_nothing_anew(example, tmp_path, monkeypatch):
    def fail(*_):
        raise AssertionError("the analysis has made this")

    fresh = analysed(example.catalog, tmp_path, threshold=0.4)
    before = plan_merge(fresh.without_cache(), (), PlanConfig())
    monkeypatch.setattr(group_syntheses, "synthesise", fail)
    monkeypatch.setattr(group_syntheses, "guards", fail)
    assert plan_merge(fresh, (), PlanConfig()) == before
    with pytest.raises(AssertionError, match="has made this"):
        plan_merge(fresh.without_cache(), (), PlanConfig())


def test_what_was_foreseen_is_asked_of_no_judge(example, monkeypatch):
    def fail(*_):
        raise AssertionError("this was foreseen")

    fresh = example.without_cache()
    judge_at_lowest_thresholds(fresh)
    monkeypatch.setattr(OfflineJudge, "pair_probabilities", fail)
    low = MergeThresholds(fresh.threshold, LEAST_PROBABILITY)
    assert groups_at(fresh, Constraints(), low)
    with pytest.raises(AssertionError, match="foreseen"):
        groups_at(fresh.without_cache(), Constraints(), low)


def test_every_stage_reports_its_end(tmp_path):
    steps = []
    cache = VectorCache(tmp_path)
    analyse(example_catalog(), AnalysisConfig(), WordEmbedder(), cache, steps.append)
    ends = {step.stage: (step.done, step.total) for step in steps}
    assert list(ends) == ["embed", "compare", "judge", "merge"]
    assert all(ends[stage][0] == ends[stage][1] > 0 for stage in ("embed", "judge", "merge"))


def test_an_empty_catalog_is_refused(tmp_path):
    with pytest.raises(CatalogError, match="no tools"):
        analysed(Catalog(()), tmp_path)


@pytest.mark.parametrize("bad", [{"threshold": 0.0}, {"threshold": 1.5}, {"neighbours": 0}])
def test_knobs_out_of_range_are_refused(bad):
    with pytest.raises(ConfigError):
        AnalysisConfig(**bad)


@pytest.mark.case(29)
def test_fifty_copies_become_one_cluster(tmp_path):
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    copies = tuple(Tool(f"t{i:02d}", "do_it", "Does it.", schema=schema) for i in range(50))
    analysis = analysed(Catalog(copies), tmp_path)
    plan = plan_merge(analysis, (), PlanConfig(accept="auto"))
    assert [len(item.members) for item in plan.tools] == [50]


def test_a_tool_without_a_close_one_changes_nothing_else(example, tmp_path):
    before = plan_merge(example, (), MERGE_ALL)
    lone = Tool("zz", "zzz", "Qqq www eee.", schema={"type": "object", "properties": {}})
    catalog = replace(example.catalog, tools=(*example.catalog.tools, lone))
    after = plan_merge(analysed(catalog, tmp_path, threshold=0.4), (), MERGE_ALL)
    assert [row for row in after.relabels if row.old_id != "zz"] == list(before.relabels)


@pytest.mark.case(57)
@examples(5)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(example, tmp_path_factory, random):
    servers = json.loads(example_path().read_text("utf-8"))
    for server in servers:
        random.shuffle(server["tools"])
    random.shuffle(servers)
    shuffled = read_catalog([Source("catalog", json.dumps(servers).encode())])
    analysis = analysed(shuffled, tmp_path_factory.mktemp("order"), threshold=0.4)
    plan, straight = (plan_merge(one, (), MERGE_ALL) for one in (analysis, example))
    assert plan.relabels == straight.relabels
    assert plan.clusters == straight.clusters


def test_decisions_shape_the_plan(example):
    clusters = plan_merge(example, (), PlanConfig()).clusters
    proposal = next(cluster for cluster in clusters if len(cluster.members) == 2)
    members = [example.catalog.by_id[member] for member in proposal.members]
    decision, rejection = (
        decision_on(members, action, relation="") for action in ("accept", "keep_apart")
    )
    accepted = plan_merge(example, (decision,), PlanConfig())
    cluster = next(c for c in accepted.clusters if c.id == proposal.id)
    assert cluster.state == "accepted"
    assert cluster.version != proposal.version
    rejected = plan_merge(example, (rejection,), PlanConfig())
    assert proposal.members not in [c.members for c in rejected.clusters]
    assert Pair(*proposal.members) not in judged_edges(example, (rejection,))


# Families -----------------------------------------------------------------------------------

TEXT = {"type": "string"}


def shop_tools(*shops):
    schema = {"type": "object", "properties": {"product": TEXT}, "required": ["product"]}
    for shop in sorted(shops):
        name, text = f"get_{shop}_price", f"Get the price of a product at {shop.title()}."
        yield Tool(name, name, text, schema=schema)


SHOPS = tuple(shop_tools("amazon", "ebay", "walmart"))


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    return analysed(Catalog(SHOPS), tmp_path_factory.mktemp("shops"), threshold=0.4)


def decision_on(tools, action="accept", relation="family", seq=1, **detail):
    """What a decision on a family, or on the same tools as another relation, looks like."""
    if relation:
        detail["relation"] = relation
    prints, ids = tuple(t.fingerprint for t in tools), tuple(t.id for t in tools)
    return Decision(action, prints, ids, "ann", "2026-01-01", seq, detail)


def only_cluster(analysis, *log, accept="none"):
    (cluster,) = plan_merge(analysis, log, PlanConfig(accept=accept, gateway=True)).clusters
    return cluster


def shape_of(cluster):
    return cluster.state, cluster.kind, cluster.relation, cluster.selector


FAMILY = ("gateway", "family", "provider")


def test_a_family_is_proposed_as_a_gateway_and_never_safe(shops):
    proposed = only_cluster(shops)
    assert shape_of(proposed) == ("proposed", *FAMILY)
    assert "of providers: amazon / " in proposed.reasons[0]
    assert only_cluster(shops, accept="auto").state == "proposed"
    assert only_cluster(shops, accept="all").state == "accepted"


APPS = Path(__file__).parents[2] / "benchmarks" / "data" / "apps"


@pytest.fixture(
    scope="module", params=["offices", pytest.param("shops", marks=pytest.mark.nightly)]
)
def apps(request, vector_cache):
    """A catalog of apps without servers, with the real embeddings: the vendor is in the names."""
    catalog = read_catalog(load_paths([APPS / f"{request.param}.json"]))
    cache = VectorCache(vector_cache)
    return analyse(catalog, AnalysisConfig(), embedder_of(read_environment()), cache)


def labelled_families(catalog):
    """The pairs of one of the two catalogs that a person read as a family."""
    for file in APPS.glob("*.labels.jsonl"):
        rows = map(json.loads, file.read_text("utf-8").splitlines())
        for row in rows:
            if row["relation"] == "family" and row["left"] in catalog.by_id:
                yield Pair.of(row["left"], row["right"])


def test_families_do_not_depend_on_what_was_asked_before(apps):
    def families(analysis):
        clusters = plan_merge(analysis, (), PlanConfig()).clusters
        return [c.members for c in clusters if c.relation == "family"]

    fresh = apps.without_cache()
    before = families(fresh)
    every_third = [tool.id for tool in apps.catalog.tools][::3]
    fresh.family_probabilities([Pair(*two) for two in combinations(every_third, 2)])
    assert families(fresh) == before == families(apps)


def test_an_accepted_family_stays_a_gateway(shops):
    accepted = only_cluster(shops, decision_on(SHOPS))
    assert shape_of(accepted) == ("accepted", *FAMILY)
    assert accepted.members == tuple(tool.id for tool in SHOPS)
    undone = Decision("undo", (), (), "ann", seq=2, detail={"retracts": 1})
    assert shape_of(only_cluster(shops, decision_on(SHOPS), undone)) == ("proposed", *FAMILY)


def test_the_weakest_edge_of_a_family_is_that_of_a_family_whoever_put_it_together(shops):
    weakest = min(shops.family_probabilities([Pair(a.id, b.id) for a, b in combinations(SHOPS, 2)]))
    assert only_cluster(shops).weakest_edge == pytest.approx(weakest)
    assert only_cluster(shops, decision_on(SHOPS)).weakest_edge == pytest.approx(weakest)


def test_the_selector_of_a_family_follows_an_edit(shops):
    family = only_cluster(shops)

    def edited(named, **renames):
        properties = dict(family.document.schema["properties"])
        selector = properties.pop("provider")
        schema = {"type": "object", "properties": properties | ({named: selector} if named else {})}
        edit = decision_on(SHOPS, "edit", relation="", seq=2, schema=schema, renames=renames)
        return only_cluster(shops, decision_on(SHOPS), edit)

    renamed = edited("shop", provider="shop")
    assert shape_of(renamed) == ("accepted", "gateway", "family", "shop")
    assert [alpha.constants["shop"] for alpha in renamed.arguments] == ["amazon", "ebay", "walmart"]
    assert "of values: amazon / " in renamed.reasons[0]
    gone = edited("")
    assert shape_of(gone) == ("conflict", "gateway", "family", "")
    assert any("no argument says which" in reason for reason in gone.reasons)


@pytest.mark.parametrize("relation", ["", "duplicate", "subsumes"])
def test_what_was_accepted_as_one_job_stays_a_drop_in(shops, relation):
    accepted = only_cluster(shops, decision_on(SHOPS, relation=relation))
    assert shape_of(accepted) == ("accepted", "drop_in", "duplicate", "")


@pytest.mark.parametrize("action", ["drop", "split"])
def test_what_a_drop_or_a_split_leaves_of_a_family_is_a_gateway(shops, action):
    out = SHOPS[0].fingerprint
    rest = [tool.fingerprint for tool in SHOPS[1:]]
    detail = {"drop": [out]} if action == "drop" else {"groups": [[out], rest]}
    left = only_cluster(shops, decision_on(SHOPS, action, **detail))
    assert shape_of(left) == ("accepted", *FAMILY)
    assert left.members == tuple(tool.id for tool in SHOPS[1:])
    assert left.document.schema["properties"]["provider"]["enum"] == ["ebay", "walmart"]
    as_one_job = only_cluster(shops, decision_on(SHOPS, action, relation="", **detail))
    assert as_one_job.kind == "drop_in"


def test_a_family_that_changed_is_still_one_to_look_at_again(shops, tmp_path):
    other = replace(SHOPS[0], description="Get the price of a thing at Amazon.")
    again = analysed(Catalog((other, *SHOPS[1:])), tmp_path, threshold=0.4)
    assert shape_of(only_cluster(again, decision_on(SHOPS))) == ("stale", *FAMILY)


@pytest.mark.parametrize("accept", ["none", "auto", "all"])
@pytest.mark.parametrize("correct", [True, False])
def test_no_policy_drop_ins_a_family(apps, accept, correct):
    for gateway in (False, True):
        plan = plan_merge(apps, (), PlanConfig(accept=accept, gateway=gateway, correct=correct))
        families = [c for c in plan.clusters if c.relation == "family"]
        assert len(families) > 10
        assert {c.kind for c in families} == {"gateway"}
        assert all(c.selector in c.document.schema["properties"] for c in families)
        assert not [c for c in families if c.safe]
        replaced = [c.members for c in plan.clusters if c.kind == "drop_in"]
        inside = {Pair(*two) for members in replaced for two in combinations(members, 2)}
        assert not inside.intersection(labelled_families(apps.catalog))
        assert all(one.outcome != "family" for one in apps.verdicts(sorted(inside)))
        if not gateway:
            gone = {row.old_id for row in plan.relabels if row.old_id != row.new_id}
            assert not gone & {member for c in families for member in c.members}


def test_tools_without_declared_parameters_are_proposed_on_words_and_never_safe(tmp_path):
    def listed(server, name, description):
        return Tool(f"{server}/{name}", name, description, server)

    tools = (
        listed("a", "list_invoices", "List the open invoices."),
        listed("b", "list_invoices", "List the open invoices."),
        listed("a", "search", ""),
        listed("b", "search", ""),
    )
    cluster = only_cluster(analysed(Catalog(tools), tmp_path, threshold=0.4), accept="auto")
    assert cluster.members == ("a/list_invoices", "b/list_invoices")
    assert (cluster.state, cluster.kind, cluster.safe) == ("proposed", "gateway", False)
    assert any("parameters are unknown" in reason for reason in cluster.reasons)
