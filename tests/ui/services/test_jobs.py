import logging
import threading
import time
from types import SimpleNamespace

import pytest
from sqlalchemy import text

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import CatalogError, StoreError
from toolscope_core.model.protocols import Step
from toolscope_core.store import jobs
from toolscope_core.store.catalog_rows import save_catalog
from toolscope_core.store.engine import Store
from toolscope_core.store.jobs import JobRunner, end_job, get_job, request_cancel

PATIENCE = 120.0


@pytest.fixture
def store(store_url):
    store = Store(store_url)
    for name in ("one", "two"):
        save_catalog(store, name, Catalog(()))
    yield store
    store.close()


@pytest.fixture
def runner(store):
    runner = JobRunner(store)
    yield runner
    runner.close()


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def ended(store, job_id):
    until(lambda: not get_job(store, job_id).live)
    return get_job(store, job_id)


class Gate:
    """Work that reports one step, says that it runs, and goes on when it is let."""

    def __init__(self, then=lambda progress: None):
        self.reached = threading.Event()
        self.let = threading.Event()
        self.then = then

    def __call__(self, progress):
        progress(Step("embed", 1, 9))
        self.reached.set()
        assert self.let.wait(PATIENCE)
        self.then(progress)


def forever(progress):
    while True:
        progress(Step("embed", 2, 9))
        time.sleep(0.001)


@pytest.mark.case(13)
def test_a_refresh_in_the_middle_shows_the_true_progress(store, runner):
    gate = Gate(lambda progress: progress(Step("judge", 7, 9)))
    job_id = runner.submit(1, "merge", gate)
    assert gate.reached.wait(PATIENCE)
    job = get_job(store, job_id)
    assert (job.state, job.stage, job.done, job.total) == ("running", "embed", 1, 9)
    gate.let.set()
    job = ended(store, job_id)
    assert (job.state, job.stage, job.done, job.total) == ("done", "judge", 7, 9)


def test_two_tabs_start_one_run(store, runner):
    gate, runs = Gate(), []
    first = runner.submit(1, "merge", gate)
    other_process = JobRunner(store)
    assert runner.submit(1, "merge", runs.append) == first
    assert other_process.submit(1, "merge", runs.append) == first
    gate.let.set()
    ended(store, first)
    other_process.close()
    assert runs == []
    assert runner.submit(1, "merge", runs.append) != first


def test_jobs_wait_for_each_other_and_a_waiting_one_is_live(store, runner):
    gate, order = Gate(lambda progress: order.append("first")), []
    first = runner.submit(1, "merge", gate)
    second = runner.submit(2, "merge", lambda progress: order.append("second"))
    assert gate.reached.wait(PATIENCE)
    waiting = get_job(store, second)
    assert (waiting.live, waiting.stage) == (True, "")
    gate.let.set()
    assert ended(store, first).state == ended(store, second).state == "done"
    assert order == ["first", "second"]


def test_progress_is_stored_at_new_stages_and_every_half_second(store, runner, monkeypatch):
    written = []
    monkeypatch.setattr(jobs, "record_step", lambda store, job_id, step: not written.append(step))
    clock = [100.0]
    monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    def work(progress):
        for stage in ("embed", "judge"):
            for done in range(50):
                progress(Step(stage, done, 50))
        clock[0] += 0.5
        progress(Step("judge", 50, 51))
        progress(Step("judge", 51, 51))

    ended(store, runner.submit(1, "merge", work))
    stages = [(step.stage, step.done) for step in written]
    assert stages == [("", 0), ("embed", 0), ("judge", 0), ("judge", 50), ("judge", 51)]


def test_cancelling_stops_the_work_where_it_reports(store, runner, monkeypatch):
    monkeypatch.setattr(jobs, "WRITE_SECONDS", 0.05)
    gate, after = Gate(forever), []
    job_id = runner.submit(1, "merge", gate)
    waiting = runner.submit(2, "merge", after.append)
    gate.reached.wait(PATIENCE)
    request_cancel(store, waiting)
    request_cancel(store, job_id)
    gate.let.set()
    assert ended(store, job_id).state == "cancelled"
    assert ended(store, waiting).state == "cancelled"
    assert after == []


def test_a_job_that_lost_its_lease_stops_and_stays_interrupted(store, runner, monkeypatch):
    monkeypatch.setattr(jobs, "WRITE_SECONDS", 0.0)
    stopped = threading.Event()

    def work(progress):
        try:
            forever(progress)
        finally:
            stopped.set()

    gate = Gate(work)
    job_id = runner.submit(1, "merge", gate)
    gate.reached.wait(PATIENCE)
    end_job(store, job_id, "interrupted", "asleep too long")
    gate.let.set()
    assert stopped.wait(PATIENCE)
    runner.close()
    assert get_job(store, job_id).message == "asleep too long"


def test_an_error_for_the_user_is_stored_as_it_is_and_a_bug_as_an_error_id_and_logged(
    store, runner, caplog
):
    def fail(error):
        def work(progress):
            raise error

        return ended(store, runner.submit(1, "merge", work))

    job = fail(CatalogError("no tools; import some"))
    assert (job.state, job.message) == ("failed", "no tools; import some")
    job = fail(ZeroDivisionError("secret detail"))
    assert job.state == "failed"
    assert "secret detail" not in job.message
    (record,) = [item for item in caplog.records if item.levelno == logging.ERROR]
    assert record.exc_info[0] is ZeroDivisionError
    error_id = job.message.split("error ")[1].split(",")[0]
    assert error_id in record.getMessage()
    assert ended(store, runner.submit(1, "merge", lambda progress: None)).state == "done"


def test_a_store_that_is_busy_stops_no_work(store, runner, monkeypatch, caplog):
    def busy(*args):
        raise StoreError("locked")

    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.01)
    reached, ran = threading.Event(), []
    with monkeypatch.context() as patch:
        for name in ("record_step", "end_job", "renew_leases"):
            patch.setattr(jobs, name, busy)
        other = JobRunner(store)
        gate = Gate(lambda progress: (ran.append("to the end"), reached.set()))
        job_id = other.submit(1, "merge", gate)
        until(lambda: "leases" in caplog.text)
        gate.let.set()
        assert reached.wait(PATIENCE)
        until(lambda: "the end of job" in caplog.text)
        other.close()
    assert ran == ["to the end"]
    assert "progress of job" in caplog.text
    assert get_job(store, job_id).live  # until its lease runs out


def test_heartbeats_keep_the_lease_of_running_and_waiting_jobs(store, monkeypatch):
    def leases():
        with store.read() as session:
            return session.connection().execute(text("SELECT lease_until FROM job")).scalars().all()

    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.05)
    gate = Gate()
    runner = JobRunner(store)
    alive = [runner.submit(1, "merge", gate), runner.submit(2, "merge", lambda progress: None)]
    begun = max(leases())
    until(lambda: min(leases()) > begun)
    gate.let.set()
    assert [ended(store, job_id).state for job_id in alive] == ["done", "done"]
    runner.close()


def test_closing_interrupts_what_runs_and_what_waits_and_takes_no_more(store):
    runner = JobRunner(store)
    gate = Gate(forever)
    job_ids = [runner.submit(1, "merge", gate), runner.submit(2, "merge", forever)]
    gate.reached.wait(PATIENCE)
    gate.let.set()
    runner.close()
    for job in (get_job(store, job_id) for job_id in job_ids):
        assert job.state == "interrupted" and "start it again" in job.message
    with pytest.raises(StoreError, match="stopping"):
        runner.submit(1, "merge", forever)
