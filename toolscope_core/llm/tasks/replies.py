"""The form of every reply, a list of answers that each name their question, and its parser.

Nothing gets out of a reply but enum values, numbers in range, tokens that were asked about and
short plain sentences. Whatever else it holds is a reason why it cannot be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.model.tool import JsonObject

Item = TypeVar("Item")

LONGEST_REASON = 300
_ID = 12

PLACE: JsonObject = {"type": "integer", "description": "What stands after the point."}
"""A number of a tool in an item."""
REASON: JsonObject = {"type": "string", "description": "One sentence, at most 25 words."}
CONFIDENCE: JsonObject = {"type": "number", "description": "From 0 (a guess) to 1 (certain)."}


class AnswerError(ValueError):
    """An answer cannot be used; the message says why. Never leaves this package."""


def question_id(key: str) -> str:
    """The name of a question in a prompt: the same whatever is asked beside it."""
    return key[:_ID]


def reply_schema(keys: Iterable[str], fields: Mapping[str, JsonObject]) -> JsonObject:
    """The JSON Schema of an object with one answer to each question; all fields are required."""
    own = {"question": {"type": "string", "enum": [question_id(k) for k in sorted(keys)]}, **fields}
    return object_schema(answers=list_of(object_schema(**own)))


def object_schema(**fields: JsonObject) -> JsonObject:
    """The JSON Schema of an object with these fields, all of them required."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def list_of(items: JsonObject) -> JsonObject:
    """The JSON Schema of a list."""
    return {"type": "array", "items": items}


def text_up_to(most: int) -> JsonObject:
    """The JSON Schema of a text that should have at most so many characters."""
    return {"type": "string", "description": f"At most {most} characters."}


def read_answers(
    items: Mapping[str, Item], value: JsonObject, read: Callable[[Item, JsonObject], JsonObject]
) -> dict[str, JsonObject | str]:
    """By key each item's answer as ``read`` gives it, or why it cannot be used; answers to other
    questions are left out.
    """
    given: dict[str, list[JsonObject]] = {}
    rows = value.get("answers")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping):
            given.setdefault(str(row.get("question")), []).append(row)
    answers: dict[str, JsonObject | str] = {}
    for key, item in items.items():
        own = given.get(question_id(key), [])
        if len(own) != 1:
            answers[key] = "it was answered more than once" if own else "it was not answered"
            continue
        try:
            answers[key] = read(item, own[0])
        except AnswerError as error:
            answers[key] = str(error)
    return answers


def one_of(answer: JsonObject, field: str, allowed: Sequence[str]) -> str:
    """A value of an enum."""
    value = answer.get(field)
    if not isinstance(value, str) or value not in allowed:
        raise AnswerError(f"{field} is {_cited(value)}; give one of {', '.join(allowed)}")
    return value


def share(answer: JsonObject, field: str) -> float:
    """A number from 0 to 1."""
    value = answer.get(field)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise AnswerError(f"{field} is {_cited(value)}; give a number from 0 to 1")
    return float(value)


def places(answer: JsonObject, field: str, most: int) -> list[int]:
    """A list of numbers from 1 to ``most``, ascending and each once."""
    value = answer.get(field)
    if not isinstance(value, list) or not all(is_number(one, 1, most) for one in value):
        raise AnswerError(f"{field} is {value!r:.60}; give a list of numbers from 1 to {most}")
    return sorted(set(value))


def is_number(value: object, least: int, most: int) -> TypeGuard[int]:
    """Whether it is a whole number in this range."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def objects(answer: JsonObject, field: str) -> list[JsonObject]:
    """A list of objects."""
    value = answer.get(field)
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise AnswerError(f"{field} is no list of objects")
    return value


def texts(answer: JsonObject, field: str) -> list[str]:
    """A list of texts."""
    value = answer.get(field)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise AnswerError(f"{field} is {_cited(value)}; give a list of texts")
    return value


def short_texts(answer: JsonObject, field: str, most: int) -> list[str]:
    """A list of texts in one line each, of at most ``most`` characters."""
    given = [sentence({field: one}, field) for one in texts(answer, field)]
    if longest := max((len(one) for one in given if len(one) > most), default=0):
        raise AnswerError(f"one of the {field} has {longest} characters; give at most {most}")
    return given


def passage(answer: JsonObject, field: str, most: int) -> str:
    """A text without hidden characters, line ends kept; a longer one is refused."""
    value = answer.get(field)
    if not isinstance(value, str):
        raise AnswerError(f"{field} is {_cited(value)}; give a text")
    clean = without_hidden(value.encode("utf-8", "replace").decode("utf-8")).strip()
    if len(clean) > most:
        raise AnswerError(f"{field} has {len(clean):,} characters; write at most {most:,}")
    return clean


def sentence(answer: JsonObject, field: str = "reason") -> str:
    """A short text in one line, cut where it is too long; empty where there is none."""
    value: Any = answer.get(field)
    if not isinstance(value, str):
        return ""
    clean = without_hidden(value.encode("utf-8", "replace").decode("utf-8"))
    return " ".join(clean.split())[:LONGEST_REASON]


def _cited(value: object) -> str:
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return without_hidden(text[:60])
