"""Estimates the questions, tokens and cost of a run, and what it saves compared with the paper's
procedure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from math import ceil
from typing import TypeVar

from toolscope_core.llm.merge_questions import ask_for_verdicts
from toolscope_core.llm.model_requests import Asker, in_batches, key_of, total_cost
from toolscope_core.llm.tasks.judge_prompt import RelationAnswer, ToolPair
from toolscope_core.llm.tasks.paper_prompts import task_for
from toolscope_core.llm.tasks.query_draft_prompt import DraftQuestion
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.configuration import Prices, QuestionConfig
from toolscope_core.model.decision import Constraints
from toolscope_core.model.numbers import duration, quantity
from toolscope_core.model.pair import Pair, PairOutcome
from toolscope_core.model.protocols import Answer, ChatModel, Ledger, Task, TaskCost

_Item = TypeVar("_Item")

TYPICAL_DRAFT = 180
"""The number of characters that a request is assumed to have before it is written."""
TOKENS_A_SECOND = 50
"""The pace at which a model is assumed to write one reply."""
_PRESUMED: Mapping[PairOutcome, RelationAnswer] = {
    "merge": "duplicate",
    "family": "family",
    "unsure": "unsure",
    "keep": "related",
}
"""The answer that is assumed for each verdict of the offline judge."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The minimum cost of asking, assuming that no answer has to be repaired.

    ``questions`` are the distinct questions on ``items``, and ``reused`` are those that were
    answered before. ``tokens_in`` is estimated from the prompts; ``tokens_out``, and so ``cost``,
    are upper limits.
    """

    items: int
    questions: int
    reused: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Estimates:
    """The cost of a run, by task.

    ``paper`` is the cost if the run asked about every candidate pair and every cluster, as the
    paper does. Unknown answers are assumed to be the same as the offline judge's: each one that
    differs may add or save a question. Tokens in are estimated from the prompts; tokens out, and so
    the cost, are upper limits.
    """

    tasks: Mapping[str, Estimate]
    paper: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def questions(self) -> int:
        """The number of questions still to be asked."""
        return _fresh(self.tasks)

    @property
    def calls(self) -> int:
        return sum(task.calls for task in self.tasks.values())

    @property
    def tokens(self) -> tuple[int, int]:
        """The tokens in, and the upper limit of the tokens out."""
        return _tokens(self.tasks)

    @property
    def cost(self) -> float | None:
        """The maximum cost; ``None`` if there are no prices."""
        return total_cost(task.cost for task in self.tasks.values())

    def time_in_words(self, concurrency: int) -> str:
        """How long the longest replies would take with ``concurrency`` calls at once, task after
        task.
        """
        tokens = sum(
            ceil(task.calls / concurrency) * task.tokens_out / task.calls
            for task in self.tasks.values()
            if task.calls
        )
        pace = f"{TOKENS_A_SECOND} tokens a second, {quantity(concurrency, 'call')} at once"
        return f"at most about {duration(tokens / TOKENS_A_SECOND)} at {pace}"

    @property
    def saved(self) -> tuple[int, int]:
        """How many more questions, and tokens in and out, the paper's procedure would need."""
        if not self.paper:
            return 0, 0
        questions = _fresh(self.paper) - self.questions
        return questions, sum(_tokens(self.paper)) - sum(self.tokens)


class PresumedAnswers:
    """Answers from the ledger, or else the offline judge's verdict or a text of typical length as
    the assumed answer.

    The questions are counted.
    """

    message = ""
    costs: tuple[TaskCost, ...] = ()

    def __init__(
        self, analysis: Analysis | None, model: ChatModel, ledger: Ledger, prices: Prices | None
    ) -> None:
        self.tasks: dict[str, Estimate] = {}
        self._analysis, self._model, self._ledger = analysis, model, ledger
        self._prices = prices

    @property
    def name(self) -> str:
        """The assumed author of the answers."""
        return self._model.name

    def __call__(self, task: Task[_Item], items: Sequence[_Item]) -> list[Answer | None]:
        task = task_for(task, self._model)
        new = estimate(task, items, self._model, self._ledger, self._prices)
        before = self.tasks.get(task.name)
        self.tasks[task.name] = new if before is None else _sum(before, new)
        keys = [key_of(task, item, self._model) for item in items]
        answers = self._ledger.answers(keys)
        return [
            answers.get(key) or self._presumed(key, i) for key, i in zip(keys, items, strict=True)
        ]

    def _presumed(self, key: str, item: object) -> Answer | None:
        if isinstance(item, DraftQuestion):  # each draft is polished
            places = list(range(1, min(3, len(item.tools)) + 1))
            draft = {"tools": places, "request": key.ljust(TYPICAL_DRAFT, ".")}
            return Answer(key, "query drafts", "", (), "nobody", "", draft)
        if self._analysis is None or not isinstance(item, ToolPair):
            return None
        pair = Pair.of(item.left.id, item.right.id)
        same = float(self._analysis.probabilities([pair])[0])
        family = float(self._analysis.family_probabilities([pair])[0])
        relation = _PRESUMED[self._analysis.judge.weights.outcome(same, family)]
        odds = {"duplicate": same, "family": family}.get(relation, 1.0 - same - family)
        value = {
            "relation": relation,
            "serves": "both" if relation == "duplicate" else "none",
            "confidence": max(0.0, odds),
            "reason": "",
        }
        return Answer(key, "judge", "", (), "offline", "", value)


def judging_estimates(
    analysis: Analysis,
    links: Constraints,
    paper: bool,
    model: ChatModel,
    ledger: Ledger,
    prices: Prices | None = None,
) -> Estimates:
    """The cost of verdicts and audits; with ``paper``, the questions are asked as in the paper."""
    own, whole = (
        question_estimates(
            partial(ask_for_verdicts, analysis, links, config=QuestionConfig(paper=way)),
            model,
            ledger,
            prices,
            analysis,
        )
        for way in (paper, True)
    )
    return replace(own, paper=whole.tasks)


def question_estimates(
    ask: Callable[[Asker], object],
    model: ChatModel,
    ledger: Ledger,
    prices: Prices | None = None,
    analysis: Analysis | None = None,
) -> Estimates:
    """The cost of the questions that ``ask`` would ask. Without an ``analysis``, no verdict is
    assumed.
    """
    asker = PresumedAnswers(analysis, model, ledger, prices)
    ask(asker)
    return Estimates(asker.tasks)


def estimate(
    task: Task[_Item],
    items: Sequence[_Item],
    model: ChatModel,
    ledger: Ledger,
    prices: Prices | None = None,
) -> Estimate:
    """The estimated cost of ``ask_all``; nothing is sent."""
    questions = {key_of(task, item, model): item for item in items}
    kept_answers = ledger.answers(list(questions))
    fresh = {key: item for key, item in questions.items() if key not in kept_answers}
    requests = [task.request(batch) for batch in in_batches(fresh, task)]
    tokens_in = sum(request.tokens for request in requests)
    tokens_out = sum(request.most_tokens for request in requests)
    return Estimate(
        items=len(items),
        questions=len(questions),
        reused=len(kept_answers),
        calls=len(requests),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=None if prices is None else prices.cost(tokens_in, tokens_out),
    )


def _fresh(tasks: Mapping[str, Estimate]) -> int:
    return sum(task.questions - task.reused for task in tasks.values())


def _tokens(tasks: Mapping[str, Estimate]) -> tuple[int, int]:
    return (
        sum(task.tokens_in for task in tasks.values()),
        sum(task.tokens_out for task in tasks.values()),
    )


def _sum(one: Estimate, other: Estimate) -> Estimate:
    names = [item.name for item in fields(Estimate) if item.name != "cost"]
    sums = {name: getattr(one, name) + getattr(other, name) for name in names}
    return Estimate(**sums, cost=total_cost((one.cost, other.cost)))
