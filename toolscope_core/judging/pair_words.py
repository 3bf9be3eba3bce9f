"""What the words and arguments of two tools have in common and what sets them apart."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from toolscope_core.judging.arguments.matching import INFER_AT, match_parameters
from toolscope_core.judging.arguments.subschema import types_meet
from toolscope_core.judging.guards import effect
from toolscope_core.judging.phrasing import unshared
from toolscope_core.judging.reading import ToolReading
from toolscope_core.judging.vocabulary import opposites, total_weight, weighted_jaccard
from toolscope_core.judging.words import keys_of, stem
from toolscope_core.model.tool import Tool

_MOST_APART = 3
_EFFECTS = {"reads": 0.0, "writes": 1.0, "destroys": 2.0}


@dataclass(frozen=True, slots=True)
class PairWords:
    """Two tools compared word by word, whatever else the catalog holds: the words that only the
    one and only the other says, those of them that stand in their names, and signals by name.
    """

    unshared: tuple[tuple[str, ...], tuple[str, ...]]
    renamed: tuple[tuple[str, ...], tuple[str, ...]]
    signals: Mapping[str, float]


@lru_cache(maxsize=65_536)
def pair_words(a: ToolReading, b: ToolReading) -> PairWords:
    """Two tools in this order; remembered, as judging and explaining both ask, and so does the next
    version of a catalog. The signals are the same in either order.
    """
    ours, theirs = unshared(a, b), unshared(b, a)
    names = (
        tuple(word for word in ours if word in a.named),
        tuple(word for word in theirs if word in b.named),
    )
    apart = total_weight(names[0]), total_weight(names[1])
    return PairWords(
        (ours, theirs),
        names,
        {
            "same_verb": _same_verb(a, b),
            "other_effect": _effects_apart(a, b),
            "opposite_words": float(opposites(frozenset(a.name), frozenset(b.name)) is not None),
            "shared_object": _same_object(a, b),
            "shared_phrase": weighted_jaccard(_stems(a.phrase), _stems(b.phrase)),
            "shared_arguments": _shared_arguments(a, b),
            "required_matched": _required_matched(a.tool, b.tool),
            "common_words": total_weight(_stems(a.words) & _stems(b.words)),
            "words_apart": min(_share(ours, a.words), _share(theirs, b.words)),
            "least_name_words_apart": min(apart),
            "most_name_words_apart": max(apart),
            "one_word_apart": float(_one_word_apart(a, b, names)),
            "one_server": float(_of_one_server(a, b, names)),
        },
    )


def _of_one_server(a: ToolReading, b: ToolReading, names: Sequence[Sequence[str]]) -> bool:
    if not a.tool.server or a.tool.server != b.tool.server:
        return False
    return any(names) or a.text != b.text


def _same_verb(a: ToolReading, b: ToolReading) -> float:
    if not a.verb or not b.verb:
        return math.nan
    return float(not keys_of(a.verb).isdisjoint(keys_of(b.verb)))


def _effects_apart(a: ToolReading, b: ToolReading) -> float:
    """0 for equal effects, 1 and 2 for reading beside writing, and beside destroying."""
    effects = [_EFFECTS.get(effect(side)) for side in (a, b)]
    if effects[0] is None or effects[1] is None:
        return math.nan
    return abs(effects[0] - effects[1])


def _same_object(a: ToolReading, b: ToolReading) -> float:
    if not a.objects or not b.objects:
        return math.nan
    return float(not _stems(a.objects).isdisjoint(_stems(b.objects)))


def _shared_arguments(a: ToolReading, b: ToolReading) -> float:
    if a.arguments is None or b.arguments is None:
        return math.nan
    return weighted_jaccard(_stems(a.arguments), _stems(b.arguments))


def _required_matched(one: Tool, other: Tool) -> float:
    """How many of the required arguments of one are arguments of the other, as a share, on the side
    where fewer are; 1 where neither requires any.
    """
    if one.schema is None or other.schema is None:
        return math.nan
    ours, theirs = ({p.name for p in tool.parameters if p.required} for tool in (one, other))
    if ours == theirs and _meet_by_name(one, other, ours):
        return 1.0
    matches = [match for match in match_parameters(one, other) if match.score > INFER_AT]
    shares = [
        len(required & matched) / len(required)
        for required, matched in (
            (ours, {match.left for match in matches}),
            (theirs, {match.right for match in matches}),
        )
        if required
    ]
    return min(shares)


def _meet_by_name(one: Tool, other: Tool, names: Iterable[str]) -> bool:
    """Whether each of these parameters, which both have, could take the other's values."""
    ours, theirs = ({p.name: p.schema for p in tool.parameters} for tool in (one, other))
    return all(types_meet(ours[name], theirs[name]) for name in names)


def _share(words: Iterable[str], of: Iterable[str]) -> float:
    whole = total_weight(of)
    return total_weight(words) / whole if whole else 0.0


def _one_word_apart(a: ToolReading, b: ToolReading, names: Sequence[Sequence[str]]) -> bool:
    """Whether the names are equal but for at most three words of each."""
    if not all(0 < len(words) <= _MOST_APART for words in names):
        return False
    rest = [
        {stem(word) for word in own.named if word not in words}
        for own, words in zip((a, b), names, strict=True)
    ]
    return rest[0] == rest[1]


@lru_cache(maxsize=65_536)
def _stems(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(stem, words))
