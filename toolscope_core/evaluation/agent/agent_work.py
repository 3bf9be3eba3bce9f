"""The figures of an agent with several toolsets as rows of a table, and the agent's paid turns."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolscope_core.evaluation.agent.agent_report import AgentReport, WorkFigures
from toolscope_core.llm.request_workers import Terms
from toolscope_core.llm.tasks.selection_prompt import AGENT_TASK
from toolscope_core.model.errors import PausedError
from toolscope_core.model.protocols import AgentModel, AgentReply, ChatRequest, Ledger
from toolscope_core.model.tool import JsonObject, canonical_json


@dataclass(frozen=True, slots=True)
class WorkRow:
    """One figure for each toolset, in order, with the p-value for no change, if there is one."""

    label: str
    cells: tuple[str, ...]
    p: float | None = None


def work_rows(report: AgentReport) -> list[WorkRow]:
    """The figures of all toolsets, as one row per figure."""

    def row(label: str, cell: Callable[[WorkFigures], str], p: float | None = None) -> WorkRow:
        return WorkRow(label, tuple(map(cell, report.sides)), p)

    def tokens(side: WorkFigures, number: float) -> str:
        return f"{'' if side.counted else 'about '}{number:,.0f}"

    return [
        row("tools", lambda side: f"{side.tools:,}"),
        row("exactly the right tools", lambda side: side.correct.text, report.correct_p),
        row("needs met", lambda side: side.served.text, report.served_p),
        row("right answers", lambda side: f"{side.right:,}"),
        row("wrong answers", lambda side: f"{side.wrong:,}"),
        row("answers not graded", lambda side: f"{report.queries - side.right - side.wrong:,}"),
        row("calls per request", lambda side: f"{side.calls:.2f}"),
        row("  of unneeded tools", lambda side: f"{side.unneeded_calls:.2f}"),
        row("  that failed", lambda side: f"{side.failed_calls:.2f}"),
        row("turns per request", lambda side: f"{side.turns:.2f}"),
        row("input tokens per request", lambda side: tokens(side, side.tokens_in)),
        row("output tokens per request", lambda side: tokens(side, side.tokens_out)),
        row("seconds per request", lambda side: f"{side.seconds:.2f}"),
        row("requests without an answer", lambda side: f"{side.unanswered:,}"),
    ]


class PaidTurns:
    """Asks ``model`` within the budget of ``terms``; the ledger logs every call.

    A turn may use ``tokens`` tokens, not counting reasoning.
    """

    def __init__(self, model: AgentModel, ledger: Ledger, terms: Terms, tokens: int) -> None:
        self.model, self._ledger, self._terms = model, ledger, terms
        self._lock = threading.Lock()
        self._given_up = 0
        self._limits = terms.limits(tokens)

    async def __call__(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]
    ) -> AgentReply:
        """The next turn. If it is cut off, it is repeated with a larger limit, which later turns
        get too.

        Raises ``PausedError`` if the budget is used up or the endpoint stops answering. Raises
        ``ModelStopError`` if the endpoint refuses every call.
        """
        limits = self._limits
        for place, limit in enumerate(limits):
            reply = await self._send(messages, tools, limit)
            if reply.finish != "length":
                break
            self._limits = limits[place + 1 :] or limits[-1:]
        return reply

    async def _send(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], most_tokens: int
    ) -> AgentReply:
        """A turn; failed calls are repeated if that may help."""
        import anyio

        patience, attempt, seconds = self._terms.patience, 0, 0.0
        while True:
            reply = await anyio.to_thread.run_sync(self._once, messages, tools, most_tokens)
            attempt, seconds = attempt + 1, seconds + reply.seconds
            if reply.final:
                self._answered()
                return reply
            pause = None if reply.wait is None else patience.pause(attempt, reply.wait)
            if pause is None or seconds > patience.seconds:
                self._give_up(reply)
                return reply
            await anyio.sleep(pause)

    def _once(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], most_tokens: int
    ) -> AgentReply:
        budget = self._terms.budget
        size = ChatRequest("", canonical_json([messages, tools]), "agent", {}, most_tokens)
        reserved = budget.reserve(size)
        if reserved is None:
            raise PausedError("the budget is used up; raise it and run again")
        cost = 0.0
        try:
            reply = self.model.turn(messages, tools, most_tokens)
            cost = budget.cost(reply.tokens_in, reply.tokens_out) or 0.0
        finally:
            budget.settle(reserved, cost)
        self._ledger.commit(self._terms.line(AGENT_TASK, self.model, reply, 1), ())
        return reply

    def _answered(self) -> None:
        with self._lock:
            self._given_up = 0

    def _give_up(self, reply: AgentReply) -> None:
        with self._lock:
            self._given_up += 1
            if self._given_up >= self._terms.patience.failures:
                raise PausedError(f"the endpoint does not respond: {reply.reason}")
