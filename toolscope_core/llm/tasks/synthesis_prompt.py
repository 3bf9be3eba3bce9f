"""Asks for the words of a merged tool (ToolScope, M_D: appendix G.3); the wording is ours.

Only words: which parameters there are, their types and which are required comes from our own
synthesis and its argument maps. A *prune* keeps its name and schema, so of it only the description
is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from toolscope_core.llm.tasks.fence import RULES, PromptText, prompt_text
from toolscope_core.llm.tasks.prompt_task import user_prompt
from toolscope_core.llm.tasks.prompt_versions import PROMPT_VERSIONS
from toolscope_core.llm.tasks.replies import (
    PASSAGE,
    AnswerError,
    AnswerForm,
    Form,
    question_id,
    read_answers,
    reply_schema,
)
from toolscope_core.model.cluster import Document, Kind
from toolscope_core.model.protocols import ChatRequest
from toolscope_core.model.tool import JsonObject, Tool, digest

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 4_000
LONGEST_PARAMETER = 500
_TOKENS, _TOKENS_A_PARAMETER = 700, 60

SYSTEM = f"""\
You write the documentation of a tool that takes the place of several others. Agents will read \
nothing else before they call it.

{RULES}
Each question names the tools that are replaced and, last, the draft of the tool that replaces \
them. Write a description of one to four plain sentences: what it does, for which of the former \
purposes, what it returns. Say only what the tools shown say; invent no parameter, address, link \
or tool. Keep every warning, prohibition, permission or irreversible effect that any of them \
states. Speak of the tool, not to its reader, and do not mention that tools were merged.
Where the question says so, also give it a name and describe parameters of the draft, each in one \
sentence; otherwise repeat the draft's name and leave the list of parameters empty.
"""


@dataclass(frozen=True, slots=True)
class MergeDraft:
    """Tools that become one, with the draft of its document and its kind."""

    members: tuple[Tool, ...]
    document: Document
    kind: Kind

    @property
    def draft(self) -> Tool:
        """The document as a tool."""
        document = self.document
        return Tool(
            id="draft",
            name=document.name,
            description=document.description,
            schema=document.schema,
            returns=document.returns,
            annotations=document.annotations,
        )


class _ParameterWords(Form):
    """Names of parameters are catalog text, so they are no enum: they are compared."""

    name: str
    description: Annotated[str, Field(max_length=LONGEST_PARAMETER), PASSAGE]


class WordsForm(AnswerForm[MergeDraft]):
    """An answer, descriptions by the names of parameters when it is stored."""

    name: Annotated[str, PASSAGE]
    description: Annotated[str, Field(min_length=1, max_length=LONGEST_DESCRIPTION), PASSAGE]
    parameters: list[_ParameterWords]

    def stored(self, item: MergeDraft) -> JsonObject:
        if item.kind == "prune":
            name = item.document.name
            return {"name": name, "description": self.description, "parameters": {}}
        if len(self.name) > LONGEST_NAME:
            raise AnswerError(f"name has {len(self.name)} characters; give {LONGEST_NAME} at most")
        words = {one.name: one.description for one in self.parameters}
        unknown = sorted(words.keys() - {one.name for one in item.draft.parameters})
        if unknown:
            raise AnswerError(f"{unknown[0][:60]!r} is no parameter of the draft")
        if len(words) < len(self.parameters):
            raise AnswerError("a parameter is described more than once")
        return {"name": self.name, "description": self.description, "parameters": words}


@dataclass(frozen=True, slots=True)
class SynthesisTask:
    """The task; an answer is ``{"name", "description", "parameters": {name: description}}``."""

    batch: int = 1
    name: str = "synthesis"
    version: str = PROMPT_VERSIONS["synthesis"]

    def subjects(self, item: MergeDraft) -> tuple[str, ...]:
        """The members, and the draft: another canonical is another question."""
        members = {tool.content_hash for tool in item.members}
        return tuple(sorted({*members, digest("draft", item.draft.content_hash)}))

    def request(self, items: Mapping[str, MergeDraft]) -> ChatRequest:
        blocks: dict[str, PromptText] = {}
        questions: dict[str, str] = {}
        for key in sorted(items):
            item, name = items[key], question_id(key)
            tools = {tool.content_hash: tool for tool in item.members}
            tokens = {one: f"{name} t{number}" for number, one in enumerate(sorted(tools), 1)}
            blocks |= {token: prompt_text(tools[one]) for one, token in tokens.items()}
            blocks[f"{name} draft"] = prompt_text(item.draft)
            is_router = item.kind == "router"
            questions[key] = "a name, a description, parameters" if is_router else "a description"
        parameters = sum(len(item.draft.parameters) for item in items.values())
        return ChatRequest(
            system=SYSTEM,
            user=user_prompt(blocks, questions),
            name="documents",
            schema=reply_schema(items, WordsForm),
            most_tokens=100 + _TOKENS * len(items) + _TOKENS_A_PARAMETER * parameters,
        )

    def read(
        self, items: Mapping[str, MergeDraft], value: JsonObject
    ) -> dict[str, JsonObject | str]:
        return read_answers(items, value, WordsForm)


def written(item: MergeDraft, answer: JsonObject) -> Document:
    """The document with the words of a stored answer; its structure is untouched."""
    document = replace(item.document, description=answer["description"])
    if item.kind == "prune" or document.schema is None:
        return document
    properties = {
        name: {**sub, "description": answer["parameters"][name]}
        if name in answer["parameters"]
        else sub
        for name, sub in (document.schema.get("properties") or {}).items()
    }
    schema = {**document.schema, "properties": properties}
    return replace(document, name=answer["name"], schema=schema)
