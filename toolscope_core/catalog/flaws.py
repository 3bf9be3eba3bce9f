"""Parts of a parsed value that cannot be kept exactly, and text that is safe to store and show."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolscope_core.catalog.key_order import in_order
from toolscope_core.catalog.limits import MAX_DEPTH, MAX_DIGITS, MAX_TEXT

MAX_PLACE = 300
"""So many characters of the place of a value are kept."""
TOO_DEEP = f"is nested deeper than {MAX_DEPTH} levels; flatten it"


@dataclass(frozen=True, slots=True)
class Flaw:
    """Stands in a parsed value for a part that cannot be kept exactly."""

    reason: str


def find_flaw(value: object, path: str = "", depth: int = 0) -> str:
    """Why a parsed value cannot be kept exactly, with the path inside it; empty if it can."""
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
    """The place of what stands under a key, as far as a message shows it: a key may be as long as
    a file, and as much may lie below it.
    """
    return f"{place}/{key}"[:MAX_PLACE] if place else str(key)[:MAX_PLACE]


def strict_json(text: str) -> Any:
    """The value of a JSON text, with a ``Flaw`` for each part that cannot be kept exactly.

    Raises ``JSONDecodeError``, and ``RecursionError`` for one that is nested too deeply.
    """
    return json.loads(
        text,
        object_pairs_hook=unique_keys,
        parse_constant=lambda word: Flaw(f"is {word}, which JSON does not have; write null"),
        parse_int=integer,
        parse_float=number,
    )


def integer(digits: str) -> int | Flaw:
    """The number that the digits spell, or why it cannot be kept."""
    if len(digits) > MAX_DIGITS:
        return Flaw(f"is a number of {len(digits)} digits; write it as text")
    return int(digits)


def number(digits: str) -> float | Flaw:
    """The number that the digits spell, or why it cannot be kept."""
    value = float(digits)
    if math.isinf(value):
        return Flaw(f"is {digits[:40]}, too large for a number; write it as text")
    return value


def unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any] | Flaw:
    """The object of the pairs, keys ``in_order``, or that a key repeats."""
    value = in_order(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return Flaw(f"has the key {twice[:80]!r} twice; keep one")


def excerpt(value: object) -> str:
    """At most 500 characters of a text, or of any other value as JSON, safe to store and show."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, default=str)
    except RecursionError:
        text = "(nested too deeply to show)"
    return writable(text[:500])[:500]


def writable(text: str) -> str:
    """The text with lone surrogates, which no store or browser takes, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _text_flaw(text: str, path: str) -> str:
    if len(text) > MAX_TEXT:
        return f"{path or 'it'} has {len(text):,} characters; at most {MAX_TEXT:,} are read, cut it"
    if text.isascii():
        return ""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return f"{path or 'it'} holds a lone surrogate; remove it"
    return ""
