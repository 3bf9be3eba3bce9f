from dataclasses import replace

import pytest

from toolscope_core.model.errors import StoreError
from toolscope_core.model.protocols import Call
from toolscope_core.store.runs import StoredLedger, end_run, get_run, list_runs, open_run

SETUP = {"model": "m", "theta": 0.7, "prompts": ["1"]}
CALL = Call("r1", "pair", "m", "http://127.0.0.1", 2, tokens_in=10, tokens_out=5, cost=0.25)


def test_an_unfinished_run_is_gone_on_with(store):
    run = open_run(store, "r1", 1, "merge", SETUP)
    assert (run.id, run.state, run.configuration) == ("r1", "running", SETUP)
    paused = end_run(store, "r1", "paused", "budget \ud800")
    assert (paused.state, paused.message) == ("paused", "budget \ud800") and paused.ended_at
    again = open_run(store, "r2", 1, "merge", SETUP)
    assert (again.id, again.state, again.message, again.ended_at) == ("r1", "running", "", "")
    end_run(store, "r1", "done")
    assert open_run(store, "r2", 1, "merge", SETUP).id == "r2"


@pytest.mark.case(8)
@pytest.mark.parametrize(
    "other",
    [
        {"configuration": {**SETUP, "model": "n"}},
        {"configuration": {**SETUP, "theta": 0.8}},
        {"configuration": {**SETUP, "prompts": ["2"]}},
        {"kind": "quality"},
        {"catalog_id": 2},
    ],
)
def test_whatever_differs_is_another_run(store, other):
    asked = {"catalog_id": 1, "kind": "merge", "configuration": SETUP}
    open_run(store, "r1", **asked)
    assert open_run(store, "r2", **{**asked, **other}).id == "r2"
    assert open_run(store, "r3", **asked).id == "r1"


def test_a_run_sums_up_its_calls(store):
    assert open_run(store, "r1", 1, "merge", SETUP).cost == 0.0
    ledger = StoredLedger(store)
    for call in (CALL, CALL, replace(CALL, run="r2", cost=7.0)):
        ledger.commit(call, ())
    run = get_run(store, "r1")
    assert (run.calls, run.questions, run.tokens_in, run.tokens_out) == (2, 4, 20, 10)
    assert (run.cost, run.counted) == (0.5, True)
    ledger.commit(replace(CALL, cost=None, counted=False), ())
    assert (get_run(store, "r1").cost, get_run(store, "r1").counted) == (None, False)


def test_runs_are_listed_the_newest_first(store):
    open_run(store, "r1", 1, "merge", SETUP)
    open_run(store, "r2", 2, "merge", SETUP)
    open_run(store, "r3", 1, "quality", SETUP)
    assert [run.id for run in list_runs(store)] == ["r3", "r2", "r1"]
    assert [run.id for run in list_runs(store, 1)] == ["r3", "r1"]


def test_unknown_runs_and_catalogs_are_said(store):
    with pytest.raises(StoreError, match="no run 'r9'"):
        get_run(store, "r9")
    with pytest.raises(StoreError, match="no catalog 9"):
        open_run(store, "r1", 9, "merge", SETUP)
