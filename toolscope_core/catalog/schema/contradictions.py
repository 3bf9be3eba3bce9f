"""Finds parts of a schema that are unclear or that no call can satisfy.

Examples are a required name that is not declared, and a fixed value or default whose type differs
from the declared one.
"""

from collections.abc import Iterator
from typing import Any

from toolscope_core.catalog.schema import walking
from toolscope_core.catalog.schema.references import IN_PLACE
from toolscope_core.model.catalog import Finding
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

_OPEN = ("patternProperties", "$dynamicRef", "propertyNames")
_TYPED = ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
MAX_PARTS = 1000
"""The most schemas that are followed for one value."""


def find_contradictions(tool: Tool) -> tuple[Finding, ...]:
    """A *warn* finding for each part of a tool's parameters that no call can satisfy, and *info*
    for useless parts.
    """
    schema = tool.schema or {}
    return tuple(
        Finding(tool.id, "warn" if is_bad else "info", code, place, message, shown)
        for is_bad, code, place, message, shown in _found(schema, schema, "schema", frozenset())
    )


def is_of_type(value: Any, typed: JsonObject) -> bool:
    """Whether a value has the type in a schema and respects the schema's bounds."""
    from jsonschema_rs import is_valid

    return bool(is_valid({key: typed[key] for key in _TYPED if key in typed}, value))


_Row = tuple[bool, str, str, str, str]
"""Whether the fault is serious, its code, its place, a sentence, and an excerpt."""


def _found(schema: Any, root: JsonObject, place: str, around: frozenset[str]) -> Iterator[_Row]:
    """The contradictions in a schema; ``around`` are names that other schemas for the value
    declare.
    """
    if not isinstance(schema, dict):
        return
    names = _declared(schema, root)
    yield from _ghosts(schema, place, None if names is None else names | around)
    yield from _odd_values(schema, place)
    for key, where, sub in walking.placed_subschemas(schema, place):
        is_same_value = key in IN_PLACE or key == "dependentSchemas"
        declared = (names or frozenset()) | around if is_same_value else frozenset()
        yield from _found(sub, root, where, declared)


def _declared(schema: JsonObject, root: JsonObject) -> frozenset[str] | None:
    """The names that a schema and the schemas beside it declare; ``None`` if any name is
    allowed.
    """
    stack: list[Any] = [schema]
    names, seen = set[str](), set[int]()
    while stack:
        part = stack.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        if len(seen) > MAX_PARTS or any(key in part for key in _OPEN):
            return None
        names |= walking.properties_of(part).keys()
        if "$ref" in part:
            target = walking.resolve(root, part["$ref"])
            if not isinstance(target, dict):
                return None
            stack.append(target)
        for key in IN_PLACE:
            inner = part.get(key)
            stack += inner if isinstance(inner, list) else [inner]
        stack += walking.object_at(part, "dependentSchemas").values()
    return frozenset(names)


def _ghosts(schema: JsonObject, place: str, names: frozenset[str] | None) -> Iterator[_Row]:
    if names is None or "properties" not in schema:
        return
    ghosts = [name for name in walking.required_of(schema) if name not in names]
    if ghosts:
        excerpt = ", ".join(map(repr, ghosts))
        is_closed = schema.get("additionalProperties") is False
        message = f"The {place} requires {excerpt[:120]}, which it does not declare; " + (
            "no other argument is allowed, so no call is valid. Ask its author to fix it."
            if is_closed
            else "declare it, or some APIs refuse the tool."
        )
        yield True, "ghost-required", f"{place}/required", message, excerpt


def _odd_values(schema: JsonObject, place: str) -> Iterator[_Row]:
    kind, values = schema.get("type"), schema.get("enum")
    if not isinstance(kind, (str, list)):
        return
    if isinstance(values, list) and values:
        odd = [value for value in values if not is_of_type(value, schema)]
        if odd:
            text = canonical_json(odd)
            none = len(odd) == len(values)
            message = f"The {place} allows {text[:80]}, which its type rules out; " + (
                "no value is valid there. Ask its author to fix it."
                if none
                else "nobody can send that."
            )
            yield none, "impossible-enum", f"{place}/enum", message, text[:200]
    default = schema.get("default")
    fixed = values if isinstance(values, list) and values else [default]
    is_allowed = any(canonical_json(value) == canonical_json(default) for value in fixed)
    if default is not None and not (is_allowed and is_of_type(default, schema)):
        text = canonical_json(default)
        message = f"The {place} has the default {text[:80]}, which it does not allow; correct it."
        yield False, "impossible-default", f"{place}/default", message, text[:200]
