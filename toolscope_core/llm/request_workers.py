"""The threads of a run. Each sends one call at a time, repairs it, and stores its answers."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Generic, Literal, TypeVar

from toolscope_core.llm.http_replies import TOO_LONG
from toolscope_core.model.configuration import Budget, Patience, Prices
from toolscope_core.model.errors import ConfigError, ModelStopError
from toolscope_core.model.protocols import (
    AgentReply,
    Answer,
    Call,
    ChatModel,
    ChatReply,
    ChatRequest,
    Ledger,
    RemoteModel,
    Task,
)
from toolscope_core.model.tool import JsonObject


class RunBudget:
    """What a run has spent, and its budget, shared by all its questions.

    Every call reserves its maximum cost before it is sent, so that calls in progress cannot exceed
    the budget. ``calls`` and ``cost`` are what earlier parts of the run spent.
    """

    def __init__(
        self,
        limits: Budget | None = None,
        prices: Prices | None = None,
        calls: int = 0,
        cost: float = 0.0,
    ) -> None:
        self.limits = limits or Budget()
        self.prices = prices
        if self.limits.money is not None and prices is None:
            raise ConfigError(
                "a budget in money needs token prices; set prices, or set a budget in calls"
            )
        self._calls, self._cost = calls, cost
        self._reserved = 0.0
        self._in_flight = 0
        self._change = threading.Condition()

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """The cost of these tokens; ``None`` if there are no prices."""
        return None if self.prices is None else self.prices.cost(tokens_in, tokens_out)

    def reserve(self, request: ChatRequest) -> float | None:
        """The money reserved for a call until ``settle``; ``None`` if it would exceed the budget.

        Waits for calls in progress, if the money that they do not use could be enough.
        """
        most = self.cost(request.tokens_at_most, request.most_tokens) or 0.0
        with self._change:
            while True:
                if self.limits.calls is not None and self._calls >= self.limits.calls:
                    return None
                if (
                    self.limits.money is None
                    or self._cost + self._reserved + most <= self.limits.money
                ):
                    break
                if not self._in_flight:
                    return None
                self._change.wait()
            self._calls += 1
            self._reserved += most
            self._in_flight += 1
            return most

    def settle(self, reserved: float, cost: float) -> None:
        """Replace a call's reserved money with its actual cost."""
        with self._change:
            self._in_flight -= 1
            self._reserved -= reserved
            self._cost += cost
            if not self._in_flight:
                self._reserved = 0.0  # sums of fractions leave a remainder
            self._change.notify_all()


Item = TypeVar("Item")
RequestState = Literal["done", "paused", "stopped"]
REASON_LENGTH = 300
"""How many characters of a reason are sent to the model."""
GROWTH = 4
"""The factor by which the tokens grow when a reply is cut off; it is applied at most twice."""
HEARTBEAT = 1.0
"""After this many seconds, progress is reported even if nothing has arrived, so that a run can be
cancelled.
"""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a run.

    ``run`` is its name in the log, ``concurrency`` the number of calls at the same time, and
    ``most_tokens`` the length of the longest reply.
    """

    run: str
    budget: RunBudget = field(default_factory=RunBudget)
    concurrency: int = 8
    most_tokens: int = 16_384
    patience: Patience = field(default_factory=Patience)

    def limits(self, tokens: int) -> list[int]:
        """The limits to try for a reply that needs this many tokens without reasoning.

        The later limits are for a reply that was cut off.
        """
        grown = (min(tokens * GROWTH**step, self.most_tokens) for step in range(3))
        return sorted(set(grown))

    def line(
        self, task: str, model: RemoteModel, reply: ChatReply | AgentReply, questions: int
    ) -> Call:
        """The log line for a call with this reply."""
        return Call(
            run=self.run,
            task=task,
            model=model.name,
            origin=model.origin,
            questions=questions,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            counted=reply.counted,
            cost=self.budget.cost(reply.tokens_in, reply.tokens_out),
            seconds=reply.seconds,
            finish=reply.finish,
            error=reply.reason,
        )


def repair(request: ChatRequest, reasons: Sequence[str]) -> ChatRequest:
    """The same request, with the reasons why the first reply was unusable."""
    lines = sorted({" ".join(reason.split())[:REASON_LENGTH] for reason in reasons})
    form = "one JSON object that follows the schema" if request.schema else "the form asked for"
    list_of_reasons = "\n".join(f"- {line}" for line in lines)
    user = (
        f"{request.user}\n\n"
        f"A first reply to this could not be used:\n{list_of_reasons}\n"
        f"Reply again, with {form} and nothing else."
    )
    return replace(request, user=user)


class Run(Generic[Item]):
    """The questions of one ``ask_all``. Its workers run in threads of their own."""

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
        self.unusable: dict[str, Answer] = {}
        """The questions that got two unusable answers, with the reason."""
        self.calls: list[Call] = []
        self.state: RequestState = "done"
        self.message = ""
        self.trouble = ""
        self.halted = threading.Event()
        self.news = threading.Event()
        self._batches = batches
        self._lock = threading.Lock()
        self._failures = 0
        self._step = 0
        """The number of the first limit worth trying for a reply: the lower limits were too low."""
        self._not_before = 0.0

    def work_through(self) -> None:
        """Process batch after batch, until none is left or the run is halted."""
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

    def halt(self, state: RequestState, message: str) -> None:
        """Stop sending calls; if the run was already halted, the first reason is kept."""
        with self._lock:
            if self.state == "done":
                self.state, self.message = state, message
        self.halted.set()

    def _answer(self, items: Mapping[str, Item]) -> None:
        """Ask about items, and ask again about those with unusable answers."""
        finish, failed = self._ask(items, self.task.request(items))
        if finish == TOO_LONG and len(items) > 1:
            for part in _halves(items):
                self._answer(part)
            return
        retries = {key: items[key] for key in failed}
        for part in _halves(retries) if finish == "length" else [retries] if retries else []:
            request = repair(self.task.request(part), [failed[key] for key in part])
            self._lose(part, self._ask(part, request)[1])

    def _ask(self, items: Mapping[str, Item], request: ChatRequest) -> tuple[str, dict[str, str]]:
        """Ask about items, and store the usable answers.

        Returns why the reply ended, and why each of the other items has no usable answer. Without a
        reply there are no reasons: the questions stay open.
        """
        exchange = self._reply(request, len(items))
        if exchange is None:
            return "", {}
        reply, call = exchange
        values = {} if reply.value is None else self.task.read(items, reply.value)
        missing = reply.reason or "the reply says nothing about this item"
        answers, failed = [], {}
        for key, item in items.items():
            answer = values.get(key, missing)
            if isinstance(answer, str):
                failed[key] = answer
            else:
                answers.append(self._row(key, item, answer))
        self._keep(replace(call, error=next(iter(failed.values()), "")), answers)
        return reply.finish, failed

    def _lose(self, items: Mapping[str, Item], reasons: Mapping[str, str]) -> None:
        """Count unusable answers; these are not stored."""
        rows = {key: self._row(key, items[key], None, reason) for key, reason in reasons.items()}
        with self._lock:
            self.unusable |= rows
            self.answered += len(rows)

    def _reply(self, request: ChatRequest, questions: int) -> tuple[ChatReply, Call] | None:
        """The reply to a request, repeated with more tokens while the reply is cut off."""
        limits = self.terms.limits(request.most_tokens)
        step = min(self._step, len(limits) - 1)
        while exchange := self._send(replace(request, most_tokens=limits[step]), questions):
            self._step = max(self._step, step)
            if exchange[0].finish != "length" or step + 1 == len(limits):
                return exchange
            self._keep(exchange[1], ())
            step += 1
        return None

    def _send(self, request: ChatRequest, questions: int) -> tuple[ChatReply, Call] | None:
        """The reply to a request, retried while that helps; ``None`` if there is none."""
        patience, budget = self.terms.patience, self.terms.budget
        seconds, attempt = 0.0, 0
        while self._may_send():
            reserved = budget.reserve(request)
            if reserved is None:
                self.halt(
                    "paused", f"budget used up ({_words(budget.limits)}); raise it to continue"
                )
                return None
            attempt += 1
            reply = self._call(request, reserved)
            call = self.terms.line(self.task.name, self.model, reply, questions)
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
        """Wait as long as the endpoint asked for. False once the run is halted."""
        while (rest := self._not_before - time.monotonic()) > 0 and not self.halted.is_set():
            self.halted.wait(rest)
        return not self.halted.is_set()

    def _call(self, request: ChatRequest, reserved: float) -> ChatReply:
        """Make one paid call; if the endpoint refuses every call, halt the run."""
        cost = 0.0
        try:
            reply = self.model.ask(request)
            cost = self.terms.budget.cost(reply.tokens_in, reply.tokens_out) or 0.0
            return reply
        except ModelStopError as error:
            self.halt("stopped", str(error))
            return ChatReply(None, reason=str(error), final=False)
        finally:
            self.terms.budget.settle(reserved, cost)

    def _give_up(self, reason: str) -> None:
        with self._lock:
            self._failures += 1
            self.trouble = reason
            failures = self._failures
        if failures >= self.terms.patience.failures:
            self.halt("paused", f"the endpoint does not answer: {reason}; resume when it does")

    def _keep(self, call: Call, answers: Sequence[Answer]) -> None:
        self.ledger.commit(call, answers)
        with self._lock:
            self.calls.append(call)
            self.answered += len(answers)

    def _row(self, key: str, item: Item, value: JsonObject | None, reason: str = "") -> Answer:
        return Answer(
            key=key,
            task=self.task.name,
            version=self.task.version,
            subjects=tuple(sorted(self.task.subjects(item))),
            model=self.model.name,
            origin=self.model.origin,
            value=value,
            reason=reason,
        )


def drive(run: Run[Item], report: Callable[[int], None]) -> None:
    """Let the workers work while this thread reports. They end before this function returns or
    raises.
    """
    with ThreadPoolExecutor(run.terms.concurrency, "requests") as pool:
        workers = [pool.submit(run.work_through) for _ in range(run.terms.concurrency)]
        try:
            report(0)
            while not all(worker.done() for worker in workers):
                run.news.wait(HEARTBEAT)
                run.news.clear()
                report(run.answered)
        finally:
            run.halted.set()
    for worker in workers:
        worker.result()
    report(run.answered)


def _halves(items: Mapping[str, Item]) -> list[dict[str, Item]]:
    rows, middle = list(items.items()), (len(items) + 1) // 2
    return [dict(part) for part in (rows[:middle], rows[middle:]) if part]


def _words(budget: Budget) -> str:
    limits = [] if budget.calls is None else [f"{budget.calls} calls"]
    limits += [] if budget.money is None else [f"a cost of {budget.money:g}"]
    return " or ".join(limits)
