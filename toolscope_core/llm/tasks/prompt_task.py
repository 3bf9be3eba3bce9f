"""A question to a model: the tools and texts it is about, one line for each item, and a form."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from toolscope_core.llm.tasks.fence import PromptText, fenced, prompt_text
from toolscope_core.llm.tasks.replies import AnswerForm, question_id, read_answers, reply_schema
from toolscope_core.model.protocols import ChatRequest
from toolscope_core.model.tool import JsonObject, Tool

PROMPT_VERSIONS = {
    "agent run": "1",
    "audit": "3",
    "augmentation": "2",
    "context split": "2",
    "dummy split": "1",
    "family audit": "1",
    "judge": "3",
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


Item = TypeVar("Item")


class ShownItem(NamedTuple):
    """An item in a prompt: its texts by their names there, and the question about them."""

    texts: dict[str, PromptText]
    question: str


class ShownItems(NamedTuple):
    """All items of a call: their texts by their names in the prompt, and the questions by ledger
    key. ``in_this_call`` is as in ``reply_schema``; answers take ``more_tokens`` than are usual.
    """

    texts: Mapping[str, PromptText]
    questions: Mapping[str, str]
    in_this_call: Mapping[str, JsonObject] = {}
    more_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PromptTask(Generic[Item]):
    """A ``protocols.Task``: ``show`` is given the items of a call by ledger key, sorted.

    ``reply_name`` is what the endpoint calls the form of a reply, whose answers have this ``form``;
    one takes ``answer_tokens`` at most, and all of a call ``call_tokens`` beside them.
    """

    name: str
    batch: int
    system: str
    reply_name: str
    form: type[AnswerForm[Item]]
    answer_tokens: int
    hashes: Callable[[Item], Iterable[str]]
    show: Callable[[Mapping[str, Item]], ShownItems]
    call_tokens: int = 200

    @property
    def version(self) -> str:
        """See ``protocols.Task``."""
        return PROMPT_VERSIONS[self.name]

    def subjects(self, item: Item) -> tuple[str, ...]:
        """See ``protocols.Task``."""
        return tuple(sorted(self.hashes(item)))

    def request(self, items: Mapping[str, Item]) -> ChatRequest:
        """See ``protocols.Task``."""
        shown = self.show(dict(sorted(items.items())))
        tokens = self.call_tokens + self.answer_tokens * len(items) + shown.more_tokens
        return ChatRequest(
            system=self.system,
            user=user_prompt(shown.texts, shown.questions),
            name=self.reply_name,
            schema=reply_schema(items, self.form, **shown.in_this_call),
            most_tokens=tokens,
        )

    def read(self, items: Mapping[str, Item], value: JsonObject) -> dict[str, JsonObject | str]:
        """See ``protocols.Task``."""
        return read_answers(items, value, self.form)


def user_prompt(texts: Mapping[str, PromptText], questions: Mapping[str, str]) -> str:
    """The texts in their fences, and below them the questions, which are given by ledger key."""
    lines = [f"{question_id(key)}: {question}" for key, question in questions.items()]
    return "\n".join([fenced(texts, questions), "", "Questions:", *lines])


def numbered(show: Callable[[Item, int], ShownItem]) -> Callable[[Mapping[str, Item]], ShownItems]:
    """Shows items one after the other, each by itself with its number, from 1."""

    def show_all(items: Mapping[str, Item]) -> ShownItems:
        shown = {key: show(item, at) for at, (key, item) in enumerate(items.items(), 1)}
        texts = {name: text for item in shown.values() for name, text in item.texts.items()}
        return ShownItems(texts, {key: item.question for key, item in shown.items()})

    return show_all


def show_tool(tool: Tool, number: int) -> ShownItem:
    """A tool by itself, as t1, t2 and so on."""
    return ShownItem({f"t{number}": prompt_text(tool)}, f"t{number}")
