"""How words are made of names and texts, which of them say nothing by themselves, and what each may
be known by: as it stands, inflected, abbreviated, or as a synonym.

Two tools that do one job say the same in other words. What words mean is in ``vocabulary``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import Stemmer

from toolscope_core.embedding.tool_text import split_text
from toolscope_core.judging import wordnet
from toolscope_core.judging.wordnet import is_word

Key = str | int
Keys = frozenset[Key]

TOOL_WORDS = Path(__file__).with_name("data") / "tool_words.json"
"""Lists of words, each with where it comes from."""

LISTS: Mapping[str, Any] = json.loads(TOOL_WORDS.read_text("utf-8"))

STOP_WORDS: frozenset[str] = frozenset(LISTS["stop_words"]["words"])
"""Words that say nothing by themselves; *not*, *without*, *all*, *before*, *last* do."""

_FILLER = STOP_WORDS.union(LISTS["filler"]["words"])
"""What descriptions add without telling one tool from another."""

_NAME_FILLER = frozenset(LISTS["name_filler"]["words"])
"""The same in names, where each word is chosen."""


_EMPTY = STOP_WORDS.union(LISTS["empty"]["words"])
"""What the judge's signals leave out."""

KEY_WORDS = frozenset("id ids uuid key keys name names type types value values".split())
"""In a name of an argument they do not say which thing it is about."""

_GROUPS_FROM = 10_000_000
"""Keys of the lines of our own list begin here, above those of WordNet."""

_WORD = re.compile(r"[a-z]+|\d+|[^\W\d_a-z]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")


def words_of(text: str) -> list[str]:
    """The words and numbers of a name or a text, lower case: ``getUserV2`` → get user v 2.

    Case is a border: a description, whose *GitHub* is one word, is given in lower case.
    """
    if text.islower():  # nothing that split_text would part and this does not
        return _WORD.findall(text)
    return [part for word in split_text(text) for part in _WORD.findall(word)]


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, in order."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The word without its endings, by Snowball's English stemmer."""
    return str(_SNOWBALL.stemWord(word))


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """The word for one of what a plural speaks of; itself where it is none."""
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    forms = without_ending(word, _PLURAL, 2)
    return forms[0] if forms else word


@lru_cache(maxsize=65_536)
def is_plural(word: str) -> bool:
    """Whether a noun speaks of several; *news* and *status* do not."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and stem(word) != word


@lru_cache(maxsize=65_536)
def base_forms(word: str) -> tuple[str, ...]:
    """The word and the English words it may come from: *notes* → note, *analysis* → analyze."""
    forms = [word]
    for rules, shortest in ((INFLECTED, 2), (_DERIVED, 3)):
        for form in tuple(forms):
            forms += without_ending(form, rules, shortest)
    return tuple(dict.fromkeys(forms))


@lru_cache(maxsize=65_536)
def groups_of(word: str) -> frozenset[int]:
    """The lines of our list of words that tools use for each other, by number."""
    forms = set(base_forms(word))
    return frozenset(row for row, group in enumerate(_GROUPS) if forms & group)


@lru_cache(maxsize=65_536)
def keys_of(word: str) -> Keys:
    """What a word may be known by: its base forms, the lines of our own list it stands in, and
    the synonyms of its base forms. Stems are for what is no English word only: *dependents*
    and *dependencies* have one.
    """
    forms, synonyms = base_forms(word), wordnet.tables().synonyms
    dictionary_forms = [form for form in forms if is_word(form)]
    return frozenset(
        (
            *(dictionary_forms or map(stem, forms)),
            *(_GROUPS_FROM + group for group in groups_of(word)),
            *(group for form in forms for group in synonyms.get(form, ())),
        )
    )


def are_one(word: str, other: str) -> bool:
    """Whether two words are one in some form, or synonyms."""
    return not keys_of(word).isdisjoint(keys_of(other))


@lru_cache(maxsize=65_536)
def is_english(word: str) -> bool:
    """Whether the word, or what it is a form of, is an English one."""
    return any(map(is_word, base_forms(word)))


def is_empty(word: str) -> bool:
    """Whether the word says nothing about what a tool does."""
    return word in _EMPTY


def is_filler(word: str, named: bool = False) -> bool:
    """Whether the word, of a description or in a name (``named``), tells no tool from another."""
    return word in (_NAME_FILLER if named else _FILLER)


def without_ending(word: str, rules: Endings, shortest: int) -> list[str]:
    """The English words that come of taking an ending off, or another in its place."""
    bases = []
    for ending, others in rules:
        if not word.endswith(ending) or len(word) < len(ending) + shortest:
            continue
        root = word[: -len(ending)]
        if ending.endswith("s") and stem(word) == word:
            continue  # *gas*, *news*: the s is no ending
        bases += [
            root + other
            for other in others
            if _is_base(root + other, rules)
            and (other or ending != "es" or root.endswith(_HISSING))  # *notes* are no *not*
        ]
        if rules is INFLECTED and root[-1] == root[-2] and is_word(root[:-1]):
            bases.append(root[:-1])
    return bases


def _is_base(word: str, rules: Endings) -> bool:
    """Whether a word may be what another is made of; of a noun only a verb we know: a *version* is
    of no *verse*, a *portion* of no *port*.
    """
    if rules is _DERIVED:
        return word in _VERBS
    return is_word(word) or word in _LISTED


Endings = tuple[tuple[str, tuple[str, ...]], ...]
_HISSING = ("s", "x", "z", "ch", "sh", "o")
_PLURAL: Endings = (("ies", ("y", "ie")), ("es", ("e", "")), ("s", ("",)))
INFLECTED: Endings = (*_PLURAL, ("ing", ("", "e")), ("ied", ("y",)), ("ed", ("e", "")))
_DERIVED: Endings = (
    ("ification", ("ify",)),
    ("ization", ("ize",)),
    ("isation", ("ise", "ize")),
    ("ation", ("ate", "e", "", "ize")),
    ("ition", ("ize", "e", "", "ish")),
    ("ption", ("be", "pt")),
    ("ution", ("ute", "ve")),
    ("ction", ("ct", "ce")),
    ("ssion", ("ss", "t")),
    ("sion", ("d", "de", "t", "se")),
    ("tion", ("t", "te")),
    ("ion", ("", "e")),
    ("ysis", ("yze", "yse")),
    ("arison", ("are",)),
    ("ment", ("",)),
    ("al", ("e", "")),
    ("ary", ("arize",)),
)
"""Endings of nouns made of verbs, with what stands in their place in the verb."""

_SNOWBALL = Stemmer.Stemmer("english")
_GROUPS = tuple(map(frozenset, LISTS["same"]["words"]))
"""Words that tools use for each other and WordNet does not; a word may stand in several lines."""

_LISTED = frozenset().union(*_GROUPS)
_VERBS = frozenset("recognize transcribe".split()).union(*LISTS["classes"]["words"].values())
