"""Requests to a model: the answers about some items, and the cost of each task."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from toolscope_core.llm.request_workers import Item, RequestState, Run, Terms, drive
from toolscope_core.llm.tasks.paper_prompts import task_for
from toolscope_core.model.protocols import (
    Answer,
    ChatModel,
    Ledger,
    Progress,
    Step,
    Task,
    TaskCost,
    question_key,
    silent,
)


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to questions about some items.

    ``keys`` has one key for each item, in order. ``answers`` has an entry for each key with an
    answer, whether it is usable (and then stored) or not. ``reused`` counts the distinct keys that
    needed no question this time. If questions are left open, the ``state`` is ``paused`` (because
    of the budget, or an endpoint that does not answer) or ``stopped`` (the endpoint refuses every
    call), and ``message`` says why; asking again continues from there.
    """

    keys: tuple[str, ...]
    answers: Mapping[str, Answer]
    state: RequestState = "done"
    message: str = ""
    reused: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None

    @property
    def questions(self) -> int:
        """The number of distinct questions: items with equal content share one."""
        return len(set(self.keys))

    @property
    def unanalysed(self) -> Mapping[str, str]:
        """The reason for each question without a usable answer."""
        return {key: a.reason for key, a in self.answers.items() if a.value is None}


def ask_all(
    task: Task[Item],
    items: Sequence[Item],
    model: ChatModel,
    ledger: Ledger,
    terms: Terms,
    progress: Progress = silent,
) -> Answers:
    """The answers about ``items``, asked in order; each answer is stored as it arrives.

    Items with equal content share one question, and stored answers are not asked for again. If an
    answer is unusable, the question is asked once more, with the reason. If the second answer is
    unusable too, it has no value, and the next call asks again. ``progress`` (stage: the task's
    name) is called in this thread, even while nothing arrives; if it raises, the calls in progress
    are finished and stored. Raises whatever the ledger raises.
    """
    keys = tuple(key_of(task, item, model) for item in items)
    questions = dict(zip(keys, items, strict=True))
    stored = ledger.answers(list(questions))
    fresh = {key: item for key, item in questions.items() if key not in stored}
    run = Run(task, model, ledger, terms, in_batches(fresh, task))
    drive(run, lambda done: progress(Step(task.name, len(stored) + done, len(questions))))
    answers = {**run.unusable, **stored, **ledger.answers(list(fresh))}
    if len(answers) < len(questions):
        run.halt("paused", f"{run.trouble}; resume the run to ask the open questions again")
    return Answers(
        keys=keys,
        answers={key: answers[key] for key in questions if key in answers},
        state=run.state,
        message=run.message,
        reused=len(stored),
        calls=len(run.calls),
        tokens_in=sum(call.tokens_in for call in run.calls),
        tokens_out=sum(call.tokens_out for call in run.calls),
        cost=total_cost(call.cost for call in run.calls),
    )


def _stored_answers(
    task: Task[Item], items: Sequence[Item], model: ChatModel, ledger: Ledger
) -> Answers:
    """The ledger's answers about ``items``; nothing is sent."""
    keys = tuple(key_of(task, item, model) for item in items)
    answers = ledger.answers(list(dict.fromkeys(keys)))
    return Answers(keys, answers, reused=len(answers))


def key_of(task: Task[Item], item: Item, model: ChatModel) -> str:
    """The ledger key of the question about an item."""
    return question_key(task.name, task.version, task.subjects(item), model)


def in_batches(items: Mapping[str, Item], task: Task[Item]) -> Iterator[dict[str, Item]]:
    """The items in order, in batches that fit into one call of the task."""
    batch: dict[str, Item] = {}
    filled = 0
    for key, item in items.items():
        size = task.size(item)
        if batch and filled + size > task.batch:
            yield batch
            batch, filled = {}, 0
        batch[key] = item
        filled += size
    if batch:
        yield batch


def total_cost(costs: Iterable[float | None]) -> float | None:
    """The sum of the costs; ``None`` if one of them is unknown."""
    amounts = list(costs)
    return None if None in amounts else sum(amount or 0.0 for amount in amounts)


IN_THEIR_WORDS = ", asked as in the papers"
"""Follows the name of a model that is asked with the papers' prompts."""
MOST_UNUSABLE = 1 / 20
"""If a larger share of the answers is unusable, the other answers should not be used either."""


class Asker(Protocol):
    """Gets answers; see ``ModelRequests``."""

    @property
    def name(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def costs(self) -> tuple[TaskCost, ...]: ...

    def __call__(self, task: Task[Item], items: Sequence[Item]) -> Sequence[Answer | None]: ...


class ModelRequests:
    """A model with its ledger.

    Without ``terms``, or once a run has been halted, only stored answers are returned.
    """

    def __init__(
        self, model: ChatModel, ledger: Ledger, terms: Terms | None, progress: Progress = silent
    ) -> None:
        self.state: RequestState = "done"
        self.message = ""
        self._model, self._ledger, self._terms, self._progress = model, ledger, terms, progress
        self._costs: dict[str, TaskCost] = {}
        self._reasons: Counter[str] = Counter()

    @property
    def name(self) -> str:
        """The model and its address, and whose prompts it was asked with, if they are not ours."""
        words = IN_THEIR_WORDS if "prompts" in self._model.parameters else ""
        return f"{self._model.name} at {self._model.origin.partition('://')[2]}{words}"

    @property
    def costs(self) -> tuple[TaskCost, ...]:
        """The cost of each task, in the order of first use."""
        return tuple(self._costs.values())

    @property
    def too_many_unusable(self) -> str:
        """Why none of the answers should be used, if the share of unusable ones is above
        ``MOST_UNUSABLE``; otherwise empty.
        """
        answers, unusable = sum(one.questions for one in self.costs), self._reasons.total()
        if unusable <= MOST_UNUSABLE * answers:
            return ""
        (reason, _), *_ = self._reasons.most_common(1)
        return (
            f"{unusable:,} of {answers:,} answers of {self.name} cannot be used (most often: "
            f"{reason.rstrip('.')}), so the others are not used either; the next run asks for "
            "them again, perhaps with a higher token limit, less reasoning or another model"
        )

    def __call__(self, task: Task[Item], items: Sequence[Item]) -> list[Answer | None]:
        """The answer about each item, in order; ``None`` for an open question."""
        task = task_for(task, self._model)
        if self._terms is None or self.message or not items:
            outcome = _stored_answers(task, items, self._model, self._ledger)
        else:
            outcome = ask_all(task, items, self._model, self._ledger, self._terms, self._progress)
            self.state, self.message = outcome.state, outcome.message
        self._reasons.update(outcome.unanalysed.values())
        before = self._costs.get(task.name, TaskCost(task.name, cost=0.0))
        self._costs[task.name] = _total_cost(before, outcome)
        return [outcome.answers.get(key) for key in outcome.keys]


def _total_cost(cost: TaskCost, answers: Answers) -> TaskCost:
    """The cost of a task, including these answers."""
    is_priced = cost.cost is not None and answers.cost is not None
    return TaskCost(
        task=cost.task,
        questions=cost.questions + answers.questions,
        reused=cost.reused + answers.reused,
        unanalysed=cost.unanalysed + len(answers.unanalysed),
        calls=cost.calls + answers.calls,
        tokens_in=cost.tokens_in + answers.tokens_in,
        tokens_out=cost.tokens_out + answers.tokens_out,
        cost=(cost.cost or 0.0) + (answers.cost or 0.0) if is_priced else None,
    )
