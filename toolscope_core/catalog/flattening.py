"""Parameters as one plain object, for targets that take no alternatives at the top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolscope_core.catalog.references import resolve
from toolscope_core.datamodel import JsonObject, canonical_json

TOP_LEVEL = ("anyOf", "oneOf", "allOf", "enum", "not")
MAX_INSIDE = 16
"""So many alternatives inside alternatives are opened; what lies deeper is passed over."""


def plain_object(schema: JsonObject) -> JsonObject | None:
    """The schema without the keywords of ``TOP_LEVEL``; the same where it has none.

    What alternatives declare stands among the properties, required only if all of them (for
    ``allOf``: any) require it. Every call of declared arguments that was valid stays so; some that
    were not become so. ``None`` where a reference leads into what would go.
    """
    if not any(key in schema for key in TOP_LEVEL):
        return schema
    text = canonical_json(schema)
    if any(f'"#/{key}' in text for key in TOP_LEVEL):
        return None
    return _opened(schema, schema, MAX_INSIDE, {})


_ByReference = dict[tuple[str, int], dict[str, Any]]
"""What was opened before, by reference and by how much deeper it may go."""


def _opened(
    root: JsonObject, schema: JsonObject, depth: int, opened_before: _ByReference
) -> dict[str, Any]:
    plain = {key: value for key, value in schema.items() if key not in TOP_LEVEL}
    properties, required = _properties(plain), _required(plain)
    for key in ("allOf", "anyOf", "oneOf"):
        parts = schema.get(key)
        if not isinstance(parts, list) or not parts or not depth:
            continue
        branches = [_branch(root, part, depth - 1, opened_before) for part in parts]
        for name, said in _declared(branches).items():
            together = "allOf" if key == "allOf" else "anyOf"
            joined = said[0] if len(said) == 1 else {together: said}
            properties.setdefault(name, joined)
        needed = [set(_required(branch)) for branch in branches]
        common = set.union(*needed) if key == "allOf" else set.intersection(*needed)
        required += sorted(common - set(required))
    if properties or "properties" in plain:
        plain["properties"] = properties
    if required:
        plain["required"] = required
    return plain


def _branch(root: JsonObject, part: Any, depth: int, opened_before: _ByReference) -> JsonObject:
    if not isinstance(part, dict):
        return {}
    key = (str(part["$ref"]), depth) if part.keys() == {"$ref"} else None
    if key in opened_before:
        return opened_before[key]
    target = resolve(root, part.get("$ref"))
    opened = _opened(
        root, {**target, **part} if isinstance(target, dict) else part, depth, opened_before
    )
    if key:
        opened_before[key] = opened
    return opened


def _declared(branches: Sequence[JsonObject]) -> dict[str, list[Any]]:
    """By name, the different things that the branches say of a property."""
    said: dict[str, list[Any]] = {}
    for branch in branches:
        for name, sub in _properties(branch).items():
            opened_before = said.setdefault(name, [])
            if all(canonical_json(sub) != canonical_json(other) for other in opened_before):
                opened_before.append(sub)
    return said


def _properties(schema: JsonObject) -> dict[str, Any]:
    found = schema.get("properties")
    return dict(found) if isinstance(found, dict) else {}


def _required(schema: JsonObject) -> list[str]:
    found = schema.get("required")
    return list(found) if isinstance(found, list) else []
