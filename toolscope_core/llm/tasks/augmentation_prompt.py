"""Asks for an expanded description of a tool and questions that it answers (Retrieval–Plan–Select,
§3.1 and appendix B.1). The wording is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolscope_core.llm.tasks.fence import RULES, fenced, prompt_text
from toolscope_core.llm.tasks.replies import (
    AnswerError,
    passage,
    question_id,
    read_answers,
    reply_schema,
    texts,
)
from toolscope_core.model.protocols import ChatRequest
from toolscope_core.model.tool import Augmentation, JsonObject, Tool

LEAST_QUESTIONS, MOST_QUESTIONS = 3, 8
LONGEST_EXPANDED, LONGEST_QUESTION = 1_200, 300
_TOKENS = 450

SYSTEM = f"""\
People ask an agent for things in their own words, and a search has to find the right tool among \
many that look alike. You write what helps it to find a tool.

{RULES}
For each tool write two things. "expanded": forty to seventy words of plain prose that say what \
one call does, to what, from which inputs, and what comes back; then what sets it apart from tools \
that sound like it, if its own text tells. Say only what its text says or plainly implies: no \
ability, argument, limit, address or tool that is not there, and no praise. "questions": six \
requests that people would make and one call of this tool would serve, with made-up values for its \
inputs. Vary who speaks, the words and the form; name neither the tool nor its parameters.
"""


@dataclass(frozen=True, slots=True)
class AugmentationTask:
    """The task; an answer is ``{"expanded", "questions": [text…]}``, three to eight of them."""

    batch: int = 4
    name: str = "augmentation"
    version: str = "1"

    def subjects(self, item: Tool) -> tuple[str, ...]:
        return (item.content_hash,)

    def request(self, items: Mapping[str, Tool]) -> ChatRequest:
        token = {key: f"t{number}" for number, key in enumerate(sorted(items), 1)}
        blocks = {name: prompt_text(items[key]) for key, name in token.items()}
        asked = [f"{question_id(key)}: {name}" for key, name in token.items()]
        question = {"type": "string", "description": f"At most {LONGEST_QUESTION} characters."}
        fields: dict[str, JsonObject] = {
            "expanded": {"type": "string"},
            "questions": {"type": "array", "items": question},
        }
        return ChatRequest(
            system=SYSTEM,
            user="\n".join([fenced(blocks, items), "", "Questions:", *asked]),
            name="variants",
            schema=reply_schema(items, fields),
            most_tokens=200 + _TOKENS * len(items),
        )

    def read(self, items: Mapping[str, Tool], value: JsonObject) -> dict[str, JsonObject | str]:
        return read_answers(items, value, _read)


def augmentation_of(answer: JsonObject) -> Augmentation:
    """The variant of a stored answer."""
    return Augmentation(answer["expanded"], tuple(answer["questions"]))


def _read(item: Tool, answer: JsonObject) -> JsonObject:
    expanded = passage(answer, "expanded", LONGEST_EXPANDED)
    if not expanded:
        raise AnswerError("expanded is empty; say what the tool does")
    questions = [
        passage({"question": one}, "question", LONGEST_QUESTION)
        for one in texts(answer, "questions")
    ]
    distinct = list(dict.fromkeys(one for one in questions if one))
    if not LEAST_QUESTIONS <= len(distinct) <= MOST_QUESTIONS:
        raise AnswerError(
            f"there are {len(distinct)} different questions; give {LEAST_QUESTIONS} to "
            f"{MOST_QUESTIONS}"
        )
    return {"expanded": expanded, "questions": distinct}
