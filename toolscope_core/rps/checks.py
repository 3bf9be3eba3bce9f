"""Whether what was written about a tool may stand beside what its server says."""

from collections.abc import Iterator
from dataclasses import replace

from toolscope_core.judging.notes import whole_text
from toolscope_core.merging.faithful import (
    Surroundings,
    Violation,
    hostile,
    invented,
    without_addresses,
)
from toolscope_core.model.tool import Augmentation, Tool

LONGEST_EXPANDED = 1_200
LONGEST_QUESTION = 300
MOST_QUESTIONS = 12
"""Characters, and questions, beyond which a variant is held to be too long."""


def variant_violations(
    tool: Tool, written: Augmentation, around: Surroundings
) -> tuple[Violation, ...]:
    """What speaks against a variant of a tool; empty if nothing does.

    The expanded description may cite no address, parameter or tool that the tool itself does not.
    Questions are examples, so their values and addresses are free, but they may name no other tool.
    Neither may hide characters, speak to models, or be too long. Of a tool whose own text speaks to
    models nothing of that may come back.
    """
    is_wary = tool.id in around.wary
    own = "" if is_wary else whole_text(tool)
    plain = replace(tool, description="") if is_wary else tool
    expanded = " ".join(written.expanded.split())
    questions = "\n".join(written.questions)
    return (
        *invented(own, expanded, (tool,), around),
        *(one for one in invented(own, questions, (tool,), around) if one.code == "tool"),
        *hostile(plain, replace(tool, description=expanded)),
        *hostile(plain, replace(tool, description=without_addresses(questions))),
        *_overlong(written),
    )


def _overlong(written: Augmentation) -> Iterator[Violation]:
    if len(written.expanded) > LONGEST_EXPANDED:
        length = len(written.expanded)
        yield Violation(
            "long", f"the description has {length:,} characters, more than {LONGEST_EXPANDED:,}"
        )
    for question in written.questions:
        if len(question) > LONGEST_QUESTION:
            yield Violation(
                "long", f"a question has more than {LONGEST_QUESTION} characters", question
            )
    if len(written.questions) > MOST_QUESTIONS:
        count = len(written.questions)
        yield Violation("long", f"there are {count:,} questions, more than {MOST_QUESTIONS}")
