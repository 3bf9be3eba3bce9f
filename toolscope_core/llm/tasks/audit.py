"""Asks which members of a cluster, or of a family, belong together (ToolScope, V: appendix G.2).

The wording is ours. The model sees neutral tokens in place of ids. Its answer must put each of
them into exactly one group; one that drops a member cannot be used.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from toolscope_core.llm.tasks.fence import (
    RULES,
    PromptText,
    prompt_text,
    server_subject,
    server_texts,
)
from toolscope_core.llm.tasks.judge_prompt import FAMILY, SAME_JOB
from toolscope_core.llm.tasks.prompt_task import PromptTask, ShownItems
from toolscope_core.llm.tasks.replies import AnswerError, AnswerForm, Reason, question_id
from toolscope_core.model.catalog import Server
from toolscope_core.model.tool import JsonObject, Tool

_TOKENS_A_TEXT = 12

_PARTITION = """\
Compare all of them with each other and not only neighbours in a chain. Every token of the \
question stands in exactly one group; a tool that belongs to no other is a group of its own. If \
all belong together, there is one group.
"""

SYSTEM = f"""\
You check sets of tools that are about to become one tool each.

{SAME_JOB}
{RULES}
For each question sort the tools it names into groups. A group may hold only tools that all do the \
same job: one of them could serve the callers of all the others, as it is or once the arguments of \
all are united. The tools of a family, each with another value fixed, go into different groups, \
and so do siblings that do neighbouring things. {_PARTITION}"""

FAMILY_SYSTEM = f"""\
You check families of tools: each is about to become one tool with an argument that selects a case.

{FAMILY}
{RULES}
For each question sort the tools it names into groups. A group may hold only fixed cases of one \
third tool, which differ in one and the same thing: those of two sites are no cases beside those \
of two languages. Siblings go into different groups. {_PARTITION}"""


@dataclass(frozen=True, slots=True)
class ClusterTools:
    """The tools of a cluster, in any order; ``servers`` as in ``ToolPair``."""

    tools: tuple[Tool, ...]
    servers: tuple[Server, ...] = ()

    @property
    def tokens(self) -> dict[str, str]:
        """Content hash → token, by hash: tools of equal content have one token, so that no answer
        parts exact copies; the prompt names all their servers.
        """
        distinct = sorted({tool.content_hash for tool in self.tools})
        return {one: f"t{number}" for number, one in enumerate(distinct, 1)}

    @property
    def blocks(self) -> dict[str, PromptText]:
        """Token → the text of the tool in the prompt."""
        alike: dict[str, list[Tool]] = {}
        for tool in self.tools:
            alike.setdefault(tool.content_hash, []).append(tool)
        return {
            token: prompt_text(alike[one][0], [tool.server for tool in alike[one]])
            for one, token in self.tokens.items()
        }


class GroupsForm(AnswerForm[ClusterTools]):
    """An answer, the groups in the order of their first tokens when it is stored."""

    reason: Reason
    groups: list[Annotated[list[str], Field(min_length=1)]]

    def stored(self, item: ClusterTools) -> JsonObject:
        given = Counter(token for group in self.groups for token in group)
        tokens = set(item.tokens.values())
        for wrong, why in (
            (set(given) - tokens, "not asked about"),
            (tokens - set(given), "in no group"),
            ({token for token, count in given.items() if count > 1}, "in more than one group"),
        ):
            if wrong:
                cited = ", ".join(repr(one)[:40] for one in sorted(wrong)[:5])
                raise AnswerError(f"{cited}: {why}")
        order = {token: number for number, token in enumerate(item.tokens.values())}
        groups = [sorted(group, key=order.__getitem__) for group in self.groups]
        ordered = sorted(groups, key=lambda group: order[group[0]])
        return {"groups": ordered, "reason": self.reason}


def _hashes(item: ClusterTools) -> set[str]:
    """The fingerprints, as the prompt names servers, and what these say of themselves."""
    return {*(tool.fingerprint for tool in item.tools), *map(server_subject, item.servers)}


def _show(items: Mapping[str, ClusterTools]) -> ShownItems:
    blocks = {key: item.blocks for key, item in items.items()}
    texts = server_texts(server for item in items.values() for server in item.servers) | {
        f"{question_id(key)} {token}": text
        for key, own in blocks.items()
        for token, text in own.items()
    }
    tokens = {token for own in blocks.values() for token in own}
    token = {"type": "string", "enum": sorted(tokens, key=lambda one: (len(one), one))}
    groups = {"type": "array", "items": {"type": "array", "items": token}}
    questions = {key: ", ".join(own) for key, own in blocks.items()}
    return ShownItems(texts, questions, {"groups": groups}, _TOKENS_A_TEXT * len(texts))


AUDIT_TASK: PromptTask[ClusterTools] = PromptTask(
    name="audit",
    batch=1,
    system=SYSTEM,
    reply_name="groups",
    form=GroupsForm,
    answer_tokens=150,
    hashes=_hashes,
    show=_show,
    call_tokens=100,
)
"""Groups of tools that do the same job; an answer is ``{"groups": [[token…]…], "reason"}``, a
partition of the tokens.
"""
FAMILY_AUDIT_TASK = replace(
    AUDIT_TASK, name="family audit", system=FAMILY_SYSTEM, reply_name="families"
)
"""The same for the cases of a family."""


def audit_groups(item: ClusterTools, answer: JsonObject) -> tuple[tuple[str, ...], ...]:
    """The tool ids of each group of a stored answer, sorted."""
    hash_of = {token: one for one, token in item.tokens.items()}
    ids: dict[str, list[str]] = {}
    for tool in item.tools:
        ids.setdefault(tool.content_hash, []).append(tool.id)
    groups = ([i for token in group for i in ids[hash_of[token]]] for group in answer["groups"])
    return tuple(sorted(tuple(sorted(group)) for group in groups))
