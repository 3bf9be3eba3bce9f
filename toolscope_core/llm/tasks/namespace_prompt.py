"""Asks for the description of a namespace, by which a model that searches decides whether to open
it. The wording is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Annotated

from toolscope_core.judging.words import sentences
from toolscope_core.llm.tasks.fence import RULES, plain_prompt_text
from toolscope_core.llm.tasks.prompt_task import PromptTask, ShownItem, numbered
from toolscope_core.llm.tasks.replies import LINE, AnswerForm, up_to
from toolscope_core.model.catalog import Server
from toolscope_core.model.tool import JsonObject, Tool, digest

LONGEST = 400
MOST_TOOLS, _LONGEST_SENTENCE = 100, 200

SYSTEM = f"""\
A model that needs a tool reads a list of namespaces, each a name and one description. It sees the \
tools of a namespace only once it opens it, and opens few. You write that description from what \
the server of the namespace says of itself, and from the names and first sentences of its tools.

{RULES}
The same holds for namespaces, each of which is shown in one piece with its tools.
Say in one line of at most {LONGEST} characters what the namespace is for, then in which cases to \
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
    """What is shown: of a namespace with more than ``MOST_TOOLS`` the first by name."""
    tools = sorted(
        [tool.name, shorten(next(iter(sentences(tool.description)), ""), _LONGEST_SENTENCE)]
        for tool in item.tools
    )
    more = {"further tools": len(tools) - MOST_TOOLS} if len(tools) > MOST_TOOLS else {}
    about = " ".join(item.server.description.split())
    return {"namespace": item.server.name, "says": about, "tools": tools[:MOST_TOOLS], **more}


def _show(item: NamespaceQuestion, number: int) -> ShownItem:
    name = f"namespace {number}"
    return ShownItem({name: plain_prompt_text(_fields(item))}, name)


class NamespaceForm(AnswerForm[NamespaceQuestion]):
    """An answer."""

    description: Annotated[str, up_to(LONGEST, least=1), LINE]


NAMESPACE_TASK: PromptTask[NamespaceQuestion] = PromptTask(
    name="namespaces",
    batch=2,
    system=SYSTEM,
    reply_name="namespaces",
    form=NamespaceForm,
    answer_tokens=200,
    hashes=lambda item: [digest("namespace", _fields(item))],
    show=numbered(_show),
)
"""An answer is ``{"description": text}``, and depends on nothing that is not shown."""
