import pytest

from toolscope_core.model.errors import StoreError
from toolscope_core.model.protocols import Step
from toolscope_core.store import jobs

EXPIRED = -1.0


def test_one_job_of_a_kind_runs_on_a_catalog_at_a_time(store):
    first = jobs.start_job(store, "j1", 1, "merge")
    assert first.live
    assert jobs.start_job(store, "j2", 1, "merge") == first
    assert jobs.start_job(store, "j3", 2, "merge").id == "j3"
    assert jobs.start_job(store, "j5", 1, "map").id == "j5"
    jobs.end_job(store, "j1", "done")
    assert jobs.start_job(store, "j4", 1, "merge").id == "j4"
    assert jobs.latest_job(store, 1).id == "j4"


def test_a_job_that_ended_stays_as_it_ended(store):
    jobs.start_job(store, "j1", 1, "merge")
    ended = jobs.end_job(store, "j1", "failed", "no model")
    assert not ended.live
    assert jobs.end_job(store, "j1", "done") == ended
    assert jobs.request_cancel(store, "j1") == ended
    assert not jobs.record_step(store, "j1", Step("embed", 1, 9))
    assert jobs.get_job(store, "j1") == ended


def test_only_jobs_whose_lease_ran_out_are_orphans(store):
    jobs.start_job(store, "alive", 2, "merge")
    jobs.start_job(store, "dead", 1, "merge", lease=EXPIRED)
    jobs.mark_orphans(store)
    assert jobs.get_job(store, "dead").state == "interrupted"
    assert "start it again" in jobs.get_job(store, "dead").message
    assert jobs.get_job(store, "alive").live
    jobs.start_job(store, "dead 2", 1, "merge", lease=EXPIRED)
    assert jobs.start_job(store, "next", 1, "merge").id == "next"
    assert jobs.get_job(store, "dead 2").state == "interrupted"


def test_a_renewed_lease_keeps_a_job_alive(store):
    jobs.start_job(store, "j1", 1, "merge", lease=EXPIRED)
    jobs.renew_leases(store, {"j1"})
    jobs.mark_orphans(store)
    assert jobs.get_job(store, "j1").live
    jobs.renew_leases(store, {"j1"}, lease=EXPIRED)
    jobs.mark_orphans(store)
    jobs.renew_leases(store, {"j1"})
    assert jobs.get_job(store, "j1").state == "interrupted"


def test_unknown_ids_are_refused(store):
    with pytest.raises(StoreError, match="no catalog 9"):
        jobs.start_job(store, "j1", 9, "merge")
    with pytest.raises(StoreError, match="no job 'j1'; reload"):
        jobs.get_job(store, "j1")
