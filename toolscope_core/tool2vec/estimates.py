"""What a run would ask, take and cost, and what asking less than the paper does saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from toolscope_core.llm.merge_questions import ask_for_verdicts, with_documents
from toolscope_core.llm.requests import Estimate, estimate
from toolscope_core.llm.tasks.judge_prompt import ToolPair
from toolscope_core.llm.tasks.query_draft_prompt import DraftQuestion
from toolscope_core.llm.tool_grades import grade_tools
from toolscope_core.merging.model_verdicts import ModelVerdicts, Spent
from toolscope_core.merging.pipeline import Analysis, bars_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import Prices, QuestionConfig
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Answer, ChatModel, Ledger, Task, question_key
from toolscope_core.rps.telling_apart import descriptions_of_model
from toolscope_core.rps.variant_writing import variants_of_model
from toolscope_core.tool2vec.query_writing import queries_of_model

Item = TypeVar("Item")

TYPICAL_DRAFT = 180
"""Characters of a request that is not written yet."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """By the name of the task what a run would take; ``paper``: if it asked about every candidate
    pair and every cluster, as the paper does.

    Answers that are not known are presumed to be the offline judge's: each that differs may bring
    or spare a question. Tokens in are estimated from the prompts, tokens out (and so the cost) at
    their most.
    """

    tasks: Mapping[str, Estimate]
    paper: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def questions(self) -> int:
        """Those still to be asked."""
        return _fresh(self.tasks)

    @property
    def calls(self) -> int:
        return sum(task.calls for task in self.tasks.values())

    @property
    def tokens(self) -> tuple[int, int]:
        """In, and out at most."""
        return _tokens(self.tasks)

    @property
    def cost(self) -> float | None:
        """At most; ``None`` without prices."""
        costs = [task.cost for task in self.tasks.values()]
        return None if None in costs else sum(cost or 0.0 for cost in costs)

    @property
    def saved(self) -> tuple[int, int]:
        """Questions, and tokens in and out, that the paper's way would take more."""
        if not self.paper:
            return 0, 0
        questions = _fresh(self.paper) - self.questions
        return questions, sum(_tokens(self.paper)) - sum(self.tokens)


class Presuming:
    """Answers with what the ledger knows, else with the offline judge, or a request of a typical
    length; counts what is asked.
    """

    message = ""
    spent: tuple[Spent, ...] = ()

    def __init__(
        self, analysis: Analysis | None, model: ChatModel, ledger: Ledger, prices: Prices | None
    ) -> None:
        self.tasks: dict[str, Estimate] = {}
        self._analysis, self._model, self._ledger = analysis, model, ledger
        self._prices = prices

    @property
    def name(self) -> str:
        """Who would say it."""
        return self._model.name

    def __call__(self, task: Task[Item], items: Sequence[Item]) -> list[Answer | None]:
        new = estimate(task, items, self._model, self._ledger, self._prices)
        before = self.tasks.get(task.name)
        self.tasks[task.name] = new if before is None else _sum(before, new)
        keys = [question_key(task.name, task.version, task.subjects(i), self._model) for i in items]
        answers = self._ledger.answers(keys)
        return [
            answers.get(key) or self._presumed(key, i) for key, i in zip(keys, items, strict=True)
        ]

    def _presumed(self, key: str, item: object) -> Answer | None:
        if isinstance(item, DraftQuestion):  # each is polished
            places = list(range(1, min(3, len(item.tools)) + 1))
            draft = {"tools": places, "request": key.ljust(TYPICAL_DRAFT, ".")}
            return Answer(key, "query drafts", "", (), "nobody", "", draft)
        if self._analysis is None or not isinstance(item, ToolPair):
            return None
        pair = Pair.of(item.left.id, item.right.id)
        p = float(self._analysis.probabilities([pair])[0])
        bars = bars_of(self._analysis)
        relation = (
            "duplicate" if p >= bars.merge_at else "unsure" if p >= bars.unsure_at else "related"
        )
        # whether it would be a family decides no further question
        value = {
            "relation": relation,
            "serves": "none",
            "confidence": abs(2.0 * p - 1.0),
            "reason": "",
        }
        return Answer(key, "judge", "", (), "offline", "", value)


def judging_takes(
    analysis: Analysis,
    links: Constraints,
    model: ChatModel,
    ledger: Ledger,
    questions: QuestionConfig,
    prices: Prices | None = None,
) -> dict[str, Estimate]:
    """What verdicts and audits would take, by task."""
    asker = Presuming(analysis, model, ledger, prices)
    ask_for_verdicts(analysis, links, asker, questions)
    return asker.tasks


def writing_takes(
    plan: MergePlan, model: ChatModel, ledger: Ledger, prices: Prices | None = None
) -> dict[str, Estimate]:
    """What words for the clusters of a plan would take."""
    asker = Presuming(None, model, ledger, prices)
    with_documents(ModelVerdicts(asker.name), plan, asker)
    return asker.tasks


def grading_takes(
    catalog: Catalog, model: ChatModel, ledger: Ledger, prices: Prices | None = None
) -> dict[str, Estimate]:
    """What the documentation quality of every tool would take."""
    asker = Presuming(None, model, ledger, prices)
    grade_tools(catalog, asker)
    return asker.tasks


def augmenting_takes(
    catalog: Catalog, model: ChatModel, ledger: Ledger, prices: Prices | None = None
) -> dict[str, Estimate]:
    """What document variants of every tool would take."""
    asker = Presuming(None, model, ledger, prices)
    variants_of_model(catalog.tools, asker)
    return asker.tasks


def generating_takes(
    questions: Sequence[DraftQuestion],
    model: ChatModel,
    ledger: Ledger,
    prices: Prices | None = None,
) -> dict[str, Estimate]:
    """What queries would take, if each draft can be used."""
    asker = Presuming(None, model, ledger, prices)
    queries_of_model(questions, asker)
    return asker.tasks


def telling_apart_takes(
    catalog: Catalog,
    pairs: Sequence[Pair],
    model: ChatModel,
    ledger: Ledger,
    prices: Prices | None = None,
) -> dict[str, Estimate]:
    """What descriptions that tell these pairs apart would take."""
    asker = Presuming(None, model, ledger, prices)
    descriptions_of_model(catalog, pairs, asker)
    return asker.tasks


def _fresh(tasks: Mapping[str, Estimate]) -> int:
    return sum(task.questions - task.reused for task in tasks.values())


def _tokens(tasks: Mapping[str, Estimate]) -> tuple[int, int]:
    return (
        sum(task.tokens_in for task in tasks.values()),
        sum(task.tokens_out for task in tasks.values()),
    )


def _sum(one: Estimate, other: Estimate) -> Estimate:
    costs = (one.cost, other.cost)
    return Estimate(
        items=one.items + other.items,
        questions=one.questions + other.questions,
        reused=one.reused + other.reused,
        calls=one.calls + other.calls,
        tokens_in=one.tokens_in + other.tokens_in,
        tokens_out=one.tokens_out + other.tokens_out,
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
    )
