"""Which keywords of a JSON Schema (2020-12) have a value that they may have.

A hand-written twin of the meta-schema, because ``jsonschema`` needs a second for what this does
in milliseconds; the tests hold the two against each other. What is invalid stays in the schema
under ``INVALID``, where nothing acts on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from toolscope_core.datamodel import Finding, JsonObject, Tool, canonical_json

INVALID = "x-invalid"
ANCHOR = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")
COUNTS = (
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    *("minContains", "maxContains"),
)
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def split_invalid(schema: JsonObject) -> dict[str, Any]:
    """The schema with each keyword of an invalid value moved under ``INVALID``; subschemas are
    taken as they are.
    """
    wrong = {key for key, value in schema.items() if key in VALID and not VALID[key](value)}
    if not wrong:
        return dict(schema)
    kept = {key: value for key, value in schema.items() if key not in wrong}
    moved = {key: schema[key] for key in schema if key in wrong}
    earlier = schema.get(INVALID)
    return {**kept, INVALID: {**(earlier if isinstance(earlier, dict) else {}), **moved}}


def find_invalid(tool: Tool) -> tuple[Finding, ...]:
    """A *warn* finding on each schema of the tool that says something invalid."""
    return tuple(
        Finding(
            tool_id=tool.id,
            severity="warn",
            code="invalid-schema",
            field=place,
            message=f"The {place} gives {', '.join(sorted(wrong))} a value that JSON Schema does "
            "not allow there; it is kept, and ignored.",
            excerpt=canonical_json(wrong)[:200],
        )
        for part, schema in (("schema", tool.schema), ("returns", tool.returns))
        if schema is not None
        for place, wrong in _invalid_in(schema, part)
    )


def _invalid_in(value: Any, place: str) -> Iterator[tuple[str, JsonObject]]:
    if isinstance(value, dict):
        wrong = value.get(INVALID)
        if isinstance(wrong, dict):
            yield place, wrong
        for key, sub in value.items():
            if key != INVALID and isinstance(sub, (dict, list)):
                yield from _invalid_in(sub, f"{place}/{key}")
    elif isinstance(value, list):
        for row, sub in enumerate(value):
            yield from _invalid_in(sub, f"{place}/{row}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and (isinstance(value, int) or value.is_integer())


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


def _is_schema(value: Any) -> bool:
    return isinstance(value, (dict, bool))


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _is_schema_map(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_schema, value.values()))


def _are_names(value: Any) -> bool:
    return _is_list(value) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_pattern(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _are_patterns(value: Any) -> bool:
    return _is_schema_map(value) and all(map(_is_pattern, value))


def _is_anchor(value: Any) -> bool:
    return isinstance(value, str) and ANCHOR.fullmatch(value) is not None


VALID: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("title", "description", "format", "$comment", "$schema", "$ref"), _is_text),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), _is_text),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _is_truth),
    **dict.fromkeys(BOUNDS, _is_number),
    **dict.fromkeys(COUNTS, _is_count),
    **dict.fromkeys(("enum", "examples"), _is_list),
    **dict.fromkeys(("prefixItems", "anyOf", "oneOf", "allOf"), _are_schemas),
    **dict.fromkeys(("items", "additionalProperties", "contains", "propertyNames"), _is_schema),
    **dict.fromkeys(("not", "if", "then", "else", "contentSchema"), _is_schema),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), _is_schema),
    **dict.fromkeys(("properties", "$defs", "definitions", "dependentSchemas"), _is_schema_map),
    "patternProperties": _are_patterns,
    "pattern": _is_pattern,
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "dependentRequired": lambda value: _is_map(value) and all(map(_are_names, value.values())),
    "dependencies": lambda value: (
        _is_map(value) and all(_is_schema(item) or _are_names(item) for item in value.values())
    ),
    "$id": lambda value: isinstance(value, str) and re.fullmatch(r"[^#]*#?", value) is not None,
    **dict.fromkeys(("$anchor", "$dynamicAnchor", "$recursiveAnchor"), _is_anchor),
    **dict.fromkeys(("$dynamicRef", "$recursiveRef", "$vocabulary"), lambda _: False),
}
