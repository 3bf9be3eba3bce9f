"""The papers' prompts as their appendices print them; on request, they are used in place of ours.

A quotation is a file in ``quotations`` that also names its source. Its slots are filled with the
same fenced texts that our prompts show. The system message contains only the rules on strangers'
text, which apply in every prompt. An answer is read in the form that the quotation asks for, and
stored in the form of our own task, so that nothing else depends on who worded the question.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from toolscope_core.llm.tasks import prompt_task as prompts
from toolscope_core.llm.tasks import query_draft_prompt, selection_prompt
from toolscope_core.llm.tasks.fence import RULES, PromptText, fences, plain_prompt_text, prompt_text
from toolscope_core.llm.tasks.judge_prompt import AUDIT_TASK, JUDGE_TASK, ClusterTools, ToolPair
from toolscope_core.model.protocols import ChatModel, ChatRequest, Task
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

_Item = TypeVar("_Item")
_AnyItem = TypeVar("_AnyItem")
_VERSION = "paper 1"
_TOKENS = 800
"""The largest number of tokens in a reply; the papers name no limit."""
_SLOT = re.compile(r"\{(\w+)\}")
_MARKUP = "*`'\"‘’“” \t"
"""Characters that models put around a name."""
_NONE = "none"

Texts = Mapping[str, PromptText]
"""The texts to fence, by their names in the prompt."""


@dataclass(frozen=True, slots=True)
class QuotedTask(Generic[_Item]):
    """A ``protocols.Task`` in a paper's wording, with the items and answers of our ``own`` task.

    ``slots`` gives the texts for each slot of the quotation; texts under an empty name come after
    the quotation. ``answer`` turns a reply into a row of our own form, and raises ``AnswerError``
    if it cannot. If there is no ``schema``, the reply is a text, given as ``{"text": …}``.
    """

    own: prompts.PromptTask[_Item]
    slots: Callable[[_Item], Mapping[str, Texts]]
    answer: Callable[[_Item, JsonObject], JsonObject]
    schema: JsonObject | None = None
    batch: int = 1

    @property
    def name(self) -> str:
        """See ``protocols.Task``."""
        return self.own.name

    @property
    def version(self) -> str:
        """See ``protocols.Task``."""
        return _VERSION

    def size(self, item: _Item) -> int:
        """See ``protocols.Task``."""
        return 1

    def subjects(self, item: _Item) -> tuple[str, ...]:
        """See ``protocols.Task``."""
        return self.own.subjects(item)

    def request(self, items: Mapping[str, _Item]) -> ChatRequest:
        """See ``protocols.Task``; there is only one item."""
        (item,) = items.values()
        slots = self.slots(item)
        shown = fences({name: t for own in slots.values() for name, t in own.items()}, items)
        blocks = {slot: "".join(f"\n{shown[name]}" for name in own) for slot, own in slots.items()}
        text = _SLOT.sub(lambda slot: blocks.get(slot[1], ""), _quotation(self.name))
        return ChatRequest(
            system=RULES,
            user=text + blocks.get("", ""),
            name=self.own.reply_name,
            schema=self.schema,
            most_tokens=_TOKENS,
        )

    def read(self, items: Mapping[str, _Item], value: JsonObject) -> dict[str, JsonObject | str]:
        """See ``protocols.Task``."""
        ((key, item),) = items.items()
        try:
            row = self.answer(item, value)
        except prompts.AnswerError as error:
            return {key: str(error)}
        return self.own.read(items, {"answers": [{"question": prompts.question_id(key), **row}]})


@cache
def _quotation(task: str) -> str:
    """The prompt as it is printed, without the line that names its source."""
    path = Path(__file__).parent / "quotations" / f"{task.replace(' ', '_')}.txt"
    return path.read_text("utf-8").partition("\n---\n")[2]


def _text_of(value: JsonObject) -> str:
    return str(value.get("text") or "").strip()


def _without_markup(text: str) -> str:
    return re.sub(r"\(.*\)$", "", text.strip(_MARKUP)).strip(_MARKUP)


def _named(tools: Sequence[Tool]) -> dict[str, Tool]:
    """The tools by name, in order. A name that another tool already has gets a number."""
    by_name: dict[str, Tool] = {}
    for tool in tools:
        name, number = tool.name, 1
        while name in by_name:
            number += 1
            name = f"{tool.name}_{number}"
        by_name[name] = tool
    return by_name


def _shown(by_name: Mapping[str, Tool], label: str, with_servers: bool = False) -> Texts:
    """The tools under their names, fenced as ``label`` 1, 2 and so on."""
    return {
        f"{label} {at}": prompt_text(
            replace(tool, name=name), (tool.server,) if with_servers else ()
        )
        for at, (name, tool) in enumerate(by_name.items(), 1)
    }


def _judge_slots(item: ToolPair) -> dict[str, Texts]:
    target, candidate = _shown(_named(item.ordered), "function", with_servers=True).items()
    return {"target_tool_docstring": dict([target]), "candidate_tool_docstring": dict([candidate])}


def _judged(item: ToolPair, value: JsonObject) -> JsonObject:
    """*Similar* means one job; the prompt does not ask which tool could serve for which."""
    first, _, rest = _text_of(value).partition("\n")
    line = _without_markup(re.sub(r"^\W*line 1\W*", "", first, flags=re.IGNORECASE))
    names = {item.ordered[1].name, [*_named(item.ordered)][1]}
    if line not in names and line.casefold() != _NONE:
        raise prompts.AnswerError("line 1 is neither the name of the candidate function nor None")
    return {
        "reason": re.sub(r"^\W*line 2\W*", "", rest.strip(), flags=re.IGNORECASE),
        "relation": "duplicate" if line in names else "different",
        "serves": "none",
        "confidence": 1.0,
    }


def _audited(item: ClusterTools, value: JsonObject) -> JsonObject:
    """The groups; a tool that is in none of them is a group of its own."""
    tokens = [*item.tokens.values()]
    if value.get("merge") == "MERGE_OK":
        groups = [tokens]
    elif value.get("merge") == "MERGE_BAD" and isinstance(value.get("clusters"), list):
        groups = [group for group in value["clusters"] if group]
        grouped = [token for group in groups if isinstance(group, list) for token in group]
        groups += [[token] for token in tokens if token not in grouped]
    else:
        raise prompts.AnswerError("merge is neither MERGE_OK nor MERGE_BAD with clusters")
    return {"reason": str(value.get("reason") or ""), "groups": groups}


def _selection_slots(item: selection_prompt.SelectionQuestion) -> dict[str, Texts]:
    return {
        "question": {"query": plain_prompt_text(item.request)},
        "input": {"step": plain_prompt_text(item.job)},
        "tools": _shown(_named(selection_prompt.in_shown_order(item.tools)), "tool"),
    }


def _selected(item: selection_prompt.SelectionQuestion, value: JsonObject) -> JsonObject:
    names, line = [*_named(selection_prompt.in_shown_order(item.tools))], _text_of(value)
    for name in (line, _without_markup(line)):
        if name in names:
            return {"tool": names.index(name) + 1}
    if _without_markup(line).casefold() != _NONE:
        raise prompts.AnswerError("the reply is neither the name of a listed function nor None")
    return {"tool": selection_prompt.NOBODY}


def _draft_slots(item: query_draft_prompt.DraftQuestion) -> dict[str, Texts]:
    examples = [{"instruction": one.text, "functions": [*one.tools]} for one in item.examples]
    return {
        "examples_str": {"examples": plain_prompt_text(examples)},
        "": _shown(_named(item.in_order), "function", with_servers=True),
    }


def _drafted(item: query_draft_prompt.DraftQuestion, value: JsonObject) -> JsonObject:
    names, functions = [*_named(item.in_order)], value.get("functions")
    if not isinstance(functions, list) or not set(map(str, functions)) <= {*names}:
        raise prompts.AnswerError("functions must be names of the functions shown")
    return {
        "tools": [names.index(name) + 1 for name in functions],
        "request": value.get("instruction"),
    }


_POLISHED_EXAMPLE = {
    "reasoning": "The instruction went step by step.",
    "instruction": "Create a Spotify playlist based on the emotions and themes found in the lyrics "
    "of the song 'XYZ'.",
}
"""The prompt's own example in the form of a reply, since the paper prints none."""


def _polish_slots(item: query_draft_prompt.PolishQuestion) -> dict[str, Texts]:
    example = PromptText(canonical_json(_POLISHED_EXAMPLE))
    return {
        "in_context_examples": {"example": example},
        "": {"instruction": plain_prompt_text(item.draft)},
    }


def _polished(item: query_draft_prompt.PolishQuestion, value: JsonObject) -> JsonObject:
    return {"request": value.get("instruction")}


_TEXT, _LIST = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
_QUOTED: Mapping[str, QuotedTask[Any]] = {
    task.name: task
    for task in (
        QuotedTask(JUDGE_TASK, _judge_slots, _judged),
        QuotedTask(
            AUDIT_TASK,
            lambda item: {"GROUP_BLOCK": item.blocks},
            _audited,
            prompts.object_schema(
                merge={"type": "string", "enum": ["MERGE_OK", "MERGE_BAD"]},
                clusters={"type": "array", "items": _LIST},
                reason=_TEXT,
            ),
        ),
        QuotedTask(selection_prompt.SELECTION_TASK, _selection_slots, _selected),
        QuotedTask(
            query_draft_prompt.DRAFT_TASK,
            _draft_slots,
            _drafted,
            prompts.object_schema(instruction=_TEXT, functions=_LIST, explanation=_TEXT),
        ),
        QuotedTask(
            query_draft_prompt.POLISH_TASK,
            _polish_slots,
            _polished,
            prompts.object_schema(reasoning=_TEXT, instruction=_TEXT),
        ),
    )
}


def task_for(task: Task[_AnyItem], model: ChatModel) -> Task[_AnyItem]:
    """The task in the wording that is used for this model."""
    is_quoted = model.parameters.get("prompts") == "paper"
    return cast(Task[_AnyItem], _QUOTED.get(task.name, task)) if is_quoted else task


def prompt_version(task: str, is_quoted: bool) -> str:
    """The version of a task's current prompt."""
    return _VERSION if is_quoted and task in _QUOTED else prompts.PROMPT_VERSIONS[task]
