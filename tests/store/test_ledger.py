from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy.exc import StatementError

from tests.support.logged_calls import read_calls
from toolscope_core.model.protocols import Answer, Call
from toolscope_core.store.engine import Store
from toolscope_core.store.runs import StoredLedger

ANSWER = Answer(
    "k1", "pair", "1", ("a", "b"), "m \ud800", "http://127.0.0.1", {"x": [1, "\udfff"]}, at="then"
)
FAILED = replace(ANSWER, key="k2", value=None, reason="refused \ud800")
CALL = Call("run", "pair", "m", "http://127.0.0.1", 2, 10, 5, False, 0.25, 1.5, "stop", "", "then")


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
