"""Requests to a model: the answers on some items, and what each task took."""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol, TypeVar

from toolscope_core.llm.requests.questions import Answered, ask_all, stored_answers
from toolscope_core.llm.requests.request_workers import RequestState, Terms
from toolscope_core.merging.model_verdicts import Spent
from toolscope_core.model.protocols import Answer, ChatModel, Ledger, Progress, Task, silent

Item = TypeVar("Item")
MOST_UNUSABLE = 1 / 20
"""The share of answers that cannot be used above which the others are not worth much."""


class Asker(Protocol):
    """Whoever gets answers: see ``ModelRequests``."""

    @property
    def name(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def spent(self) -> tuple[Spent, ...]: ...

    def __call__(self, task: Task[Item], items: Sequence[Item]) -> Sequence[Answer | None]: ...


class ModelRequests:
    """A model behind its ledger. Without ``terms``, or once a run is halted, only answers of the
    ledger are given.
    """

    def __init__(
        self, model: ChatModel, ledger: Ledger, terms: Terms | None, progress: Progress = silent
    ) -> None:
        self.state: RequestState = "done"
        self.message = ""
        self._model, self._ledger, self._terms, self._progress = model, ledger, terms, progress
        self._spent: dict[str, Spent] = {}
        self._reasons: Counter[str] = Counter()

    @property
    def name(self) -> str:
        """The model and its address."""
        return f"{self._model.name} at {self._model.origin.partition('://')[2]}"

    @property
    def spent(self) -> tuple[Spent, ...]:
        """By task, in the order they were asked."""
        return tuple(self._spent.values())

    @property
    def too_many_unusable(self) -> str:
        """The reason why nothing should be made of the answers: more than ``MOST_UNUSABLE`` of them
        cannot be used. Empty where fewer.
        """
        answers, lost = sum(one.questions for one in self.spent), self._reasons.total()
        if lost <= MOST_UNUSABLE * answers:
            return ""
        (reason, _), *_ = self._reasons.most_common(1)
        return (
            f"{lost:,} of {answers:,} answers of {self.name} cannot be used (most often: "
            f"{reason.rstrip('.')}), so nothing is made of the others; the next run asks for them "
            "again, with more room for tokens, less thought or another model if you choose so"
        )

    def __call__(self, task: Task[Item], items: Sequence[Item]) -> list[Answer | None]:
        """The answer on each item, in their order; ``None`` where the question is open."""
        if self._terms is None or self.message or not items:
            answered = stored_answers(task, items, self._model, self._ledger)
        else:
            answered = ask_all(task, items, self._model, self._ledger, self._terms, self._progress)
            self.state, self.message = answered.state, answered.message
        self._reasons.update(answered.unanalysed.values())
        before = self._spent.get(task.name, Spent(task.name, cost=0.0))
        self._spent[task.name] = _added(before, answered)
        return [answered.answers.get(key) for key in answered.keys]


def _added(spent: Spent, answered: Answered) -> Spent:
    """What a task took, with these answers."""
    is_priced = spent.cost is not None and answered.cost is not None
    return Spent(
        task=spent.task,
        questions=spent.questions + answered.questions,
        reused=spent.reused + answered.reused,
        unanalysed=spent.unanalysed + len(answered.unanalysed),
        calls=spent.calls + answered.calls,
        tokens_in=spent.tokens_in + answered.tokens_in,
        tokens_out=spent.tokens_out + answered.tokens_out,
        cost=(spent.cost or 0.0) + (answered.cost or 0.0) if is_priced else None,
    )
