"""Which parameter of one tool is which of another, and how a call is carried over: α.

An argument map is *lossless* when every argument of every valid call to the old tool has a place
in the merged tool, with a value that the merged schema allows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from toolscope_core.datamodel import (
    ArgumentMap,
    ArgumentMove,
    JsonObject,
    Parameter,
    Tool,
    canonical_json,
)
from toolscope_core.merging.subschema import admits, core, inline_references, type_set

MATCH_AT = 0.6
"""Least score at which two parameters are taken for the same one."""

_SAME_WORD = {
    word: group[0]
    for group in (
        ("query", "q", "search", "term", "keyword", "keywords"),
        ("text", "content", "body", "message", "msg", "txt", "string"),
        ("path", "file", "filename", "filepath", "pathname"),
        ("directory", "dir", "folder"),
        ("identifier", "id", "ident", "uuid"),
        ("number", "num", "count", "n", "qty", "quantity"),
        ("limit", "max", "maximum", "top"),
        ("language", "lang", "locale"),
        ("latitude", "lat"),
        ("longitude", "lon", "lng", "long"),
        ("source", "src", "origin", "from", "departure"),
        ("destination", "dst", "dest", "target", "to", "arrival"),
        ("address", "addr"),
        ("url", "uri", "link", "href"),
        ("location", "place", "city", "town"),
        ("user", "account"),
        ("start", "begin", "since", "after"),
        ("end", "finish", "until", "before", "stop"),
        ("mail", "email"),
        ("telephone", "phone", "tel"),
        ("temperature", "temp"),
        ("parameter", "param", "argument", "arg"),
    )
    for word in group
}
_EMPTY_WORDS = frozenset(
    "a an the of to for in on at by with and or is are be that this it its as from which used use "
    "value specified given optional required default e g eg etc will can should".split()
)

_DIRECTIONS = frozenset("from except excluding exclude not non no without but".split())

_PLAIN_KEYWORDS = frozenset(
    "type properties required additionalProperties $defs definitions".split()
)

_WEAK_WORDS = frozenset({"name", "identifier", "number"})
"""Added to a name they may mean the same thing or another aspect of it: ``city_name``."""

_TURNING_WORDS = frozenset(
    """min minimum limit not no non exclude excluded except without skip ignore hide include
    included only allow deny block enable disable start end source destination old new previous
    next ms millisecond second sec minute hour day week month year km mile meter metre foot feet
    celsius fahrenheit kelvin percent usd eur type format unit url total average""".split()
)
"""Added to a name they make it another parameter: ``exclude_domains``, ``timeout_ms``."""


@dataclass(frozen=True, slots=True)
class Match:
    """Parameter ``left`` of one tool is parameter ``right`` of the other; score in (0, 1]."""

    left: str
    right: str
    score: float


def match_parameters(left: Tool, right: Tool) -> tuple[Match, ...]:
    """One-to-one matches between the declared parameters, in the order of ``left``.

    Best scores first, each parameter at most once, ties by name; swapping the tools swaps the
    matches and nothing else. A single required parameter left over on each side, of one type, is
    matched where the names share a word.
    """
    ours, theirs = left.parameters, right.parameters
    scored = [
        (score, a.name, b.name)
        for a in ours
        for b in theirs
        if (score := parameter_score(a, b)) >= MATCH_AT
    ]
    found: dict[str, tuple[str, float]] = {}
    taken: set[str] = set()
    for score, a, b in sorted(scored, key=lambda row: (-row[0], sorted(row[1:]), row[1])):
        if a not in found and b not in taken:
            found[a] = (b, score)
            taken.add(b)
    _match_last(
        [p for p in ours if p.required and p.name not in found],
        [p for p in theirs if p.required and p.name not in taken],
        found,
    )
    return tuple(Match(p.name, *found[p.name]) for p in ours if p.name in found)


def parameter_score(a: Parameter, b: Parameter) -> float:
    """How surely two parameters are the same, in [0, 1], from names, types and descriptions."""
    words_a, words_b = name_words(a.name), name_words(b.name)
    text_a, text_b = _text_words(a.description), _text_words(b.description)
    told = _overlap(text_a, text_b)
    added = words_a ^ words_b
    if words_a == words_b:
        score = 1.0
    elif added & _TURNING_WORDS:
        score = 0.3 * told
    elif words_a < words_b or words_b < words_a:
        score = 0.5 + 0.4 * told if added <= _WEAK_WORDS else 0.75 + 0.2 * told
    elif words_a & words_b:  # start_date and end_date: what is not shared tells them apart
        score = 0.25 + 0.3 * told
    else:
        apart = words_a & (text_a - text_b) and words_b & (text_b - text_a)
        score = 0.9 * told if told >= 0.7 and not apart else 0.3 * told
    if score < MATCH_AT or _types_overlap(a.schema, b.schema):
        return score
    return score if score == 1.0 and _types_meet(a.schema, b.schema) else 0.0


def argument_map(tool: Tool, target: Tool) -> ArgumentMap:
    """α from ``tool`` to ``target``, whose own schema is left as it is.

    What has no place is in ``dropped``, what would not validate in ``lossy``.
    """
    if tool.id == target.id or tool.content_hash == target.content_hash:
        moves = tuple(ArgumentMove(p.name, p.name) for p in tool.parameters)
        return ArgumentMap(tool.id, target.id, moves)
    obstacle = unmappable(target)
    if obstacle:
        return ArgumentMap(tool.id, target.id, lossy=(obstacle,))
    pairs = {match.left: match.right for match in match_parameters(tool, target)}
    schema = target.schema or {}
    return map_onto(tool, target.id, schema, pairs, fixed_values(tool, target))


def unmappable(tool: Tool) -> str | None:
    """Why no call to the tool can be mapped, as a sentence; ``None`` where calls can be."""
    if tool.schema is None:
        return f"`{tool.name}` does not say what arguments it takes"
    if '"$ref"' not in canonical_json(tool.schema):
        return None
    if '"$ref"' in canonical_json(inline_references(tool.schema)):
        return f"the schema of `{tool.name}` refers to itself or to something outside it"
    return None


def map_onto(
    tool: Tool,
    to: str,
    schema: JsonObject,
    pairs: Mapping[str, str],
    constants: JsonObject,
) -> ArgumentMap:
    """α from ``tool`` to the object schema of ``to``, given which parameter is which."""
    obstacle = unmappable(tool)
    schema = inline_references(schema)
    properties: Mapping[str, JsonObject] = schema.get("properties") or {}
    tool = replace(tool, schema=inline_references(tool.schema or {}))
    moves: list[ArgumentMove] = []
    dropped: dict[str, str] = {}
    for parameter in tool.parameters:
        target = pairs.get(parameter.name)
        if target is None:
            dropped[parameter.name] = "the merged tool has no such parameter"
            continue
        move = _move(parameter, target, properties[target])
        if move is None:
            dropped[parameter.name] = f"`{target}` does not take all of its values"
        else:
            moves.append(move)
    taken = {move.target for move in moves}
    lost = [k for k, v in constants.items() if k not in taken and not _takes(properties.get(k), v)]
    constants = {k: v for k, v in constants.items() if k not in taken and k not in lost}
    lossy = [*_unsupplied(tool, schema, moves, constants), *_open_ended(tool, schema)]
    lossy += [obstacle] if obstacle else []
    lossy += [f"`{name}` no longer says that `{tool.name}` is meant" for name in lost]
    lossy += _bound_together(tool, schema, moves)
    return ArgumentMap(tool.id, to, tuple(moves), constants, dropped, tuple(lossy))


def fixed_values(tool: Tool, target: Tool) -> dict[str, Any]:
    """Arguments of ``target`` whose value stands in the name of ``tool``.

    ``translate_to_french(text)`` is ``translate(text, language="french")`` where ``language``
    lists ``french`` among its values, and no other parameter does. A name that says *from* or
    *except* fixes nothing.
    """
    words = set(_words(tool.name))
    if words & _DIRECTIONS:
        return {}
    told = name_words(tool.name) - name_words(target.name)
    fitting = [
        (parameter.name, value)
        for parameter in target.parameters
        for value in parameter.enum
        if isinstance(value, str) and name_words(value) and name_words(value) <= told
    ]
    values = [_spelling(value) for _, value in fitting]
    names = [name for name, _ in fitting]
    return {
        name: value
        for name, value in fitting
        if names.count(name) == 1 and values.count(_spelling(value)) == 1
    }


def _match_last(
    ours: Sequence[Parameter], theirs: Sequence[Parameter], found: dict[str, tuple[str, float]]
) -> None:
    if len(ours) != 1 or len(theirs) != 1:
        return
    a, b = ours[0], theirs[0]
    words_a, words_b = name_words(a.name), name_words(b.name)
    hint = words_a & words_b and not (words_a ^ words_b) & (_TURNING_WORDS | _WEAK_WORDS)
    if hint and type_set(a.schema) == type_set(b.schema):
        found[a.name] = (b.name, MATCH_AT)


def _move(parameter: Parameter, target: str, schema: JsonObject | bool) -> ArgumentMove | None:
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
        spelled.setdefault(_spelling(value), []).append(value)
    pairs = []
    for value in parameter.enum:
        fitting = spelled.get(_spelling(value), [])
        if len(fitting) != 1:
            return ()
        pairs.append((value, fitting[0]))
    distinct = {canonical_json(new) for _, new in pairs}
    return tuple(pairs) if len(distinct) == len(pairs) else ()


def _unsupplied(
    tool: Tool, schema: JsonObject, moves: Sequence[ArgumentMove], constants: JsonObject
) -> list[str]:
    always = {p.name for p in tool.parameters if p.required}
    supplied = {move.target for move in moves if move.source in always} | set(constants)
    required = schema.get("required")
    missing = (
        [name for name in required if name not in supplied] if isinstance(required, list) else []
    )
    return [
        f"`{name}` is required, and not every call to `{tool.name}` gives it" for name in missing
    ]


def _bound_together(tool: Tool, schema: JsonObject, moves: Sequence[ArgumentMove]) -> list[str]:
    """Conditions over several arguments hold only where the tool has the very same ones."""
    target, own = core(schema), core(tool.schema or {})
    conditions = target.keys() - _PLAIN_KEYWORDS
    same = all(canonical_json(target[key]) == canonical_json(own.get(key)) for key in conditions)
    if not conditions or (same and all(move.source == move.target for move in moves)):
        return []
    return [f"the merged tool has conditions on its arguments ({', '.join(sorted(conditions))})"]


def _takes(schema: object, value: object) -> bool:
    """Whether a constant fits the parameter that is to hold it."""
    if not isinstance(schema, dict):
        return False
    values = schema.get("enum")
    return not isinstance(values, list) or value in values


def _open_ended(tool: Tool, schema: JsonObject) -> list[str]:
    """A tool that says it takes any further argument needs a target that does too."""
    further = (tool.schema or {}).get("additionalProperties")
    if further in (None, False) or schema.get("additionalProperties") in (True, further):
        return []
    return [f"`{tool.name}` takes arguments of any name"]


def _types_overlap(a: JsonObject, b: JsonObject) -> bool:
    """Whether one value can be of both types, integers counting as numbers."""
    left, right = (
        frozenset("number" if kind == "integer" else kind for kind in type_set(schema) - {"null"})
        for schema in (a, b)
    )
    return not left or not right or bool(left & right)


def _types_meet(a: JsonObject, b: JsonObject) -> bool:
    """Whether a value of one could stand for one of the other, directly or by wrap or cast."""
    left, right = _loose_types(a), _loose_types(b)
    return not left or not right or bool(left & right) or _listed(a, right) or _listed(b, left)


def _listed(schema: JsonObject, others: frozenset[str]) -> bool:
    items = schema.get("items")
    return (
        "array" in type_set(schema)
        and isinstance(items, dict)
        and bool(_loose_types(items) & others)
    )


def _loose_types(schema: JsonObject) -> frozenset[str]:
    types = type_set(schema) - {"null"}
    if types & {"integer", "number"}:
        types |= {"integer", "number", "string"}
    return types


@lru_cache(maxsize=65_536)
def name_words(name: str) -> frozenset[str]:
    """The words of an identifier, split at case and marks, singular, one per meaning."""
    words = _words(name)
    plain = [
        _SAME_WORD.get(word, _SAME_WORD.get(_singular(word), _singular(word))) for word in words
    ]
    kept = [word for word in plain if word not in _EMPTY_WORDS]
    return frozenset(kept or plain)


def _words(name: str) -> list[str]:
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return re.findall(r"[^\W_]+", split.casefold())


@lru_cache(maxsize=65_536)
def _text_words(text: str) -> frozenset[str]:
    words = re.findall(r"[^\W_]{2,}", text.casefold())
    return frozenset(_singular(word) for word in words if word not in _EMPTY_WORDS)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice coefficient of two sets of words, 0 where either is empty."""
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def _spelling(value: object) -> str:
    if isinstance(value, str):
        return "s" + re.sub(r"(?<=[^\W_])[\s_-]+(?=[^\W_])", "", value.casefold())
    return canonical_json(value)
