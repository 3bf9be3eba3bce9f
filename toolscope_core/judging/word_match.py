"""Which words one of two tools says and the other does not, and what matches a word.

Two tools that do one job say the same in other words. So each content word of the name and the
description of the one is looked for in what the other says, its arguments included: as it stands,
inflected, abbreviated, or as a synonym. What is left over needs a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.catalog.source_words import source_name, source_text
from toolscope_core.embedding.tool_text import split_name
from toolscope_core.judging import wordnet
from toolscope_core.judging.vocabulary import base_forms, groups_of, is_filler, stem, words_of
from toolscope_core.model.tool import Tool

Key = str | int
Keys = frozenset[Key]

KEY_WORDS = frozenset("id ids uuid key keys name names type types value values".split())
"""In a name of an argument they do not say which thing it is about."""

_LONGEST = 2_000
_TAG = re.compile(
    r"</?(?:a|abbr|b|blockquote|br|center|code|div|em|font|h[1-6]|hr|i|img|li|ol|p|pre|small|span"
    r"|strong|sub|sup|table|tbody|td|th|thead|tr|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_WHOLE = frozenset("not non all any".split())
_GROUPS_FROM = 10_000_000
"""Keys of the lines of our own list begin here, above those of WordNet."""


@dataclass(frozen=True, slots=True)
class ToolWords:
    """What a tool says, lower case, hidden characters left out.

    ``words`` are those of name and description without filler, in order, no repeats, and ``keys``
    the forms that each may be recognised by; ``named`` those of the name, ``description_words``
    those of the description; ``name`` and ``text`` are all words of both. ``lead`` are the forms of
    the words of the name and the first sentence, ``spoken`` those of all words, ``mentioned`` those
    of the arguments as well. ``compounds`` are two words in a row written as one, with the two;
    ``initials`` the first letters of all words in a row.
    """

    words: tuple[str, ...]
    keys: tuple[Keys, ...]
    named: tuple[str, ...]
    description_words: tuple[str, ...]
    name: tuple[str, ...]
    text: tuple[str, ...]
    lead: Keys
    spoken: Keys
    mentioned: Keys
    plain: frozenset[str]
    compounds: Mapping[str, tuple[str, str]]
    initials: str


@lru_cache(maxsize=65_536)
def tool_words(tool: Tool) -> ToolWords:
    """The words of a tool."""
    arguments = frozenset(argument_words(tool))
    description = _TAG.sub(" ", without_hidden(source_text(tool)[:_LONGEST]))
    name = _name(tool)
    text = words_of(description)
    named = named_words(tool)
    if text[:1] in (["return"], ["returns"]):
        text[0] = "get"  # elsewhere it may be what an investment does
    description_words = _distinct(word for word in text if not is_filler(word))
    words = _distinct((*named, *description_words))
    spoken = frozenset(key for word in words for key in keys_of(word))
    first = words_of(_SENTENCE.split(description.strip(), maxsplit=1)[0])
    return ToolWords(
        words=words,
        keys=tuple(map(keys_of, words)),
        named=named,
        description_words=description_words,
        name=name,
        text=tuple(text),
        lead=frozenset(key for word in (*named, *first) for key in keys_of(word)),
        spoken=spoken,
        mentioned=spoken.union(*map(keys_of, arguments)),
        plain=frozenset((*name, *text, *arguments)),
        compounds={a + b: (a, b) for part in (name, text) for a, b in pairwise(part)},
        initials="".join(word[0] for word in (*name, *text)),
    )


def named_words(tool: Tool) -> tuple[str, ...]:
    """The words of the name, as in ``ToolWords.named``."""
    return _distinct(_telling(_name(tool)))


def unshared(
    one: ToolWords, other: ToolWords, *, at_first: bool = False, spoken: bool = False
) -> tuple[str, ...]:
    """The words of ``one`` that ``other`` says in no form, in order; ``at_first``: neither in its
    name nor in its first sentence; ``spoken``: neither in its name nor its description.
    """
    mentioned = other.lead if at_first else other.spoken if spoken else other.mentioned
    keyed = zip(one.words, one.keys, strict=True)
    left = [word for word, keys in keyed if mentioned.isdisjoint(keys)]
    if not left:
        return ()
    parts = {part for both in one.compounds.keys() & other.plain for part in one.compounds[both]}
    return tuple(
        word
        for word in left
        if word not in parts and word not in other.compounds and not _shortened(word, one, other)
    )


@lru_cache(maxsize=65_536)
def keys_of(word: str) -> Keys:
    """What a word may be known by: its base forms, the lines of our own list it stands in, and
    the synonyms of its base forms. Stems are for what is no English word only: *dependents*
    and *dependencies* have one.
    """
    forms, synonyms = base_forms(word), wordnet.tables().synonyms
    dictionary_forms = [form for form in forms if wordnet.is_word(form)]
    return frozenset(
        (
            *(dictionary_forms or map(stem, forms)),
            *(_GROUPS_FROM + group for group in groups_of(word)),
            *(group for form in forms for group in synonyms.get(form, ())),
        )
    )


@lru_cache(maxsize=65_536)
def is_english(word: str) -> bool:
    """Whether the word, or what it is a form of, is an English one."""
    return any(map(wordnet.is_word, base_forms(word)))


def argument_words(tool: Tool) -> Iterator[str]:
    """The words of the names of the parameters that say which thing, and of the values they list:
    ``team_key`` says *team*.
    """
    for parameter in tool.parameters:
        yield from (word for word in split_name(parameter.name) if word not in KEY_WORDS)
        for value in parameter.enum:
            yield from words_of(str(value))


def _name(tool: Tool) -> tuple[str, ...]:
    return split_name(without_hidden(source_name(tool)))


def _telling(name: Sequence[str]) -> Iterator[str]:
    """The words of a name without filler, and without *by id*, which an argument says."""
    for before, word in zip(("", *name), name, strict=False):
        if not is_filler(word, named=True) and not (before == "by" and word in KEY_WORDS):
            yield word


def _shortened(word: str, own: ToolWords, other: ToolWords) -> bool:
    """Whether the word of a name is the start of one that both descriptions say (*arch*); or no
    English one, but the initials of words in a row (*gcd*), or the start of a word of the other
    (*calc*). *Not* is short for nothing.
    """
    if len(word) < 3 or word in _WHOLE:
        return False
    both = (long for long in own.description_words if long.startswith(word) and long in other.plain)
    if word in own.named and word not in own.description_words and any(both):
        return True
    if is_english(word):
        return False
    return (len(word) < 6 and word in other.initials) or any(
        long.startswith(word) for long in other.words
    )


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
