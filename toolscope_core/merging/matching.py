"""Which parameter of one tool is which of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolscope_core.datamodel import JsonObject, Parameter, Tool
from toolscope_core.merging.subschema import type_set
from toolscope_core.merging.wording import name_words, text_words

MATCH_AT = 0.6
"""Least score at which two parameters are taken for the same one."""

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
    text_a, text_b = text_words(a.description), text_words(b.description)
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


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice coefficient of two sets of words, 0 where either is empty."""
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0
