"""Ask a model what the ledger does not know yet: within a budget, and nothing twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, Literal, TypeVar

from toolscope_core.backends import (
    Answer,
    Call,
    ChatModel,
    ChatReply,
    ChatRequest,
    Ledger,
    Progress,
    Step,
    Task,
    question_key,
    silent,
)
from toolscope_core.config import Budget, Patience, Prices
from toolscope_core.datamodel import JsonObject
from toolscope_core.errors import ConfigError, ModelStopError

Item = TypeVar("Item")
Outcome = Literal["done", "paused", "stopped"]
REASON_LENGTH = 300
"""Characters of a reason that are told to the model."""
HEARTBEAT = 1.0
"""Seconds after which progress is told even if nothing arrived: that is when cancelling acts."""


class Purse:
    """What a run has spent and may still spend; shared by all of its questions.

    Every call is paid for before it is sent, at the most it can cost, so that the budget holds
    whatever is in flight. ``calls`` and ``cost`` are what earlier parts of the run spent.
    """

    def __init__(
        self,
        budget: Budget | None = None,
        prices: Prices | None = None,
        calls: int = 0,
        cost: float = 0.0,
    ) -> None:
        self.budget = budget or Budget()
        self.prices = prices
        if self.budget.money is not None and prices is None:
            raise ConfigError("a budget in money needs prices; give them, or a budget in calls")
        self._calls, self._cost = calls, cost
        self._held = 0.0
        self._in_flight = 0
        self._change = threading.Condition()

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """``None`` where there is no price."""
        return None if self.prices is None else self.prices.cost(tokens_in, tokens_out)

    def reserve(self, request: ChatRequest) -> float | None:
        """What is set aside for a call (``settle`` takes it back), ``None``: it would be too much.

        Waits for calls in flight where the money they do not need would make room.
        """
        most = self.cost(request.tokens_at_most, request.most_tokens) or 0.0
        with self._change:
            while True:
                if self.budget.calls is not None and self._calls >= self.budget.calls:
                    return None
                if self.budget.money is None or self._cost + self._held + most <= self.budget.money:
                    break
                if not self._in_flight:
                    return None
                self._change.wait()
            self._calls += 1
            self._held += most
            self._in_flight += 1
            return most

    def settle(self, held: float, cost: float) -> None:
        """A call that was reserved is over and cost this much."""
        with self._change:
            self._in_flight -= 1
            self._held -= held
            self._cost += cost
            if not self._in_flight:
                self._held = 0.0  # sums of fractions leave a rest
            self._change.notify_all()


@dataclass(frozen=True, slots=True)
class Terms:
    """How a run asks: ``run`` names it in the log of calls, ``concurrency`` calls at a time."""

    run: str
    purse: Purse = field(default_factory=Purse)
    concurrency: int = 8
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the ledger knows of some items after asking.

    ``keys`` has one key for each item, in their order; ``answers`` holds those that have one,
    usable or not; ``known`` is how many of the distinct keys needed no question this time. The
    ``state`` is ``paused`` (budget, or an endpoint that does not answer) or ``stopped`` (it refuses
    every call) with a ``message`` where questions are left open; asking again goes on from there.
    """

    keys: tuple[str, ...]
    answers: Mapping[str, Answer]
    state: Outcome = "done"
    message: str = ""
    known: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    cost: float | None = None

    @property
    def questions(self) -> int:
        """Different questions: items of equal content are one."""
        return len(set(self.keys))

    @property
    def open(self) -> int:
        """Questions without an answer yet."""
        return self.questions - len(self.answers)

    @property
    def saved(self) -> int:
        """Items that needed no question: known before, or the same as another."""
        return len(self.keys) - self.questions + self.known

    @property
    def unanalysed(self) -> Mapping[str, str]:
        """The reason of each question that was asked and got no usable answer."""
        return {key: a.reason for key, a in self.answers.items() if a.value is None}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What asking would take at the least, if no answer has to be repaired.

    ``questions`` different ones of ``items``, ``known`` of them answered; ``tokens_in`` estimated
    from the prompts themselves, ``tokens_out`` and so ``cost`` at their most.
    """

    items: int
    questions: int
    known: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None


def ask_all(
    task: Task[Item],
    items: Sequence[Item],
    model: ChatModel,
    ledger: Ledger,
    terms: Terms,
    progress: Progress = silent,
) -> Asked:
    """Ask about ``items``, the first ones first, and keep each answer as it arrives.

    Items of equal content are one question; what the ledger knows is not asked. An answer that
    cannot be used is asked for once more, with the reason; after that it stays without a value.
    ``progress`` (stage: the task's name) is called in this thread, also while nothing arrives; if
    it raises, calls in flight are waited for and kept. Raises what the ledger raises.
    """
    keys = tuple(_key(task, item, model) for item in items)
    questions = dict(zip(keys, items, strict=True))
    known = ledger.known(list(questions))
    fresh = {key: item for key, item in questions.items() if key not in known}
    run = _Run(task, model, ledger, terms, _batches(fresh, task.batch))
    _drive(run, lambda done: progress(Step(task.name, len(known) + done, len(questions))))
    answers = ledger.known(list(questions))
    if len(answers) < len(questions):
        run.halt("paused", f"{run.trouble}; what is open is asked again when the run goes on")
    return Asked(
        keys=keys,
        answers={key: answers[key] for key in questions if key in answers},
        state=run.state,
        message=run.message,
        known=len(known),
        calls=len(run.calls),
        tokens_in=sum(call.tokens_in for call in run.calls),
        tokens_out=sum(call.tokens_out for call in run.calls),
        counted=all(call.counted for call in run.calls),
        cost=_total(call.cost for call in run.calls),
    )


def estimate(
    task: Task[Item],
    items: Sequence[Item],
    model: ChatModel,
    ledger: Ledger,
    prices: Prices | None = None,
) -> Estimate:
    """What ``ask_all`` would take; sends nothing."""
    questions = {_key(task, item, model): item for item in items}
    known = ledger.known(list(questions))
    fresh = {key: item for key, item in questions.items() if key not in known}
    requests = [task.request(batch) for batch in _batches(fresh, task.batch)]
    tokens_in = sum(request.tokens for request in requests)
    tokens_out = sum(request.most_tokens for request in requests)
    return Estimate(
        items=len(items),
        questions=len(questions),
        known=len(known),
        calls=len(requests),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=None if prices is None else prices.cost(tokens_in, tokens_out),
    )


def repair(request: ChatRequest, reasons: Sequence[str]) -> ChatRequest:
    """The same request, told why what came the first time could not be used."""
    told = "\n".join(f"- {reason[:REASON_LENGTH]}" for reason in sorted(set(reasons)))
    user = (
        f"{request.user}\n\n"
        f"A first reply to this could not be used:\n{told}\n"
        "Reply again, with one JSON object that follows the schema and nothing else."
    )
    return ChatRequest(request.system, user, request.name, request.schema, request.most_tokens)


class _Run(Generic[Item]):
    """The questions of one ``ask_all``; its lanes work in threads of their own."""

    def __init__(
        self,
        task: Task[Item],
        model: ChatModel,
        ledger: Ledger,
        terms: Terms,
        batches: Iterator[dict[str, Item]],
    ) -> None:
        self.task, self.model, self.ledger, self.terms = task, model, ledger, terms
        self.answered = 0
        self.calls: list[Call] = []
        self.state: Outcome = "done"
        self.message = ""
        self.trouble = ""
        self.halted = threading.Event()
        self.news = threading.Event()
        self._batches = batches
        self._lock = threading.Lock()
        self._failures = 0
        self._not_before = 0.0

    def lane(self) -> None:
        """Take one batch after the other until none is left or the run is halted."""
        try:
            while not self.halted.is_set():
                with self._lock:
                    batch = next(self._batches, None)
                if batch is None:
                    return
                self._answer(batch)
                self.news.set()
        except BaseException:
            self.halted.set()
            raise
        finally:
            self.news.set()

    def halt(self, state: Outcome, message: str) -> None:
        """No further call is sent; the first reason given stands."""
        with self._lock:
            if self.state == "done":
                self.state, self.message = state, message
        self.halted.set()

    def _answer(self, batch: Mapping[str, Item]) -> None:
        """Ask about a batch, and once more about what could not be used of the reply."""
        for part, reasons in self._ask(batch, self.task.request(batch)):
            self._ask(part, repair(self.task.request(part), reasons), last=True)

    def _ask(
        self, items: Mapping[str, Item], request: ChatRequest, last: bool = False
    ) -> list[tuple[dict[str, Item], list[str]]]:
        """Ask once, keep what can be used and return the parts that have to be asked again.

        The ``last`` time nothing has to: what cannot be used is kept with its reason.
        """
        sent = self._send(request, len(items))
        if sent is None:
            return []
        reply, call = sent
        read = {} if reply.value is None else self.task.read(items, reply.value)
        missing = reply.reason or "the reply says nothing about this item"
        answers, failed = [], {}
        for key, item in items.items():
            found = read.get(key, missing)
            if isinstance(found, str):
                failed[key] = found
            if last or not isinstance(found, str):
                answers.append(self._row(key, item, found))
        self._keep(call, answers)
        if last or not failed:
            return []
        return [
            ({key: items[key] for key in part}, [failed[key] for key in part])
            for part in _parts(list(failed), halves=reply.finish == "length")
        ]

    def _send(self, request: ChatRequest, questions: int) -> tuple[ChatReply, Call] | None:
        """The reply to a request, repeated while that helps; ``None`` where there is none."""
        patience, purse = self.terms.patience, self.terms.purse
        seconds, attempt = 0.0, 0
        while self._may_send():
            held = purse.reserve(request)
            if held is None:
                self.halt("paused", f"budget: {_words(purse.budget)} used up; raise it to go on")
                return None
            attempt += 1
            reply = self._call(request, held)
            call = self._line(reply, questions)
            if reply.final:
                self._failures = 0
                return reply, call
            self._keep(call, ())
            seconds += reply.seconds
            pause = None if reply.wait is None else patience.pause(attempt, reply.wait)
            if pause is None or seconds >= patience.seconds:
                self._give_up(reply.reason)
                return None
            if reply.wait:
                self._not_before = max(self._not_before, time.monotonic() + reply.wait)
            self.halted.wait(pause)
        return None

    def _may_send(self) -> bool:
        """Wait as long as the endpoint asked all to wait; false once the run is halted."""
        while (rest := self._not_before - time.monotonic()) > 0 and not self.halted.is_set():
            self.halted.wait(rest)
        return not self.halted.is_set()

    def _call(self, request: ChatRequest, held: float) -> ChatReply:
        """One call that is paid for; where every call is refused, the run is halted."""
        cost = 0.0
        try:
            reply = self.model.ask(request)
            cost = self.terms.purse.cost(reply.tokens_in, reply.tokens_out) or 0.0
            return reply
        except ModelStopError as error:
            self.halt("stopped", str(error))
            return ChatReply(None, str(error), final=False)
        finally:
            self.terms.purse.settle(held, cost)

    def _give_up(self, reason: str) -> None:
        with self._lock:
            self._failures += 1
            self.trouble = reason
            failures = self._failures
        if failures >= self.terms.patience.failures:
            self.halt("paused", f"the endpoint does not answer: {reason}; go on when it does")

    def _keep(self, call: Call, answers: Sequence[Answer]) -> None:
        self.ledger.commit(call, answers)
        with self._lock:
            self.calls.append(call)
            self.answered += len(answers)

    def _line(self, reply: ChatReply, questions: int) -> Call:
        return Call(
            run=self.terms.run,
            task=self.task.name,
            model=self.model.name,
            origin=self.model.origin,
            questions=questions,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            counted=reply.counted,
            cost=self.terms.purse.cost(reply.tokens_in, reply.tokens_out),
            seconds=reply.seconds,
            finish=reply.finish,
            error=reply.reason,
        )

    def _row(self, key: str, item: Item, found: JsonObject | str) -> Answer:
        return Answer(
            key=key,
            task=self.task.name,
            version=self.task.version,
            subjects=tuple(sorted(self.task.subjects(item))),
            model=self.model.name,
            origin=self.model.origin,
            value=None if isinstance(found, str) else found,
            reason=found if isinstance(found, str) else "",
        )


def _drive(run: _Run[Item], report: Callable[[int], None]) -> None:
    """Let the lanes work while this thread reports; they end before this returns or raises."""
    with ThreadPoolExecutor(run.terms.concurrency, "asking") as pool:
        lanes = [pool.submit(run.lane) for _ in range(run.terms.concurrency)]
        try:
            report(0)
            while not all(lane.done() for lane in lanes):
                run.news.wait(HEARTBEAT)
                run.news.clear()
                report(run.answered)
        finally:
            run.halted.set()
    for lane in lanes:
        lane.result()
    report(run.answered)


def _key(task: Task[Item], item: Item, model: ChatModel) -> str:
    return question_key(task.name, task.version, task.subjects(item), model)


def _batches(items: Mapping[str, Item], size: int) -> Iterator[dict[str, Item]]:
    left = iter(items.items())
    while batch := dict(islice(left, size)):
        yield batch


def _parts(keys: list[str], halves: bool) -> list[list[str]]:
    """The keys to ask again: a reply that was cut off had too many of them."""
    middle = (len(keys) + 1) // 2
    return [keys[:middle], keys[middle:]] if halves and len(keys) > 1 else [keys]


def _total(costs: Iterable[float | None]) -> float | None:
    """The sum, ``None`` where a price is missing."""
    known = list(costs)
    return None if None in known else sum(cost or 0.0 for cost in known)


def _words(budget: Budget) -> str:
    limits = [] if budget.calls is None else [f"{budget.calls} calls"]
    limits += [] if budget.money is None else [f"{budget.money:g} of money"]
    return " or ".join(limits)
