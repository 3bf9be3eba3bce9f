"""Asks how two tools are related and which could serve for which (ToolScope, M_C: appendix G.1).

The wording is ours. Each pair is asked about by itself: answers on three tools need not fit
together, which audits and correction settle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from toolscope_core.llm.tasks.fence import RULES, prompt_text
from toolscope_core.llm.tasks.prompt_task import user_prompt
from toolscope_core.llm.tasks.prompt_versions import PROMPT_VERSIONS
from toolscope_core.llm.tasks.replies import (
    AnswerForm,
    Confidence,
    Reason,
    read_answers,
    reply_schema,
)
from toolscope_core.model.pair import Outcome, Relation, Serves
from toolscope_core.model.protocols import ChatRequest
from toolscope_core.model.tool import JsonObject, Tool

RelationAnswer = Literal[Relation, "unsure"]
RELATIONS: tuple[RelationAnswer, ...] = (*get_args(Relation), "unsure")
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
_TOKENS = 120

SAME_JOB = """\
Two tools do the same job when a user who asks for one is fully served by the other: the same \
thing is done to the same kind of object and gives the same kind of result. Their words may \
differ, and one may be more general: with its arguments set, or some left out, it does just what \
the other does.
They do not do the same job where something differs that no argument can say:
- A value is fixed in the name, the description or the server of a tool, another one in the other \
tool, and neither takes it as an argument: a provider, product, site, language, month or unit. \
Such tools are a family: fixed cases of a third tool, whether that one exists or not.
- They do opposite or merely neighbouring things (search and delete, create and update, one item \
by its id and a list of all), work on different kinds of objects, or compute different quantities.
Likeness of names, of topic or of the product they are part of is not enough.
"server" is the owner of a tool, where that is known. It tells whose users, files or orders are \
meant: the same operation on two products is a family. Two servers for one product, or for what is \
the same everywhere, such as arithmetic, may well do the same job.
"""

SYSTEM = f"""\
You curate the toolset of an agent and compare its tools two by two.

{SAME_JOB}
{RULES}
Judge each pair by itself, whatever you said of others. For each question say in one sentence what \
decides it, then:
- relation: "duplicate": the same job in other words; "subsumes": the same job, where one is \
general and its arguments can say all that the other has fixed; "parametric": a family; "related": \
the same topic or objects, another intent; "different": nothing in common; "unsure": what is shown \
does not tell.
- serves: which of the two could take every call meant for the other today, its schema as it is \
and nothing lost: "first", "second", "both" or "none". It could not if it requires an input that \
those calls do not have, or has no place for an argument that matters. Two that require different \
inputs for one job (a file, a URL, encoded content) are "duplicate" and serve "none", unless one \
of them takes either input. If the relation is neither "duplicate" nor "subsumes", it is "none".
- confidence: how sure you are of the relation.
"""


@dataclass(frozen=True, slots=True)
class ToolPair:
    """Two tools, in any order."""

    left: Tool
    right: Tool


class RelationForm(AnswerForm[ToolPair]):
    """An answer; *first* and *second* are the tools in the order of the subjects, in which a
    question names them.
    """

    reason: Reason
    relation: RelationAnswer
    serves: Literal["first", "second", "both", "none"]
    confidence: Confidence

    def stored(self, item: ToolPair) -> JsonObject:
        """See ``AnswerForm``; *none* serves where the relation excludes it."""
        both = self.relation == "subsumes" and self.serves == "both"
        possible = self.relation in ("duplicate", "subsumes") and not both
        return {**self.model_dump(), "serves": self.serves if possible else "none"}


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """The task; an answer is ``{"relation", "serves", "confidence", "reason"}``.

    Neither the order of the pair nor the tokens of a call are in it.
    """

    batch: int = 8
    name: str = "judge"
    version: str = PROMPT_VERSIONS["judge"]

    def subjects(self, item: ToolPair) -> tuple[str, ...]:
        """The fingerprints, as the prompt names the server: another owner is another question."""
        return tuple(sorted((item.left.fingerprint, item.right.fingerprint)))

    def request(self, items: Mapping[str, ToolPair]) -> ChatRequest:
        """Every tool once, however many questions it is in."""
        tools = {t.fingerprint: t for pair in items.values() for t in (pair.left, pair.right)}
        tokens = _tokens(items.values())
        blocks = {
            name: prompt_text(tools[one], (tools[one].server,)) for one, name in tokens.items()
        }
        questions = {
            key: " and ".join(tokens[one] for one in self.subjects(items[key]))
            for key in sorted(items)
        }
        return ChatRequest(
            system=SYSTEM,
            user=user_prompt(blocks, questions),
            name="verdicts",
            schema=reply_schema(items, RelationForm),
            most_tokens=200 + _TOKENS * len(items),
        )

    def read(self, items: Mapping[str, ToolPair], value: JsonObject) -> dict[str, JsonObject | str]:
        return read_answers(items, value, RelationForm)


def serves_of(item: ToolPair, answer: JsonObject) -> Serves:
    """Which tool of the pair, *left* or *right*, serves the other by a stored answer."""
    side: str = answer["serves"]
    if side not in ("first", "second"):
        return "both" if side == "both" else "none"
    turned = item.left.fingerprint > item.right.fingerprint
    return "left" if (side == "first") != turned else "right"


def _tokens(items: Iterable[ToolPair]) -> dict[str, str]:
    """Fingerprint → token, for all tools of a call."""
    tools = {tool.fingerprint for two in items for tool in (two.left, two.right)}
    return {one: f"t{number}" for number, one in enumerate(sorted(tools), 1)}
