"""Asks for descriptions that tell two tools apart. The wording is ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolscope_core.llm.tasks.fence import RULES, fenced, prompt_text
from toolscope_core.llm.tasks.judge_prompt import ToolPair
from toolscope_core.llm.tasks.replies import (
    AnswerError,
    passage,
    question_id,
    read_answers,
    reply_schema,
)
from toolscope_core.model.protocols import ChatRequest
from toolscope_core.model.tool import JsonObject, Tool

LONGEST = 1_200
_TOKENS = 350

SYSTEM = f"""\
An agent has both of two tools and takes one for the other, since they sound alike. They do \
different jobs and stay two tools. You write for each a description by which it is not mistaken.

{RULES}
Begin each description with what only this tool does, or on what, from which input, or with what \
result; then say the rest of what its own text says, as briefly. Take everything from the tool's \
own name, text, parameters and results: no ability, limit, address or tool that is not there. Do \
not say what the other tool does and do not name it: what a tool is not helps no search. Keep what \
a caller must know, such as formats, limits and side effects. If nothing in the texts tells the \
two apart, give both descriptions back as they are.
"""


@dataclass(frozen=True, slots=True)
class SiblingsTask:
    """The task; an answer is ``{"first", "second"}``: descriptions of the two tools in the order of
    their content hashes (``in_hash_order``).
    """

    version: str = "1"
    name: str = "siblings"
    batch: int = 4

    def subjects(self, item: ToolPair) -> tuple[str, ...]:
        """The content hashes of the two."""
        return tuple(sorted(tool.content_hash for tool in in_hash_order(item)))

    def request(self, items: Mapping[str, ToolPair]) -> ChatRequest:
        blocks, asked = {}, []
        for number, key in enumerate(sorted(items), 1):
            for at, tool in enumerate(in_hash_order(items[key]), 1):
                blocks[f"tool {number}.{at}"] = prompt_text(tool)
            asked.append(f"{question_id(key)}: first tool {number}.1, second tool {number}.2")
        text = {"type": "string", "description": f"At most {LONGEST} characters."}
        return ChatRequest(
            system=SYSTEM,
            user="\n".join([fenced(blocks, items), "", "Questions:", *asked]),
            name="descriptions",
            schema=reply_schema(items, {"first": text, "second": text}),
            most_tokens=200 + _TOKENS * len(items),
        )

    def read(self, items: Mapping[str, ToolPair], value: JsonObject) -> dict[str, JsonObject | str]:
        return read_answers(items, value, _read)


def in_hash_order(pair: ToolPair) -> tuple[Tool, Tool]:
    """The two tools, whichever way round the pair is."""
    one, other = sorted((pair.left, pair.right), key=lambda tool: (tool.content_hash, tool.id))
    return one, other


def _read(item: ToolPair, answer: JsonObject) -> JsonObject:
    first, second = (passage(answer, field, LONGEST) for field in ("first", "second"))
    if not first or not second:
        raise AnswerError("a description is empty; say what the tool does")
    return {"first": first, "second": second}
