"""How surely two parameters are the same: from the words of names and descriptions, and types."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from toolscope_core.datamodel import Parameter, Tool
from toolscope_core.merging.typefit import types_meet, types_overlap
from toolscope_core.merging.units import same_but_unit
from toolscope_core.merging.wording import meaning, name_words, plain_words, text_words

MATCH_AT = 0.6
"""Least score at which two parameters are taken for the same one."""

_OTHER_TYPE = 0.85
"""What is left of a score where only a list of one or a number as text would join the types."""

_WEAK_WORDS = frozenset(map(meaning, "name id number list type info".split()))
"""Added to a name they may mean the same thing or another aspect of it: ``city_name``."""

_TURNING_WORDS = frozenset(
    map(
        meaning,
        """min minimum limit not no non exclude excluded except without skip ignore hide include
        included only allow deny block enable disable start end source destination old new previous
        next ms millisecond second sec minute hour hourly day daily week weekly month monthly
        year yearly annual km mile meter metre foot feet celsius fahrenheit kelvin percent usd eur
        type format unit url total average""".split(),
    )
)
"""Added to a name they make it another parameter: ``exclude_domains``, ``timeout_ms``."""

_OF_COURSE = {
    "calendar": frozenset(map(meaning, "year month season".split())),
    "span": frozenset(map(meaning, "second minute hour day week month year".split())),
}
"""What turns neither of two names that may both be of the kind."""

_SIDES = frozenset(map(meaning, "start end source destination old new previous next".split()))
"""Those that turn a name only in a tool that has the other side too: ``target_language`` beside
no ``source_language`` is the language.
"""

_ONE_SIDE = (
    frozenset(map(meaning, "start source old previous".split())),
    frozenset(map(meaning, "end destination new next".split())),
)
"""Words for the same side: ``destination`` and ``endPoint``, ``target_path`` and ``new_path``."""

_USUAL_SIDES = frozenset(map(meaning, "start source new".split()))
"""The start of something may be told as its one moment, what is converted from as the one, and
what is new as what it then is.
"""

_ANY_OF = frozenset({"number", "address", "name"})
"""Words that go with another kind: ``phone_number``, ``email_address``, ``number_of_days``."""

_KINDS = {
    "moment": "date dates time datetime timestamp deadline",
    "span": """duration range period interval timeframe time
        seconds minutes hours days nights weeks months years""",
    "calendar": "year month season",
    "day": "day weekday",
    "place": """city location place address region area country state destination station
        airport town county province district zone jurisdiction venue""",
    "contact": "contact phone telephone mobile email",
    "money": "price amount cost budget salary fee",
    "count": "number num count total amount",
    "key": "id identifier uuid number num code",
    "name": "name title label alias nickname",
    "text": "text content message description note comment review feedback body",
    "type": "type category kind class genre",
    **{word: word for word in ("format", "unit", "version", "language", "order")},
}
"""What words at the end of a name stand for; parameters of different kinds are not the same."""

_OF_ONE_KIND = {
    **dict.fromkeys(_KINDS, 0.1),
    "calendar": 0.3,
    "moment": 0.3,
    "span": 0.3,
    "place": 0.3,
    "money": 0.3,
}
"""What it adds, below ``MATCH_AT``, that both are of one kind: an id may be of another thing."""


_NOUN_ENDS = re.compile(r"[.,:;(]|\b(?:of|for|in|to|where|when|that|which|at|from|by|on|with)\b")


@dataclass(frozen=True, slots=True)
class Reading:
    """A parameter as words: of its name, of the name before *per*, of its description, of all;
    those of the name that turn it; the kinds that the name allows, and the first noun of the
    description with it.
    """

    name: frozenset[str]
    head: frozenset[str]
    told: frozenset[str]
    text: frozenset[str]
    turning: frozenset[str]
    named: frozenset[str]
    kinds: frozenset[str]


def likeness(a: Parameter, b: Parameter, tools: tuple[Tool, Tool]) -> float:
    """How surely ``a`` of the one tool is ``b`` of the other, in [0, 1]; 0 where no value can be
    of both types.
    """
    if same_but_unit(a.name, b.name):
        return 0.95 if types_meet(a.schema, b.schema) else 0.0
    ours, theirs = read_parameter(a), read_parameter(b)
    if _apart(ours, theirs):
        return 0.0
    kinds = ours.named & theirs.named
    nothing_shared = not kinds and ours.text.isdisjoint(theirs.text)
    if nothing_shared or not types_meet(a.schema, b.schema):
        return 0.0
    score = _by_words(ours, theirs, kinds, tools)
    if a.type == b.type == "boolean":  # a flag is what its name says, nothing else
        two = ours.name - theirs.name and theirs.name - ours.name
        return 0.0 if two or score < MATCH_AT else score
    same_type = score in (0.0, 1.0) or types_overlap(a.schema, b.schema)
    return score if same_type else _OTHER_TYPE * score


def read_parameter(parameter: Parameter) -> Reading:
    return _read(parameter.name, parameter.description)


@lru_cache(maxsize=65_536)
def _weights(parameters: tuple[tuple[str, str], ...]) -> Mapping[str, float]:
    """One over the number of the tool's parameters that have the word: what is told of all of
    them tells none apart.
    """
    counted = Counter(word for name, told in parameters for word in _read(name, told).text)
    return {word: 1.0 / number for word, number in counted.items()}


@lru_cache(maxsize=65_536)
def _read(name: str, description: str) -> Reading:
    words, told = name_words(name), text_words(description)
    named, noun = _kinds(name), _kinds(_NOUN_ENDS.split(description, 1)[0])
    turning = words & (_TURNING_WORDS - _WEAK_WORDS)
    kinds = named if named and noun == {"name"} else (named & noun) or named or noun
    head = name_words(" ".join(_before_per(name)))
    return Reading(words, head, told, words | told, turning, named, kinds)


def _before_per(name: str) -> Iterator[str]:
    return itertools.takewhile("per".__ne__, plain_words(name))


def tell_apart(a: Parameter, b: Parameter) -> bool:
    """Whether it is said that they are two: start and end, an id and a title."""
    return _apart(read_parameter(a), read_parameter(b)) and not same_but_unit(a.name, b.name)


def _apart(a: Reading, b: Reading) -> bool:
    if a.kinds and b.kinds and a.kinds.isdisjoint(b.kinds):
        return True
    ours, theirs = a.turning - b.name, b.turning - a.name
    return bool(ours and theirs) and not _of_one_side(ours, theirs)


def _of_one_side(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    return bool(ours and theirs) and any(ours | theirs <= side for side in _ONE_SIDE)


@lru_cache(maxsize=65_536)
def _kinds(name: str) -> frozenset[str]:
    """What the last telling word may stand for: ``date_range`` is a span, not a moment."""
    words = [word for word in _before_per(name) if word in _KINDS_OF][::-1]
    if words[:1] == ["range"] and "money" in _KINDS_OF.get(words[-1], ()):
        words = words[1:]
    last = 2 if words and words[0] in _ANY_OF else 1
    kinds = frozenset().union(*(_KINDS_OF[word] for word in words[:last]))
    return kinds - {"span"} if "moment" in kinds and name_words(name) & _SIDES else kinds


def _by_words(a: Reading, b: Reading, kinds: frozenset[str], tools: tuple[Tool, Tool]) -> float:
    """``kinds`` are those that both may be of."""
    if a.name == b.name:
        return 1.0
    turned = _turned(a, b, kinds)
    if a.told == b.told and len(a.told) > 1:
        return MATCH_AT - 0.01 if turned else 0.95
    one_sided = turned and turned <= _SIDES and not any(map(_has_twin, (a, b), tools))
    if turned - _USUAL_SIDES and not one_sided:
        return 0.0
    told = _overlap(a.told, b.told)
    own, others = a.name - _WEAK_WORDS, b.name - _WEAK_WORDS
    apart = own & (a.told - b.text) and others & (b.told - a.text)
    score = 0.5 * told if apart else max(_by_name(a, b, told), _by_text(a, b, tools))
    if score >= MATCH_AT and not turned:
        return score
    of_one_kind = max((_OF_ONE_KIND[kind] for kind in kinds), default=0.0)
    return min(score + of_one_kind, MATCH_AT - 0.01)


def _turned(a: Reading, b: Reading, kinds: frozenset[str]) -> frozenset[str]:
    """Words that only one of the names has and that make it another parameter."""
    ours, theirs = (a.head - b.head) & _TURNING_WORDS, (b.head - a.head) & _TURNING_WORDS
    if _of_one_side(ours, theirs):
        return frozenset()
    turned = (ours | theirs) - (a.text & b.text)
    if a.name <= _WEAK_WORDS or b.name <= _WEAK_WORDS:
        turned -= _WEAK_WORDS
    return turned.difference(*(_OF_COURSE.get(kind, ()) for kind in kinds))


def _has_twin(reading: Reading, tool: Tool) -> bool:
    """Whether the tool has another parameter of that name but for the side."""
    names = (name_words(parameter.name) for parameter in tool.parameters)
    return any(name != reading.name and name - _SIDES == reading.name - _SIDES for name in names)


def _by_name(a: Reading, b: Reading, told: float) -> float:
    if a.name & b.name and (a.name ^ b.name) <= _WEAK_WORDS:
        return 0.5 + 0.4 * told
    if a.name < b.name or b.name < a.name:
        return 0.75 + 0.2 * told
    return 0.25 + 0.3 * told if a.name & b.name else 0.0


def _by_text(a: Reading, b: Reading, tools: tuple[Tool, Tool]) -> float:
    """Descriptions in common, and how far each name is told of in the other's words."""
    if a.text.isdisjoint(b.text) or not (a.told or b.told):
        return 0.0
    ours, theirs = (_weights(tuple((p.name, p.description) for p in t.parameters)) for t in tools)
    told = (_share(a.told, b.told, ours) + _share(b.told, a.told, theirs)) / 2
    cited = (_share(a.name, b.text, ours) + _share(b.name, a.text, theirs)) / 2
    return 0.5 * told + 0.45 * cited


def _share(words: frozenset[str], others: frozenset[str], weights: Mapping[str, float]) -> float:
    """Weight of those words that are among the others, over the weight of all."""
    whole = sum(weights[word] for word in words)
    return sum(weights[word] for word in words & others) / whole if whole else 0.0


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice coefficient of two sets of words, 0 where either is empty."""
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


_KINDS_OF = {
    word: frozenset(kind for kind, words in _KINDS.items() if word in words.split())
    for told in _KINDS.values()
    for word in told.split()
}
