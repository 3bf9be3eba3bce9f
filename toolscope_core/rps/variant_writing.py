"""Document variants written by a model, checked against their tools, and control variants."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from toolscope_core.judging.guards import whole_text
from toolscope_core.llm.merge_questions import suspicious_ids_of
from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks.synthesis_prompt import AUGMENTATION_TASK, augmentation_of
from toolscope_core.merging.faithful import (
    DocumentContext,
    Violation,
    hostile,
    invented,
    without_addresses,
)
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.wording.wordnet import tables

_LONGEST_EXPANDED = 1_200
_LONGEST_QUESTION = 300
_MOST_QUESTIONS = 12
"""The characters, and questions, beyond which a variant is too long."""


def variant_violations(
    tool: Tool, variant: Augmentation, context: DocumentContext
) -> tuple[Violation, ...]:
    """Objections to a variant of a tool; empty if there are none.

    The expanded description may mention no address, parameter or tool that the tool itself does
    not. Questions are examples, so their values and addresses are free, but they may name no other
    tool. Neither may contain hidden characters, address models, or be too long. If the tool's own
    text addresses models, none of that may be repeated.
    """
    is_suspicious = tool.id in context.suspicious_ids
    own = "" if is_suspicious else whole_text(tool)
    plain = replace(tool, description="") if is_suspicious else tool
    expanded = " ".join(variant.expanded.split())
    questions = "\n".join(variant.questions)
    return (
        *invented(own, expanded, (tool,), context),
        *(one for one in invented(own, questions, (tool,), context) if one.code == "tool"),
        *hostile(plain, replace(tool, description=expanded)),
        *hostile(plain, replace(tool, description=without_addresses(questions)), is_request=True),
        *_overlong(variant),
    )


def _overlong(variant: Augmentation) -> Iterator[Violation]:
    if len(variant.expanded) > _LONGEST_EXPANDED:
        length = len(variant.expanded)
        yield Violation(
            "long", f"the description has {length:,} characters (limit: {_LONGEST_EXPANDED:,})"
        )
    for question in variant.questions:
        if len(question) > _LONGEST_QUESTION:
            yield Violation(
                "long", f"a question has more than {_LONGEST_QUESTION} characters", question
            )
    if len(variant.questions) > _MOST_QUESTIONS:
        count = len(variant.questions)
        yield Violation("long", f"there are {count:,} questions, more than {_MOST_QUESTIONS}")


@dataclass(frozen=True, slots=True)
class CheckedVariants:
    """Variants by tool id: ``clean`` ones, and ``doubtful`` ones with their ``violations``."""

    clean: Mapping[str, Augmentation]
    doubtful: Mapping[str, Augmentation]
    violations: Mapping[str, tuple[Violation, ...]]


def variants_of_model(tools: Sequence[Tool], asker: Asker) -> dict[str, Augmentation]:
    """A model's variant for each tool, by id; none without a usable answer.

    Tools with equal content are asked about once.
    """
    answers = asker(AUGMENTATION_TASK, tools)
    return {
        tool.id: augmentation_of(answer.value)
        for tool, answer in zip(tools, answers, strict=True)
        if answer is not None and answer.value is not None
    }


def checked_variants(catalog: Catalog, variants: Mapping[str, Augmentation]) -> CheckedVariants:
    """Every variant checked against its tool by ``variant_violations``."""
    tools, suspects = catalog.by_id, suspicious_ids_of(catalog)
    names = frozenset(tool.name for tool in catalog.tools)
    against = {
        one: variant_violations(
            tools[one], variant, DocumentContext(names - {tools[one].name}, suspects)
        )
        for one, variant in variants.items()
    }
    return CheckedVariants(
        clean={one: variant for one, variant in variants.items() if not against[one]},
        doubtful={one: variant for one, variant in variants.items() if against[one]},
        violations={one: several for one, several in against.items() if several},
    )


_SEED = 447


def noise_matched(
    catalog: Catalog, variants: Mapping[str, Augmentation], seed: int = _SEED
) -> dict[str, Augmentation]:
    """A control for each variant: the tool's own description with random English words added.

    There are as many words as the variant adds. They depend only on the tool's id and ``seed``.
    """
    tools = catalog.by_id
    control = {}
    for tool_id, variant in variants.items():
        own = tools[tool_id].description.split()
        word_count = len(" ".join((variant.expanded, *variant.questions)).split())
        generator = random.Random(f"{seed} {tool_id}")
        padding = generator.choices(_words(), k=max(0, word_count - len(own)))
        control[tool_id] = Augmentation(" ".join([*own, *padding]))
    return control


@lru_cache(maxsize=1)
def _words() -> tuple[str, ...]:
    return tuple(sorted(word for word in tables().senses if word.isalpha()))
