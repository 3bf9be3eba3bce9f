"""Whether the values of two parameters could stand for each other, as far as types say."""

from __future__ import annotations

from toolscope_core.judging.arguments.subschema import type_set
from toolscope_core.model.tool import JsonObject


def types_meet(a: JsonObject, b: JsonObject) -> bool:
    """Whether a value of one could stand for one of the other, directly or by wrap or cast."""
    if _plain(a, b):
        return True
    left, right = _loose_types(a), _loose_types(b)
    return not left or not right or bool(left & right) or _listed(a, right) or _listed(b, left)


def types_overlap(a: JsonObject, b: JsonObject) -> bool:
    """Whether one value can be of both types, integers counting as numbers."""
    if _plain(a, b):
        return True
    left, right = (
        frozenset("number" if kind == "integer" else kind for kind in type_set(schema) - {"null"})
        for schema in (a, b)
    )
    return not left or not right or bool(left & right)


def _plain(a: JsonObject, b: JsonObject) -> bool:
    kind = a.get("type")
    return isinstance(kind, str) and kind == b.get("type") and kind != "null"


def _listed(schema: JsonObject, others: frozenset[str]) -> bool:
    items = schema.get("items")
    if "array" not in type_set(schema) or not isinstance(items, dict | type(None)):
        return False
    return not items or not _loose_types(items) or bool(_loose_types(items) & others)


def _loose_types(schema: JsonObject) -> frozenset[str]:
    types = type_set(schema) - {"null"}
    if types & {"integer", "number"}:
        types |= {"integer", "number", "string"}
    return types
