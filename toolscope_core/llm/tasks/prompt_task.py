"""A question to a model with its tools and texts, the form of the replies, and how they are
checked.

A reply is a list of answers, each of which names its question. Each task has a pydantic model of
its answer, from which the JSON Schema is derived. Only what the model and the item allow is taken
from a reply: enum values, numbers in range, tokens that were asked about, and short plain
sentences. Any other answer is unusable, and does not spoil the others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.llm.tasks.fence import PromptText, fences, prompt_text
from toolscope_core.model.protocols import ChatRequest
from toolscope_core.model.tool import JsonObject, Tool

_Item = TypeVar("_Item")

LONGEST_REASON = 300
_ID = 12


class AnswerError(ValueError):
    """An answer is unusable; the message says why. This error never leaves this package."""


class ObjectForm(BaseModel):
    """The required fields of an object; other fields are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


class AnswerForm(ObjectForm, Generic[_Item]):
    """The required fields of an answer about an item."""

    def ledger_answer(self, item: _Item) -> JsonObject:
        """The answer as it is stored in the ledger.

        Raises ``AnswerError`` if the answer does not fit the item.
        """
        return self.model_dump()


def up_to(most: int, least: int = 0) -> Any:
    """The limits of a text in characters, with a description for the schema."""
    return Field(min_length=least, max_length=most, description=f"At most {most} characters.")


def passage(value: object) -> object:
    """A text without hidden characters; line ends are kept."""
    if not isinstance(value, str):
        return value
    return without_hidden(value.encode("utf-8", "replace").decode("utf-8")).strip()


def line(value: object) -> object:
    """A text on one line, without hidden characters."""
    clean = passage(value)
    return " ".join(clean.split()) if isinstance(clean, str) else value


PASSAGE, LINE = BeforeValidator(passage), BeforeValidator(line)
"""How a text in an answer is cleaned."""
Reason = Annotated[
    str,
    Field(description="One sentence, at most 25 words."),
    LINE,
    AfterValidator(lambda text: text[:LONGEST_REASON]),
]
Confidence = Annotated[float, Field(ge=0.0, le=1.0, description="A probability, from 0 to 1.")]
Place = Annotated[int, Field(description="What stands after the point.")]
"""The number of a tool in an item."""


def question_id(key: str) -> str:
    """The name of a question in a prompt, which does not depend on the other questions."""
    return key[:_ID]


def reply_schema(
    keys: Iterable[str], form: type[AnswerForm[Any]], **in_this_call: JsonObject
) -> JsonObject:
    """The JSON Schema of an object with one answer to each question; all fields are required.

    ``in_this_call`` are the schemas of fields that only this call knows, such as an enum of its
    tokens.
    """
    question = {"type": "string", "enum": [question_id(key) for key in sorted(keys)]}
    fields = {"question": question, **_fields(form), **in_this_call}
    return object_schema(answers={"type": "array", "items": object_schema(**fields)})


def read_answers(
    items: Mapping[str, _Item], value: JsonObject, form: type[AnswerForm[_Item]]
) -> dict[str, JsonObject | str]:
    """For each key, the item's answer as it is stored, or why it is unusable.

    Answers to other questions are ignored.
    """
    rows = value.get("answers")
    if not isinstance(rows, list):
        return dict.fromkeys(items, "the reply has no list of answers")
    by_question: dict[str, list[JsonObject]] = {}
    for row in rows:
        if isinstance(row, Mapping):
            by_question.setdefault(str(row.get("question")), []).append(row)
    return {
        key: _read(item, by_question.get(question_id(key), []), form) for key, item in items.items()
    }


def places(numbers: Sequence[int], most: int) -> list[int]:
    """Numbers from 1 to ``most``, in ascending order, each only once."""
    if not all(1 <= number <= most for number in numbers):
        raise AnswerError(f"{list(numbers)!r:.60} has a number without a tool; use 1 to {most}")
    return sorted(set(numbers))


def _read(
    item: _Item, rows: Sequence[JsonObject], form: type[AnswerForm[_Item]]
) -> JsonObject | str:
    if len(rows) != 1:
        return "it was answered more than once" if rows else "it was not answered"
    try:
        return form.model_validate(rows[0]).ledger_answer(item)
    except ValidationError as error:
        return _why(error)
    except AnswerError as error:
        return str(error)


def _why(error: ValidationError) -> str:
    """The first error, with the wrong value if that is short."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"{place} is missing"
    value, is_long = first["input"], first["type"].endswith(("too_long", "too_short"))
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    cited = "" if is_long else f" is {without_hidden(text[:60])}"
    return f"{place}{cited}: {first['msg']}"


@cache
def _fields(form: type[AnswerForm[Any]]) -> dict[str, JsonObject]:
    """The schemas of a form's fields."""
    schema = form.model_json_schema()
    fields: dict[str, JsonObject] = _plain(schema, schema.get("$defs", {}))["properties"]
    return fields


def _plain(schema: JsonObject, definitions: JsonObject) -> JsonObject:
    """A schema with only the keywords that every endpoint accepts.

    Limits are stated in descriptions, and checked here.
    """
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "properties" in schema:
        fields = {name: _plain(one, definitions) for name, one in schema["properties"].items()}
        return object_schema(**fields)
    plain = {key: schema[key] for key in ("type", "enum", "description") if key in schema}
    return plain | ({"items": _plain(schema["items"], definitions)} if "items" in schema else {})


def object_schema(**fields: JsonObject) -> JsonObject:
    """The JSON Schema of an object that has exactly these fields."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


PROMPT_VERSIONS = {
    "agent run": "1",
    "audit": "4",
    "augmentation": "2",
    "calls": "1",
    "context split": "2",
    "dummy split": "1",
    "family audit": "2",
    "judge": "5",
    "namespaces": "1",
    "plan filter": "2",
    "quality": "2",
    "query drafts": "2",
    "query polish": "1",
    "rephrasing": "1",
    "selection": "2",
    "siblings": "3",
    "synthesis": "2",
    "worker": "1",
}


class ShownItem(NamedTuple):
    """An item in a prompt: its texts by their names in the prompt, and the question about them."""

    texts: dict[str, PromptText]
    question: str


class ShownItems(NamedTuple):
    """All items of a call.

    ``texts`` are by their names in the prompt, and ``questions`` by ledger key. ``in_this_call`` is
    as in ``reply_schema``. The answers need ``more_tokens`` in addition to the usual number.
    """

    texts: Mapping[str, PromptText]
    questions: Mapping[str, str]
    in_this_call: Mapping[str, JsonObject] = {}
    more_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PromptTask(Generic[_Item]):
    """A ``protocols.Task``; ``show`` receives the items of a call by ledger key, sorted.

    ``reply_name`` is what the endpoint calls a reply, whose answers have this ``form``. An answer
    takes at most ``answer_tokens`` tokens, and a call takes ``call_tokens`` more. ``size`` is the
    share of a ``batch`` that an item takes up.
    """

    name: str
    batch: int
    system: str
    reply_name: str
    form: type[AnswerForm[_Item]]
    answer_tokens: int
    hashes: Callable[[_Item], Iterable[str]]
    show: Callable[[Mapping[str, _Item]], ShownItems]
    call_tokens: int = 200
    size: Callable[[_Item], int] = lambda item: 1

    @property
    def version(self) -> str:
        """See ``protocols.Task``."""
        return PROMPT_VERSIONS[self.name]

    def subjects(self, item: _Item) -> tuple[str, ...]:
        """See ``protocols.Task``."""
        return tuple(sorted(self.hashes(item)))

    def request(self, items: Mapping[str, _Item]) -> ChatRequest:
        """See ``protocols.Task``."""
        shown_items = self.show(dict(sorted(items.items())))
        tokens = self.call_tokens + self.answer_tokens * len(items) + shown_items.more_tokens
        return ChatRequest(
            system=self.system,
            user=user_prompt(shown_items.texts, shown_items.questions),
            name=self.reply_name,
            schema=reply_schema(items, self.form, **shown_items.in_this_call),
            most_tokens=tokens,
        )

    def read(self, items: Mapping[str, _Item], value: JsonObject) -> dict[str, JsonObject | str]:
        """See ``protocols.Task``."""
        return read_answers(items, value, self.form)


def user_prompt(texts: Mapping[str, PromptText], questions: Mapping[str, str]) -> str:
    """The texts in their fences, followed by the questions, which are given by ledger key."""
    lines = [f"{question_id(key)}: {question}" for key, question in questions.items()]
    return "\n".join([*fences(texts, questions).values(), "", "Questions:", *lines])


def numbered(
    show: Callable[[_Item, int], ShownItem],
) -> Callable[[Mapping[str, _Item]], ShownItems]:
    """A function that shows each item separately, numbered from 1."""

    def show_all(items: Mapping[str, _Item]) -> ShownItems:
        fenced = {key: show(item, at) for at, (key, item) in enumerate(items.items(), 1)}
        texts = {name: text for item in fenced.values() for name, text in item.texts.items()}
        return ShownItems(texts, {key: item.question for key, item in fenced.items()})

    return show_all


def show_tool(tool: Tool, number: int) -> ShownItem:
    """A single tool, named t1, t2 and so on by its number."""
    return ShownItem({f"t{number}": prompt_text(tool)}, f"t{number}")
