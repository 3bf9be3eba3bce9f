"""Experiments on the workspace: run, gone on with, kept, taken back."""

import json

import pytest

from tests.ui.services import small_workspace as tools_of
from tests.ui.services.small_workspace import by_name
from toolscope_core.model.errors import ConfigError, DecisionError, ModelError, StoreError
from toolscope_core.store import keep_result
from ui.evaluation.evaluations import Evaluations, Wanted
from ui.shared.services.experiments import Experiments
from ui.shared.services.loaded_queries import LoadedQueries

QUERIES = [
    {
        "id": "mail",
        "query": "send a mail to a person",
        "gold": ["beta/send_mail"],
        "calls": [{"tool": "beta/send_mail", "arguments": {"to": "ann", "text": "hi"}}],
    },
    {"id": "rain", "query": "tell the weather of a city", "gold": ["beta/get_weather"]},
    {
        "id": "both mails",
        "query": "send a mail here and there",
        "gold": ["beta/send_mail", "gamma/send_mail"],
    },
    {"id": "unanswered", "query": "send"},
]


@pytest.fixture(scope="module")
def small_workspace(shared):
    work, catalog_id = shared
    work.service(LoadedQueries).add(
        catalog_id, "\n".join(map(json.dumps, QUERIES)).encode(), "q.jsonl"
    )
    return shared


def run(small_workspace, **wanted):
    work, catalog_id = small_workspace
    number = work.service(Evaluations).run(catalog_id, Wanted(queries="q.jsonl", **wanted))
    return work.service(Experiments).get(number)


def test_the_catalog_against_all_proposals(small_workspace):
    made = run(small_workspace, after="all proposals")
    result = made.result
    assert made.is_done and made.kind == "comparison"
    assert [row["id"] for row in result["queries"]] == ["mail", "rain", "both mails"]
    assert result["before"]["tools"] > result["after"]["tools"]
    assert result["before"]["metrics"]["recall@10"]["mean"] == 1.0
    assert result["after"]["metrics"]["recall@1"]["mean"] == 1.0, "one mail is left"
    assert result["joined"] == ["both mails"], "somebody wanted two mails"
    merge = next(row for row in result["merges"] if "beta/send_mail" in row["members"])
    assert merge["joins"] == ["both mails"]
    assert result["before"]["calls"] == 1
    confused = {(row["left"], row["right"]) for row in result["confusions"]}
    assert ("alpha/send_mail", "beta/send_mail") in confused
    assert made.configuration["retrieval"]["rerank"] == "auto"


def test_the_same_toolset_is_equal_to_the_bit(small_workspace):
    result = run(small_workspace, after="as it is").result
    assert result["before"]["metrics"] == result["after"]["metrics"]
    assert {row["outcome"] for row in result["queries"]} == {"unchanged"}
    assert set(result["p"].values()) == {1.0}
    assert result["merges"] == [] and result["joined"] == []


def test_a_sweep_that_was_broken_off_goes_on_where_it_was(small_workspace):
    work, catalog_id = small_workspace
    asked = Wanted("sweep", "q.jsonl", after="all proposals")

    class CutError(Exception):
        pass

    def cut(step):
        if step.stage == "sweep" and step.done == 3:
            raise CutError

    with pytest.raises(CutError):
        work.service(Evaluations).run(catalog_id, asked, cut)
    (broken, *_) = work.service(Experiments).all(catalog_id)
    assert not broken.is_done
    points = work.service(Experiments).get(broken.number).result["points"]
    assert len(points) == 3
    points[0]["tools"] = 99
    keep_result(work.store, broken.number, {"points": points}, 1.0, is_done=False)
    number = work.service(Evaluations).run(catalog_id, asked)
    assert number == broken.number
    done = work.service(Experiments).get(number)
    assert done.is_done and done.seconds >= 1.0
    values = [point["value"] for point in done.result["points"]]
    assert values == sorted(values) and len(values) == 12
    assert done.result["points"][0]["tools"] == 99, "not measured again"
    sizes = [point["tools"] for point in done.result["points"][1:]]
    assert sizes == sorted(sizes), "a higher threshold merges less"


@pytest.mark.parametrize("knob", ["alpha", "candidates", "k"])
def test_every_setting_can_be_swept(small_workspace, knob):
    result = run(small_workspace, kind="sweep", knob=knob).result
    assert len(result["points"]) > 5
    recalls = [point["metrics"]["recall"]["mean"] for point in result["points"]]
    assert all(0.0 <= one <= 1.0 for one in recalls)
    if knob == "k":
        assert recalls == sorted(recalls), "more places find no less"
        sent = [point["tokens_sent"] for point in result["points"]]
        assert [point["k"] for point in result["points"]] == [p["value"] for p in result["points"]]
        assert sent == sorted(sent) and sent[0] < sent[-1], "and send more"


def test_encoders_are_swept_by_name_and_one_that_is_not_there_is_an_error(small_workspace):
    work, catalog_id = small_workspace
    own = work.service(Evaluations).encoder
    asked = {"kind": "sweep", "knob": "encoder", "after": "all proposals"}
    points = run(small_workspace, **asked, encoders=(own, "all-MiniLM-L6-v2")).result["points"]
    assert [point["value"] for point in points] == [own, "all-MiniLM-L6-v2"]
    swept = run(small_workspace, **{**asked, "knob": "k"}).result["points"]
    at_ten = next(point for point in swept if point["k"] == 10)
    assert points[0]["metrics"]["ndcg"] == at_ten["metrics"]["ndcg"], "the loaded one is used"
    with pytest.raises(ModelError, match="no/such"):
        run(small_workspace, **asked, encoders=(own, "no/such model"))
    broken = work.service(Experiments).get(work.service(Experiments).all(catalog_id)[0].number)
    assert not broken.is_done and len(broken.result["points"]) == 1, "the first is kept"


def test_the_parts_are_switched_on_and_off(small_workspace):
    rows = run(small_workspace, kind="ablation").result["rows"]
    parts = [(row["reranker"], row["merger"], row["correction"]) for row in rows]
    assert len(set(parts)) == 6
    sizes = {row["tools"] for row in rows if row["merger"]}
    assert all(row["reduction"] == 0.0 for row in rows if not row["merger"])
    assert max(sizes) < 8
    assert work_table(small_workspace).startswith("reranker,merger,correction")


def work_table(small_workspace):
    work, catalog_id = small_workspace
    (newest, *_) = work.service(Experiments).all(catalog_id)
    return (
        work.service(Evaluations).spreadsheet(work.service(Experiments).get(newest.number)).decode()
    )


def test_the_stress_test_has_both_toolsets(small_workspace):
    result = run(small_workspace, kind="stress", after="all proposals").result
    assert list(result["toolsets"]) == [
        f"{side}, {split}"
        for side in ("as it is", "all proposals")
        for split in ("whole", "by rule")
    ]


def test_it_is_exported_as_json_and_as_a_table_that_runs_nothing(small_workspace):
    work, _ = small_workspace
    made = run(small_workspace)
    assert json.loads(work.service(Evaluations).as_json(made))["result"] == made.result
    lines = work.service(Evaluations).spreadsheet(made).decode().splitlines()
    assert lines[0].startswith("id,query,outcome")
    assert len(lines) == 1 + 3


def test_what_is_not_there_is_refused(small_workspace):
    work, catalog_id = small_workspace
    with pytest.raises(ConfigError, match="no query set 'gone'"):
        work.service(Evaluations).run(catalog_id, Wanted(queries="gone"))
    with pytest.raises(ConfigError, match="no toolset 'version 9'"):
        run(small_workspace, after="version 9")
    with pytest.raises(StoreError, match="has no experiment 999"):
        work.service(Experiments).get(999)
    made = run(small_workspace, kind="stress")
    keep_result(work.store, made.number, {"x": 1}, 0.0, is_done=True)
    with pytest.raises(StoreError, match=f"experiment {made.number} is damaged"):
        work.service(Experiments).get(made.number)
    work.service(Experiments).delete(made.number)


def test_decisions_and_versions_make_an_experiment_a_thing_of_the_past(own):
    work, catalog_id = own
    made = run_synthetic(work, catalog_id)
    assert work.service(Evaluations).is_current(catalog_id, made)
    work.review.decide(catalog_id, "accept", by_name(work, catalog_id, "send_mail"), "ann")
    assert not work.service(Evaluations).is_current(catalog_id, made)
    newer = work.catalogs.add("Desk", tools_of.catalog(tools_of.MAIL, tools_of.SUM))
    work.analyses.run(newer.id)
    assert "version 1" in work.service(Evaluations).sides.names(newer.id)
    assert not work.service(Evaluations).is_current(newer.id, made)
    number = work.service(Evaluations).run(newer.id, Wanted(before="as it is", after="version 1"))
    assert work.service(Experiments).get(number).result["after"]["name"] == "version 1"


def test_a_merge_is_taken_back_by_undo_or_by_keeping_apart(own):
    work, catalog_id = own
    cluster = by_name(work, catalog_id, "send_mail")
    work.review.decide(catalog_id, "accept", cluster, "ann")
    undone = work.service(Evaluations).take_back(catalog_id, cluster.members, "ben")
    assert undone.action == "undo"
    kept = work.service(Evaluations).take_back(catalog_id, cluster.members, "ben")
    assert (kept.action, sorted(kept.ids)) == ("reject", sorted(cluster.members))
    with pytest.raises(DecisionError, match="not proposed as one any more"):
        work.service(Evaluations).take_back(catalog_id, cluster.members, "ben")


def run_synthetic(work, catalog_id):
    return work.service(Experiments).get(work.service(Evaluations).run(catalog_id, Wanted()))
