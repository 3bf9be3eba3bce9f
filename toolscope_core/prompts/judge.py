"""Asks whether two tools may be merged (ToolScope, M_C: appendix G.1); the wording is ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolscope_core.backends import ChatRequest
from toolscope_core.datamodel import JsonObject, Tool
from toolscope_core.prompts.fence import RULES, fenced, shown
from toolscope_core.prompts.replies import (
    CONFIDENCE,
    REASON,
    one_of,
    question_id,
    read_answers,
    reply_schema,
    sentence,
    share,
)

VERDICTS = ("merge", "keep", "unsure")
_TOKENS = 120

CRITERIA = """\
Tools belong together when whoever asks for one would be served by the other: they do the same \
thing to the same kind of object, and the arguments of each can be carried over to one tool by \
renaming them, or by making some of them optional, with nothing lost. A tool that is another one \
with some argument fixed belongs to it, and so does one that only takes a few arguments more.
They stay apart when they do opposite or merely neighbouring things (search and delete, create and \
update, one item by its id and a list of all), work on different kinds of objects, compute \
different quantities, or give results of different kinds. Likeness of names, of topic or of the \
product they are part of is not enough.
"""

SYSTEM = f"""\
You curate the toolset of an agent and decide which tools are the same job.

{CRITERIA}
{RULES}
For each question say in one sentence what decides it, then the verdict: "merge" if the two belong \
together, "keep" if they stay apart, "unsure" if what is shown does not tell; and how sure you are \
of it.
"""


@dataclass(frozen=True, slots=True)
class Two:
    """Two tools, in any order."""

    left: Tool
    right: Tool


@dataclass(frozen=True, slots=True)
class Judging:
    """The task; an answer is ``{"verdict", "confidence", "reason"}``."""

    batch: int = 8
    name: str = "judge"
    version: str = "1"

    def subjects(self, item: Two) -> tuple[str, ...]:
        return tuple(sorted((item.left.content_hash, item.right.content_hash)))

    def request(self, items: Mapping[str, Two]) -> ChatRequest:
        """Every tool once, however many questions it is in."""
        tools = {t.content_hash: t for two in items.values() for t in (two.left, two.right)}
        token = {print_: f"t{number}" for number, print_ in enumerate(sorted(tools), 1)}
        blocks = {name: shown(tools[print_]) for print_, name in token.items()}
        asked = [
            f"{question_id(key)}: {' and '.join(token[one] for one in self.subjects(items[key]))}"
            for key in sorted(items)
        ]
        fields = {
            "reason": REASON,
            "verdict": {"type": "string", "enum": list(VERDICTS)},
            "confidence": CONFIDENCE,
        }
        return ChatRequest(
            system=SYSTEM,
            user="\n".join([fenced(blocks, items), "", "Questions:", *asked]),
            name="verdicts",
            schema=reply_schema(items, fields),
            most_tokens=200 + _TOKENS * len(items),
        )

    def read(self, items: Mapping[str, Two], value: JsonObject) -> dict[str, JsonObject | str]:
        return read_answers(items, value, _read)


def _read(item: Two, answer: JsonObject) -> JsonObject:
    return {
        "verdict": one_of(answer, "verdict", VERDICTS),
        "confidence": share(answer, "confidence"),
        "reason": sentence(answer),
    }
