"""Asks how well a tool is documented, 1 to 5 (ToolScope, appendix G.5); the wording is ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolscope_core.llm.tasks.fence import RULES, fenced, prompt_text
from toolscope_core.llm.tasks.replies import (
    REASON,
    AnswerError,
    question_id,
    read_answers,
    reply_schema,
    sentence,
    texts,
)
from toolscope_core.model.protocols import ChatRequest
from toolscope_core.model.tool import JsonObject, Tool

ASPECTS = ("parameters", "constraints", "behaviour", "result")
_TOKENS = 120

SYSTEM = f"""\
You grade how well tools are documented for somebody who has nothing but this text and must call \
them rightly the first time.

Look at four aspects. "parameters": every parameter is explained, the required ones above all, \
and what is said agrees with what is declared. "constraints": types, units, formats, ranges, \
allowed or typical values, conditions of use. "behaviour": what a call does. "result": what comes \
back, unless it goes without saying.
5: nothing is left to ask. 4: small gaps in what is optional or in examples. 3: the required \
parameters are right but much else is thin, so some guessing is needed. 2: required parameters or \
the purpose are unclear, wrong calls are likely. 1: the text is missing, misleading or says almost \
nothing.

{RULES}
For each question say in one sentence what decides it, then the grade, then the aspects that lack \
something (none for a 5).
"""


@dataclass(frozen=True, slots=True)
class QualityTask:
    """The task; an answer is ``{"score": 1 to 5, "lacking": [aspect…], "reason"}``."""

    batch: int = 8
    name: str = "quality"
    version: str = "1"

    def subjects(self, item: Tool) -> tuple[str, ...]:
        return (item.content_hash,)

    def request(self, items: Mapping[str, Tool]) -> ChatRequest:
        token = {key: f"t{number}" for number, key in enumerate(sorted(items), 1)}
        blocks = {name: prompt_text(items[key]) for key, name in token.items()}
        asked = [f"{question_id(key)}: {name}" for key, name in token.items()]
        aspect = {"type": "string", "enum": list(ASPECTS)}
        fields = {
            "reason": REASON,
            "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
            "lacking": {"type": "array", "items": aspect},
        }
        return ChatRequest(
            system=SYSTEM,
            user="\n".join([fenced(blocks, items), "", "Questions:", *asked]),
            name="grades",
            schema=reply_schema(items, fields),
            most_tokens=200 + _TOKENS * len(items),
        )

    def read(self, items: Mapping[str, Tool], value: JsonObject) -> dict[str, JsonObject | str]:
        return read_answers(items, value, _read)


def _read(item: Tool, answer: JsonObject) -> JsonObject:
    score = answer.get("score")
    if isinstance(score, bool) or not isinstance(score, int) or not 1 <= score <= 5:
        raise AnswerError(f"score is {score!r:.40}; give a whole number from 1 to 5")
    lacking = set(texts(answer, "lacking"))
    if not lacking <= set(ASPECTS):
        raise AnswerError(f"lacking names what is no aspect; give some of {', '.join(ASPECTS)}")
    return {
        "score": score,
        "lacking": [aspect for aspect in ASPECTS if aspect in lacking],
        "reason": sentence(answer),
    }
