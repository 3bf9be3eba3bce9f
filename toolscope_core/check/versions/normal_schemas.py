"""Schemas in one form, so that two ways to say the same are equal: before versions are compared."""

from typing import Any

from toolscope_core.catalog.schema.contradictions import is_of_type
from toolscope_core.catalog.schema.walking import map_subschemas
from toolscope_core.judging.arguments.subschema import core, of_keyword, type_set
from toolscope_core.model.tool import JsonObject, canonical_json

_LISTS = ("anyOf", "oneOf")
_NUMBERS = frozenset({"integer", "number"})


def normal_schema(schema: Any) -> Any:
    """The schema without notes and keywords of others, fixed values as ``enum``, and alternatives
    of different types as one list of types; ``true`` is the schema that says nothing.
    """
    if schema is True:
        return {}
    if not isinstance(schema, dict):
        return schema
    plain = {key: sub for key, sub in core(schema).items() if not key.startswith("x-")}
    if plain.get("required") == []:
        del plain["required"]
    plain = map_subschemas(plain, lambda sub, _: normal_schema(sub))
    if "const" in plain:
        plain["enum"] = [plain.pop("const")]
    for key in _LISTS:
        if isinstance(plain.get(key), list) and len(plain[key]) == 1:
            plain = _joined(plain, key, plain[key])
    for key in _LISTS:
        if isinstance(plain.get(key), list):
            plain = _joined(plain, key, [_together(plain[key])]) if _together(plain[key]) else plain
    return _sorted(plain)


def _joined(schema: dict[str, Any], key: str, options: list[Any]) -> dict[str, Any]:
    """The schema with its only alternative beside it, where the two say nothing of one thing."""
    rest = {name: sub for name, sub in schema.items() if name != key}
    (option,) = options
    if not isinstance(option, dict) or rest.keys() & option.keys():
        return schema
    return {**rest, **option}


def _together(options: list[Any]) -> JsonObject | None:
    """One schema for alternatives that are all fixed values, or all of different types."""
    if not all(isinstance(option, dict) and option for option in options):
        return None
    fixed = [{"enum": [None]} if option == {"type": "null"} else option for option in options]
    if all(option.keys() == {"enum"} for option in fixed):
        values = [value for option in fixed for value in option["enum"]]
        one_each = len({canonical_json(value) for value in values}) == len(values)
        return {"enum": values} if one_each else None
    types = [type_set(option) for option in options]
    wide = [one | (_NUMBERS if one & _NUMBERS else frozenset()) for one in types]
    if not all(types) or sum(map(len, wide)) != len(frozenset().union(*wide)):
        return None
    merged: dict[str, Any] = {"type": [kind for one in types for kind in sorted(one)]}
    for option, own in zip(options, wide, strict=True):
        others = {key: sub for key, sub in option.items() if key != "type"}
        if others.keys() & merged.keys() or not all(own >= of_keyword(key) for key in others):
            return None
        merged |= others
    return merged


def _sorted(schema: dict[str, Any]) -> JsonObject:
    """The schema with types and fixed values in one order, and no type that these already have."""
    kind, values = schema.get("type"), schema.get("enum")
    if isinstance(kind, list):
        names = sorted(map(str, kind))
        schema = {**schema, "type": names[0] if len(names) == 1 else names}
    if isinstance(values, list):
        ordered = sorted(values, key=canonical_json)
        schema = {**schema, "enum": ordered}
        kinds = sorted(type_set(schema))
        if "type" in schema and all(is_of_type(value, {"type": kinds}) for value in ordered):
            schema = {key: sub for key, sub in schema.items() if key != "type"}
    return schema
