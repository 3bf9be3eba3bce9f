"""Requests with a budget, a ledger and repairs; the model is a function, the ledger in memory."""

import threading
import time
from collections import Counter
from dataclasses import replace

import pytest

from tests.support.analyses import asking
from tests.support.fakes import MemoryLedger, ScriptedModel
from tests.support.sums import Sums, add, questions_in, values
from toolscope_core.llm.chat import EndpointModel
from toolscope_core.llm.estimates import estimate
from toolscope_core.llm.model_requests import ask_all
from toolscope_core.llm.request_workers import RunBudget, Terms, repair
from toolscope_core.model.configuration import Budget, Endpoint, Patience, Prices
from toolscope_core.model.environment import ApiKey
from toolscope_core.model.errors import ConfigError, StoreError
from toolscope_core.model.protocols import ChatReply, ChatRequest, question_key

QUICK = Patience(attempts=3, first_wait=0.001)


def repaired(request):
    return "could not be used" in request.user


def ask(model, items, ledger=None, batch=1, progress=lambda step: None, **terms):
    terms = {"concurrency": 1, "patience": QUICK, **terms}
    ledger = MemoryLedger() if ledger is None else ledger
    return ask_all(Sums(batch), items, model, ledger, Terms("run", **terms), progress)


PAIRS = [(number, number + 1) for number in range(10)]
SUMS = [2 * number + 1 for number in range(10)]


def test_every_item_gets_its_answer_in_order_at_a_cost_that_is_unknown_without_prices():
    answered = ask(ScriptedModel(add), PAIRS, batch=3, concurrency=4)
    assert values(answered) == SUMS
    assert (answered.state, answered.calls, answered.reused) == ("done", 4, 0)
    assert answered.cost is None


@pytest.mark.case(26)
def test_both_directions_of_a_pair_are_one_question():
    model = ScriptedModel(add)
    answered = ask(model, [(1, 2), (2, 1), (3, 4)])
    assert len(model.requests) == 2
    assert (answered.questions, values(answered)) == (2, [3, 3, 7])


@pytest.mark.case(58)
def test_a_key_changes_with_every_field_of_the_request():
    first = {"task": "sum", "version": "1", "subjects": ["a", "b"]}
    fields = {"task": "other", "version": "2", "subjects": ["a", "c"]}
    endpoint = Endpoint("https://one.example/v1", "m")
    models = {"model": "n", "temperature": 0.5, "reasoning": "low",
              "base_url": "https://two.example/v1"}  # fmt: skip
    asked = [({**first, name: value}, endpoint) for name, value in fields.items()]
    asked += [(first, replace(endpoint, **{name: value})) for name, value in models.items()]
    asked += [(first, endpoint), (first, replace(endpoint, base_url="https://one.example/v2"))]
    keys = {question_key(**about, model=EndpointModel(one, ApiKey("", ""))) for about, one in asked}
    assert len(keys) == len(asked)
    in_turn = {**first, "subjects": ["b", "a"]}
    slashed = replace(endpoint, base_url="https://one.example/v1/")
    assert question_key(**in_turn, model=EndpointModel(slashed, ApiKey("", ""))) in keys


def test_what_is_known_is_not_asked_again():
    model, ledger = ScriptedModel(add), MemoryLedger()
    ask(model, PAIRS[:6], ledger)
    answered = ask(model, PAIRS, ledger, batch=2)
    assert (answered.reused, answered.calls, values(answered)) == (6, 2, SUMS)
    again = ask(model, PAIRS, ledger)
    assert (again.calls, again.reused, values(again)) == (0, 10, SUMS)


def test_questions_are_asked_in_the_given_order():
    model = ScriptedModel(add)
    ask(model, PAIRS[::-1], batch=3)
    told = [sorted(questions_in(request).values()) for request in model.requests]
    assert told[0] == [[7, 8], [8, 9], [9, 10]] and told[-1] == [[0, 1]]


def test_only_the_failed_items_are_asked_once_more_with_the_reason():
    def answer(request):
        value = add(request)
        if not repaired(request):
            value["sums"] = {key: 7 if found == 1 else "x" for key, found in value["sums"].items()}
        return value

    model, ledger = ScriptedModel(answer), MemoryLedger()
    answered = ask(model, PAIRS[:3], ledger, batch=3)
    assert values(answered) == [7, 3, 5] and len(model.requests) == 2
    assert "x is no number" in model.requests[1].user and len(questions_in(model.requests[1])) == 2
    assert [call.questions for call in ledger.calls] == [3, 2]


@pytest.mark.parametrize("reason", ["refused", "no JSON object"])
def test_a_reply_without_value_is_repaired_once(reason):
    model = ScriptedModel(lambda request: ChatReply(None, reason=reason))
    answered = ask(model, PAIRS[:4], batch=4)
    assert answered.calls == 2 and set(answered.unanalysed.values()) == {reason}
    assert reason in model.requests[1].user


def test_a_question_that_is_too_long_is_asked_in_halves_and_halves_of_these():
    def answer(request):
        if len(questions_in(request)) > 2:
            return ChatReply(None, reason="too long", finish="too long")
        return add(request)

    model = ScriptedModel(answer)
    answered = ask(model, PAIRS[:8], batch=8)
    assert (answered.calls, values(answered)) == (1 + 2 + 4, SUMS[:8])
    assert not any(map(repaired, model.requests))


def cut_below(tokens):
    """A model that needs so many tokens to think."""

    def answer(request):
        enough = request.most_tokens >= tokens
        return add(request) if enough else ChatReply(None, reason="cut off", finish="length")

    return ScriptedModel(answer)


def limits(model):
    return [request.most_tokens for request in model.requests]


@pytest.mark.parametrize(
    ("tokens", "tried"), [(100, [100]), (400, [100, 400]), (1_600, [100, 400, 1_600])]
)
def test_a_reply_that_is_cut_off_gets_more_room_and_so_does_the_next_question(tokens, tried):
    model, ledger = cut_below(tokens), MemoryLedger()
    answered = ask(model, PAIRS[:3], ledger)
    assert values(answered) == SUMS[:3] and limits(model) == [*tried, tried[-1], tried[-1]]
    assert not any(map(repaired, model.requests))
    errors = [call.error for call in ledger.calls]
    assert errors == ["cut off"] * (len(tried) - 1) + [""] * 3


def test_a_reply_that_no_room_is_enough_for_is_asked_for_in_halves_and_given_up():
    model = cut_below(1_000)
    answered = ask(model, PAIRS[:3], batch=3, most_tokens=500)
    assert limits(model) == [100, 400, 500, 500, 500]
    assert [len(questions_in(request)) for request in model.requests] == [3, 3, 3, 2, 1]
    assert set(answered.unanalysed.values()) == {"cut off"} and answered.questions == 3


def test_no_reply_is_longer_than_the_setting():
    model = ScriptedModel(add)
    ask(model, PAIRS[:1], most_tokens=70)
    assert limits(model) == [70]


@pytest.mark.parametrize(("wrong", "is_too_many"), [(0, False), (1, False), (2, True), (20, True)])
def test_more_than_one_unusable_answer_of_twenty_is_too_many(wrong, is_too_many):
    items = [(number, number) for number in range(20)]

    def answer(request):
        sums = add(request)["sums"]
        return {"sums": {key: "?" if one < 2 * wrong else one for key, one in sums.items()}}

    asker = asking(ScriptedModel(answer))
    answers = asker(Sums(), items)
    assert [one.value is None for one in answers] == [True] * wrong + [False] * (20 - wrong)
    expected = f"{wrong} of 20 answers of fake at 127.0.0.1:1 cannot be used (most often: ? is no"
    assert asker.too_many_unusable.startswith(expected) == is_too_many
    assert bool(asker.too_many_unusable) == is_too_many


@pytest.mark.parametrize(
    ("wait", "seconds", "items", "calls"),
    [
        (0.0, 0, 10, QUICK.failures * QUICK.attempts),
        (500.0, 0, 10, QUICK.failures),  # too long to wait for
        (0.0, 60, 1, 2),  # the time of the calls ends the repeats
    ],
)
def test_an_endpoint_that_does_not_answer_pauses_the_run(wait, seconds, items, calls):
    failed = ChatReply(None, reason="timed out", final=False, wait=wait, seconds=seconds)
    model = ScriptedModel(lambda request: failed)
    answered = ask(model, PAIRS[:items])
    assert not answered.answers and len(model.requests) == calls
    assert answered.state == "paused" and "timed out" in answered.message


def test_a_wait_that_is_asked_for_holds_every_worker():
    times, first, read = [], threading.Lock(), threading.Event()

    class AsksToWait(ChatReply):
        def __getattribute__(self, name):
            if name == "wait":
                read.set()
            return super().__getattribute__(name)

    def answer(request):
        times.append(time.monotonic())
        if first.acquire(blocking=False):
            return AsksToWait(None, reason="429", final=False, wait=0.4)
        read.wait()
        time.sleep(0.2)  # what was read is noted
        return add(request)

    answered = ask(ScriptedModel(answer), PAIRS, concurrency=3)
    assert answered.state == "done"
    assert all(later - times[0] >= 0.4 for later in times[3:]), "3 were in flight"


@pytest.mark.case(23)
@pytest.mark.parametrize("limit", [0, 1, 7])
def test_a_budget_of_calls_holds_with_many_workers(limit):
    model, ledger = ScriptedModel(add), MemoryLedger()
    answered = ask(model, PAIRS, ledger, concurrency=8, budget=RunBudget(Budget(calls=limit)))
    assert len(model.requests) == answered.calls == limit == len(ledger.calls)
    assert answered.state == "paused" and answered.message.startswith(
        f"budget used up ({limit} calls)"
    )
    rest = ask(model, PAIRS, ledger, budget=RunBudget(Budget(calls=10), calls=limit))
    assert rest.state == "done" and len(model.requests) == 10


def test_failures_and_repairs_count_as_calls():
    model = ScriptedModel(lambda request: {"sums": {}})
    assert ask(model, PAIRS, budget=RunBudget(Budget(calls=3))).calls == 3
    down = ScriptedModel(lambda request: ChatReply(None, reason="no", final=False, wait=0.0))
    assert ask(down, PAIRS, budget=RunBudget(Budget(calls=2))).calls == 2


def test_a_repair_without_budget_is_asked_from_the_start_on_resume():
    ledger = MemoryLedger()
    model = ScriptedModel(lambda request: add(request) if repaired(request) else {"sums": {}})
    first = ask(model, PAIRS[:1], ledger, budget=RunBudget(Budget(calls=1)))
    assert (first.state, len(first.answers)) == ("paused", 0)
    assert ask(model, PAIRS[:1], ledger).calls == 2


def test_a_budget_of_money_holds_with_many_workers_and_is_used():
    prices = Prices(0.0, 1_000_000.0)  # a token of the reply costs 1
    gate = threading.Barrier(2, timeout=60)

    def answer(request):
        if len(model.requests) <= 2:
            gate.wait()
        return ChatReply(add(request), tokens_out=60)

    model = ScriptedModel(answer)
    budget = RunBudget(Budget(money=250.0), prices)
    answered = ask(model, PAIRS, concurrency=8, budget=budget)
    # two fit at 100 each; at 60 each they leave room for a third, which leaves none for a fourth
    assert (answered.cost, answered.calls, answered.state) == (180.0, 3, "paused")
    assert "a cost of 250" in answered.message


def test_money_needs_prices():
    with pytest.raises(ConfigError, match="token prices"):
        RunBudget(Budget(money=1.0))


def test_progress_is_true_and_cancels():
    steps, ledger = [], MemoryLedger()
    ask(ScriptedModel(add), PAIRS[:2], ledger)
    ask(ScriptedModel(add), PAIRS, ledger, progress=steps.append)
    counts = [step.done for step in steps]
    assert counts[0] == 2 and counts[-1] == 10 and counts == sorted(counts)
    assert {(step.stage, step.total) for step in steps} == {("sum", 10)}


def test_cancelling_keeps_what_is_in_flight_and_sends_nothing_more():
    ledger, started, release = MemoryLedger(), threading.Event(), threading.Event()

    def answer(request):
        started.set()
        assert release.wait(60)
        return add(request)

    def progress(step):
        if started.wait(60) and not release.is_set():
            release.set()
            raise KeyboardInterrupt

    model = ScriptedModel(answer)
    with pytest.raises(KeyboardInterrupt):
        ask(model, PAIRS, ledger, progress=progress)
    assert len(model.requests) == len(ledger.rows) == 1


def test_a_ledger_that_cannot_write_ends_the_run():
    class Full(MemoryLedger):
        def commit(self, call, answers):
            raise StoreError("the disk is full")

    model = ScriptedModel(add)
    with pytest.raises(StoreError, match="full"):
        ask(model, PAIRS, Full())
    assert len(model.requests) == 1


def test_what_another_run_committed_first_counts():
    ledger = MemoryLedger()

    def answer(request):
        if not ledger.rows:
            ask(
                ScriptedModel(lambda r: {"sums": dict.fromkeys(questions_in(r), 99)}),
                PAIRS[:1],
                ledger,
            )
        return add(request)

    assert values(ask(ScriptedModel(answer), PAIRS[:1], ledger)) == [99]


def test_the_estimate_reads_the_prompts_and_sends_nothing():
    model, ledger = ScriptedModel(add), MemoryLedger()
    ask(model, PAIRS[:4], ledger)
    found = estimate(Sums(4), [*PAIRS, (1, 0)], model, ledger, Prices(2.0, 8.0))
    assert (found.items, found.questions, found.reused, found.calls) == (11, 10, 4, 2)
    assert found.tokens_out == 200 and found.tokens_in > 50
    assert found.cost == pytest.approx((found.tokens_in * 2 + 200 * 8) / 1e6)
    assert len(model.requests) == 4
    assert estimate(Sums(), PAIRS, model, ledger).cost is None


def test_reasons_told_to_the_model_are_short_and_said_once():
    request = ChatRequest("s", "u", "n", {}, 5)
    told = repair(request, ["b" * 1000, "a", "a"])
    assert told.user.count("- a\n") == 1 and len(told.user) < 600 and told.most_tokens == 5


def test_answers_and_calls_say_who_was_asked():
    ledger = MemoryLedger()
    answered = ask(ScriptedModel(add), PAIRS[:1], ledger, budget=RunBudget(prices=Prices(1.0, 1.0)))
    (row,) = ledger.rows.values()
    parts = (answered.keys[0], "sum", "1", ("0", "1"))
    assert (row.key, row.task, row.version, row.subjects) == parts
    assert (row.model, row.origin) == ("fake", "http://127.0.0.1:1")
    (call,) = ledger.calls
    assert (call.run, call.task, call.tokens_in, call.cost) == ("run", "sum", 10, 1e-5)
    assert Counter(answered.answers.keys()) == Counter(answered.keys)
