"""Finds values that cannot be kept exactly, sets limits on reading, and makes text safe to store
and show.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MIB = 1 << 20

MAX_BYTES = 64 * MIB  # per file
MAX_TOTAL_BYTES = 4 * MAX_BYTES  # for all files that are given together
MAX_RECORDS = 100_000  # for all files that are given together
MAX_DEPTH = 100  # levels per document
MAX_TEXT = 1_000_000  # characters per text
MAX_DIGITS = 4300  # per integer; Python refuses to write longer ones back
MAX_YAML_VALUES = 1_000_000  # per document, with all aliases written out
MAX_YAML_CHARACTERS = MAX_BYTES  # for the texts of a document, with all aliases written out
MAX_EXPANDED = 500_000  # values that references may add to a document; ``budget`` counts them

READING_BYTES = 3072 * MIB  # address space of the reading process
READING_SECONDS = 60.0


_FIRST = (
    "jsonrpc openapi swagger version info type id server agent name title description summary "
    "function strict inputSchema input_schema parameters properties required items enum returns "
    "outputSchema response annotations tools"
)
_PLACES = {key: place for place, key in enumerate(_FIRST.split())}


def in_order(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object made from the pairs, with its keys in canonical order."""
    value = dict(sorted(pairs, key=lambda pair: (_PLACES.get(pair[0], len(_PLACES)), pair[0])))
    for key in ("properties", "parameters"):
        named = value.get(key)
        # these are names of parameters, not keywords of a schema
        if isinstance(named, dict) and all(isinstance(sub, (dict, bool)) for sub in named.values()):
            value[key] = _required_first(named, value.get("required"))
    return value


def _required_first(properties: Mapping[str, Any], required: object) -> dict[str, Any]:
    listed = required if isinstance(required, list) else []
    names = dict.fromkeys(name for name in listed if isinstance(name, str) and name in properties)
    return {name: properties[name] for name in (*names, *sorted(properties.keys() - names.keys()))}


MAX_EXCERPT = 500
MAX_PLACE = 300
"""The longest text for the place of a value, in characters; longer ones are cut."""
TOO_DEEP = f"is nested deeper than {MAX_DEPTH} levels; flatten it"


@dataclass(frozen=True, slots=True)
class Flaw:
    """Replaces a part of a parsed value that cannot be kept exactly; ``reason`` says why not."""

    reason: str


def find_flaw(value: object, path: str = "", depth: int = 0) -> str:
    """Why a parsed value cannot be kept exactly, with the path to the fault; empty if it can be."""
    if isinstance(value, str):
        return _text_flaw(value, path)
    if isinstance(value, Flaw):
        return f"{path} {value.reason}".lstrip()
    if not isinstance(value, (dict, list)):
        return ""
    if depth >= MAX_DEPTH:
        return TOO_DEEP
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        where = below(path, key)
        flaw = find_flaw(key, f"a key of {path or 'it'}") or find_flaw(item, where, depth + 1)
        if flaw:
            return flaw
    return ""


def below(place: str, key: object) -> str:
    """The place below a key, shortened for a message, because keys can be very long and deeply
    nested.
    """
    return f"{place}/{key}"[:MAX_PLACE] if place else str(key)[:MAX_PLACE]


def strict_json(text: str) -> Any:
    """The value of a JSON text, with a ``Flaw`` in place of each part that cannot be kept exactly.

    Raises ``JSONDecodeError``, or ``RecursionError`` if the value is nested too deeply.
    """
    return json.loads(
        text,
        object_pairs_hook=unique_keys,
        parse_constant=lambda word: Flaw(f"is {word}, which is not valid JSON; write null"),
        parse_int=integer,
        parse_float=number,
    )


def integer(digits: str) -> int | Flaw:
    """The number that the digits spell, or a ``Flaw`` if it cannot be kept."""
    if len(digits) > MAX_DIGITS:
        return Flaw(f"is a number with {len(digits)} digits; write it as text")
    return int(digits)


def number(digits: str) -> float | Flaw:
    """The number that the digits spell, or a ``Flaw`` if it cannot be kept."""
    value = float(digits)
    if math.isinf(value):
        return Flaw(f"is {digits[:40]}, too large for a number; write it as text")
    return value


def unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any] | Flaw:
    """An object made from the pairs, with keys ``in_order``; a ``Flaw`` if a key occurs twice."""
    value = in_order(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return Flaw(f"has the key {twice[:80]!r} twice; keep one")


def value_excerpt(value: object) -> str:
    """A text, or any other value as JSON, cut to ``MAX_EXCERPT`` and safe to store and show."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, default=str)
    except RecursionError:
        text = "(nested too deeply to show)"
    return writable(text[:MAX_EXCERPT])[:MAX_EXCERPT]


def writable(text: str) -> str:
    """The text with lone surrogates escaped, since no store or browser accepts them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _text_flaw(text: str, path: str) -> str:
    if len(text) > MAX_TEXT:
        long = f"{path or 'it'} is {len(text):,} characters long"
        return f"{long}; at most {MAX_TEXT:,} are read, so shorten it"
    if text.isascii():
        return ""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return f"{path or 'it'} contains a lone surrogate; remove it"
    return ""
