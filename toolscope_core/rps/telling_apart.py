"""Finds siblings, similar tools that must not be merged, and new descriptions for them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks.judge_prompt import SIBLINGS_TASK, ToolPair, in_hash_order
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.faithful import Violation
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.pair import Pair, Relation
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.rps.rewrites import Rewrite, for_one_or_both
from toolscope_core.rps.variant_writing import checked_variants

COLLIDE = 0.8
"""The lowest cosine of listed siblings."""
LEAST = 0.6
SHORT = 240
"""The characters always allowed for a description, however short the tool's own is."""
MODEL_CLAUSE, _MODEL = "a clause by the model", "by the model"


@dataclass(frozen=True, slots=True)
class SiblingPair:
    """Two tools that must not be merged.

    It has the cosine of their texts, the relation that keeps them apart, and the words that only
    the left and only the right one uses.
    """

    pair: Pair
    similarity: float
    relation: Relation
    words: tuple[tuple[str, ...], tuple[str, ...]]


def sibling_pairs(
    analysis: Analysis, plan: MergePlan, apart: Iterable[Pair], least: float = COLLIDE
) -> tuple[SiblingPair, ...]:
    """The pairs with cosine ``least`` or more that are related or a family, or kept ``apart`` by
    people.

    Closest first. Tools that ``plan`` merges or omits are left out.
    """
    alone = {item.tool.id for item in plan.tools if len(item.members) == 1}
    by_people, scores = frozenset(apart), analysis.scores
    near = scores.similarity >= least
    verdicts = analysis.judge.verdicts(scores.left[near], scores.right[near], brief=True)
    pairs = [
        SiblingPair(verdict.pair, verdict.similarity, verdict.relation, verdict.differs)
        for verdict in map(analysis.effective_verdict, verdicts)
        if verdict.outcome in ("keep", "family") or verdict.pair in by_people
    ]
    siblings = [one for one in pairs if one.pair.left in alone and one.pair.right in alone]
    return tuple(sorted(siblings, key=lambda one: (-one.similarity, one.pair)))


def rewrites_of_model(
    catalog: Catalog, pairs: Sequence[Pair], asker: Asker
) -> list[tuple[Rewrite, ...]]:
    """A model's rewrites for each pair: clauses in front of descriptions, and whole texts.

    They have the variants of ``for_one_or_both``; none without a usable answer.
    """
    by_id = catalog.by_id
    questions = [ToolPair(by_id[pair.left], by_id[pair.right]) for pair in pairs]
    rewrites_by_pair: list[tuple[Rewrite, ...]] = []
    for question, answer in zip(questions, asker(SIBLINGS_TASK, questions), strict=True):
        tools = in_hash_order(question)
        rewrites: list[Rewrite] = []
        if answer and (value := answer.value):
            sides = list(zip(tools, ("first", "second"), strict=True))
            in_front = {
                tool.id: f"{clause}: {' '.join(tool.description.split())}"
                for tool, side in sides
                if (clause := value[f"{side}_clause"].rstrip(" .:")) and tool.description
            }
            whole = {tool.id: value[side] for tool, side in sides}
            rewrites = [
                *for_one_or_both(MODEL_CLAUSE, tools, in_front),
                *for_one_or_both(_MODEL, tools, whole),
            ]
        rewrites_by_pair.append(tuple(rewrites))
    return rewrites_by_pair


def description_violations(
    catalog: Catalog, descriptions: Mapping[str, str]
) -> dict[str, tuple[Violation, ...]]:
    """Objections to each description, by tool id.

    They are content that its tool does not have, hidden and hostile text, and length: more than
    1.25 times the tool's own or 240 characters, whichever is longer. Every call pays for length.
    """
    variants = {one: Augmentation(text) for one, text in descriptions.items()}
    checked = checked_variants(catalog, variants).violations
    return {
        one: (*checked.get(one, ()), *_overlong(catalog.by_id[one], text))
        for one, text in descriptions.items()
    }


def _overlong(tool: Tool, text: str) -> Iterator[Violation]:
    most = max(int(1.25 * len(tool.description)), SHORT)
    if len(text) > most:
        yield Violation("long", f"the description has {len(text):,} characters (limit: {most:,})")
