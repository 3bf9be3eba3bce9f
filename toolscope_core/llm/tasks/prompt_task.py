"""A question to a model: the tools and texts it is about, one line for each item, and a form."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from toolscope_core.llm.tasks.fence import PromptText, fenced, prompt_text
from toolscope_core.llm.tasks.prompt_versions import PROMPT_VERSIONS
from toolscope_core.llm.tasks.replies import AnswerForm, question_id, read_answers, reply_schema
from toolscope_core.model.protocols import ChatRequest
from toolscope_core.model.tool import JsonObject, Tool

Item = TypeVar("Item")


class ShownItem(NamedTuple):
    """An item in a prompt: its texts by their names there, and the question about them."""

    texts: dict[str, PromptText]
    question: str


@dataclass(frozen=True, slots=True)
class PromptTask(Generic[Item]):
    """A ``protocols.Task`` that shows its items one after the other, numbered from 1.

    ``reply_name`` is what the endpoint calls the form of a reply, whose answers have this ``form``;
    one takes ``answer_tokens`` at most. ``show`` gives an item by its number.
    """

    name: str
    batch: int
    system: str
    reply_name: str
    form: type[AnswerForm[Item]]
    answer_tokens: int
    hashes: Callable[[Item], Iterable[str]]
    show: Callable[[Item, int], ShownItem]

    @property
    def version(self) -> str:
        """See ``protocols.Task``."""
        return PROMPT_VERSIONS[self.name]

    def subjects(self, item: Item) -> tuple[str, ...]:
        """See ``protocols.Task``."""
        return tuple(sorted(self.hashes(item)))

    def request(self, items: Mapping[str, Item]) -> ChatRequest:
        """See ``protocols.Task``."""
        shown = {key: self.show(items[key], at) for at, key in enumerate(sorted(items), 1)}
        texts = {name: text for item in shown.values() for name, text in item.texts.items()}
        return ChatRequest(
            system=self.system,
            user=user_prompt(texts, {key: item.question for key, item in shown.items()}),
            name=self.reply_name,
            schema=reply_schema(items, self.form),
            most_tokens=200 + self.answer_tokens * len(items),
        )

    def read(self, items: Mapping[str, Item], value: JsonObject) -> dict[str, JsonObject | str]:
        """See ``protocols.Task``."""
        return read_answers(items, value, self.form)


def user_prompt(texts: Mapping[str, PromptText], questions: Mapping[str, str]) -> str:
    """The texts in their fences, and below them the questions, which are given by ledger key."""
    lines = [f"{question_id(key)}: {question}" for key, question in questions.items()]
    return "\n".join([fenced(texts, questions), "", "Questions:", *lines])


def show_tool(tool: Tool, number: int) -> ShownItem:
    """A tool by itself, as t1, t2 and so on."""
    return ShownItem({f"t{number}": prompt_text(tool)}, f"t{number}")
