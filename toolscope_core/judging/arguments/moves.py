"""How one argument is carried over: the operation between two parameters' schemas."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolscope_core.judging.arguments.roles import read_parameter
from toolscope_core.judging.arguments.subschema import admits, core, leaves_out, type_set
from toolscope_core.judging.arguments.value_facts import LIST, value_facts
from toolscope_core.judging.word_stems import meaning, plain_words, spelling
from toolscope_core.judging.words import is_plural
from toolscope_core.model.argument_map import ArgumentMove
from toolscope_core.model.tool import JsonObject, Parameter, canonical_json

_SEVERAL = re.compile(r"\w\(e?s\)|\b(?:one or more|multiple|several|lists?)\b", re.IGNORECASE)
_LARGEST = 2**31 - 1
_COUNTED = frozenset({"count", "key"})
_PAGED = frozenset(map(meaning, "limit max page per offset index size top results items".split()))
"""Kinds and names of parameters that are whole numbers, none of them negative."""
_WRITTEN = frozenset({"format", "contentEncoding", "contentMediaType"})
"""Keywords of texts that a number is not written as."""


def move_to(parameter: Parameter, target: str, schema: JsonObject | bool) -> ArgumentMove | None:
    """What makes every value of the parameter one that ``schema`` takes, and can be undone;
    ``None`` where nothing does.
    """
    own = parameter.schema
    if not isinstance(schema, dict):
        return ArgumentMove(parameter.name, target) if schema is True else None
    if admits(schema, own):
        return None if leaves_out(schema, own) else ArgumentMove(parameter.name, target)
    values = _value_map(parameter, schema)
    if values:
        return ArgumentMove(parameter.name, target, "map", values)
    if "array" in type_set(own) ^ type_set(schema):
        return _through_a_list(parameter, target, schema)
    kind = type_set(own)
    if (
        len(kind) == 1
        and kind <= {"integer", "number", "boolean"}
        and core(schema) == {"type": "string"}
        and not _WRITTEN & schema.keys()
    ):
        return ArgumentMove(parameter.name, target, "cast")
    return None


def usual_move(
    parameter: Parameter, target: str, schema: JsonObject | bool
) -> tuple[ArgumentMove, tuple[str, ...]] | None:
    """The same where ``schema`` is stricter by limits that hardly a call meets, and those limits in
    sentences; ``None`` where more than that is in the way.
    """
    if not isinstance(schema, dict):
        return None
    notes: list[str] = []
    move = move_to(parameter, target, _without_limits(schema, parameter, f"`{target}`", notes))
    return (move, tuple(notes)) if move else None


def _without_limits(
    schema: JsonObject, parameter: Parameter, name: str, notes: list[str]
) -> JsonObject:
    """The schema without limits that hardly a call meets; ``notes`` gets a sentence for each."""
    loose, own = dict(schema), parameter.schema
    for key in () if "enum" in own or "const" in own else tuple(_unusual(schema, parameter)):
        limit = loose.pop(key)
        if key in ("minLength", "minItems"):
            notes.append(f"{name} must not be empty")
        else:
            bound = {"minimum": "least", "maximum": "most"}.get(key)
            notes.append(f"{name} must be {f'at {bound}' if bound else 'more than'} {limit}")
    if type_set(own) == {"number"} and "integer" in type_set(schema) and _is_counted(parameter):
        loose["type"] = "number"
        notes.append(f"{name} must be a whole number")
    items = loose.get("items")
    if isinstance(items, dict):
        inner = own.get("items")
        of_own = Parameter(parameter.name, False, inner if isinstance(inner, dict) else {})
        loose["items"] = _without_limits(items, of_own, f"each of {name}", notes)
    return loose


def _unusual(schema: JsonObject, parameter: Parameter) -> Iterator[str]:
    """The limits that hardly a call meets: an empty text or list, a count or a key below 1, more
    than a number is.
    """
    for key in ("minLength", "minItems"):
        if schema.get(key) == 1:
            yield key
    counted = _is_counted(parameter)
    for key, sign, most in (("minimum", -1, 1), ("exclusiveMinimum", -1, 0), ("maximum", 1, None)):
        limit = schema.get(key)
        if not isinstance(limit, int | float):
            continue
        is_low = counted and most is not None and limit <= most
        if is_low or (key != "exclusiveMinimum" and limit * sign >= _LARGEST):
            yield key


def _is_counted(parameter: Parameter) -> bool:
    """Whether the parameter is a count, a key or a page, by its whole name, and takes more than 1:
    those are whole and begin at 0 or 1 whatever their schema says.
    """
    most = parameter.schema.get("maximum")
    if isinstance(most, int | float) and most <= 1:
        return False
    reading = read_parameter(parameter)
    counts = not reading.named.isdisjoint(_COUNTED) and "money" not in reading.named
    return counts or (bool(reading.name) and reading.name <= _PAGED)


def _through_a_list(parameter: Parameter, target: str, schema: JsonObject) -> ArgumentMove | None:
    """One value into a list of one, or out of a list that always holds exactly one."""
    own = parameter.schema
    if type_set(own) == {"array"}:
        one = own.get("minItems") == 1 == own.get("maxItems")
        fits = one and admits(schema, own.get("items"))
        return ArgumentMove(parameter.name, target, "unwrap") if fits else None
    if _may_be_several(parameter):
        return None
    listed = {"type": "array", "items": own, "minItems": 1, "maxItems": 1}
    fits = bool(type_set(own)) and type_set(schema) == {"array"} and admits(schema, listed)
    return ArgumentMove(parameter.name, target, "wrap") if fits else None


def _may_be_several(parameter: Parameter) -> bool:
    """Whether a text may name several things at once, as ``A-1,A-2`` does: a list of it would hold
    one text that is none of them.
    """
    name = plain_words(parameter.name)
    return bool(
        value_facts(parameter).of(LIST)
        or _SEVERAL.search(parameter.description)
        or (name and is_plural(name[-1]))
    )


def refusal(parameter: Parameter, target: str, schema: JsonObject | bool) -> str:
    """Why no move was found, as a clause about the parameter."""
    if isinstance(schema, Mapping) and "array" in type_set(parameter.schema) - type_set(schema):
        return f"`{target}` takes one value, and a list may hold more or none"
    if isinstance(schema, Mapping) and leaves_out(schema, parameter.schema):
        return f"`{target}` has no place for some of its fields"
    return f"`{target}` does not take all of its values"


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
