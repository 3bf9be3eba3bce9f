"""Keeps JSON Pointers valid after ``allOf`` is merged.

A reference to an ``$anchor`` becomes a pointer to the anchor. Merging would break a reference
through an ``allOf``, so its target is copied under ``$defs``. Up to draft 7, keywords beside a
``$ref`` have no effect. They must not get an effect here, so they are moved under ``x-invalid``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolscope_core.catalog.flaws import MAX_EXPANDED
from toolscope_core.catalog.schema import walking
from toolscope_core.catalog.schema.keywords import INVALID, set_aside
from toolscope_core.model.tool import JsonObject

CURRENT_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_OLD_DRAFT = re.compile(r"https?://json-schema\.org/draft-0([3467])/schema#?")
_WITHOUT_EFFECT = (
    *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
    *("$comment", "$schema", "$defs", "definitions", INVALID),
)


def with_current_draft(schema: JsonObject) -> JsonObject:
    """The schema; if it uses keywords that its own draft reads differently, it is declared as
    2020-12.
    """
    declared = _OLD_DRAFT.fullmatch(str(schema.get("$schema")))
    if declared is None:
        return schema
    uses_prefixes = any("prefixItems" in node for node in walking.objects_in(schema))
    if declared[1] in "67" and not uses_prefixes:
        return schema
    return {**schema, "$schema": CURRENT_DRAFT}


def lasting_pointers(schema: JsonObject) -> JsonObject:
    """The schema (a root) with references that stay valid when it is merged.

    Only anchors of the root are read, not those below an inner ``$id``.
    """
    if _OLD_DRAFT.fullmatch(str(schema.get("$schema"))):  # these ignore keywords beside "$ref"
        schema = walking.map_objects(schema, _without_siblings, walking.VALUES)
    anchors: dict[str, str] = {}
    for name, pointer in _anchors(schema, "#"):
        anchors.setdefault(f"#{name}", pointer)
    if anchors:
        schema = walking.map_references(schema, lambda own: anchors.get(own, own), walking.VALUES)
    through = dict.fromkeys(
        reference
        for reference in walking.references_in(schema, walking.VALUES)
        if "/allOf/" in reference and isinstance(walking.resolve(schema, reference), (dict, bool))
    )
    definitions = schema.get("$defs", {})
    if not through or not isinstance(definitions, dict):
        return schema
    free = (name for number in range(1, 1_000_000) if (name := f"part_{number}") not in definitions)
    names = dict(zip(through, free, strict=False))
    targets = {name: walking.resolve(schema, reference) for reference, name in names.items()}
    pointers = {reference: f"#/$defs/{name}" for reference, name in names.items()}
    result: JsonObject = walking.map_references(
        {**schema, "$defs": {**definitions, **targets}},
        lambda own: pointers.get(own, own),
        walking.VALUES,
    )
    return result


def _without_siblings(schema: dict[str, Any]) -> JsonObject:
    """The schema in which effective keywords beside ``$ref`` are moved under ``INVALID``."""
    if not isinstance(schema.get("$ref"), str):
        return schema
    return set_aside(schema, [key for key in schema if key not in ("$ref", *_WITHOUT_EFFECT)])


def _anchors(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """The name and pointer of each anchor, in document order, including ``$id: "#name"`` of
    draft 7.
    """
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
            if key not in walking.VALUES:
                word = key.replace("~", "~0").replace("/", "~1").replace("%", "%25")
                yield from _anchors(sub, f"{place}/{word}")


_TEXT = 100
"""The number of characters for which a text counts as one more value."""


class Extent(NamedTuple):
    """The number of values in a JSON value, including the value itself, and the number of
    levels.
    """

    values: int
    levels: int


@dataclass(slots=True)
class ExpansionBudget:
    """The number of values that all readers of one document together may still write out."""

    remaining: int = MAX_EXPANDED

    def take(self, values: int) -> bool:
        """Takes ``values`` from the budget if that many are left, and returns whether it did."""
        if values > self.remaining:
            return False
        self.remaining -= values
        return True


def measure(value: Any) -> Extent:
    """The extent of a JSON value; keys are counted as texts."""
    if isinstance(value, str):
        return Extent(1 + len(value) // _TEXT, 0)
    if not isinstance(value, (dict, list)):
        return Extent(1, 0)
    inside = [measure(item) for item in (value.values() if isinstance(value, dict) else value)]
    keys = sum(len(key) // _TEXT for key in value) if isinstance(value, dict) else 0
    return Extent(
        1 + keys + sum(extent.values for extent in inside),
        1 + max((extent.levels for extent in inside), default=0),
    )
