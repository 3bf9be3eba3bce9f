"""Which words one of two tools says and the other does not, and what licenses a word.

Two tools that do one job say the same in other words. So each content word of the name and the
description of the one is looked for in what the other says, its arguments included: as it stands,
inflected, abbreviated, or as a synonym. What is left over needs a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from toolscope_core.catalog.hidden import without_hidden
from toolscope_core.datamodel import Tool
from toolscope_core.merging import wordnet
from toolscope_core.merging.vocabulary import (
    STOP_WORDS,
    base_forms,
    groups_of,
    is_filler,
    stem,
    words_of,
)
from toolscope_core.similarity import split_name

Key = str | int
Keys = frozenset[Key]

SYNONYM_RANK = 1
"""A sense counts as shared where it is the most common one of both words: from 2 on, *speed* would
be *acceleration*.
"""

_LONGEST = 2_000
_GROUPS_FROM = 10_000_000
"""Keys of the lines of our own list begin here, above those of senses."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a tool says, lower case, hidden characters left out.

    ``words`` are those of name and description without filler, in order, no repeats; ``named``
    those of the name, ``told`` those of the description. ``text`` are all words of the description,
    ``name`` all of the name. ``heard`` is what they and the words of the arguments may be known by.
    ``compounds`` are two words in a row written as one, with the
    two; ``initials`` the first letters of all words in a row; ``turns`` what goes to what (*json to
    toml*), as stems.
    """

    words: tuple[str, ...]
    named: tuple[str, ...]
    told: tuple[str, ...]
    name: tuple[str, ...]
    text: tuple[str, ...]
    heard: Keys
    plain: frozenset[str]
    compounds: Mapping[str, tuple[str, str]]
    initials: str
    turns: frozenset[tuple[str, str]]


def said_by(tool: Tool) -> Said:
    """The words of a tool."""
    name = split_name(without_hidden(tool.name))
    text = words_of(without_hidden(tool.description[:_LONGEST]))
    named = _distinct(word for word in name if not is_filler(word, named=True))
    if text[:1] in (["return"], ["returns"]):
        text[0] = "get"  # elsewhere it may be what an investment does
    told = _distinct(word for word in text if not is_filler(word))
    words = _distinct((*named, *told))
    arguments = set(argument_words(tool))
    return Said(
        words=words,
        named=named,
        told=told,
        name=tuple(name),
        text=tuple(text),
        heard=frozenset(key for word in (*words, *arguments) for key in keys_of(word)),
        plain=frozenset((*name, *text, *arguments)),
        compounds={a + b: (a, b) for part in (name, text) for a, b in pairwise(part)},
        initials="".join(word[0] for word in (*name, *text)),
        turns=frozenset((*_turns(name), *_turns(text))),
    )


def unsaid(one: Said, other: Said) -> tuple[str, ...]:
    """The words of ``one`` that ``other`` says in no form, in order."""
    heard = other.heard
    left = [word for word in one.words if heard.isdisjoint(keys_of(word))]
    if not left:
        return ()
    parts = {part for both in one.compounds.keys() & other.plain for part in one.compounds[both]}
    return tuple(
        word
        for word in left
        if word not in parts and word not in other.compounds and not _shortened(word, other)
    )


def are_turned(one: Said, other: Said) -> bool:
    """Whether one goes from a to b and the other from b to a."""
    return any((b, a) in other.turns for a, b in one.turns - other.turns)


def number_apart(one: Said, other: Said, described: bool = False) -> bool:
    """Whether a noun of both names stands for one thing here and for several there (*member*,
    *members*), wherever it is said; ``described``: or in the descriptions alone.
    """
    verbs = {stem(said.text[0]) for said in (one, other) if said.text}
    shared = {stem(word) for word in one.named} & {stem(word) for word in other.named} - verbs
    sides = [(one.words, other.words), *([(one.told, other.told)] if described else [])]
    return any(
        forms[0].isdisjoint(forms[1])
        for root in shared
        for both in sides
        if all(forms := [{is_plural(w) for w in words if stem(w) == root} for words in both])
    )


def voices_apart(one: Said, other: Said) -> tuple[str, str] | None:
    """The first two name words of one stem that tell who acts on whom: *followers*, *following*;
    *blocked by*, *blocking*. ``None`` where there are none, or both are described the same.
    """
    if one.text and list(map(stem, one.text)) == list(map(stem, other.text)):
        return None
    here, there = (
        {stem(word): (word, _voice(said.name, word)) for word in said.named}
        for said in (one, other)
    )
    for root in sorted(here.keys() & there.keys()):
        (word, voice), (counterpart, voice_there) = here[root], there[root]
        if voice != voice_there and ((voice and voice_there) or "by" in (voice, voice_there)):
            return word, counterpart
    return None


def alternatives(one: Said, other: Said) -> tuple[str, str] | None:
    """The first name word of each that a description names as alternatives, where the names differ
    by them: *groups* and *projects* of *members of a group or project*.
    """
    ours, theirs = renamed(one, other)
    for text in (one.text, other.text):
        stems = list(map(stem, text))
        for a in ours:
            for b in theirs:
                for at, word in enumerate(text):
                    beside = {*stems[max(at - 1, 0) : at], *stems[at + 1 : at + 2]}
                    if word in ("or", "and") and beside == {stem(a), stem(b)}:
                        return a, b
    return None


def renamed(one: Said, other: Said) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of each name that the other name says in no form."""
    keys = [frozenset(key for word in said.named for key in keys_of(word)) for said in (one, other)]
    return (
        tuple(word for word in one.named if keys[1].isdisjoint(keys_of(word))),
        tuple(word for word in other.named if keys[0].isdisjoint(keys_of(word))),
    )


def in_one_order(one: Said, other: Said) -> bool:
    """Whether the words that both descriptions say stand in one order in both."""
    ours, theirs = (
        [stem(word) for word in dict.fromkeys(said.text) if word not in STOP_WORDS]
        for said in (one, other)
    )
    place = {word: at for at, word in reversed(list(enumerate(theirs)))}
    shared = [place[word] for word in dict.fromkeys(ours) if word in place]
    return shared == sorted(shared)


@lru_cache(maxsize=65_536)
def keys_of(word: str) -> Keys:
    """What a word may be known by: the stems of its base forms, the lines of our own list it
    stands in, and the common senses of its base forms.
    """
    forms, senses = base_forms(word), wordnet.tables().senses
    return frozenset(
        (
            *map(stem, forms),
            *(_GROUPS_FROM + group for group in groups_of(word)),
            *(
                sense
                for form in forms
                for sense, rank in senses.get(form, {}).items()
                if rank <= SYNONYM_RANK
            ),
        )
    )


@lru_cache(maxsize=65_536)
def is_plural(word: str) -> bool:
    """Whether a noun speaks of several; *news* and *status* do not."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and stem(word) != word


def argument_words(tool: Tool) -> Iterator[str]:
    """The words of the names of the parameters and of the values they list."""
    for parameter in tool.parameters:
        yield from split_name(parameter.name)
        for value in parameter.enum:
            yield from words_of(str(value))


def _voice(name: Sequence[str], word: str) -> str:
    """Whether a word is a doer, a doing, or done by somebody; empty if it is none of them."""
    at = name.index(word)
    if word.endswith("ed") and name[at + 1 : at + 2] == ("by",):
        return "by"
    ends = {"ers": "er", "er": "er", "ing": "ing", "ed": "ed"}
    return next((voice for end, voice in ends.items() if word.endswith(end)), "")


def _shortened(word: str, other: Said) -> bool:
    """Whether the word is no English one (as *not* is, the initials of *name of the*), but those
    of words in a row (*gcd*), or the start of a word of the other (*calc*).
    """
    if len(word) < 3 or wordnet.is_word(word):
        return False
    return (len(word) < 6 and word in other.initials) or any(
        long.startswith(word) for long in other.words
    )


def _turns(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for a, between, b in zip(words, words[1:], words[2:], strict=False):
        if between in ("to", "into", "2"):
            yield stem(a), stem(b)


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
