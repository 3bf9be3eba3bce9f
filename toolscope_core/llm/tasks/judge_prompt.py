"""Asks how two tools are related and which could serve for which (ToolScope, M_C: appendix G.1).

The wording is ours. Each pair is asked about by itself: answers on three tools need not fit
together, which audits and correction settle.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from toolscope_core.llm.tasks.fence import RULES, prompt_text, server_subject, server_texts
from toolscope_core.llm.tasks.prompt_task import PromptTask, ShownItems
from toolscope_core.llm.tasks.replies import AnswerForm, Confidence, Reason
from toolscope_core.model.catalog import Server
from toolscope_core.model.pair import Outcome, Relation, Serves
from toolscope_core.model.tool import JsonObject, Tool

RelationAnswer = Literal[Relation, "unsure"]
"""The relations that the model may answer."""
OUTCOMES: Mapping[RelationAnswer, Outcome] = {
    "duplicate": "merge",
    "subsumes": "merge",
    "parametric": "family",
    "related": "keep",
    "different": "keep",
    "unsure": "unsure",
}
"""The verdict that each of them is."""
SERVES = ("first", "second", "both", "none")
"""What the model may answer on who serves; the tools of a question in the order of fingerprints."""

FAMILY = """\
A family are fixed cases of a third tool, whether that one exists or not: one operation, and one \
thing that is fixed in the name, the description or the server of each, another in each, and that \
none of them takes as an argument: a provider, product, site, language, month, unit or format, or \
which kind of things is looked up (the owner of a domain, of an IP address; trending repositories, \
trending developers; the sites, the results of a study). The test: one tool with one more argument \
could stand for all; what else goes in and the form of what comes out are alike.
Siblings are no family: opposite or merely neighbouring operations (search and delete, create and \
update, one item by its id and a list of all), objects that need other inputs or give results of \
another form (create a task, create a user), different quantities that are computed.
"""

SAME_JOB = f"""\
Two tools do the same job when a user who asks for one is fully served by the other: the same \
thing is done to the same kind of object and gives the same kind of result, in whatever words.
- A tool that returns all that the other returns, and more, does the same job: it serves the \
other, and the other does not serve it. So does a general one that, with its arguments set or some \
left out, does just what the other does.
- Other required inputs for one thing (a city or its coordinates; a file, a URL or its encoded \
content) leave it the same job, but neither serves the other unless it takes either input.
- Tools of two servers that work on what each server keeps to itself (an open page, a session, a \
loaded document, a memory) do the same job, but neither serves the other: only an argument that \
names the server could reach both. What lies outside of both servers (the web, a disk, an account \
with a provider) is not kept in that sense.
They do not do the same job where something differs that no argument can say: they are a family, \
or siblings, or have nothing in common. Likeness of names, of topic or of the product they are \
part of is not enough.
{FAMILY}\
"server" is the owner of a tool, where that is known; what it says of itself may stand before the \
tools. It tells whose users, files or orders are meant: the same operation on two products is a \
family. Two servers for one product, or for what is the same everywhere, such as arithmetic, may \
well do the same job. A tool without a description is known by its name and its parameters.
"""

SYSTEM = f"""\
You curate the toolset of an agent and compare its tools two by two.

{SAME_JOB}
{RULES}
Judge each pair by itself, whatever you said of others. For each question say in one sentence what \
decides it, then:
- relation: "duplicate": the same job in other words; "subsumes": the same job, where one does \
more or is general and its arguments can say all that the other has fixed; "parametric": a family; \
"related": the same topic or objects, another intent; "different": nothing in common; "unsure": \
what is shown does not tell.
- serves: which of the two could take every call meant for the other today, its schema as it is \
and nothing lost: "first", "second", "both" or "none". A tool could not if it requires an input \
that those calls do not have, if it has no place for an argument that decides what is done or what \
is found (a filter, a date, a language, a trial run; not the number or layout of results), if it \
returns less, or if it works on what another server keeps. If the relation is neither "duplicate" \
nor "subsumes", it is "none".
- confidence: the probability that the relation is right.
"""


@dataclass(frozen=True, slots=True)
class ToolPair:
    """Two tools, in any order; ``servers`` are those of them that say something of themselves."""

    left: Tool
    right: Tool
    servers: tuple[Server, ...] = ()

    @property
    def ordered(self) -> tuple[Tool, Tool]:
        """The first and the second tool of the question."""
        turned = self.left.fingerprint > self.right.fingerprint
        return (self.right, self.left) if turned else (self.left, self.right)


class RelationForm(AnswerForm[ToolPair]):
    """An answer; *first* and *second* are the tools of ``ToolPair.ordered``."""

    reason: Reason
    relation: RelationAnswer
    serves: Literal["first", "second", "both", "none"]
    confidence: Confidence

    def stored(self, item: ToolPair) -> JsonObject:
        """See ``AnswerForm``; *none* serves where the relation excludes it."""
        both = self.relation == "subsumes" and self.serves == "both"
        possible = self.relation in ("duplicate", "subsumes") and not both
        return {**self.model_dump(), "serves": self.serves if possible else "none"}


def _hashes(item: ToolPair) -> list[str]:
    """The fingerprints, as the prompt names the server: another owner is another question, and one
    that says something else of itself.
    """
    return [*(tool.fingerprint for tool in item.ordered), *map(server_subject, item.servers)]


def _show(items: Mapping[str, ToolPair]) -> ShownItems:
    """Every tool once, however many questions it is in."""
    tools = {tool.fingerprint: tool for pair in items.values() for tool in pair.ordered}
    tokens = {one: f"t{number}" for number, one in enumerate(sorted(tools), 1)}
    texts = server_texts(server for pair in items.values() for server in pair.servers) | {
        name: prompt_text(tools[one], (tools[one].server,)) for one, name in tokens.items()
    }
    questions = {}
    for key, item in items.items():
        first, second = (tokens[tool.fingerprint] for tool in item.ordered)
        questions[key] = f"first {first}, second {second}"
    return ShownItems(texts, questions)


JUDGE_TASK: PromptTask[ToolPair] = PromptTask(
    name="judge",
    batch=8,
    system=SYSTEM,
    reply_name="verdicts",
    form=RelationForm,
    answer_tokens=120,
    hashes=_hashes,
    show=_show,
)
"""The task; an answer is ``{"relation", "serves", "confidence", "reason"}``. ``serves`` is one of
``SERVES``: neither the order of the pair nor the tokens of a call are in it.
"""


def serves_of(item: ToolPair, answer: JsonObject) -> Serves:
    """Which tool of the pair, *left* or *right*, serves the other by a stored answer."""
    side: str = answer["serves"]
    if side not in SERVES[:2]:
        return "both" if side == "both" else "none"
    return "left" if (side == "first") == (item.ordered[0] is item.left) else "right"
