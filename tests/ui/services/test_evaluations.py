"""Experiments on the workspace: run, gone on with, kept, taken back."""

import json
from dataclasses import replace

import pytest

from tests.ui.services import small_workspace as tools_of
from tests.ui.services.small_workspace import Functions, add_queries, by_name
from toolscope_core.evaluation.stress import Stress
from toolscope_core.evaluation.sweeps import FixedSettings, ablation_rows
from toolscope_core.model.errors import ConfigError, DecisionError, StoreError
from toolscope_core.store.experiment_rows import delete_experiment, get_experiment, keep_result
from ui.evaluation import evaluations, experiment_requests, measured_sides
from ui.evaluation.experiment_requests import ExperimentRequest
from ui.shared.services import experiments, review, searches

MAILS = ["beta/send_mail", "gamma/send_mail"]
QUERIES = [
    {"id": "mail", "query": "send a mail to a person", "gold": MAILS[:1]},
    {"id": "rain", "query": "tell the weather of a city", "gold": ["beta/get_weather"]},
    {"id": "both mails", "query": "send a mail here and there", "gold": MAILS},
    {"id": "unanswered", "query": "send"},
]


@pytest.fixture(scope="module")
def small_workspace(shared):
    work, catalog_id = shared
    add_queries(work, catalog_id, QUERIES)
    return shared


def run(small_workspace, **wanted):
    work, catalog_id = small_workspace
    wanted = ExperimentRequest(queries="q.jsonl", **wanted)
    number = evaluations.run(work.snapshot(catalog_id), wanted)
    return get_experiment(work.store, number)


@pytest.mark.parametrize(
    ("rerank", "reranked"), [("none", "auto"), ("late", "late"), ("auto", "auto")]
)
def test_an_ablation_switches_the_reranker_of_its_search(small_workspace, rerank, reranked):
    snapshot = small_workspace[0].snapshot(small_workspace[1])
    request = ExperimentRequest("ablation", "q.jsonl", rerank=rerank, alpha=0.3)
    trial, bench = experiment_requests.trial_of(snapshot, request), searches.bench(snapshot)
    settings = FixedSettings(trial, (), bench.tokens, config=request.retrieval)
    asked = []

    def ranker_of(config):
        asked.append(config)
        return bench.ranker(replace(config, rerank="none"))

    assert len(list(ablation_rows(snapshot.analysis, settings, ranker_of))) == 10
    assert [one.rerank for one in asked] == ["none", reranked]
    assert {one.dense_weight for one in asked} == {0.3}


def test_a_sweep_that_was_broken_off_goes_on_where_it_was(small_workspace):
    work, catalog_id = small_workspace
    asked = ExperimentRequest("sweep", "q.jsonl", after="all proposals")

    class CutError(Exception):
        pass

    def cut(step):
        if step.stage == "sweep" and step.done == 3:
            raise CutError

    with pytest.raises(CutError):
        evaluations.run(work.snapshot(catalog_id), asked, cut)
    (broken, *_) = experiments.all(work.snapshot(catalog_id))
    assert not broken.is_done
    points = get_experiment(work.store, broken.number).result["points"]
    assert len(points) == 3
    points[0]["tools"] = 99
    keep_result(work.store, broken.number, {"points": points}, 1.0, is_done=False)
    number = evaluations.run(work.snapshot(catalog_id), asked)
    assert number == broken.number
    done = get_experiment(work.store, number)
    assert done.is_done and done.seconds >= 1.0
    values = [point["value"] for point in done.result["points"]]
    assert values == sorted(values) and len(values) == 12
    assert done.result["points"][0]["tools"] == 99, "not measured again"
    sizes = [point["tools"] for point in done.result["points"][1:]]
    assert sizes == sorted(sizes), "a higher threshold merges less"


def test_it_is_exported_as_json_and_as_a_table_that_runs_nothing(small_workspace):
    made = run(small_workspace)
    assert json.loads(evaluations.as_json(made))["result"] == made.result
    lines = evaluations.spreadsheet(made).decode().splitlines()
    assert lines[0].startswith("id,query,outcome")
    assert len(lines) == 1 + 3
    parts = run(small_workspace, kind="ablation")
    assert evaluations.spreadsheet(parts).startswith(b"reranker,merger,correction")
    assert len(run(small_workspace, kind="sweep", knob="alpha").result["points"]) > 5


def test_the_search_of_a_paper_is_measured_with_a_weight_of_ones_own(small_workspace):
    ours, paper, weighed, client = (
        run(small_workspace, **wanted).configuration["retrieval"]
        for wanted in ({}, {"search": "rps"}, {"search": "rps", "alpha": 0.3}, {"search": "codex"})
    )
    assert (ours["dense_weight"], ours["step_weight"]) == (0.6, 1.5)
    assert (paper["dense_weight"], paper["step_weight"], paper["rerank"]) == (1.0, "inf", "none")
    assert weighed == {**paper, "dense_weight": 0.3}
    assert client == {**ours, "client": "codex"}


def test_what_is_not_there_is_refused(small_workspace):
    work, catalog_id = small_workspace
    with pytest.raises(ConfigError, match="no query set 'gone'"):
        evaluations.run(work.snapshot(catalog_id), ExperimentRequest(queries="gone"))
    with pytest.raises(ConfigError, match="'version 9'"):
        run(small_workspace, after="version 9")
    with pytest.raises(StoreError, match="experiment 999"):
        get_experiment(work.store, 999)
    made = run(small_workspace, kind="stress")
    keep_result(work.store, made.number, {"x": 1}, 0.0, is_done=True)
    with pytest.raises(StoreError, match=f"{made.number} is damaged"):
        experiments.result_of(get_experiment(work.store, made.number), Stress)
    delete_experiment(work.store, made.number)


def test_decisions_and_versions_make_an_experiment_a_thing_of_the_past(own):
    work, catalog_id = own
    number = evaluations.run(work.snapshot(catalog_id), ExperimentRequest())
    made = get_experiment(work.store, number)
    assert evaluations.is_current(work.snapshot(catalog_id), made)
    review.decide(
        work.snapshot(catalog_id), "accept", by_name(work, catalog_id, "send_mail"), "ann"
    )
    assert not evaluations.is_current(work.snapshot(catalog_id), made)
    newer = work.catalogs.add("Desk", tools_of.catalog(tools_of.MAIL, tools_of.SUM))
    work.analyses.run(newer.id)
    assert "version 1" in Functions(work, measured_sides).names(newer.id)
    assert not evaluations.is_current(work.snapshot(newer.id), made)
    wanted = ExperimentRequest(before="as it is", after="version 1")
    number = evaluations.run(work.snapshot(newer.id), wanted)
    assert get_experiment(work.store, number).result["after"]["name"] == "version 1"


def test_a_merge_is_taken_back_by_undo_or_by_keeping_apart(own):
    work, catalog_id = own
    cluster = by_name(work, catalog_id, "send_mail")
    review.decide(work.snapshot(catalog_id), "accept", cluster, "ann")
    undone = evaluations.take_back(work.snapshot(catalog_id), cluster.members, "ben")
    assert undone.action == "undo"
    kept = evaluations.take_back(work.snapshot(catalog_id), cluster.members, "ben")
    assert (kept.action, sorted(kept.ids)) == ("keep_apart", sorted(cluster.members))
    with pytest.raises(DecisionError, match="beta/send_mail"):
        evaluations.take_back(work.snapshot(catalog_id), cluster.members, "ben")
