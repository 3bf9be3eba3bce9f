"""Profiles as decisions: the form of their detail, and how a profile is read from a decision."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.profile import WAYS, Profile, ProfileTool, ToolRule
from toolscope_core.model.tool import JsonObject

MOST_INTENTS = 1_000
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_TEXTS = ("called", "name", "description")


def profile_of(
    decision: Decision,
    present: Mapping[int, str] | None = None,
    changed: frozenset[str] = frozenset(),
) -> Profile:
    """The profile in a decision.

    ``present`` has the current tool ids by position, without the ``changed`` tools; by default, the
    recorded ids are used. Raises ``DecisionError`` for an invalid detail.
    """
    detail = decision.detail
    name, rows = check_name(detail.get("profile")), detail.get("tools", [])
    if not isinstance(rows, list | tuple) or len(rows) != len(decision.fingerprints):
        raise _malformed(name, "tools", rows, "a list with one object for each tool, in order")
    present = dict(enumerate(decision.ids)) if present is None else present
    tools, gone_ids = {}, []
    for place, (tool_id, row) in enumerate(zip(decision.ids, rows, strict=True)):
        tool = _tool(name, row)
        if place in present or tool_id in changed:
            tools[present.get(place, tool_id)] = tool
        elif tool.origin != "kept out":
            gone_ids.append(tool_id)
    return Profile(
        name=name,
        tools=tools,
        include=_rule(name, "include", detail.get("include") or {}),
        exclude=_rule(name, "exclude", detail.get("exclude") or {}),
        precedence=_texts(name, "precedence", detail.get("precedence", ())),
        intents=_texts(name, "intents", detail.get("intents", ()))[:MOST_INTENTS],
        resources=_texts(name, "resources", detail.get("resources", ())),
        prompts=_texts(name, "prompts", detail.get("prompts", ())),
        changed_ids=changed,
        missing_ids=tuple(gone_ids),
        seq=decision.seq,
    )


def check_name(name: object) -> str:
    """The name of a profile, after a check. Raises ``DecisionError`` if it cannot be part of an
    address.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DecisionError(
            f"the profile is called {str(name)[:60]!r}; use up to 40 lower-case letters, "
            "digits and hyphens, for example travel-desk"
        )
    return name


def profile_detail(profile: Profile, tools: Sequence[ProfileTool]) -> JsonObject:
    """The detail of a decision that saves a profile.

    ``tools`` are the profile's current tools and the tools excluded by hand, in the order of the
    decision's members.
    """
    rules = {"include": profile.include, "exclude": profile.exclude}
    return {
        "profile": profile.name,
        "tools": [_without_empty(tool, ("origin", *_TEXTS, "fixed")) for tool in tools],
        **{
            key: _without_empty(rule, ("servers", "words", "read_only"))
            for key, rule in rules.items()
            if rule
        },
        **_without_empty(profile, ("precedence", "intents", "resources", "prompts")),
    }


def _without_empty(value: object, names: Sequence[str]) -> dict[str, Any]:
    parts = {name: getattr(value, name) for name in names}
    return {
        name: list(part) if isinstance(part, tuple) else part
        for name, part in parts.items()
        if part or part is False
    }


def _tool(name: str, row: object) -> ProfileTool:
    origins = (way for way in WAYS if isinstance(row, dict) and row.get("origin") == way)
    origin = next(origins, None)
    if origin is None or not isinstance(row, dict):
        raise _malformed(name, "tool", row, f"an object with `origin`, one of {', '.join(WAYS)}")
    texts = {key: row.get(key, "") for key in _TEXTS}
    fixed = row.get("fixed", {})
    if not all(isinstance(text, str) for text in texts.values()) or not isinstance(fixed, dict):
        raise _malformed(name, "tool", row, "strings, and `fixed` as an object of arguments")
    if texts["name"] and not _TOOL_NAME.fullmatch(texts["name"]):
        form = "up to 64 letters, digits, underscores and hyphens, which every client accepts"
        raise _malformed(name, "a tool's name", texts["name"], form)
    return ProfileTool(origin, fixed=fixed, **texts)


def _rule(name: str, key: str, row: object) -> ToolRule:
    if not isinstance(row, dict) or not isinstance(row.get("read_only"), bool | None):
        raise _malformed(name, key, row, "an object of servers, words and read_only")
    servers, words = (_texts(name, part, row.get(part, ())) for part in ("servers", "words"))
    return ToolRule(servers, words, row.get("read_only"))


def _texts(name: str, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise _malformed(name, key, value, "a list of strings")
    return tuple(value)


def _malformed(name: str, key: str, value: object, form: str) -> DecisionError:
    return DecisionError(f"the profile {name} has {str(value)[:80]!r} as {key}; use {form}")
