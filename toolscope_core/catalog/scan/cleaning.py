"""Removes hidden characters from the texts of tools."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from types import MappingProxyType
from typing import Any

from toolscope_core.catalog.formats.offered_names import HASH_DIGITS
from toolscope_core.catalog.scan.hidden import cleaned, count_hidden, find_hidden, passages
from toolscope_core.model.catalog import Finding
from toolscope_core.model.tool import Tool, canonical_json, digest
from toolscope_core.model.unicode_forms import comparable_name

_VALUES = frozenset(("enum", "const", "default", "example", "examples", "pattern"))
_POINTERS = frozenset(("$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor"))
_NAMES = frozenset(("id", "name", "server"))
_NAMED = frozenset(("properties", "patternProperties", "$defs", "definitions"))
"""Keys whose values have names as keys, and these names may look like keywords."""
_KEPT = _VALUES | _POINTERS | _NAMES
"""Keys whose values are used in calls, so that even their hidden characters matter."""
ESCAPED = re.compile(r"\\[ubf]")
"""Matches JSON's escapes for control characters other than blanks."""
_NOTHING: Mapping[tuple[str, str], str] = MappingProxyType({})


def hidden_in(tools: Sequence[Tool]) -> tuple[Finding, ...]:
    """A finding for each text with hidden characters, including keys and unknown fields."""
    return tuple(
        finding
        for tool in tools
        if _may_hide(tool)
        for passage in passages(tool)
        if (finding := find_hidden(tool.id, passage.path, passage.text))
    )


def _may_hide(tool: Tool) -> bool:
    """Whether a tool contains anything except printable ASCII; this quick check saves most of
    the work.
    """
    texts = [tool.name, tool.description, tool.schema, tool.returns, tool.annotations, tool.raw]
    text = canonical_json(texts)
    return not (text.isascii() and text.isprintable()) or ESCAPED.search(text) is not None


def without_hidden_text(tools: Sequence[Tool], reserved: Sequence[str]) -> dict[str, Tool]:
    """The tools that change if hidden characters are removed from names and texts, by id.

    A new name is never in ``reserved`` and never the name of another tool. Names and values of
    parameters do not change, because calls use them.
    """
    keys = {comparable_name(name) for name in (*reserved, *(tool.name for tool in tools))}
    hiding = {finding.tool_id for finding in hidden_in(tools)}
    clean: dict[str, Tool] = {}
    for tool in sorted((tool for tool in tools if tool.id in hiding), key=lambda tool: tool.id):
        name = tool.name
        if count_hidden(name):
            name = next(new for new in _names(tool) if comparable_name(new) not in keys)
            keys.add(comparable_name(name))
        clean[tool.id] = with_clean_texts(tool, name)
    return {tool.id: clean[tool.id] for tool in tools if clean.get(tool.id, tool) != tool}


def with_clean_texts(tool: Tool, name: str = "") -> Tool:
    """The tool without hidden characters in its texts, and with the new ``name`` if one is given.

    The tool's record changes too. Names and values that calls use do not change.
    """
    name = name or tool.name
    if name == tool.name and not _may_hide(tool):
        return tool
    return replace(
        tool,
        name=name,
        description=cleaned(tool.description),
        schema=_clean(tool.schema),
        returns=_clean(tool.returns),
        annotations=_clean(tool.annotations),
        raw=_clean(tool.raw, {("name", tool.name): name}),
    )


def _names(tool: Tool) -> Iterator[str]:
    """The names to try in place of the tool's name, in order."""
    plain = cleaned(tool.name).strip()
    if plain:
        yield plain
    yield from (f"{plain or 'tool'}_{digest(tool.id, n)[:HASH_DIGITS]}" for n in count())


def _clean(value: Any, new_texts: Mapping[tuple[str, str], str] = _NOTHING) -> Any:
    """The value with its texts cleaned, except keys, lists of texts, and values that calls use.

    ``new_texts`` maps a key and an old text to a new text.
    """
    if isinstance(value, list):
        return [item if isinstance(item, str) else _clean(item, new_texts) for item in value]
    if not isinstance(value, dict):
        return value
    clean: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(item, str):
            clean[key] = new_texts.get((key, item), item if key in _KEPT else cleaned(item))
        elif key in _NAMED and isinstance(item, dict):
            clean[key] = {name: _clean(sub, new_texts) for name, sub in item.items()}
        else:
            clean[key] = item if key in _VALUES else _clean(item, new_texts)
    return clean
