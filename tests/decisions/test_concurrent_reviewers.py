"""Many reviewers on one store: nothing acknowledged is lost, no conflict goes unnoticed."""

import multiprocessing
import random
import signal
import sqlite3
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, suppress

import pytest

from tests.support.decisions import decision_on, undo
from toolscope_core.decisions.constraints import constraints, edits
from toolscope_core.decisions.log import active, admit, version_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import DecisionError, StaleDecisionError, StoreError
from toolscope_core.model.tool import Tool
from toolscope_core.store import engine
from toolscope_core.store.catalog_rows import save_catalog
from toolscope_core.store.decision_rows import append_decision, read_log
from toolscope_core.store.engine import Store
from toolscope_core.store.jobs import start_job

APART = multiprocessing.get_context("forkserver")
APART.set_forkserver_preload([__name__])  # so that the processes do not each import it
CLUSTERS = 8
REVIEWERS = 4
EACH = 12
TOOLS = tuple(Tool(f"{i:02}", f"tool {i}", "words") for i in range(3 * CLUSTERS))
CATALOG = Catalog(TOOLS)


def cluster(number):
    return TOOLS[3 * number : 3 * number + 3]


def about(tools, action, reviewer, **detail):
    return decision_on(tools, action, reviewer, at="", **detail)


def decide(store, proposal, seen=None):
    return append_decision(store, 1, lambda log: admit(log, proposal, seen))


def review(store, reviewer, seed, out):
    """Make EACH decisions; on a stale one reload and decide again. Reports every attempt."""
    rng = random.Random(seed)
    for turn in range(EACH):
        tools = cluster(rng.randrange(CLUSTERS))
        words = f"{reviewer} {turn}"
        accept = rng.random() < 0.2
        detail = {"note" if accept else "description": words}
        proposal = about(tools, "accept" if accept else "edit", words, **detail)
        row = None
        while row is None:
            seen = version_of(proposal.fingerprints, read_log(store, 1))
            with suppress(StaleDecisionError):
                row = decide(store, proposal, seen)
            out.append((words, proposal.fingerprints, seen, row and row.seq))


def process(url, name, start, results):
    engine.BUSY_SECONDS = 120.0  # a machine that does other work too is slow, not wrong
    out, names = [], [f"{name}{i}" for i in range(REVIEWERS)]
    with closing(Store(url)) as store, ThreadPoolExecutor(REVIEWERS) as threads:
        start.wait()
        list(threads.map(lambda one: review(store, one, one, out), names))
    results.put(out)


@pytest.fixture(scope="module")
def others():
    """Two more processes."""
    with ProcessPoolExecutor(2, mp_context=APART) as processes:
        yield processes


@pytest.fixture
def store(store_url):
    store = Store(store_url)
    save_catalog(store, "shop", CATALOG)
    yield store
    store.close()


@pytest.mark.case(10)
def test_two_processes_of_four_reviewers_lose_nothing_and_each_conflict_has_one_winner(
    store, store_url
):
    start, results = APART.Barrier(2), APART.Queue()
    crowd = [APART.Process(target=process, args=(store_url, name, start, results)) for name in "xy"]
    for member in crowd:
        member.start()
    attempts = [attempt for _ in crowd for attempt in results.get(timeout=600)]
    for member in crowd:
        member.join()

    log = read_log(store, 1)
    assert [item.seq for item in log] == list(range(1, 2 * REVIEWERS * EACH + 1))
    acknowledged = {words: seq for words, _, _, seq in attempts if seq}
    assert {item.reviewer: item.seq for item in log} == acknowledged

    raced = Counter((members, seen) for _, members, seen, _ in attempts)
    won = Counter((members, seen) for _, members, seen, seq in attempts if seq)
    assert set(won.values()) == {1}
    assert set(won) == set(raced), "somebody lost against nobody"
    assert len(attempts) > len(log), "no two reviewers ever raced"
    for _, members, seen, seq in attempts:
        if seq:
            assert version_of(members, log[: seq - 1]) == seen


LOST = "lost"


def clicks_on(url, acknowledged):
    """Decide without end, and go on where it does not work; sends each number, or ``LOST``."""
    store = Store(url)
    while True:
        try:
            row = decide(store, about(TOOLS, "edit", "a", name="x"))
        except StoreError as error:
            lost = ("connection to the server was lost", "no connection")
            acknowledged.send(LOST if any(words in str(error) for words in lost) else str(error))
            time.sleep(0.05)
        else:
            acknowledged.send(row.seq)


@pytest.mark.case(2)
def test_a_killed_process_loses_nothing_it_acknowledged(store, store_url):
    rng, last = random.Random(7), 0
    for _ in range(3):
        receiver, sender = APART.Pipe(duplex=False)
        victim = APART.Process(target=clicks_on, args=(store_url, sender))
        victim.start()
        sender.close()
        acknowledged = [receiver.recv() for _ in range(rng.randint(1, 20))]
        victim.kill()
        victim.join()
        assert victim.exitcode == -signal.SIGKILL
        try:
            while True:
                acknowledged.append(receiver.recv())
        except EOFError:
            receiver.close()
        log = read_log(store, 1)
        assert [item.seq for item in log] == list(range(1, len(log) + 1))
        assert acknowledged == list(range(last + 1, acknowledged[-1] + 1))
        assert acknowledged[-1] <= len(log) <= acknowledged[-1] + 1
        last = len(log)
    if store_url.startswith("sqlite"):
        with closing(sqlite3.connect(store.place)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.nightly
def test_a_killed_server_loses_nothing_that_was_acknowledged_and_is_found_again(own_server):
    own_server.stop()
    own_server.start(fsync="on")
    url, rng = own_server.new(), random.Random(7)
    store = Store(url)
    save_catalog(store, "shop", CATALOG)
    receiver, sender = APART.Pipe(duplex=False)
    clicker = APART.Process(target=clicks_on, args=(url, sender))
    clicker.start()
    last = receiver.recv()
    for _ in range(4):
        time.sleep(rng.uniform(0.1, 0.4))
        own_server.stop()
        heard = list(iter(receiver.recv, LOST))
        own_server.start(fsync="on")
        while heard[-1:] in ([], [LOST]):
            heard.append(receiver.recv())
        *before, after = [seq for seq in heard if seq != LOST]
        assert before == list(range(last + 1, last + 1 + len(before)))
        assert after - len(before) - last in (1, 2), "at most one was kept and not acknowledged"
        log = read_log(store, 1)
        assert [item.seq for item in log] == list(range(1, len(log) + 1)) and len(log) >= after
        last = after
    clicker.kill()
    clicker.join()
    store.close()


def decide_elsewhere(url, proposal, seen=None):
    """In another process."""
    with closing(Store(url)) as store:
        return decide(store, proposal, seen)


def start_elsewhere(url, kind):
    with closing(Store(url)) as store:
        return start_job(store, f"{kind} {random.random()}", 1, kind).id


@pytest.mark.case(12)
def test_two_processes_that_start_the_same_run_at_once_start_one(store, store_url, others):
    for kind in map(str, range(4)):
        starts = [others.submit(start_elsewhere, store_url, kind) for _ in range(2)]
        assert len({start.result() for start in starts}) == 1


@pytest.mark.case(11)
def test_a_form_loaded_before_anothers_decision_overwrites_nothing(store, store_url, others):
    tools = cluster(0)
    seen = version_of([tool.fingerprint for tool in tools], read_log(store, 1))
    theirs = about(tools, "edit", "bo", name="bo's name")
    assert others.submit(decide_elsewhere, store_url, theirs, seen).result().seq == 1
    with pytest.raises(StaleDecisionError, match=r" 1 \(edit by bo, 20"):
        decide(store, about(tools, "edit", "ann", name="ann's name"), seen)
    log = read_log(store, 1)
    assert len(log) == 1
    (edit,) = edits(CATALOG, log).values()
    assert edit.document == {"name": "bo's name"}


@pytest.mark.case(16)
def test_undoing_what_others_built_on_is_refused_with_the_list_and_changes_nothing(
    store, store_url, others
):
    tools = cluster(0)
    decide(store, about(tools, "accept", "ann"))
    for theirs in (about(tools, "edit", "bo", name="x"), about(cluster(1), "accept", "bo")):
        others.submit(decide_elsewhere, store_url, theirs).result()
    with pytest.raises(DecisionError, match=r" 2 \(edit by bo") as refusal:
        decide(store, undo(1))
    assert "decision 3" not in str(refusal.value)
    assert len(active(read_log(store, 1))) == 3
    decide(store, undo(2))
    decide(store, undo(1))
    assert constraints(CATALOG, read_log(store, 1)).must == (
        frozenset(tool.id for tool in cluster(1)),
    )
