"""Finds tools that a text lists: as JSON, in the blocks of CrewAI, or in a prompt for ReAct."""

import re
from typing import Any

from toolscope_core.catalog.flaws import find_flaw
from toolscope_core.catalog.schema.python_types import declared_in_source
from toolscope_core.catalog.structured_texts import literal_in, values_in
from toolscope_core.model.tool import JsonObject

_COMPOSED = re.compile(
    r"Tool Name: (?P<name>[^\n]*)\nTool Arguments: (?P<arguments>\{(?:(?!\nTool ).)*?\})\n"
    r"Tool Description: (?P<description>.*?)(?=\n+Tool Name: |\Z)",
    re.DOTALL,
)
_CHOICES = re.compile(r"Action:[^\n]{0,200} one of \[([^\[\]\n]+)\]")
_LINE = re.compile(
    r"^[-*.) \t\d]*(?P<name>[^\s:(]+)(?P<arguments>\(.{0,500}?\)(?: -> .{0,200}?)?)?(?:[ \t]+-|:) "
    r"(?P<about>.+)$",
    re.MULTILINE,
)
"""Matches a prompt's line about a tool; all repeats are bounded, so that no text takes long."""
_PARAMETERS = re.compile(r",? (?:args|Parameters): ([\[{].*[\]}])")


def values_of_text(text: str) -> list[Any]:
    """The values in a text that may be tools or contain tools; empty if the text lists none."""
    if tools := [_composed(match) for match in _COMPOSED.finditer(text)] or _choices(text):
        return [{"tools": tools}]
    return values_in(text) if '"name"' in text else []


def composed_tool(description: Any) -> JsonObject:
    """The tool in a description that CrewAI composed; empty for any other description."""
    is_text = isinstance(description, str) and description.startswith("Tool Name: ")
    match = _COMPOSED.match(description) if is_text else None
    return _composed(match) if match else {}


def _composed(match: re.Match[str]) -> JsonObject:
    rows = _value(match["arguments"])
    if isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values()):
        rows = {name: {key: one for key, one in row.items() if one} for name, row in rows.items()}
    return {**match.groupdict(), "arguments": rows}


def _choices(text: str) -> list[JsonObject]:
    """The tools that a prompt for ReAct offers as actions, as described in the prompt's lines."""
    choices = _CHOICES.search(text)
    lines = {line["name"]: line for line in _LINE.finditer(text)} if choices else {}
    names = [one.strip("'\" ") for one in choices[1].split(",")] if choices else []
    return [_choice(lines[name]) for name in dict.fromkeys(names) if name in lines]


def _choice(line: re.Match[str]) -> JsonObject:
    source = f"def tool{line['arguments'] or ''}: ..."  # without arguments, nothing is declared
    declared = declared_in_source(source, "tool").get("parameters")
    given = _PARAMETERS.search(line["about"])
    tool = {"name": line["name"], "description": line["about"][: given.start() if given else None]}
    if given is None:
        return {**tool, "parameters": declared}
    return {**tool, "parameters": _value(given[1]), "required": (declared or {}).get("required")}


def _value(text: str) -> Any:
    """The object or list in a JSON text or a Python literal; ``None`` for other texts."""
    values = values_in(text)
    value = values[0] if len(values) == 1 else literal_in(text)
    return None if find_flaw(value) else value
