"""How one argument is carried over: the operation between two parameters' schemas."""

from __future__ import annotations

from typing import Any

from toolscope_core.datamodel import ArgumentMove, JsonObject, Parameter, canonical_json
from toolscope_core.merging.subschema import admits, core, type_set
from toolscope_core.merging.wording import spelling


def move_to(parameter: Parameter, target: str, schema: JsonObject | bool) -> ArgumentMove | None:
    own = parameter.schema
    if not isinstance(schema, dict):
        return ArgumentMove(parameter.name, target) if schema is True else None
    if admits(schema, own):
        return ArgumentMove(parameter.name, target)
    values = _value_map(parameter, schema)
    if values:
        return ArgumentMove(parameter.name, target, "map", values)
    if type_set(own) and "array" not in type_set(own) and type_set(schema) == {"array"}:
        listed = {"type": "array", "items": own, "minItems": 1, "maxItems": 1}
        return ArgumentMove(parameter.name, target, "wrap") if admits(schema, listed) else None
    kind = type_set(own)
    if (
        len(kind) == 1
        and kind <= {"integer", "number", "boolean"}
        and core(schema) == {"type": "string"}
    ):
        return ArgumentMove(parameter.name, target, "cast")
    return None


def _value_map(parameter: Parameter, schema: JsonObject) -> tuple[tuple[Any, Any], ...]:
    """One-to-one old value → new value by spelling, total on the old values, or empty."""
    theirs = schema.get("enum")
    if not parameter.enum or not isinstance(theirs, list):
        return ()
    spelled: dict[str, list[Any]] = {}
    for value in theirs:
        spelled.setdefault(spelling(value), []).append(value)
    pairs = []
    for value in parameter.enum:
        fitting = spelled.get(spelling(value), [])
        if len(fitting) != 1:
            return ()
        pairs.append((value, fitting[0]))
    distinct = {canonical_json(new) for _, new in pairs}
    return tuple(pairs) if len(distinct) == len(pairs) else ()
