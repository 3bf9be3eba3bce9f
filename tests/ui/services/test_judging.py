"""A model on the workspace, over real HTTP: runs, budgets, resumption, and which judge counts."""

import json
import logging
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.model_server import ModelServer
from tests.support.replies import answering, questions_of, same_verb, served
from toolscope_core.llm.tasks.fence import prompt_text
from toolscope_core.llm.tasks.prompt_versions import PROMPT_VERSIONS
from toolscope_core.model.configuration import Budget, Endpoint, PlanConfig, Prices
from toolscope_core.model.environment import ApiKey, read_environment
from toolscope_core.model.errors import ConfigError, JobError
from toolscope_core.model.tool import canonical_json
from ui.shared.graph.components import MergeGraphs
from ui.shared.pairs.pair_list import PairFilter, PairLists
from ui.shared.pairs.pair_view import Pairs
from ui.shared.services.chosen_judge import OFFLINE
from ui.shared.services.exports import Exports
from ui.shared.services.judging import Judging
from ui.shared.services.model_runs import ModelRuns
from ui.shared.services.reviewed_variants import Variants
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
    job = work.service(ModelRuns).start(catalog_id, *args, **kwargs)
    with suppress(JobError):
        work.analyses.wait(job)
    return work.analyses.watch(job)


def like_the_offline_judge(work, catalog_id):
    """A model that says what the offline judge says, of tools as they are shown."""
    tools, own = work.catalogs.open(catalog_id).by_id, {}
    for row in work.service(PairLists).matching(catalog_id, PairFilter()).rows:
        sides = (
            prompt_text(tools[side], (tools[side].server,)).text
            for side in (row.left_id, row.right_id)
        )
        own[frozenset(canonical_json(json.loads(side)) for side in sides)] = row.verdict
    return answering(lambda a, b: own[frozenset((canonical_json(a), canonical_json(b)))])


@pytest.fixture
def judging(work):
    return work.service(Judging)


def test_a_run_that_is_done_makes_the_plan(server, work, catalog_id, judging):
    before = work.review.plan(catalog_id)
    assert work.analyses.judge_of(catalog_id) == OFFLINE
    assert work.analyses.model_verdicts(catalog_id) is None
    assert run(work, catalog_id).state == "done"
    host = server.origin.removeprefix("http://")
    assert work.analyses.judge_of(catalog_id) == f"m at {host}"
    after = work.review.plan(catalog_id)
    assert after.clusters != before.clusters
    (ran,) = judging.runs(catalog_id)
    assert ran.state == "done" and ran.calls == len(server.received) and ran.tokens_in > 0
    again = run(work, catalog_id)
    assert again.state == "done" and judging.runs()[0].calls == 0
    judging.use(catalog_id, OFFLINE)
    assert work.review.plan(catalog_id) == before
    judging.use(catalog_id, ran.id)
    assert judging.used(catalog_id) == ran.id
    assert work.review.plan(catalog_id).clusters == after.clusters


def test_a_run_that_is_stopped_or_fails_judges_nothing_and_goes_on(
    server, work, catalog_id, judging
):
    before = work.review.plan(catalog_id)
    for mode, state in (("refused-key", "stopped"), ("refusal", "failed")):
        server.mode = mode
        job = run(work, catalog_id)
        assert job.state == "failed" and server.origin.removeprefix("http://") in job.message
        assert judging.runs(catalog_id)[0].state == state
        assert work.analyses.judge_of(catalog_id) == OFFLINE
        assert work.review.plan(catalog_id) == before
    assert "cannot be used" in judging.runs(catalog_id)[0].message
    server.mode = "ok"
    assert run(work, catalog_id).state == "done"
    assert "done" in [one.state for one in judging.runs()]


def test_every_view_hears_the_same_judge(server, work, catalog_id):
    run(work, catalog_id)
    model_verdicts = work.analyses.model_verdicts(catalog_id)
    judge = model_verdicts.judge
    rows = work.service(PairLists).matching(catalog_id, PairFilter()).rows
    asked = {(pair.left, pair.right) for pair in model_verdicts.verdicts}
    assert {(r.left_id, r.right_id) for r in rows if r.model} == asked
    plan = work.review.plan(catalog_id)
    judges = [v.judge for c in plan.clusters for v in work.review.card(catalog_id, c).evidence]
    assert judge in judges
    pair = next(iter(model_verdicts.verdicts))
    view = work.service(Pairs).view(catalog_id, pair)
    heard = replace(model_verdicts.verdicts[pair], differs=view.offline.differs)
    assert view.verdict == heard and view.offline.judge != judge
    assert view.waterfall.probability == view.offline.probability
    files = work.service(Exports).bundle(catalog_id, PlanConfig())
    assert files["pairs.jsonl"].decode().count(f'"judge":"{judge}"') == len(asked)
    assert f'"origin":"{server.origin}"'.encode() in files["manifest.json"].replace(b": ", b":")
    larger = {c.id for c in plan.clusters if len(c.members) > 2}
    assert {row.id for row in work.service(MergeGraphs).clusters(catalog_id)} == larger


def test_where_the_judges_differ_is_a_queue_order_a_column_and_on_the_card(work, catalog_id):
    assert work.review.disagreements(catalog_id) == ()
    run(work, catalog_id)
    differ = work.review.disagreements(catalog_id)
    gaps = [one.gap for one in differ]
    assert gaps == sorted(gaps, reverse=True) and gaps[0] > 0
    rows = work.service(PairLists).matching(catalog_id, PairFilter(differing=True)).rows
    assert {(r.left_id, r.right_id) for r in rows} == {(d.pair.left, d.pair.right) for d in differ}
    assert all(row.differing for row in rows)
    by_risk = work.review.queue(catalog_id)
    by_gap = work.review.queue(catalog_id, by="disagreement")
    assert sorted(c.id for c in by_gap) == sorted(c.id for c in by_risk)
    tools = {differ[0].pair.left, differ[0].pair.right}
    waiting = [c for c in by_gap if tools & {*c.members, *c.newcomers}]
    assert not waiting or by_gap[0] in waiting
    inside = [d for c in by_gap for d in work.review.card(catalog_id, c).disagreements]
    assert inside and {d.pair for d in inside} <= {d.pair for d in differ}


def test_another_process_rebuilds_the_same_opinions_and_asks_nobody(server, work, catalog_id):
    run(work, catalog_id)
    plan, count = work.review.plan(catalog_id), len(server.received)
    other, _ = opened(server)
    assert other.analyses.model_verdicts(catalog_id) == work.analyses.model_verdicts(catalog_id)
    assert other.review.plan(catalog_id) == plan and len(server.received) == count
    other.close()


def test_an_answer_that_arrives_changes_no_plan_until_the_run_is_done(
    server, work, catalog_id, judging
):
    work.endpoints.save(Endpoint(server.url, "m", concurrency=1, budget=Budget(calls=1)))
    assert run(work, catalog_id).state == "paused"
    assert work.analyses.judge_of(catalog_id) == OFFLINE
    (paused,) = judging.choices(catalog_id)
    judging.use(catalog_id, paused.id)
    plan = work.review.plan(catalog_id)
    verdicts = work.analyses.model_verdicts(catalog_id).verdicts.values()
    assert any(one.outcome == "unanalysed" for one in verdicts)
    plans, answer = [], server.answer

    def watched(body):
        if len(plans) < 3:
            other, _ = opened(server)
            plans.append(other.review.plan(catalog_id))
            other.close()
        return answer(body)

    server.answer = watched
    work.endpoints.save(Endpoint(server.url, "m", concurrency=1))
    assert run(work, catalog_id).state == "done"
    assert plans and all(seen == plan for seen in plans)
    assert work.review.plan(catalog_id) != plan


def test_the_estimate_is_what_is_then_asked(server, work, catalog_id):
    work.endpoints.save(Endpoint(server.url, "m", prices=Prices(1.0, 2.0)))
    server.answer = served(like_the_offline_judge(work, catalog_id))
    for kind in ("judge", "documents", "quality"):
        server.received.clear()
        estimate = work.service(ModelRuns).estimate(catalog_id, kind)
        assert not server.received and estimate.questions > 0 and estimate.cost > 0
        assert run(work, catalog_id, kind).state == "done"
        assert len(questions_of(server.received)) == estimate.questions
        assert len(server.received) == estimate.calls
        assert work.service(ModelRuns).estimate(catalog_id, kind).questions == 0


def test_a_run_can_be_cancelled_and_goes_on(server, work, catalog_id, judging):
    answer = server.answer

    def cancelling(body):
        work.analyses.cancel(judging.job(catalog_id).id)
        return answer(body)

    server.answer = cancelling
    work.endpoints.save(Endpoint(server.url, "m", concurrency=1))
    assert run(work, catalog_id).state == "cancelled"
    assert judging.runs()[0].state == "cancelled"
    server.answer = answer
    assert run(work, catalog_id).state == "done"
    names = questions_of(server.received)
    assert len(names) == len(set(names))


def test_a_run_under_an_older_prompt_is_not_mixed_in(server, work, catalog_id, monkeypatch):
    run(work, catalog_id)
    monkeypatch.setitem(PROMPT_VERSIONS, "judge", "next")
    other, _ = opened(server)
    assert other.analyses.judge_of(catalog_id) == OFFLINE
    assert not other.service(Judging).choices(catalog_id)
    assert run(other, catalog_id).state == "done"
    assert len(other.service(Judging).runs()) == 2
    other.close()


def test_without_an_endpoint_nothing_starts(server):
    work, catalog_id = opened(server)
    with pytest.raises(ConfigError, match="no model is chosen"):
        work.service(ModelRuns).start(catalog_id)
    work.endpoints.save(Endpoint(server.url, "m"))
    grades = work.service(ModelRuns).run(catalog_id, "quality")
    with pytest.raises(JobError, match="no verdicts"):
        work.service(Judging).use(catalog_id, grades.id)
    work.close()


def test_the_key_is_in_no_file_log_or_bundle(server, work, catalog_id, caplog, judging):
    caplog.set_level(logging.DEBUG)
    server.contents.extend(["KEY", '{"answers": ["KEY"]}'])
    for mode in ("echo-key", "refused-key", "ok"):
        server.mode = mode
        run(work, catalog_id)
    assert SECRET in "".join(got.headers.get("authorization", "") for got in server.received)
    files = work.service(Exports).bundle(catalog_id, PlanConfig())
    assert not [name for name, content in files.items() if SECRET.encode() in content]
    folders = (Path(work.store.place).parent, work.vectors.folder)
    kept = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert kept and not [path for path in kept if SECRET.encode() in path.read_bytes()]
    records = (judging.runs(), work.analyses.model_verdicts(catalog_id), work.endpoints.get())
    assert SECRET not in repr(records) + caplog.text


def test_calls_made_without_a_price_count_once_there_is_one(server, work, catalog_id, judging):
    work.endpoints.save(Endpoint(server.url, "m", concurrency=1, budget=Budget(calls=1)))
    assert run(work, catalog_id).state == "paused"
    (paused,) = judging.runs(catalog_id)
    assert paused.cost is None and len(server.received) == 1
    prices = Prices(1e6, 1e6)
    spent = prices.cost(paused.tokens_in, paused.tokens_out)
    most = spent + prices.cost(20_000, 5_000)
    for money, state in ((spent, "paused"), (10 * most, "done")):
        work.endpoints.save(Endpoint(server.url, "m", prices=prices, budget=Budget(money=money)))
        assert run(work, catalog_id).state == state
        assert (len(server.received) > 1) == (state == "done")


def test_variants_are_written_once_and_wait_for_a_person(server, work, catalog_id, judging):
    server.answer = served(answering())
    estimate = work.service(ModelRuns).estimate(catalog_id, "variants")
    assert run(work, catalog_id, "variants").state == "done"
    views = work.service(Variants).views(catalog_id)
    assert len(views) == len(work.catalogs.open(catalog_id).tools)
    source = f"m at {server.origin.removeprefix('http://')}"
    assert {(view.state, view.source) for view in views} == {("waiting", source)}
    assert work.service(Variants).accepted(catalog_id) == {}
    assert judging.runs(catalog_id)[0].calls == estimate.calls
    assert work.service(ModelRuns).estimate(catalog_id, "variants").questions == 0
