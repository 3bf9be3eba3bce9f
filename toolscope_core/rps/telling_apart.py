"""Siblings that collide: tools with nearly the same text that are not to be merged, and new
descriptions by which they are not mistaken for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from toolscope_core.embedding.tool_text import tool_text
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.llm.tasks.judge_prompt import ToolPair
from toolscope_core.llm.tasks.siblings_prompt import SIBLINGS_TASK, in_hash_order
from toolscope_core.merging.faithful import Violation
from toolscope_core.merging.pipeline import Analysis
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.pair import Pair, Relation
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.rps.leading_words import leading
from toolscope_core.rps.variant_writing import checked_variants

COLLIDE = 0.8
"""The least cosine of siblings that are listed."""
LEAST = 0.6


@dataclass(frozen=True, slots=True)
class SiblingPair:
    """Two tools that are not to be merged: the cosine of their texts, why they are two, as the
    judge's relation, and the words that only the left and only the right one says.
    """

    pair: Pair
    similarity: float
    relation: Relation
    words: tuple[tuple[str, ...], tuple[str, ...]]


def sibling_pairs(
    analysis: Analysis, plan: MergePlan, apart: Iterable[Pair], least: float = COLLIDE
) -> tuple[SiblingPair, ...]:
    """The pairs at ``least`` or closer that the judge holds for related or a family, or that people
    keep ``apart``, the closest first. Left out are tools that are merged or left out of ``plan``.
    """
    alone = {item.tool.id for item in plan.tools if len(item.members) == 1}
    kept_apart, scores = frozenset(apart), analysis.scores
    near = scores.similarity >= least
    verdicts = analysis.judge.verdicts(scores.left[near], scores.right[near], brief=True)
    pairs = [
        SiblingPair(verdict.pair, verdict.similarity, verdict.relation, verdict.differs)
        for verdict in map(analysis.effective_verdict, verdicts)
        if verdict.outcome in ("keep", "family") or verdict.pair in kept_apart
    ]
    listed = [one for one in pairs if one.pair.left in alone and one.pair.right in alone]
    return tuple(sorted(listed, key=lambda one: (-one.similarity, one.pair)))


def offline_descriptions(catalog: Catalog, siblings: SiblingPair) -> dict[str, str]:
    """Each tool's description with what sets it apart in front, by id."""
    left, right = (catalog.by_id[one] for one in (siblings.pair.left, siblings.pair.right))
    by_server = left.server != right.server
    return {
        tool.id: leading(tool, words, by_server)
        for tool, words in zip((left, right), siblings.words, strict=True)
    }


def descriptions_of_model(
    catalog: Catalog, pairs: Sequence[Pair], asker: Asker
) -> list[dict[str, str]]:
    """By tool id what a model writes for each pair; empty where it gave no usable answer."""
    tools = catalog.by_id
    questions = [ToolPair(tools[pair.left], tools[pair.right]) for pair in pairs]
    answers = asker(SIBLINGS_TASK, questions)
    written: list[dict[str, str]] = []
    for question, answer in zip(questions, answers, strict=True):
        value = answer.value if answer else None
        first, second = in_hash_order(question)
        written.append({first.id: value["first"], second.id: value["second"]} if value else {})
    return written


def description_violations(
    catalog: Catalog, descriptions: Mapping[str, str]
) -> dict[str, tuple[Violation, ...]]:
    """What speaks against each description, by tool id: what its tool does not say itself, hidden
    and hostile text, length.
    """
    checked = checked_variants(
        catalog, {one: Augmentation(text) for one, text in descriptions.items()}
    )
    return {one: checked.violations.get(one, ()) for one in descriptions}


@dataclass(frozen=True, slots=True)
class ConfusedQuery:
    """A request that one of two tools answers: by how much its cosine with the ``right`` one is
    above that with the other, with the descriptions as they are and with the new ones.
    """

    text: str
    right: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class TellingEffect:
    """What new descriptions do to two tools: the cosine of their texts before and after, and the
    requests that only one of them answers, the most confused first.
    """

    before: float
    after: float
    queries: tuple[ConfusedQuery, ...]

    @property
    def right(self) -> tuple[int, int]:
        """How many requests are nearer to the right tool, before and after."""
        return (
            sum(one.before > 0 for one in self.queries),
            sum(one.after > 0 for one in self.queries),
        )


def answers_of(pair: Pair, queries: Iterable[Query]) -> list[tuple[str, str]]:
    """The requests that exactly one of the two answers, each with that one's id."""
    asked = []
    for query in queries:
        right = [one for one in (pair.left, pair.right) if any(one in need for need in query.gold)]
        asked += [(query.text, right[0])] if len(right) == 1 else []
    return asked


def effect_of(
    tools: tuple[Tool, Tool],
    descriptions: Mapping[str, str],
    asked: Sequence[tuple[str, str]],
    embed: Callable[[list[str]], Vectors],
) -> TellingEffect:
    """What descriptions, by tool id, do to two tools; ``asked`` are requests with the id of the one
    that answers.
    """
    changed = [replace(one, description=descriptions[one.id]) for one in tools]
    vectors = embed([tool_text(one) for one in (*tools, *changed)] + [text for text, _ in asked])
    left, right, new_left, new_right = vectors[:4]
    queries = []
    for (text, answer), vector in zip(asked, vectors[4:], strict=True):
        sign = 1.0 if answer == tools[0].id else -1.0
        before, after = (
            sign * float(vector @ (one - other))
            for one, other in ((left, right), (new_left, new_right))
        )
        queries.append(ConfusedQuery(text, answer, before, after))
    return TellingEffect(
        before=float(left @ right),
        after=float(new_left @ new_right),
        queries=tuple(sorted(queries, key=lambda one: one.before)),
    )
