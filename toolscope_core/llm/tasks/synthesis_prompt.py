"""Asks for the texts of a merged tool (ToolScope, M_D: appendix G.3). The wording is ours.

The parameters, their types and which of them are required come from our own synthesis and its
argument maps. A *drop-in* keeps its name and schema, so only the description in an answer is used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import Annotated

from pydantic import Field

from toolscope_core.llm.tasks import prompt_task as prompts
from toolscope_core.llm.tasks.fence import RULES, PromptText, plain_prompt_text, prompt_text
from toolscope_core.merging.clusters import documented
from toolscope_core.merging.synthesis import Synthesis
from toolscope_core.model.catalog import Server
from toolscope_core.model.cluster import Cluster, ClusterKind, Document
from toolscope_core.model.tool import Augmentation, JsonObject, Tool, canonical_json, digest
from toolscope_core.wording.words import sentences

_LONGEST_NAME = 64
LONGEST_DESCRIPTION = 4_000
LONGEST_PARAMETER = 500
_TOKENS_A_PARAMETER = 60

_SYSTEM = f"""\
You write the documentation of a tool that takes the place of several others. Agents will read \
nothing else before they call it.

{RULES}
Each question has the former tools, t1, t2 and so on with their servers, and the draft of the tool \
that replaces them. Write a description of one to four plain sentences, in the language of the \
tools: what it does, for which purposes, what it returns. Say only what the tools shown say; \
invent no ability, parameter, address, link or tool, and name no former tool. Keep every warning, \
prohibition, permission, cost and irreversible effect that any of them states. Speak of the tool, \
not to its reader, and do not mention that tools were merged.

Where a question says that one tool stays, that tool answers every call, as it always did. Promise \
what its own text and parameters say it does, and nothing that only the others do: none of their \
results, options, formats or limits. The others show in which words people ask for the same job. \
Repeat the draft's name and leave the list of parameters empty.

Where a question speaks of routes, every former tool still does its work, and the text "routes" \
says which argument of the draft selects one, what each of its values stands for, and which \
argument of the draft each former argument became. Say what the values choose between, and of what \
only some of them do, for which values it holds. Give the draft a name too, of letters, digits and \
underscores, like the names of the former tools but of none outside; the draft's own will do. \
Describe each parameter in one sentence, by value where the former tools want it written in \
different ways; of the selector say what each value selects.
"""


@dataclass(frozen=True, slots=True)
class MergeDraft:
    """Tools that become one; ``merged`` has the draft of the merged tool's document."""

    members: tuple[Tool, ...]
    merged: Synthesis | Cluster

    @property
    def document(self) -> Document:
        """The draft."""
        return self.merged.document

    @property
    def kind(self) -> ClusterKind:
        return self.merged.kind

    @property
    def draft(self) -> Tool:
        """The document as a tool."""
        return documented(Tool("draft", ""), self.document)

    @property
    def canonical(self) -> Tool:
        """The member that gives the merged tool its id; in a drop-in, the tool that stays."""
        return next(tool for tool in self.members if tool.id == self.merged.canonical)

    @property
    def names(self) -> dict[str, str]:
        """The name of each member in the prompt, by the member's fingerprint."""
        prints = sorted({tool.fingerprint for tool in self.members})
        return {fingerprint: f"t{number}" for number, fingerprint in enumerate(prints, 1)}

    @property
    def routes(self) -> JsonObject:
        """Where each member's calls go: the value of the selector, and the new name of each old
        argument.

        An argument that has no place in the merged tool maps to ``None``. The result is empty if
        the merged tool is not a gateway tool.
        """
        if self.kind != "gateway":
            return {}
        rows = [
            {
                "value": alpha.constants.get(self.merged.selector),
                "tool": self.names[tool.fingerprint],
                "arguments": {
                    **dict.fromkeys(alpha.dropped),
                    **{move.source: move.target for move in alpha.moves},
                },
            }
            for tool, alpha in zip(self.members, self.merged.arguments, strict=True)
        ]
        return {"selector": self.merged.selector, "routes": sorted(rows, key=canonical_json)}

    def prompt_texts(self) -> dict[str, PromptText]:
        """All texts to show, by their names in the prompt."""
        by_print = {tool.fingerprint: tool for tool in self.members}
        texts = {
            name: prompt_text(by_print[one], (by_print[one].server,))
            for one, name in self.names.items()
        }
        routes = {"routes": plain_prompt_text(self.routes)} if self.routes else {}
        return {**texts, **routes, "draft": prompt_text(self.draft)}

    def question(self) -> str:
        """The question about the draft."""
        if self.routes:
            return "a name, a description, parameters, by routes"
        return f"a description; {self.names[self.canonical.fingerprint]} stays"


class _ParameterWords(prompts.ObjectForm):
    """Parameter names are text from the catalog, so they are compared rather than
    put in an enum.
    """

    name: str
    description: Annotated[str, Field(max_length=LONGEST_PARAMETER), prompts.PASSAGE]


class WordsForm(prompts.AnswerForm[MergeDraft]):
    """An answer; its descriptions are stored by parameter name."""

    name: Annotated[str, prompts.PASSAGE]
    description: Annotated[
        str, Field(min_length=1, max_length=LONGEST_DESCRIPTION), prompts.PASSAGE
    ]
    parameters: list[_ParameterWords]

    def ledger_answer(self, item: MergeDraft) -> JsonObject:
        if item.kind == "drop_in":
            name = item.document.name
            return {"name": name, "description": self.description, "parameters": {}}
        if len(self.name) > _LONGEST_NAME:
            raise prompts.AnswerError(
                f"name has {len(self.name)} characters; give {_LONGEST_NAME} at most"
            )
        words = {one.name: one.description for one in self.parameters}
        unknown = sorted(words.keys() - {one.name for one in item.draft.parameters})
        if unknown:
            raise prompts.AnswerError(f"{unknown[0][:60]!r} is not a parameter of the draft")
        if len(words) < len(self.parameters):
            raise prompts.AnswerError("a parameter is described more than once")
        return {"name": self.name, "description": self.description, "parameters": words}


def _hashes(item: MergeDraft) -> list[str]:
    """The members and everything else that is shown: with another canonical, it is another
    question.
    """
    own = digest("draft", item.draft.content_hash, item.canonical.fingerprint, item.routes)
    return [own, *{tool.fingerprint for tool in item.members}]


def _show(items: Mapping[str, MergeDraft]) -> prompts.ShownItems:
    texts = {
        f"{prompts.question_id(key)} {name}": text
        for key, item in items.items()
        for name, text in item.prompt_texts().items()
    }
    questions = {key: item.question() for key, item in items.items()}
    parameters = sum(len(item.draft.parameters) for item in items.values())
    return prompts.ShownItems(texts, questions, more_tokens=_TOKENS_A_PARAMETER * parameters)


SYNTHESIS_TASK: prompts.PromptTask[MergeDraft] = prompts.PromptTask(
    name="synthesis",
    batch=1,
    system=_SYSTEM,
    reply_name="documents",
    form=WordsForm,
    answer_tokens=700,
    hashes=_hashes,
    show=_show,
    call_tokens=100,
)
"""The task. An answer is ``{"name", "description", "parameters": {name: description}}``."""


def written_document(item: MergeDraft, answer: JsonObject) -> Document:
    """The document with the words of a stored answer; its structure is unchanged."""
    document = replace(item.document, description=answer["description"])
    if item.kind == "drop_in" or document.schema is None:
        return document
    properties = {
        name: {**sub, "description": answer["parameters"][name]}
        if name in answer["parameters"]
        else sub
        for name, sub in (document.schema.get("properties") or {}).items()
    }
    schema = {**document.schema, "properties": properties}
    return replace(document, name=answer["name"], schema=schema)


LEAST_QUESTIONS, _MOST_QUESTIONS = 3, 8
_LONGEST_EXPANDED, _LONGEST_QUESTION = 1_200, 300

AUGMENTATION_SYSTEM = f"""\
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


def augmentation_of(answer: JsonObject) -> Augmentation:
    """The document variant in a stored answer."""
    return Augmentation(answer["expanded"], tuple(answer["questions"]))


class VariantForm(prompts.AnswerForm[Tool]):
    """An answer; its questions are stored without repeats."""

    expanded: Annotated[str, Field(min_length=1, max_length=_LONGEST_EXPANDED), prompts.PASSAGE]
    questions: list[Annotated[str, prompts.up_to(_LONGEST_QUESTION), prompts.PASSAGE]]

    def ledger_answer(self, item: Tool) -> JsonObject:
        distinct = list(dict.fromkeys(one for one in self.questions if one))
        if not LEAST_QUESTIONS <= len(distinct) <= _MOST_QUESTIONS:
            raise prompts.AnswerError(
                f"there are {len(distinct)} different questions; give {LEAST_QUESTIONS} to "
                f"{_MOST_QUESTIONS}"
            )
        return {"expanded": self.expanded, "questions": distinct}


AUGMENTATION_TASK: prompts.PromptTask[Tool] = prompts.PromptTask(
    name="augmentation",
    batch=4,
    system=AUGMENTATION_SYSTEM,
    reply_name="variants",
    form=VariantForm,
    answer_tokens=450,
    hashes=lambda tool: [tool.content_hash],
    show=prompts.numbered(prompts.show_tool),
)
"""An answer is ``{"expanded", "questions": [text…]}``, with three to eight questions."""


_LONGEST = 400
MOST_TOOLS, _LONGEST_SENTENCE = 100, 200

NAMESPACE_SYSTEM = f"""\
A model that needs a tool reads a list of namespaces, each a name and one description. It sees the \
tools of a namespace only once it opens it, and opens few. You write that description from what \
the server of the namespace says of itself, and from the names and first sentences of its tools.

{RULES}
The same holds for namespaces, each of which is shown in one piece with its tools.
Say in one line of at most {_LONGEST} characters what the namespace is for, then in which cases to \
open it: the kinds of thing its tools work on and what can be done with them, in words that a \
person would ask with. Give each kind of job a word or two, rather than a few jobs many. Use your \
own words and copy no sentence. Promise nothing that no tool here does. Name no tool, server or \
namespace but these. No praise, and no word on how to call anything.
"""


@dataclass(frozen=True, slots=True)
class NamespaceQuestion:
    """A server to describe, and the tools of its namespace."""

    server: Server
    tools: Sequence[Tool]


def _fields(item: NamespaceQuestion) -> JsonObject:
    """What is shown; if the namespace has more than ``MOST_TOOLS`` tools, only the first by name
    are shown.
    """
    tools = sorted(
        [tool.name, shorten(next(iter(sentences(tool.description)), ""), _LONGEST_SENTENCE)]
        for tool in item.tools
    )
    more = {"further tools": len(tools) - MOST_TOOLS} if len(tools) > MOST_TOOLS else {}
    about = " ".join(item.server.description.split())
    return {"namespace": item.server.name, "says": about, "tools": tools[:MOST_TOOLS], **more}


def _show_namespace(item: NamespaceQuestion, number: int) -> prompts.ShownItem:
    name = f"namespace {number}"
    return prompts.ShownItem({name: plain_prompt_text(_fields(item))}, name)


class NamespaceForm(prompts.AnswerForm[NamespaceQuestion]):
    """An answer."""

    description: Annotated[str, prompts.up_to(_LONGEST, least=1), prompts.LINE]


NAMESPACE_TASK: prompts.PromptTask[NamespaceQuestion] = prompts.PromptTask(
    name="namespaces",
    batch=2,
    system=NAMESPACE_SYSTEM,
    reply_name="namespaces",
    form=NamespaceForm,
    answer_tokens=200,
    hashes=lambda item: [digest("namespace", _fields(item))],
    show=prompts.numbered(_show_namespace),
)
"""An answer is ``{"description": text}``. It depends only on what is shown."""
