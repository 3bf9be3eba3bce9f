"""Where a toolset breaks the rules of a target, and the mend that is offered for it."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal

from toolscope_core.catalog.schemas import map_subschemas
from toolscope_core.catalog.targets import Target, target_named
from toolscope_core.datamodel import JsonObject, MergedTool, Tool, digest

Rule = Literal["count", "name", "unique", "description", "parameter", "schema"]

HASH_DIGITS = 8
TOP_LEVEL = ("anyOf", "oneOf", "allOf", "enum", "not")


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a tool breaks; ``tool_id`` is empty for a rule on the whole toolset.

    ``value`` is what breaks it, ``message`` a sentence with the rule, ``fix`` what would stand
    there instead; empty where only a person can mend it, as ``remedy`` then says.
    """

    tool_id: str
    rule: Rule
    value: str
    message: str
    fix: str = ""
    remedy: str = ""


def violations(
    tools: Sequence[MergedTool], target: str, reserved: Iterable[str] = ()
) -> tuple[Violation, ...]:
    """Every rule of ``target`` that the tools break, by tool id, those of the whole set first.

    Names are compared as targets do: after NFKC, case ignored. ``reserved`` are names that an
    offered name must not take, such as those of tools that were merged away. Raises
    ``ExportError`` for an unknown target.
    """
    asked = target_named(target)
    ordered = sorted((item.tool for item in tools), key=lambda tool: tool.id)
    names = _new_names(ordered, asked, reserved)
    found = list(_of_set(ordered, asked))
    for tool in ordered:
        found += _of_name(tool, asked, names.get(tool.id))
        found += _of_text(tool, asked)
        found += _of_schema(tool, asked)
    return tuple(found)


def fixed(
    tools: Sequence[MergedTool], target: str, reserved: Iterable[str] = ()
) -> dict[str, Tool]:
    """By id, the tools that change when every offered fix is applied.

    Raises ``ExportError`` for an unknown target.
    """
    asked = target_named(target)
    ordered = sorted((item.tool for item in tools), key=lambda tool: tool.id)
    names = _new_names(ordered, asked, reserved)
    changed = {}
    for tool in ordered:
        name = names[tool.id][0] if tool.id in names else ""
        schema = _with_items(tool.schema) if asked.typed_items else tool.schema
        mended = replace(
            tool,
            name=name or tool.name,
            description=_cut(tool.description, asked.longest_description),
            schema=schema,
        )
        if mended != tool:
            changed[tool.id] = mended
    return changed


def folded(name: str) -> str:
    """A name as targets compare it."""
    return unicodedata.normalize("NFKC", name).casefold()


def _of_set(tools: Sequence[Tool], target: Target) -> Iterator[Violation]:
    if target.most_tools is not None and len(tools) > target.most_tools:
        yield Violation(
            "",
            "count",
            str(len(tools)),
            f"{target.title} takes at most {target.most_tools} tools; there are {len(tools)}.",
            remedy="No fix can choose for you: merge more, or give each agent fewer servers.",
        )


def _of_name(tool: Tool, target: Target, new: tuple[str, Rule] | None) -> Iterator[Violation]:
    if new is None:
        return
    name, rule = new
    called = _prefix(tool, target) + tool.name
    if rule == "unique":
        message = f"Another tool is called {tool.name!r} too; {target.title} asks for one of each."
    elif target.longest_name is not None and len(called) > target.longest_name:
        message = (
            f"The name {called!r} has {len(called)} characters; "
            f"{target.title} takes {target.longest_name}."
        )
    else:
        message = f"The name {tool.name!r} does not match {target.name_rule} of {target.title}."
    remedy = "" if name else "Shorten the name of the server in the client's configuration."
    yield Violation(tool.id, rule, tool.name, message, name, remedy)


def _of_text(tool: Tool, target: Target) -> Iterator[Violation]:
    most = target.longest_description
    if most is not None and len(tool.description) > most:
        yield Violation(
            tool.id,
            "description",
            f"{len(tool.description)} characters",
            f"The description has {len(tool.description)} characters; {target.title} takes {most}.",
            f"cut to {most} characters",
        )


def _of_schema(tool: Tool, target: Target) -> Iterator[Violation]:
    schema = tool.schema or {}
    if target.whole_object:
        for key in (key for key in TOP_LEVEL if key in schema):
            yield Violation(
                tool.id,
                "schema",
                key,
                f"The parameters have {key!r} at the top; {target.title} takes a plain object.",
                remedy="Write the parameters as one object on the page Documents.",
            )
    if target.typed_items and _with_items(schema) != schema:
        yield Violation(
            tool.id,
            "schema",
            "items",
            f"An array does not say what it holds; {target.title} asks for 'items'.",
            "items: {}",
        )
    for name in sorted(set(_property_names(schema))) if target.parameter_rule else ():
        if not re.fullmatch(target.parameter_rule, name):
            yield Violation(
                tool.id,
                "parameter",
                name,
                f"The parameter {name!r} does not match {target.parameter_rule} of {target.title}.",
                remedy="Rename it on the page Documents: calls then need a gateway.",
            )


def _new_names(
    tools: Sequence[Tool], target: Target, reserved: Iterable[str]
) -> dict[str, tuple[str, Rule]]:
    """By id, the offered name of each tool whose own the target refuses, and the rule it breaks.

    Of tools that share a name the first by id keeps it; the others are told apart by their server,
    else by a hash of their id. The name is empty where none can fit.
    """
    kept: dict[tuple[str, str], str] = {}
    wrong: dict[str, Rule] = {}
    for tool in tools:
        key = (_scope(tool, target), folded(tool.name))
        if not _fits(tool.name, tool, target):
            wrong[tool.id] = "name"
        elif target.unique != "none" and kept.setdefault(key, tool.id) != tool.id:
            wrong[tool.id] = "unique"
    taken = {folded(name) for name in reserved}
    used: defaultdict[str, set[str]] = defaultdict(set)
    for scope, name in kept:
        used[scope].add(name)
    offered: dict[str, tuple[str, Rule]] = {}
    for tool in tools:
        if tool.id in wrong:
            mine = used[_scope(tool, target)]
            name = _offer(tool, target, mine | (taken - {folded(tool.name)}))
            mine.add(folded(name))
            offered[tool.id] = (name, wrong[tool.id])
    return offered


def _offer(tool: Tool, target: Target, taken: set[str]) -> str:
    """A name that fits and is free: the tool's own if mending it is enough."""
    room = (target.longest_name or 128) - len(_prefix(tool, target))
    if room < HASH_DIGITS + 2:
        return ""
    plain = _plain(tool.name, target)
    candidates = [plain, _plain(f"{tool.server}_{tool.name}", target)] if tool.server else [plain]
    for name in candidates:
        if len(name) <= room and folded(name) not in taken:
            return name
    hashed = (
        f"{plain[: room - HASH_DIGITS - 1]}_{digest(tool.id, n)[:HASH_DIGITS]}" for n in count()
    )
    return next(name for name in hashed if folded(name) not in taken)


def _plain(name: str, target: Target) -> str:
    """The name in letters that every rule takes, beginning with one that all take."""
    if not target.name_rule:
        return name
    spelled = re.sub(r"[^A-Za-z0-9_-]+", "_", unicodedata.normalize("NFKC", name)).strip("_")
    return spelled if re.match("[A-Za-z]", spelled) else f"tool_{spelled}".rstrip("_")


def _fits(name: str, tool: Tool, target: Target) -> bool:
    if target.name_rule and not re.fullmatch(target.name_rule, name):
        return False
    return target.longest_name is None or (
        len(_prefix(tool, target)) + len(name) <= target.longest_name
    )


def _prefix(tool: Tool, target: Target) -> str:
    return target.prefix.format(server=tool.server) if tool.server else ""


def _scope(tool: Tool, target: Target) -> str:
    return tool.server if target.unique == "server" else ""


def _cut(text: str, most: int | None) -> str:
    return text if most is None or len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _with_items(schema: JsonObject | None) -> Any:
    """The schema with ``items: {}`` at every array that does not say what it holds."""
    if not isinstance(schema, dict):
        return schema
    result = map_subschemas(schema, lambda sub, _: _with_items(sub), "")
    kind = schema.get("type")
    bare = kind == "array" or (isinstance(kind, list) and "array" in kind)
    if bare and not {"items", "prefixItems"} & schema.keys():
        result["items"] = {}
    return result


def _property_names(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        inner: list[str] = []
        map_subschemas(schema, lambda sub, _: inner.extend(_property_names(sub)), "")
        yield from inner
