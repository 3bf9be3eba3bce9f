"""What the words of two tools have in common and what sets them apart, whatever the catalog."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from toolscope_core.judging.owners import is_anywhere, keeps_things, product_words
from toolscope_core.judging.phrasing import are_turned, number_apart
from toolscope_core.judging.reading import Reading, read_tool
from toolscope_core.judging.vocabulary import opposites, stem
from toolscope_core.judging.word_match import ToolWords, is_english, tool_words, unshared
from toolscope_core.model.tool import Tool

_MOST_APART = 3


@dataclass(frozen=True, slots=True)
class PairWords:
    """Two tools compared word by word, whatever else the catalog holds: the words that only the
    one and only the other says, those of them that stand in their names, and signals by name.
    """

    unshared: tuple[tuple[str, ...], tuple[str, ...]]
    renamed: tuple[tuple[str, ...], tuple[str, ...]]
    signals: Mapping[str, float]


@lru_cache(maxsize=65_536)
def pair_words(one: Tool, other: Tool) -> PairWords:
    """Two tools in this order; remembered, as judging and explaining both ask, and so does the next
    version of a catalog.
    """
    a, b = tool_words(one), tool_words(other)
    reading, their_reading = read_tool(one), read_tool(other)
    ours, theirs = unshared(a, b), unshared(b, a)
    names = (
        tuple(word for word in ours if word in a.named),
        tuple(word for word in theirs if word in b.named),
    )
    whole, their_whole = reading.whole, their_reading.whole
    common = (whole & their_whole) or (whole | their_whole)
    if across(one.server, other.server):
        common -= product_words(one.server) | product_words(other.server)
    return PairWords(
        (ours, theirs),
        names,
        {
            "other_action": _other_action(reading, their_reading),
            "opposite_words": float(opposites(whole, their_whole) is not None),
            "turned_round": float(are_turned(a, b) or are_turned(b, a)),
            "all_said": float(not ours and not theirs and not number_apart(a, b)),
            "one_word_apart": float(_one_word_apart(a, b, names)),
            "strange_words": float(is_strange(ours) and is_strange(theirs)),
            "length": math.log(1 + len(a.words) + len(b.words)),
            "one_server": float(_of_one_server(one, other, names)),
            "kept_things": float(keeps_things(common)),
            "found_anywhere": float(is_anywhere(common)),
        },
    )


def across(server: str, other: str) -> bool:
    """Whether these are two servers; a tool without one is beside every other."""
    return bool(server and other) and server != other


def _of_one_server(one: Tool, other: Tool, names: Sequence[Sequence[str]]) -> bool:
    if not one.server or one.server != other.server:
        return False
    return any(names) or _plain(one.description) != _plain(other.description)


def _plain(text: str) -> list[str]:
    return text.lower().split()


def _other_action(a: Reading, b: Reading) -> float:
    if not a.classes or not b.classes:
        return np.nan
    return float(not a.classes & b.classes)


def _one_word_apart(a: ToolWords, b: ToolWords, names: Sequence[Sequence[str]]) -> bool:
    """Whether the names are equal but for at most three words of each."""
    if not all(0 < len(words) <= _MOST_APART for words in names):
        return False
    rest = [
        {stem(word) for word in own.named if word not in words}
        for own, words in zip((a, b), names, strict=True)
    ]
    return rest[0] == rest[1]


def is_strange(words: Iterable[str]) -> bool:
    """Whether one of the words is no English word."""
    return any(word.isalpha() and not is_english(word) for word in words)
