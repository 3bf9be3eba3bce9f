"""Asks which members of a cluster belong together (ToolScope, V: appendix G.2).

The wording is ours. The model sees neutral tokens in place of ids. Its answer must put each of
them into exactly one group; a member that it drops is a group of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from toolscope_core.backends import ChatRequest
from toolscope_core.datamodel import JsonObject, Tool
from toolscope_core.prompts.fence import RULES, Shown, fenced, shown
from toolscope_core.prompts.judge import CRITERIA
from toolscope_core.prompts.replies import (
    REASON,
    AnswerError,
    question_id,
    read_answers,
    reply_schema,
    sentence,
)

_TOKENS, _TOKENS_A_MEMBER = 150, 12

SYSTEM = f"""\
You check sets of tools that are about to become one tool each.

{CRITERIA}
{RULES}
For each question sort the tools it names into groups of those that belong together, comparing all \
of them with each other and not only neighbours in a chain. Every token of the question stands in \
exactly one group; a tool that belongs to no other is a group of its own. If all belong together, \
there is one group.
"""


@dataclass(frozen=True, slots=True)
class Members:
    """The tools of a cluster, in any order."""

    tools: tuple[Tool, ...]

    @property
    def tokens(self) -> dict[str, str]:
        """Content hash → token, by hash: tools of equal content have one token."""
        distinct = sorted({tool.content_hash for tool in self.tools})
        return {one: f"t{number}" for number, one in enumerate(distinct, 1)}


@dataclass(frozen=True, slots=True)
class Auditing:
    """The task; an answer is ``{"groups": [[token…]…], "reason"}``, a partition of the tokens."""

    batch: int = 1
    name: str = "audit"
    version: str = "1"

    def subjects(self, item: Members) -> tuple[str, ...]:
        return tuple(item.tokens)

    def request(self, items: Mapping[str, Members]) -> ChatRequest:
        blocks: dict[str, Shown] = {}
        asked, tokens = [], set[str]()
        for key in sorted(items):
            own, name = items[key].tokens, question_id(key)
            tools = {tool.content_hash: tool for tool in items[key].tools}
            blocks |= {f"{name} {token}": shown(tools[one]) for one, token in own.items()}
            asked.append(f"{name}: {', '.join(own.values())}")
            tokens.update(own.values())
        token = {"type": "string", "enum": sorted(tokens, key=lambda one: (len(one), one))}
        group = {"type": "array", "items": token}
        fields = {"reason": REASON, "groups": {"type": "array", "items": group}}
        members = sum(len(item.tokens) for item in items.values())
        return ChatRequest(
            system=SYSTEM,
            user="\n".join([fenced(blocks, items), "", "Questions:", *asked]),
            name="groups",
            schema=reply_schema(items, fields),
            most_tokens=100 + _TOKENS * len(items) + _TOKENS_A_MEMBER * members,
        )

    def read(self, items: Mapping[str, Members], value: JsonObject) -> dict[str, JsonObject | str]:
        return read_answers(items, value, _read)


def groups_of(item: Members, answer: JsonObject) -> tuple[tuple[str, ...], ...]:
    """The tool ids of each group of a stored answer, sorted."""
    hash_of = {token: one for one, token in item.tokens.items()}
    ids: dict[str, list[str]] = {}
    for tool in item.tools:
        ids.setdefault(tool.content_hash, []).append(tool.id)
    groups = ([i for token in group for i in ids[hash_of[token]]] for group in answer["groups"])
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def _read(item: Members, answer: JsonObject) -> JsonObject:
    groups = answer.get("groups")
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        raise AnswerError("groups is no list of lists of tokens")
    given = Counter(str(token) for group in groups for token in group)
    asked = set(item.tokens.values())
    if not all(groups):
        raise AnswerError("a group is empty")
    for wrong, why in (
        (set(given) - asked, "not asked about"),
        (asked - set(given), "in no group"),
        ({token for token, count in given.items() if count > 1}, "in more than one group"),
    ):
        if wrong:
            raise AnswerError(f"{', '.join(repr(one)[:40] for one in sorted(wrong)[:5])}: {why}")
    order = {token: number for number, token in enumerate(item.tokens.values())}
    ordered = sorted(
        (sorted(group, key=order.__getitem__) for group in groups), key=lambda g: order[g[0]]
    )
    return {"groups": ordered, "reason": sentence(answer)}
