"""Requests as they are: the SDK, a server on loopback, the ledger on disk."""

import json
import logging
import multiprocessing
import random
import threading
import time
from collections import Counter
from dataclasses import asdict

import pytest
from sqlalchemy import text

from tests.llm.conftest import SECRET, model_at
from tests.support import killed_run, sums
from tests.support.logged_calls import read_calls
from tests.support.model_server import ModelServer
from toolscope_core.llm.model_requests import ask_all
from toolscope_core.llm.request_workers import RunBudget, Terms
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import Endpoint, Patience, Prices
from toolscope_core.model.protocols import question_key
from toolscope_core.store import engine
from toolscope_core.store.catalog_rows import save_catalog
from toolscope_core.store.engine import Store
from toolscope_core.store.runs import StoredLedger, get_run, open_run
from toolscope_core.store.tables import StoredRow

ITEMS = [(number, number + 1) for number in range(12)]
SUMS = [2 * number + 1 for number in range(12)]
QUICK = Patience(attempts=3, first_wait=0.001)


@pytest.fixture
def server():
    with ModelServer(sums.answer) as running:
        yield running


@pytest.fixture
def store(store_url):
    store = Store(store_url)
    yield store
    store.close()


def ask(server, store, items=ITEMS, model=None, batch=1, **terms):
    terms = {"patience": QUICK, "concurrency": 4, **terms}
    model = model or model_at(server)
    return ask_all(sums.Sums(batch), items, model, StoredLedger(store), Terms("run", **terms))


def test_a_run_is_answered_kept_and_summed_up(server, store):
    save_catalog(store, "one", Catalog(()))
    open_run(store, "run", 1, "merge", asdict(Endpoint(server.url, "m")))
    answered = ask(server, store, batch=5, budget=RunBudget(prices=Prices(1.0, 2.0)))
    assert sums.values(answered) == SUMS and answered.calls == 3
    run = get_run(store, "run")
    assert (run.calls, run.questions, run.tokens_in, run.tokens_out) == (3, 12, 150, 21)
    assert run.cost == pytest.approx(answered.cost) == pytest.approx((150 + 42) / 1e6)
    again = ask(server, store)
    assert again.calls == 0 and sums.values(again) == SUMS


@pytest.mark.case(15)
def test_no_write_is_open_during_a_call(server, store, store_url, monkeypatch):
    written = []
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.05)
    other = Store(store_url)

    def answer(body):
        with other.write() as session:
            count = session.connection().execute(text("SELECT count(*) FROM answer"))
            written.append(count.scalar())
        return sums.answer(body)

    server.answer = answer
    assert ask(server, store, concurrency=1).state == "done"
    assert written == list(range(12))
    other.close()


@pytest.mark.case(18)
@pytest.mark.parametrize("text", ["", '{"ready":' * 100_000, "{}", '{"ready": NaN}'], ids=len)
def test_a_broken_reply_leaves_its_item_unanalysed_and_the_run_goes_on(server, store, text):
    def answer(body):
        return text if list(sums.answer(body)["sums"].values()) == [7] else sums.answer(body)

    server.answer = answer
    answered = ask(server, store)
    assert answered.state == "done" and list(answered.unanalysed) == [answered.keys[3]]
    assert sums.values(answered) == [None if total == 7 else total for total in SUMS]
    asked_of_it = [got.user for got in server.received if answered.keys[3] in got.user]
    assert len(asked_of_it) == 2 and "could not be used" in asked_of_it[1]
    server.answer = sums.answer
    again = ask(server, store)
    assert again.calls == 1 and sums.values(again) == SUMS


@pytest.mark.case(20)
def test_a_flaky_server_is_waited_for_as_told(server, store):
    server.mode = "flaky"
    answered = ask(server, store, concurrency=1)
    assert answered.state == "done" and sums.values(answered) == SUMS and answered.calls == 24
    times = [got.at for got in server.received]
    assert all(times[at + 1] - times[at] >= 0.02 for at in range(0, 24, 2))
    assert Counter(bool(call.error) for call in read_calls(store, "run")) == {True: 12, False: 12}


@pytest.mark.case(21)
@pytest.mark.parametrize("mode", ["refused-key", "redirect"])
def test_what_stops_a_run_is_mended_and_the_run_goes_on(server, store, mode):
    ask(server, store, ITEMS[:5])
    server.mode, server.target = mode, "http://127.0.0.1:9"
    stopped = ask(server, store)
    assert (stopped.state, len(stopped.answers)) == ("stopped", 5)
    assert SECRET not in stopped.message
    assert stopped.message in {call.error for call in read_calls(store, "run")}
    server.mode = "ok"
    done = ask(server, store)
    assert done.state == "done" and done.calls == 7 and sums.values(done) == SUMS


def cells(store):
    """Every cell of the store, as text."""
    with store.read() as session:
        tables = [
            session.connection().execute(t.select()) for t in StoredRow.metadata.sorted_tables
        ]
        return repr([tuple(row) for table in tables for row in table])


@pytest.mark.case(48)
def test_the_key_is_in_no_file_and_no_log(server, store, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    save_catalog(store, "one", Catalog(()))
    model = model_at(server)
    open_run(store, "run", 1, "merge", asdict(model.endpoint))
    texts = []
    for mode in ("ok", "echo-key", "refused-key", "html"):
        server.mode = mode
        server.contents.extend(["KEY", '{"sums": {"KEY": 1}}'] if mode == "echo-key" else [])
        items = [(one + 100 * len(texts), two) for one, two in ITEMS[:3]]
        texts.append(repr(ask(server, store, items, model=model)))
    assert SECRET in {
        got.headers["authorization"].removeprefix("Bearer ") for got in server.received
    }
    assert SECRET not in "".join(texts) + caplog.text
    stored = cells(store)
    assert "127.0.0.1" in stored and SECRET not in stored
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.case(48)
def test_the_key_is_sent_to_its_origin_only(server, store):
    with ModelServer(sums.answer) as other:
        server.mode, server.target = "redirect", other.origin
        assert ask(server, store).state == "stopped" and not other.received
        assert ask(other, store, model=model_at(other, secret="")).state == "done"
        assert all("authorization" not in got.headers for got in other.received)


IN_A_RUN = 12
"""Requests that a run may make before it is killed: none comes to an end by itself."""


@pytest.mark.case(1)
@pytest.mark.parametrize("kills", [12, pytest.param(50, marks=pytest.mark.nightly)])
def test_killing_a_run_loses_and_repeats_nothing_that_was_committed(
    tmp_path, store_url, server, kills
):
    items = [(number, number + 1) for number in range(2 * IN_A_RUN * kills + 10)]
    may_end = threading.Event()
    clean, url = f"sqlite:///{tmp_path / 'clean.db'}", store_url

    def answer(body):
        """Slow enough to be hit, and wrong the first time for one in five."""
        time.sleep(0.004)
        if len(server.received) > IN_A_RUN:
            may_end.wait(60)
        found = sums.answer(body)["sums"]
        if "could not be used" not in body["messages"][-1]["content"]:
            found = {key: "?" if value % 5 == 0 else value for key, value in found.items()}
        return {"sums": found}

    server.answer = answer
    model = model_at(server, secret="")
    task = sums.Sums()
    keys = [question_key("sum", "1", task.subjects(item), model) for item in items]
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.support.killed_run"])
    store = Store(url)
    ledger, chance, hits = StoredLedger(store), random.Random(7), 0
    for _ in range(kills):
        before = ledger.answers(keys)
        server.received.clear()
        process = processes.Process(target=killed_run.ask, args=(url, server.url, items))
        process.start()
        wanted = chance.randint(0, IN_A_RUN)
        while len(server.received) < wanted and process.is_alive():
            time.sleep(0.001)
        time.sleep(chance.random() * 0.012)
        process.kill()
        process.join()
        hits += process.exitcode == -9
        now = ledger.answers(keys)
        assert {key: now[key] for key in before} == before, "nothing committed is lost"
        assert not before.keys() & told(server), "nothing committed is asked again"
        assert len(told(server) - now.keys()) <= 8, "only what was in flight: 4 calls of 2"
    assert hits == kills and 0 < len(ledger.answers(keys)) < len(items)
    may_end.set()
    killed_run.ask(url, server.url, items)
    killed_run.ask(clean, server.url, items)
    other = Store(clean)
    found, expected = ledger.answers(keys), StoredLedger(other).answers(keys)
    assert {key: found[key].value for key in keys} == {key: expected[key].value for key in keys}
    assert [found[key].value["sum"] for key in keys] == [sum(item) for item in items]
    with store.read() as session:
        answers = session.connection().exec_driver_sql("SELECT count(*) FROM answer").scalar()
    assert answers == len(items)
    store.close()
    other.close()


def told(server):
    """The keys that the server was asked about."""
    return {key for got in list(server.received) for key in json.loads(got.user.split("\n\n")[0])}
