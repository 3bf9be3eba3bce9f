"""Finds keywords of a JSON Schema (2020-12) with values that the meta-schema does not allow.

They stay in the schema under ``INVALID``, where they have no effect. The check uses
``jsonschema-rs``, which takes 0.03 s for the 8,152 schemas of Seal-Tools (``jsonschema``: 4.8 s).
Schemas are validated but not compiled, so no reference is followed.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from toolscope_core.catalog.flaws import below
from toolscope_core.model.catalog import Finding
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

INVALID = "x-invalid"
BROKEN_REFERENCE = "reference"
"""The key for a broken ``$ref`` under ``INVALID``."""
COUNTS = (
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    *("minContains", "maxContains"),
)
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
LIST_KEYWORDS = ("prefixItems", "anyOf", "oneOf", "allOf")
SINGLE = (
    *("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"),
    *("unevaluatedItems", "unevaluatedProperties", "contentSchema"),
)
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_META: dict[str, Any] = {  # the meta-schema without the parts that make a schema depend on others
    "$schema": _DRAFT,
    "$id": "urn:toolscope:schema-of-a-tool",
    "$dynamicAnchor": "meta",
    "$ref": _DRAFT,
    "properties": {
        **dict.fromkeys(("$dynamicRef", "$dynamicAnchor", "$vocabulary"), False),
        **dict.fromkeys(("$recursiveRef", "$recursiveAnchor"), False),
        "pattern": {"format": "regex"},
        "patternProperties": {"propertyNames": {"format": "regex"}},
    },
}


def split_invalid(schema: JsonObject) -> JsonObject:
    """The schema, at every depth, with each invalid keyword moved under ``INVALID``."""
    if _checker().is_valid(schema):
        return schema
    return _without(schema, [list(error.instance_path) for error in _checker().iter_errors(schema)])


def set_aside(schema: JsonObject, keys: Iterable[str]) -> JsonObject:
    """The schema with these keywords moved under ``INVALID``."""
    invalid = {key: schema[key] for key in keys}
    if not invalid:
        return schema
    others = {key: sub for key, sub in schema.items() if key not in invalid}
    return {**others, INVALID: {**schema.get(INVALID, {}), **invalid}}


def find_invalid(tool: Tool) -> tuple[Finding, ...]:
    """A *warn* finding for each schema of the tool that has invalid keywords."""
    return tuple(
        Finding(
            tool_id=tool.id,
            severity="warn",
            code="invalid-schema",
            field=place,
            message=f"The {place} {_what_is_wrong(wrong)}; it is kept but ignored.",
            excerpt=canonical_json(wrong)[:200],
        )
        for part, schema in (("schema", tool.schema), ("returns", tool.returns))
        if schema is not None
        for place, wrong in _invalid_in(schema, part)
    )


def _what_is_wrong(wrong: JsonObject) -> str:
    if wrong.keys() == {BROKEN_REFERENCE}:
        return "refers to something outside the schema, or only to itself ($ref)"
    return f"gives {', '.join(sorted(wrong))} a value that JSON Schema does not allow"


def _invalid_in(value: Any, place: str) -> Iterator[tuple[str, JsonObject]]:
    if isinstance(value, dict):
        wrong = value.get(INVALID)
        if isinstance(wrong, dict):
            yield place, wrong
        for key, sub in value.items():
            if key != INVALID and isinstance(sub, (dict, list)):
                yield from _invalid_in(sub, below(place, key))
    elif isinstance(value, list):
        for row, sub in enumerate(value):
            yield from _invalid_in(sub, below(place, row))


def _without(schema: JsonObject, paths: Iterable[Sequence[Any]]) -> JsonObject:
    """The schema with the keywords at the ends of the paths moved under ``INVALID``."""
    inside: dict[str, list[Sequence[Any]]] = {}
    for key, *rest in paths:
        inside.setdefault(key, []).append(rest)
    result = dict(schema)
    wrong = {}
    for key, rests in inside.items():
        corrected = _corrected(key, schema[key], rests)
        if corrected is None:
            wrong[key] = result.pop(key)
        else:
            result[key] = corrected
    if not wrong:
        return result
    earlier = result.pop(INVALID, None)
    return {**result, INVALID: {**(earlier if isinstance(earlier, dict) else {}), **wrong}}


def _corrected(key: str, value: Any, paths: Sequence[Sequence[Any]]) -> Any:
    """The value of a keyword without the faults inside it; ``None`` if the value itself is
    wrong.
    """
    if key in SINGLE and isinstance(value, dict) and all(paths):
        return _without(value, paths)
    if key in (*MAPS, *LIST_KEYWORDS) and all(len(path) > 1 for path in paths):
        by_name: dict[Any, list[Sequence[Any]]] = {}
        for name, *rest in paths:
            by_name.setdefault(name, []).append(rest)
        result = copy(value)
        for name, rests in by_name.items():
            result[name] = _without(value[name], rests)
        return result
    return None


@cache
def _checker() -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    formats = {"regex": _is_pattern, **dict.fromkeys(("uri", "uri-reference"), lambda _: True)}
    return Draft202012Validator(_META, formats=formats, validate_formats=True)


def _is_pattern(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a later Python may read such text differently
        try:
            re.compile(text)
        except (re.error, RecursionError, OverflowError):
            return False
    return True
