"""The budget of a run and what it has spent; it holds whatever is in flight."""

import threading

from toolscope_core.model.configuration import Budget, Prices
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import ChatRequest


class RunBudget:
    """The spending of a run and its budget, shared by all of its questions.

    Every call is paid for before it is sent, at the most it can cost, so that the budget holds
    whatever is in flight. ``calls`` and ``cost`` are what earlier parts of the run spent.
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
            raise ConfigError("a budget in money needs prices; give them, or a budget in calls")
        self._calls, self._cost = calls, cost
        self._reserved = 0.0
        self._in_flight = 0
        self._change = threading.Condition()

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """``None`` where there is no price."""
        return None if self.prices is None else self.prices.cost(tokens_in, tokens_out)

    def reserve(self, request: ChatRequest) -> float | None:
        """The money reserved for a call until ``settle``; ``None`` where it would be too much.

        Waits for calls in flight where the money they do not need would make room.
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
        """A call that was reserved is over and cost this much."""
        with self._change:
            self._in_flight -= 1
            self._reserved -= reserved
            self._cost += cost
            if not self._in_flight:
                self._reserved = 0.0  # sums of fractions leave a rest
            self._change.notify_all()
