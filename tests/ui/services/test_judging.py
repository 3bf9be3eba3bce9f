"""A model on the workspace, over real HTTP: runs, budgets, resumption, and which judge counts."""

import json
import logging
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.model_server import ModelServer
from tests.support.replies import answering, questions_of, same_verb, served
from tests.ui.services.small_workspace import Functions
from toolscope_core.llm.tasks.fence import prompt_text
from toolscope_core.llm.tasks.prompt_task import PROMPT_VERSIONS
from toolscope_core.model.configuration import Budget, Endpoint, PlanConfig, Prices
from toolscope_core.model.environment import ApiKey, read_environment
from toolscope_core.model.errors import ConfigError, JobError
from toolscope_core.model.tool import canonical_json
from ui.shared.chosen_judge import OFFLINE
from ui.shared.graph import components
from ui.shared.pairs import pair_list, pair_view
from ui.shared.pairs.pair_list import PairFilter
from ui.shared.services import exports, judging, model_runs, review, reviewed_variants
from ui.shared.services.workspace import Workspace

SECRET = "sk-secret-0123456789"


@pytest.fixture
def server():
    with ModelServer(served(answering(same_verb))) as running:
        yield running


def opened(server, secret=""):
    keys = (ApiKey(server.origin, secret),) if secret else ()
    work = Workspace(replace(read_environment(), keys=keys))
    return work, work.prepare().id


@pytest.fixture
def own(server):
    work, catalog_id = opened(server, SECRET)
    work.endpoints.save(Endpoint(server.url, "m", concurrency=2))
    yield work, catalog_id
    work.close()


def run(work, catalog_id, *args, **kwargs):
    """How a job that was waited for ended."""
    job = model_runs.start(work.snapshot(catalog_id), *args, **kwargs)
    with suppress(JobError):
        work.analyses.wait(job)
    return work.analyses.watch(job)


def like_the_offline_judge(work, catalog_id):
    """A model that says what the offline judge says, of tools as they are shown."""
    tools, own = work.snapshot(catalog_id).catalog.by_id, {}
    for row in pair_list.matching(work.snapshot(catalog_id), PairFilter()).rows:
        sides = (
            prompt_text(tools[side], (tools[side].server,)).text
            for side in (row.left_id, row.right_id)
        )
        own[frozenset(canonical_json(json.loads(side)) for side in sides)] = row.verdict
    return answering(lambda a, b: own[frozenset((canonical_json(a), canonical_json(b)))])


@pytest.fixture
def own_judging(work):
    return Functions(work, judging)


def test_a_run_that_is_done_makes_the_plan(server, work, catalog_id, own_judging):
    before = work.snapshot(catalog_id).plan
    assert work.snapshot(catalog_id).judge == OFFLINE
    assert work.snapshot(catalog_id).analysis.model_verdicts is None
    assert run(work, catalog_id).state == "done"
    host = server.origin.removeprefix("http://")
    assert work.snapshot(catalog_id).judge == f"m at {host}"
    after = work.snapshot(catalog_id).plan
    assert after.clusters != before.clusters
    (ran,) = own_judging.runs(catalog_id)
    assert ran.state == "done" and ran.calls == len(server.received) and ran.tokens_in > 0
    again = run(work, catalog_id)
    assert again.state == "done" and own_judging.runs(catalog_id, of_all=True)[0].calls == 0
    own_judging.use(catalog_id, OFFLINE)
    assert work.snapshot(catalog_id).plan == before
    own_judging.use(catalog_id, ran.id)
    assert own_judging.judge_in_use(catalog_id) == ran.id
    assert work.snapshot(catalog_id).plan.clusters == after.clusters


def test_a_run_that_is_stopped_or_fails_judges_nothing_and_goes_on(
    server, work, catalog_id, own_judging
):
    before = work.snapshot(catalog_id).plan
    for mode, state in (("refused-key", "stopped"), ("refusal", "failed")):
        server.mode = mode
        job = run(work, catalog_id)
        assert job.state == "failed" and server.origin.removeprefix("http://") in job.message
        assert own_judging.runs(catalog_id)[0].state == state
        assert work.snapshot(catalog_id).judge == OFFLINE
        assert work.snapshot(catalog_id).plan == before
    assert "cannot be used" in own_judging.runs(catalog_id)[0].message
    server.mode = "ok"
    assert run(work, catalog_id).state == "done"
    assert "done" in [one.state for one in own_judging.runs(catalog_id, of_all=True)]


def test_every_view_hears_the_same_judge(server, work, catalog_id):
    run(work, catalog_id)
    model_verdicts = work.snapshot(catalog_id).analysis.model_verdicts
    judge = model_verdicts.judge
    rows = pair_list.matching(work.snapshot(catalog_id), PairFilter()).rows
    asked = {(pair.left, pair.right) for pair in model_verdicts.verdicts}
    assert {(r.left_id, r.right_id) for r in rows if r.model} == asked
    plan = work.snapshot(catalog_id).plan
    judges = [
        v.judge for c in plan.clusters for v in review.card(work.snapshot(catalog_id), c).evidence
    ]
    assert judge in judges
    pair = next(iter(model_verdicts.verdicts))
    view = pair_view.view(work.snapshot(catalog_id), pair)
    heard = replace(model_verdicts.verdicts[pair], differs=view.offline.differs)
    assert view.verdict == heard and view.offline.judge != judge
    assert view.waterfall.probability == view.offline.same_job
    files = exports.bundle(work.snapshot(catalog_id), PlanConfig())
    assert files["pairs.jsonl"].decode().count(f'"judge":"{judge}"') == len(asked)
    assert f'"origin":"{server.origin}"'.encode() in files["manifest.json"].replace(b": ", b":")
    larger = {c.id for c in plan.clusters if len(c.members) > 2}
    assert {row.cluster.id for row in components.clusters(work.snapshot(catalog_id))} == larger


def test_where_the_judges_differ_is_a_queue_order_a_column_and_on_the_card(work, catalog_id):
    assert review.disagreements(work.snapshot(catalog_id).analysis) == ()
    run(work, catalog_id)
    differ = review.disagreements(work.snapshot(catalog_id).analysis)
    gaps = [one.gap for one in differ]
    assert gaps == sorted(gaps, reverse=True) and gaps[0] > 0
    rows = pair_list.matching(work.snapshot(catalog_id), PairFilter(differing=True)).rows
    assert {(r.left_id, r.right_id) for r in rows} == {(d.pair.left, d.pair.right) for d in differ}
    assert all(row.differing for row in rows)
    by_risk = review.queue(work.snapshot(catalog_id))
    by_gap = review.queue(work.snapshot(catalog_id), by="disagreement")
    assert sorted(c.id for c in by_gap) == sorted(c.id for c in by_risk)
    tools = {differ[0].pair.left, differ[0].pair.right}
    waiting = [c for c in by_gap if tools & {*c.members, *c.newcomers}]
    assert not waiting or by_gap[0] in waiting
    inside = [d for c in by_gap for d in review.card(work.snapshot(catalog_id), c).disagreements]
    assert inside and {d.pair for d in inside} <= {d.pair for d in differ}


def test_another_process_rebuilds_the_same_opinions_and_asks_nobody(server, work, catalog_id):
    run(work, catalog_id)
    plan, count = work.snapshot(catalog_id).plan, len(server.received)
    other, _ = opened(server)
    one, two = (each.snapshot(catalog_id).analysis.model_verdicts for each in (work, other))
    assert one == two
    assert other.snapshot(catalog_id).plan == plan and len(server.received) == count
    other.close()


def test_an_answer_that_arrives_changes_no_plan_until_the_run_is_done(
    server, work, catalog_id, own_judging
):
    work.endpoints.save(Endpoint(server.url, "m", concurrency=1, budget=Budget(calls=1)))
    assert run(work, catalog_id).state == "paused"
    assert work.snapshot(catalog_id).judge == OFFLINE
    (paused,) = own_judging.choices(catalog_id)
    own_judging.use(catalog_id, paused.id)
    plan = work.snapshot(catalog_id).plan
    verdicts = work.snapshot(catalog_id).analysis.model_verdicts.verdicts.values()
    assert any(one.outcome == "unanalysed" for one in verdicts)
    plans, answer = [], server.answer

    def watched(body):
        if len(plans) < 3:
            other, _ = opened(server)
            plans.append(other.snapshot(catalog_id).plan)
            other.close()
        return answer(body)

    server.answer = watched
    work.endpoints.save(Endpoint(server.url, "m", concurrency=1))
    assert run(work, catalog_id).state == "done"
    assert plans and all(seen == plan for seen in plans)
    assert work.snapshot(catalog_id).plan != plan


def test_the_estimate_is_what_is_then_asked(server, work, catalog_id):
    work.endpoints.save(Endpoint(server.url, "m", prices=Prices(1.0, 2.0)))
    server.answer = served(like_the_offline_judge(work, catalog_id))
    for kind in ("judge", "documents", "quality"):
        server.received.clear()
        estimate = model_runs.estimate(work.snapshot(catalog_id), kind)
        assert not server.received and estimate.questions > 0 and estimate.cost > 0
        assert run(work, catalog_id, kind).state == "done"
        assert len(questions_of(server.received)) == estimate.questions
        assert len(server.received) == estimate.calls
        assert model_runs.estimate(work.snapshot(catalog_id), kind).questions == 0


def test_a_run_under_an_older_prompt_is_not_mixed_in(server, work, catalog_id, monkeypatch):
    run(work, catalog_id)
    monkeypatch.setitem(PROMPT_VERSIONS, "judge", "next")
    other, _ = opened(server)
    assert other.snapshot(catalog_id).judge == OFFLINE
    assert not judging.choices(other.snapshot(catalog_id))
    assert run(other, catalog_id).state == "done"
    assert len(judging.runs(other.snapshot(catalog_id))) == 2
    other.close()


def test_without_an_endpoint_nothing_starts(server):
    work, catalog_id = opened(server)
    with pytest.raises(ConfigError, match="no model"):
        model_runs.start(work.snapshot(catalog_id))
    work.endpoints.save(Endpoint(server.url, "m"))
    grades = model_runs.run(work.snapshot(catalog_id), "quality")
    with pytest.raises(JobError, match="no usable verdicts"):
        judging.use(work.snapshot(catalog_id), grades.id)
    work.close()


def test_the_key_is_in_no_file_log_or_bundle(server, work, catalog_id, caplog, own_judging):
    caplog.set_level(logging.DEBUG)
    server.contents.extend(["KEY", '{"answers": ["KEY"]}'])
    for mode in ("echo-key", "refused-key", "ok"):
        server.mode = mode
        run(work, catalog_id)
    assert SECRET in "".join(got.headers.get("authorization", "") for got in server.received)
    files = exports.bundle(work.snapshot(catalog_id), PlanConfig())
    assert not [name for name, content in files.items() if SECRET.encode() in content]
    folders = (Path(work.store.place).parent, work.vectors.folder)
    kept = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert kept and not [path for path in kept if SECRET.encode() in path.read_bytes()]
    records = (
        own_judging.runs(catalog_id, of_all=True),
        work.snapshot(catalog_id).analysis.model_verdicts,
        work.endpoints.get(),
    )
    assert SECRET not in repr(records) + caplog.text


def test_calls_made_without_a_price_count_once_there_is_one(server, work, catalog_id, own_judging):
    work.endpoints.save(Endpoint(server.url, "m", concurrency=1, budget=Budget(calls=1)))
    assert run(work, catalog_id).state == "paused"
    (paused,) = own_judging.runs(catalog_id)
    assert paused.cost is None and len(server.received) == 1
    prices = Prices(1e6, 1e6)
    spent = prices.cost(paused.tokens_in, paused.tokens_out)
    most = spent + prices.cost(20_000, 5_000)
    for money, state in ((spent, "paused"), (10 * most, "done")):
        work.endpoints.save(Endpoint(server.url, "m", prices=prices, budget=Budget(money=money)))
        assert run(work, catalog_id).state == state
        assert (len(server.received) > 1) == (state == "done")


def test_variants_are_written_once_and_wait_for_a_person(server, work, catalog_id, own_judging):
    server.answer = served(answering())
    estimate = model_runs.estimate(work.snapshot(catalog_id), "variants")
    assert run(work, catalog_id, "variants").state == "done"
    views = reviewed_variants.views(work.snapshot(catalog_id))
    assert len(views) == len(work.snapshot(catalog_id).catalog.tools)
    source = f"m at {server.origin.removeprefix('http://')}"
    assert {(view.state, view.source) for view in views} == {("waiting", source)}
    assert reviewed_variants.accepted_variants(work.snapshot(catalog_id)) == {}
    assert own_judging.runs(catalog_id)[0].calls == estimate.calls
    assert model_runs.estimate(work.snapshot(catalog_id), "variants").questions == 0
