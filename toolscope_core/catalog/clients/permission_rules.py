"""A person's permission rules for MCP tools, in the settings of Claude Code or Cursor's CLI.

The module finds the rules that match nothing once tools are switched off, and rewrites the
settings.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from toolscope_core.catalog.clients import client_table
from toolscope_core.catalog.clients.client_table import Client, switches_of
from toolscope_core.catalog.schema.walking import list_at, object_at
from toolscope_core.model.numbers import listed
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.model.unicode_forms import plain_name

LISTS = ("allow", "ask", "deny")
_OF_CURSOR = re.compile(r"Mcp\((.*):(.*)\)")


@dataclass(frozen=True, slots=True)
class IdleRule:
    """A rule in a ``list`` that matches nothing after the export.

    ``becomes`` are the rules that replace it, and ``why`` is the reason.
    """

    list: str
    rule: str
    becomes: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class SettingsAfter:
    """The effect of the export on a person's settings: the ``idle`` rules and the new ``settings``.

    In the new settings, idle rules are replaced and the export's denials are added.
    """

    idle: tuple[IdleRule, ...]
    settings: JsonObject


def settings_after(plan: MergePlan, settings: JsonObject) -> SettingsAfter | None:
    """The settings after the export of ``plan``; ``None`` if the settings have no permission
    rules.
    """
    permissions = object_at(settings, "permissions")
    if not any(list_at(permissions, name) for name in LISTS):
        return None
    rules = {name: list_at(permissions, name) for name in LISTS}
    idle = tuple(one for name in LISTS for one in _idle_rules(plan, name, rules[name]))
    gone = {(one.list, one.rule): one.becomes for one in idle}
    new = {name: _replaced(own, name, gone) for name, own in rules.items()}
    spelled = _spelling(str(rule) for own in rules.values() for rule in own)
    denied = json.loads(spelled.write(switches_of(plan), plan))["permissions"]["deny"]
    new["deny"] = list(dict.fromkeys((*new["deny"], *denied)))
    own_lists = {name: own for name, own in new.items() if own or name in permissions}
    return SettingsAfter(idle, {**settings, "permissions": {**permissions, **own_lists}})


def missing_servers(plan: MergePlan, names: Sequence[str]) -> tuple[str, ...]:
    """The catalog's servers that are missing from a configuration whose servers have these
    ``names``.

    They are sorted. Rules for these servers match nothing in such a configuration.
    """
    plain = set(map(plain_name, names))
    servers = {tool.server for tool in plan.catalog.tools} - {""}
    return tuple(sorted(one for one in servers if plain_name(one) not in plain))


def _spelling(rules: Iterable[str]) -> Client:
    """The client whose rules have this form."""
    is_cursor = any(map(_OF_CURSOR.fullmatch, rules))
    return client_table.CURSOR if is_cursor else client_table.CLAUDE_CODE


def _idle_rules(plan: MergePlan, name: str, rules: Sequence[Any]) -> Iterator[IdleRule]:
    off = {(switch.server, tool) for switch in switches_of(plan) for tool in switch.off}
    for rule in filter(lambda one: isinstance(one, str), rules):
        tools = [tool for tool in plan.catalog.tools if tool.server and _matches(rule, tool)]
        if not tools or any((tool.server, tool.name) not in off for tool in tools):
            continue
        new_ids = dict.fromkeys(plan.phi[tool.id] for tool in tools)
        stay = [plan.catalog.by_id[one] for one in new_ids if one is not None]
        if name == "deny":
            yield IdleRule(name, rule, (), "the export denies it too")
        elif not stay:
            yield IdleRule(name, rule, (), "its tools are left out")
        else:
            becomes = tuple(_spelled(rule, tool) for tool in stay)
            names = listed(tool.name for tool in stay)
            yield IdleRule(name, rule, becomes, f"its job is done by {names}: {name} that?")


def _matches(rule: str, tool: Tool) -> bool:
    """Whether a rule applies to this tool or its whole server."""
    if match := _OF_CURSOR.fullmatch(rule):
        return fnmatchcase(tool.server, match[1]) and fnmatchcase(tool.name, match[2])
    server = f"mcp__{plain_name(tool.server)}"
    text = rule.partition("(")[0]
    return text == server or fnmatchcase(f"{server}__{plain_name(tool.name)}", text)


def _spelled(rule: str, tool: Tool) -> str:
    """A rule for this tool, in the same form as another rule."""
    if rule.startswith("mcp__"):
        return f"mcp__{plain_name(tool.server)}__{plain_name(tool.name)}"
    return f"Mcp({tool.server}:{tool.name})"


def _replaced(
    rules: Sequence[Any], name: str, gone: Mapping[tuple[str, str], tuple[str, ...]]
) -> list[Any]:
    """The rules of a list with the ``gone`` rules replaced, without repeats."""
    new = list[Any]()
    for rule in rules:
        becomes = gone.get((name, rule), (rule,)) if isinstance(rule, str) else (rule,)
        new += [one for one in becomes if one not in new]
    return new
