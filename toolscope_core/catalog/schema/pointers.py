"""References as JSON Pointers that still lead to their target once ``allOf`` is merged.

A reference to an ``$anchor`` becomes the pointer to it. One that leads through an ``allOf`` would
lead nowhere after merging: its target gets a place of its own under ``$defs``. Up to draft 7 what
stands beside a ``$ref`` has no effect, and must not get one here: it is moved under ``x-invalid``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from toolscope_core.catalog.schema.keywords import INVALID
from toolscope_core.model.tool import JsonObject

CURRENT_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_OLD_DRAFT = re.compile(r"https?://json-schema\.org/draft-0([3467])/schema#?")
_LITERAL = ("default", "enum", "const", "examples", INVALID)
_WITHOUT_EFFECT = (
    *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
    *("$comment", "$schema", "$defs", "definitions", INVALID),
)


def is_old_draft(schema: JsonObject) -> bool:
    """Whether the schema (a root) declares a draft that ignores what stands beside ``$ref``."""
    return _OLD_DRAFT.fullmatch(str(schema.get("$schema"))) is not None


def with_current_draft(schema: JsonObject) -> JsonObject:
    """The schema declared as 2020-12 where it uses what its own draft reads in another way."""
    declared = _OLD_DRAFT.fullmatch(str(schema.get("$schema")))
    if declared is None or (declared[1] in "67" and not _uses(schema, "prefixItems")):
        return schema
    return {**schema, "$schema": CURRENT_DRAFT}


def lasting_pointers(schema: JsonObject, resolve: Callable[[JsonObject, Any], Any]) -> JsonObject:
    """The schema (a root) with references that outlast merging; ``resolve`` follows a pointer.

    Anchors are those of the root: below an ``$id`` of its own a schema's anchors are not read.
    """
    if is_old_draft(schema):
        schema = _without_siblings(schema)
    anchors: dict[str, str] = {}
    for name, pointer in _anchors(schema, "#"):
        anchors.setdefault(f"#{name}", pointer)
    if anchors:
        schema = _renamed(schema, anchors)
    through = dict.fromkeys(
        reference
        for reference in _references(schema)
        if "/allOf/" in reference and isinstance(resolve(schema, reference), (dict, bool))
    )
    definitions = schema.get("$defs", {})
    if not through or not isinstance(definitions, dict):
        return schema
    free = (name for number in range(1, 1_000_000) if (name := f"part_{number}") not in definitions)
    names = dict(zip(through, free, strict=False))
    moved = {name: resolve(schema, reference) for reference, name in names.items()}
    pointers = {reference: f"#/$defs/{name}" for reference, name in names.items()}
    renamed: JsonObject = _renamed({**schema, "$defs": {**definitions, **moved}}, pointers)
    return renamed


def _without_siblings(value: Any) -> Any:
    """The value with what stands beside a ``$ref`` and would act on values under ``INVALID``."""
    if isinstance(value, list):
        return [_without_siblings(item) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {
        key: sub if key in _LITERAL else _without_siblings(sub) for key, sub in value.items()
    }
    if not isinstance(value.get("$ref"), str):
        return changed
    idle = {key: changed.pop(key) for key in value if key != "$ref" and key not in _WITHOUT_EFFECT}
    return {**changed, INVALID: {**changed.get(INVALID, {}), **idle}} if idle else changed


def _anchors(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Name and pointer of each anchor, ``$id: "#name"`` of draft 7 as well, in document order."""
    if isinstance(value, list):
        for row, item in enumerate(value):
            yield from _anchors(item, f"{place}/{row}")
    elif isinstance(value, dict):
        own = value.get("$id")
        if isinstance(own, str) and not own.startswith("#") and place != "#":
            return
        if isinstance(own, str) and own.startswith("#"):
            yield own[1:], place
        if isinstance(value.get("$anchor"), str):
            yield value["$anchor"], place
        for key, sub in value.items():
            if key not in _LITERAL:
                word = key.replace("~", "~0").replace("/", "~1").replace("%", "%25")
                yield from _anchors(sub, f"{place}/{word}")


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _references(item)
    elif isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for key, sub in value.items():
            if key not in _LITERAL:
                yield from _references(sub)


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """The value with the references that ``names`` lists replaced."""
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {key: sub if key in _LITERAL else _renamed(sub, names) for key, sub in value.items()}
    if isinstance(value.get("$ref"), str):
        changed["$ref"] = names.get(value["$ref"], value["$ref"])
    return changed


def _uses(value: Any, keyword: str) -> bool:
    if isinstance(value, dict):
        return keyword in value or any(_uses(sub, keyword) for sub in value.values())
    return isinstance(value, list) and any(_uses(item, keyword) for item in value)
