"""The role of a parameter in a call, by its name, description and values."""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from toolscope_core.judging.arguments.units import same_but_unit
from toolscope_core.model.tool import Parameter
from toolscope_core.wording import words as english
from toolscope_core.wording.words import meaning, name_words, plain_words, text_words

Words = frozenset[str]

_NAMED = re.compile(
    r"\be\.\s?g\.?,?([^().]*)|\b(?:such as|for example|i\.e\.)[,:]?([^().]*)"
    r"|['\"]([^'\"]{2,40})['\"]",
    re.IGNORECASE,
)
_NO_VALUES = frozenset("none null any all yyyy mm dd hh ss".split())

WEAK_WORDS = frozenset(map(meaning, "name id number list type info value".split()))
"""Words that may leave the meaning of a name unchanged, or name another aspect: ``city_name``."""

TURNING_WORDS = frozenset(
    map(
        meaning,
        """min minimum limit not no non exclude excluded except without skip ignore hide include
        included only allow deny block enable disable start end source destination old new previous
        next ms millisecond second sec minute hour hourly day daily week weekly month monthly
        year yearly annual km mile meter metre foot feet celsius fahrenheit kelvin percent usd eur
        type format unit url total average size change""".split(),
    )
)
"""Words that turn a name into another parameter: ``exclude_domains``, ``timeout_ms``."""

SIDES = frozenset(map(meaning, "start end source destination old new previous next".split()))
"""Words that change a name only if the tool also has the other side: without a ``source_language``,
``target_language`` is simply the language.
"""

_ONE_SIDE = (
    frozenset(map(meaning, "start source old previous".split())),
    frozenset(map(meaning, "end destination new next backup".split())),
)
"""Words for the same side: ``destination`` and ``endPoint``, ``target_path`` and ``new_path``."""

_ANY_OF = frozenset({"number", "address", "name"})
"""Words that can follow words of another kind: ``phone_number``, ``email_address``,
``number_of_days``.
"""

KINDS = {
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
    "key": "id ids identifier uuid number num code",
    "name": "name title label alias nickname",
    "text": "text content message description note comment review feedback body",
    "type": "type category kind class genre",
    **{word: word for word in ("format", "unit", "version", "language", "order")},
}
"""The kinds of last words in names; parameters of different kinds do not match."""

_NOUN_ENDS = re.compile(r"[.,:;(]|\b(?:of|for|in|to|where|when|that|which|at|from|by|on|with)\b")


@dataclass(frozen=True, slots=True)
class ParameterReading:
    """A parameter as words.

    ``parts`` are all words of its name in order. The other fields have one word per meaning:
    ``name``, ``head`` (the name before *per*), ``described`` (the description), ``text`` (both),
    ``values`` (the values named for it) and ``turning`` (the words that change the name).
    ``name_kinds`` are the kinds that the name allows; ``kinds`` also use the first noun of the
    description. ``name_stems`` are the stems of the name, ``stems`` of name and description.
    """

    parts: tuple[str, ...]
    name: Words
    head: Words
    described: Words
    text: Words
    values: Words
    turning: Words
    name_kinds: Words
    kinds: Words
    name_stems: Words
    stems: Words


def read_parameter(parameter: Parameter) -> ParameterReading:
    values = " ".join(map(str, parameter.enum))
    return _read(parameter.name, parameter.description, values)


def tell_apart(a: Parameter, b: Parameter) -> bool:
    """Whether the two are declared as different: start and end, or an id and a title."""
    return are_apart(read_parameter(a), read_parameter(b)) and not same_but_unit(a.name, b.name)


def are_apart(a: ParameterReading, b: ParameterReading) -> bool:
    """Whether the two are of different kinds, or each name has a word that changes its meaning."""
    if a.kinds and b.kinds and a.kinds.isdisjoint(b.kinds):
        return True
    ours, theirs = a.turning - b.name, b.turning - a.name
    return bool(ours and theirs) and not are_of_one_side(ours, theirs)


def are_of_one_side(ours: Words, theirs: Words) -> bool:
    return bool(ours and theirs) and any(ours | theirs <= side for side in _ONE_SIDE)


def are_equal_but_side(a: Words, b: Words) -> bool:
    """Whether two names mean the same side in other words: ``source_path``, ``original_path``."""
    return len(a) == len(b) and _sided(a) == _sided(b)


def share_a_stem(a: ParameterReading, b: ParameterReading) -> bool:
    """Whether names and descriptions share a stem, or one name abbreviates the other's.

    If not, only our word lists give them the same meaning, and a ``track``, for example, need not
    be a song.
    """
    return not a.stems.isdisjoint(b.stems) or any(
        is_short_for(*sorted(pair, key=len))
        for pair in itertools.product(a.name_stems, b.name_stems)
    )


def is_short_for(short: str, word: str) -> bool:
    """Whether a word starts like another but leaves letters out: ``lat``, ``img``."""
    if short[:1] != word[:1] or len(short) == len(word):
        return False
    letters = iter(word)
    return all(letter in letters for letter in short)


def _sided(name: Words) -> Words:
    return frozenset(_SIDE_OF.get(word, word) for word in name)


@lru_cache(maxsize=65_536)
def _read(name: str, description: str, values: str) -> ParameterReading:
    parts, words, described = plain_words(name), name_words(name), text_words(description)
    kinds, noun = _kinds(name), _kinds(_NOUN_ENDS.split(description, 1)[0])
    name_stems = _stems(parts)
    return ParameterReading(
        parts=parts,
        name=words,
        head=name_words(" ".join(_before_per(name))),
        described=described,
        text=words | described,
        values=_example_words(description, values),
        turning=words & (TURNING_WORDS - WEAK_WORDS),
        name_kinds=kinds,
        kinds=kinds if kinds and noun == {"name"} else (kinds & noun) or kinds or noun,
        name_stems=name_stems,
        stems=name_stems | _stems(plain_words(description)),
    )


def _stems(words: Iterable[str]) -> Words:
    """The stems of words as written, without uninformative ones."""
    telling = frozenset(word for word in words if not english.is_filler(word))
    return frozenset(map(english.stem, telling - english.KEY_WORDS or telling))


def _example_words(description: str, values: str) -> frozenset[str]:
    """The words of values that a description names (``e.g. …``, in quotes), and of other values."""
    texts = " ".join(" ".join(groups) for groups in _NAMED.findall(description))
    return (
        frozenset(word for word in text_words(f"{texts} {values}") if word.isalpha()) - _NO_VALUES
    )


def _kinds(name: str) -> Words:
    """The possible kinds of the last informative word: ``date_range`` is a span, not a moment."""
    words = [word for word in _before_per(name) if word in _KINDS_OF][::-1]
    if words[:1] == ["range"] and "money" in _KINDS_OF.get(words[-1], ()):
        words = words[1:]
    last = 2 if words and words[0] in _ANY_OF else 1
    kinds = frozenset().union(*(_KINDS_OF[word] for word in words[:last]))
    return kinds - {"span"} if "moment" in kinds and name_words(name) & SIDES else kinds


def _before_per(name: str) -> Iterator[str]:
    return itertools.takewhile("per".__ne__, plain_words(name))


_SIDE_OF = {word: f"side {at}" for at, side in enumerate(_ONE_SIDE) for word in side}
_KINDS_OF = {
    word: frozenset(kind for kind, words in KINDS.items() if word in words.split())
    for described in KINDS.values()
    for word in described.split()
}
