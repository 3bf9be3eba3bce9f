"""The words of parameter names and descriptions: stems, one word per meaning."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from toolscope_core.judging.words import STOP_WORDS, is_filler, singular, stem, words_of
from toolscope_core.model.tool import canonical_json

PARAMETER_WORDS = Path(__file__).with_name("data") / "parameter_words.json"
"""Groups of words that stand for each other, the first for all; the file says where from."""
_NUMBER_OF = re.compile(r"\bno(?=[_\s]of[_\s])|\bno\.(?=\s)|(?<=[_\s])no$", re.IGNORECASE)


@lru_cache(maxsize=65_536)
def name_words(name: str) -> frozenset[str]:
    """The words of an identifier, split at case, digits and marks: stems, one per meaning."""
    plain = plain_words(name)
    if plain[:2] in _STAY:
        plain = (_STAY[plain[:2]], *plain[2:])
    words = [meaning(word) for word in plain]
    if not _TIMES.isdisjoint(words):
        words = [_TIME_SIDES.get(word, word) for word in words]
    return frozenset(word for word in words if word not in STOP_WORDS) or frozenset(words)


@lru_cache(maxsize=65_536)
def text_words(text: str) -> frozenset[str]:
    """The words of a description that say something: stems, one per meaning."""
    words = (word for word in words_of(text.lower()) if len(word) > 1 or not word.isalpha())
    return frozenset(meaning(word) for word in words if not is_filler(word))


@lru_cache(maxsize=65_536)
def plain_words(name: str) -> tuple[str, ...]:
    """The words and numbers of a text in order, lower case; *no. of* is *number of*."""
    return tuple(words_of(_NUMBER_OF.sub("number", name)))


def spelling(value: object) -> str:
    """How a value of an enum is compared: case and the marks between words play no part."""
    if isinstance(value, str):
        return "s" + re.sub(r"(?<=[^\W_])[\s_-]+(?=[^\W_])", "", value.casefold())
    return canonical_json(value)


@lru_cache(maxsize=65_536)
def meaning(word: str) -> str:
    """The one word that stands for all words of its meaning, else its stem; itself if empty."""
    meanings = _meanings()
    if word in meanings or word in STOP_WORDS:
        return meanings.get(word, word)
    one = singular(word)
    if one in meanings:
        return meanings[one]
    root = stem(word)
    return meanings.get(root, root)


@lru_cache(maxsize=1)
def _meanings() -> Mapping[str, str]:
    """Each word of the groups with the first of its group."""
    groups = json.loads(PARAMETER_WORDS.read_text("utf-8"))["groups"]
    return {word: group[0] for group in groups for word in group}


_TIMES = frozenset(map(meaning, "date datetime time timestamp day month year".split()))
_TIME_SIDES = {"source": "start", "destination": "end"}
"""From and to, in a name of a time, are its start and its end."""
_STAY: dict[tuple[str, ...], str] = {("check", "in"): "start", ("check", "out"): "end"}
"""Checking in and out, at the front of a name, are the start and the end of a stay."""
