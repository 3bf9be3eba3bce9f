"""``$ref`` and ``allOf``: only what stands in the schema itself is followed, and never for ever.

A reference out of the schema, to nothing, or in a circle that consumes no value is moved under
``x-invalid``. A reference at the top is replaced by what it names, so that parameters are seen,
and ``allOf`` is merged where its parts say nothing about the same.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from toolscope_core.catalog.keywords import INVALID
from toolscope_core.catalog.limits import MAX_DEPTH
from toolscope_core.datamodel import JsonObject, canonical_json

IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
BASES = ("$id", "$anchor", "$dynamicAnchor")
ALONE = (
    *("additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"),
    *("if", "then", "else", INVALID, *BASES),
)
JOINED = ("properties", "$defs", "definitions")
NOTES = ("title", "description")
VALUES = ("default", "enum", "const", "examples", INVALID)


def settle_references(schema: JsonObject) -> JsonObject:
    """The schema (a root) with references checked, inlined at the top, and ``allOf`` merged."""
    if not _mentions(schema):
        return schema
    checked = _check(schema, schema, {})
    return dict(_merge(_inline(checked, checked), checked, {}))


def resolve(root: JsonObject, reference: Any) -> Any:
    """What a reference such as ``#/$defs/pet`` names inside ``root``; ``None`` if nothing."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    pointer = unquote(reference[1:])
    if pointer and not pointer.startswith("/"):
        return None
    value: Any = root
    for word in pointer.split("/")[1:]:
        key = word.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            return None
    return value


def merge_parts(parts: list[JsonObject]) -> JsonObject | None:
    """One schema that says what all the parts say; ``None`` where two say something of one."""
    merged: dict[str, Any] = {}
    required: set[str] = set()
    if any(key in part for part in parts for key in ALONE) or not all(map(_is_plain, parts)):
        return None
    for part in parts:
        for key, value in part.items():
            known: Any = merged.get(key, value)
            if key in JOINED:
                if any(key in known and not _same(known[key], sub) for key, sub in value.items()):
                    return None
                merged[key] = {**known, **value}
            elif key == "required":
                required |= set(value)
                merged[key] = sorted(required)
            elif key in NOTES:
                merged[key] = known
            elif not _same(known, value):
                return None
            else:
                merged[key] = value
    return merged


def _is_plain(part: JsonObject) -> bool:
    """Whether the keywords that are joined have the values they should."""
    required = part.get("required", [])
    return (
        isinstance(required, list)
        and all(isinstance(name, str) for name in required)
        and all(isinstance(part.get(key, {}), dict) for key in JOINED)
    )


def _same(one: Any, other: Any) -> bool:
    return canonical_json(one) == canonical_json(other)


def _mentions(value: Any) -> bool:
    if isinstance(value, dict):
        return "$ref" in value or "allOf" in value or any(map(_mentions, value.values()))
    return isinstance(value, list) and any(map(_mentions, value))


def _check(value: Any, root: JsonObject, known: dict[str, bool]) -> Any:
    """The value with every reference that leads nowhere, or round, under ``INVALID``."""
    if isinstance(value, list):
        return [_check(item, root, known) for item in value]
    if not isinstance(value, dict):
        return value
    checked = {
        key: sub if key in VALUES else _check(sub, root, known) for key, sub in value.items()
    }
    reference = value.get("$ref")
    if isinstance(reference, str) and not _ends(reference, root, known, ()):
        del checked["$ref"]
        checked[INVALID] = {**checked.get(INVALID, {}), "$ref": reference}
    return checked


def _ends(reference: str, root: JsonObject, known: dict[str, bool], path: tuple[str, ...]) -> bool:
    """Whether following the reference in place comes to an end."""
    if reference in path or len(path) > MAX_DEPTH:
        return False
    if reference not in known:
        target = resolve(root, reference)
        known[reference] = isinstance(target, (dict, bool)) and all(
            _ends(further, root, known, (*path, reference)) for further in _in_place(target)
        )
    return known[reference]


def _in_place(schema: Any) -> list[str]:
    """The references that a value of the schema itself must satisfy."""
    if not isinstance(schema, dict):
        return []
    found = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    for key in IN_PLACE:
        subs = schema.get(key)
        for sub in subs if isinstance(subs, list) else [subs]:
            found += _in_place(sub)
    return found


def _inline(schema: JsonObject, root: JsonObject) -> JsonObject:
    """The schema with what its own ``$ref`` names in its place."""
    for _ in range(MAX_DEPTH):
        target = resolve(root, schema.get("$ref"))
        siblings = {key: sub for key, sub in schema.items() if key != "$ref"}
        if "$ref" not in schema or not isinstance(target, dict):
            break
        if any(
            key in target and key not in (*NOTES, "$defs") and not _same(target[key], sub)
            for key, sub in siblings.items()
        ):
            break
        schema = {**target, **siblings}
    return schema


def _merge(value: Any, root: JsonObject, by_reference: dict[str, JsonObject]) -> Any:
    """``by_reference`` are the parts merged so far: a schema may name one many times."""
    if isinstance(value, list):
        return [_merge(item, root, by_reference) for item in value]
    if not isinstance(value, dict):
        return value
    schema = {
        key: sub if key in VALUES else _merge(sub, root, by_reference) for key, sub in value.items()
    }
    parts = schema.get("allOf")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        return schema
    own = {key: sub for key, sub in schema.items() if key != "allOf"}
    whole = [_merged_part(part, root, by_reference) for part in parts]
    merged = None if "$ref" in own else merge_parts([own, *whole])
    return schema if merged is None else merged


def _merged_part(
    part: JsonObject, root: JsonObject, by_reference: dict[str, JsonObject]
) -> JsonObject:
    """A part inlined, its own ``allOf`` merged as well; it ends, for circles are cut."""
    named = part["$ref"] if part.keys() == {"$ref"} else None
    if isinstance(named, str) and named in by_reference:
        return by_reference[named]
    whole = _inline(part, root)
    whole = dict(_merge(whole, root, by_reference)) if "allOf" in whole else whole
    if isinstance(named, str):
        by_reference[named] = whole
    return whole
