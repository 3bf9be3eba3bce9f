"""Document variants that a model writes, each held against what its tool says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.llm.merge_questions import wary_of
from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.llm.tasks.augmentation_prompt import AUGMENTATION_TASK, augmentation_of
from toolscope_core.merging.faithful import Surroundings, Violation
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.rps.checks import variant_violations


@dataclass(frozen=True, slots=True)
class CheckedVariants:
    """Variants by tool id: those that nothing speaks against, and the others with what does."""

    clean: Mapping[str, Augmentation]
    doubtful: Mapping[str, Augmentation]
    violations: Mapping[str, tuple[Violation, ...]]


def variants_of_model(tools: Sequence[Tool], asker: Asker) -> dict[str, Augmentation]:
    """What a model writes about each tool, by id; none where it gave no usable answer. Tools of
    equal content are asked about once.
    """
    answers = asker(AUGMENTATION_TASK, tools)
    return {
        tool.id: augmentation_of(answer.value)
        for tool, answer in zip(tools, answers, strict=True)
        if answer is not None and answer.value is not None
    }


def checked_variants(catalog: Catalog, variants: Mapping[str, Augmentation]) -> CheckedVariants:
    """Every variant held against its tool, by ``variant_violations``."""
    tools, wary = catalog.by_id, wary_of(catalog)
    names = frozenset(tool.name for tool in catalog.tools)
    against = {
        one: variant_violations(tools[one], written, Surroundings(names - {tools[one].name}, wary))
        for one, written in variants.items()
    }
    return CheckedVariants(
        clean={one: written for one, written in variants.items() if not against[one]},
        doubtful={one: written for one, written in variants.items() if against[one]},
        violations={one: several for one, several in against.items() if several},
    )
