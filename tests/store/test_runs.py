"""Runs of models, their calls and answers."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy.exc import StatementError

from tests.support.logged_calls import read_calls
from toolscope_core.model.errors import StoreError
from toolscope_core.model.protocols import Answer, Call
from toolscope_core.store.engine import Store
from toolscope_core.store.runs import StoredLedger, end_run, get_run, list_runs, open_run

SETUP = {"model": "m", "theta": 0.7, "prompts": ["1"]}
ANSWER = Answer(
    "k1", "pair", "1", ("a", "b"), "m \ud800", "http://127.0.0.1", {"x": [1, "\udfff"]}, at="then"
)
FAILED = replace(ANSWER, key="k2", value=None, reason="refused \ud800")
CALL = Call("run", "pair", "m", "http://127.0.0.1", 2, 10, 5, False, 0.25, 1.5, "stop", "", "then")


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
    ledger, own = StoredLedger(store), replace(CALL, run="r1", counted=True)
    for call in (own, own, replace(own, run="r2", cost=7.0)):
        ledger.commit(call, ())
    run = get_run(store, "r1")
    assert (run.calls, run.questions, run.tokens_in, run.tokens_out) == (2, 4, 20, 10)
    assert (run.cost, run.counted) == (0.5, True)
    ledger.commit(replace(own, cost=None, counted=False), ())
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


def test_answers_and_calls_come_back_as_they_were_and_are_there_for_others(store, store_url):
    ledger = StoredLedger(store)
    ledger.commit(CALL, (ANSWER, FAILED))
    assert ledger.answers(["k2", "none", "k1"]) == {"k2": FAILED, "k1": ANSWER}
    with closing(Store(store_url)) as other:
        assert list(StoredLedger(other).answers(["k2", "k1"])) == ["k2", "k1"]
    assert read_calls(store, "run") == (CALL,)
    assert read_calls(store, "other") == ()


def test_the_store_gives_the_time(store):
    ledger = StoredLedger(store)
    ledger.commit(replace(CALL, at=""), (replace(ANSWER, at=""),))
    (call,) = read_calls(store, "run")
    assert call.at.endswith("+00:00") and ledger.answers(["k1"])["k1"].at == call.at


def test_an_answer_that_is_known_stays_and_the_call_is_logged(store):
    ledger = StoredLedger(store)
    ledger.commit(CALL, (ANSWER,))
    ledger.commit(replace(CALL, run="second"), (replace(ANSWER, value={"x": 2}), FAILED))
    assert ledger.answers(["k1", "k2"]) == {"k1": ANSWER, "k2": FAILED}
    assert len(read_calls(store, "second")) == 1


def test_a_call_and_its_answers_are_kept_all_or_nothing(store):
    with pytest.raises(StatementError, match="not JSON"):
        StoredLedger(store).commit(CALL, (ANSWER, replace(ANSWER, key="k3", value={"x": object()})))
    assert read_calls(store, "run") == () and not StoredLedger(store).answers(["k1"])


def test_threads_commit_at_the_same_time(store):
    ledger = StoredLedger(store)

    def write(worker):
        for number in range(8):
            answer = replace(ANSWER, key=f"{worker}-{number}")
            ledger.commit(replace(CALL, run=f"r{worker}"), [answer])

    with ThreadPoolExecutor(8) as workers:
        list(workers.map(write, range(8)))
    keys = [f"{worker}-{number}" for worker in range(8) for number in range(8)]
    assert list(ledger.answers(keys)) == keys
    assert all(len(read_calls(store, f"r{worker}")) == 8 for worker in range(8))
