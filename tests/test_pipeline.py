from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes import WordEmbedder
from toolscope_core.cache import VectorCache
from toolscope_core.catalog import Source, load_paths, read_catalog
from toolscope_core.config import AnalysisConfig, PlanConfig
from toolscope_core.datamodel import Catalog, Constraints, Decision, Pair, Tool
from toolscope_core.errors import CatalogError, ConfigError
from toolscope_core.merging import makings
from toolscope_core.merging.judge import OfflineJudge
from toolscope_core.pipeline import (
    LEAST_PROBABILITY,
    Cut,
    analyse,
    foresee,
    graph_of,
    groups_at,
    plan_merge,
)
from toolscope_core.workspace.example import example_path


def analysed(catalog, tmp_path, **config):
    cache = VectorCache(tmp_path / "cache")
    return analyse(catalog, AnalysisConfig(**config), WordEmbedder(), cache)


@pytest.fixture
def example(tmp_path):
    catalog = read_catalog(load_paths([example_path()]))
    return analysed(catalog, tmp_path, threshold=0.4)


def test_every_near_pair_is_judged_once_in_row_order(example):
    rows = list(zip(example.scores.left, example.scores.right, strict=True))
    assert rows == sorted(set(rows))
    assert all(left < right for left, right in rows)
    assert (example.scores.similarity >= 0.4 - 1e-6).all()
    assert ((example.scores.probability >= 0) & (example.scores.probability <= 1)).all()


def test_any_pair_can_be_asked_for_and_the_answer_is_remembered(example):
    ids = [tool.id for tool in example.catalog.tools[:3]]
    pairs = [Pair(ids[0], ids[1]), Pair(ids[1], ids[2])]
    first = example.probabilities(pairs)
    assert np.array_equal(first, example.probabilities(pairs))
    assert example.verdict(pairs[0]).probability == pytest.approx(first[0])


def test_the_plan_without_decisions_makes_nothing_anew(example, monkeypatch):
    def fail(*_):
        raise AssertionError("the analysis has made this")

    before = plan_merge(example.forgetful(), (), PlanConfig())
    monkeypatch.setattr(makings, "synthesise", fail)
    monkeypatch.setattr(makings, "guards", fail)
    assert plan_merge(example, (), PlanConfig()) == before
    with pytest.raises(AssertionError, match="has made this"):
        plan_merge(example.forgetful(), (), PlanConfig())


def test_what_was_foreseen_is_asked_of_no_judge(example, monkeypatch):
    def fail(*_):
        raise AssertionError("this was foreseen")

    found = example.forgetful()
    foresee(found)
    monkeypatch.setattr(OfflineJudge, "chances", fail)
    low = Cut(found.threshold, LEAST_PROBABILITY)
    assert groups_at(found, Constraints(), low)
    with pytest.raises(AssertionError, match="foreseen"):
        groups_at(found.forgetful(), Constraints(), low)


def test_every_stage_reports_its_end(tmp_path):
    steps = []
    catalog = read_catalog(load_paths([example_path()]))
    cache = VectorCache(tmp_path / "cache")
    analyse(catalog, AnalysisConfig(threshold=0.4), WordEmbedder(), cache, steps.append)
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


def test_fifty_copies_become_one_cluster(tmp_path):
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    copies = tuple(Tool(f"t{i:02d}", "do_it", "Does it.", schema=schema) for i in range(50))
    analysis = analysed(Catalog(copies), tmp_path)
    plan = plan_merge(analysis, (), PlanConfig(accept="auto"))
    assert [len(item.members) for item in plan.tools] == [50]


def test_a_tool_without_a_close_one_changes_nothing_else(example, tmp_path):
    before = plan_merge(example, (), PlanConfig(accept="all", routers=True))
    lone = Tool("zz", "zzz", "Qqq www eee.", schema={"type": "object", "properties": {}})
    wider = analysed(
        replace(example.catalog, tools=(*example.catalog.tools, lone)), tmp_path, threshold=0.4
    )
    after = plan_merge(wider, (), PlanConfig(accept="all", routers=True))
    assert [row for row in after.relabels if row.old_id != "zz"] == list(before.relabels)


@settings(max_examples=10)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(tmp_path_factory, random):
    import json

    servers = json.loads(example_path().read_text("utf-8"))
    for server in servers:
        random.shuffle(server["tools"])
    random.shuffle(servers)
    shuffled = read_catalog([Source("catalog", json.dumps(servers).encode())])
    straight = read_catalog(load_paths([example_path()]))
    folder = tmp_path_factory.mktemp("order")
    plans = [
        plan_merge(analysed(c, folder, threshold=0.4), (), PlanConfig(accept="all", routers=True))
        for c in (shuffled, straight)
    ]
    assert plans[0].relabels == plans[1].relabels
    assert plans[0].clusters == plans[1].clusters


def test_decisions_shape_the_plan(example):
    proposal = next(
        c for c in plan_merge(example, (), PlanConfig()).clusters if len(c.members) == 2
    )
    prints = example.catalog.by_id
    said = Decision(
        "accept",
        tuple(prints[m].fingerprint for m in proposal.members),
        proposal.members,
        "ann",
        seq=1,
    )
    accepted = plan_merge(example, (said,), PlanConfig())
    cluster = next(c for c in accepted.clusters if c.id == proposal.id)
    assert cluster.state == "accepted"
    assert cluster.version != proposal.version
    rejected = plan_merge(example, (replace(said, action="reject"),), PlanConfig())
    assert proposal.members not in [c.members for c in rejected.clusters]
    assert Pair(*proposal.members) not in graph_of(example, (replace(said, action="reject"),)).edges
