import pytest

from toolscope_core.model.errors import StoreError
from toolscope_core.model.protocols import Step
from toolscope_core.store.jobs import (
    end_job,
    get_job,
    latest_job,
    mark_orphans,
    record_step,
    renew_leases,
    request_cancel,
    start_job,
)

EXPIRED = -1.0


def test_one_job_of_a_kind_runs_on_a_catalog_at_a_time(store):
    first = start_job(store, "j1", 1, "merge")
    assert first.live
    assert start_job(store, "j2", 1, "merge") == first
    assert start_job(store, "j3", 2, "merge").id == "j3"
    assert start_job(store, "j5", 1, "map").id == "j5"
    end_job(store, "j1", "done")
    assert start_job(store, "j4", 1, "merge").id == "j4"
    assert latest_job(store, 1).id == "j4"


def test_a_job_that_ended_stays_as_it_ended(store):
    start_job(store, "j1", 1, "merge")
    ended = end_job(store, "j1", "failed", "no model")
    assert not ended.live
    assert end_job(store, "j1", "done") == ended
    assert request_cancel(store, "j1") == ended
    assert not record_step(store, "j1", Step("embed", 1, 9))
    assert get_job(store, "j1") == ended


def test_only_jobs_whose_lease_ran_out_are_orphans(store):
    start_job(store, "alive", 2, "merge")
    start_job(store, "dead", 1, "merge", lease=EXPIRED)
    mark_orphans(store)
    assert get_job(store, "dead").state == "interrupted"
    assert "start it again" in get_job(store, "dead").message
    assert get_job(store, "alive").live
    start_job(store, "dead 2", 1, "merge", lease=EXPIRED)
    assert start_job(store, "next", 1, "merge").id == "next"
    assert get_job(store, "dead 2").state == "interrupted"


def test_a_renewed_lease_keeps_a_job_alive(store):
    start_job(store, "j1", 1, "merge", lease=EXPIRED)
    renew_leases(store, {"j1"})
    mark_orphans(store)
    assert get_job(store, "j1").live
    renew_leases(store, {"j1"}, lease=EXPIRED)
    mark_orphans(store)
    renew_leases(store, {"j1"})
    assert get_job(store, "j1").state == "interrupted"


def test_unknown_ids_are_refused(store):
    with pytest.raises(StoreError, match="no catalog 9"):
        start_job(store, "j1", 9, "merge")
    with pytest.raises(StoreError, match="no job 'j1'; reload"):
        get_job(store, "j1")
