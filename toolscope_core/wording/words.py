"""Splits names and texts into words, and finds the forms of each word.

Two tools with one job may use different words: inflected forms, abbreviations or synonyms. The
module also knows which words say nothing. The meanings of words are in ``vocabulary``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import Stemmer

from toolscope_core.model.tool import canonical_json
from toolscope_core.wording import wordnet
from toolscope_core.wording.tool_text import split_text

WordKey = str | int
WordKeys = frozenset[WordKey]

TOOL_WORDS = Path(__file__).with_name("data") / "tool_words.json"
"""Lists of words, each list with its source."""

WORD_LISTS: Mapping[str, Any] = json.loads(TOOL_WORDS.read_text("utf-8"))

STOP_WORDS: frozenset[str] = frozenset(WORD_LISTS["stop_words"]["words"])
"""Words without a meaning of their own; *not*, *without*, *all*, *before* and *last* are not among
them.
"""

SEARCH_STOP_WORDS: frozenset[str] = frozenset(WORD_LISTS["search_stop_words"]["words"])
"""Words that a search by words ignores."""

_FILLER = STOP_WORDS.union(WORD_LISTS["filler"]["words"])
"""Words that descriptions add without distinguishing tools."""

_NAME_FILLER = frozenset(WORD_LISTS["name_filler"]["words"])
"""Filler words in names. They are fewer, because each word in a name is chosen."""


_EMPTY = STOP_WORDS.union(WORD_LISTS["empty"]["words"])
"""Words that the judge's signals ignore."""

KEY_WORDS = frozenset("id ids uuid key keys name names type types value values".split())
"""Words in an argument's name that do not say which thing the argument is about."""

_GROUPS_FROM = 10_000_000
"""The keys of the lines in our own list begin here, above the keys from WordNet."""

_LATIN = "a-zß-öø-ɏḀ-ỿ"
"""The Latin letters, including those with accents: *tür* and *thẻ* are one word each."""
_WORD = re.compile(rf"[{_LATIN}]+|\d+|[^\W\d_{_LATIN}]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")


def words_of(text: str) -> list[str]:
    """The words and numbers of a name or a text, lower case: ``getUserV2`` → get user v 2.

    A change of case splits words, so pass descriptions, where *GitHub* is one word, in lower case.
    """
    if text.islower():  # here split_text would split nothing more
        return _WORD.findall(text)
    return [part for word in split_text(text) for part in _WORD.findall(word)]


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, in order."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The word without its endings, as removed by Snowball's English stemmer."""
    return str(_SNOWBALL.stemWord(word))


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """The singular of a plural; any other word is returned unchanged."""
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    forms = without_ending(word, _PLURAL, 2)
    return forms[0] if forms else word


@lru_cache(maxsize=65_536)
def is_plural(word: str) -> bool:
    """Whether a noun is plural; *news* and *status* are not."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and stem(word) != word


@lru_cache(maxsize=65_536)
def base_forms(word: str) -> tuple[str, ...]:
    """The word and the English words it may derive from: *notes* → note, *analysis* → analyze."""
    forms = [word]
    for rules, shortest in ((INFLECTED, 2), (_DERIVED, 3)):
        for form in tuple(forms):
            forms += without_ending(form, rules, shortest)
    return tuple(dict.fromkeys(forms))


@lru_cache(maxsize=65_536)
def groups_of(word: str) -> frozenset[int]:
    """The numbers of the lines in our list of interchangeable words that contain a form of the
    word.
    """
    forms = set(base_forms(word))
    return frozenset(row for row, group in enumerate(_GROUPS) if forms & group)


@lru_cache(maxsize=65_536)
def keys_of(word: str) -> WordKeys:
    """The keys by which a word may be recognised.

    The keys are the word's base forms, its lines in our list, and the synonyms of its base forms.
    Stems are used only for words that are not English, because *dependents* and *dependencies*
    share a stem.
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


def are_one(word: str, other: str) -> bool:
    """Whether two words share a form or are synonyms."""
    return not keys_of(word).isdisjoint(keys_of(other))


@lru_cache(maxsize=65_536)
def is_english(word: str) -> bool:
    """Whether the word or one of its base forms is English."""
    return any(map(wordnet.is_word, base_forms(word)))


def is_empty(word: str) -> bool:
    """Whether the word says nothing about what a tool does."""
    return word in _EMPTY


def is_filler(word: str, in_name: bool = False) -> bool:
    """Whether the word does not distinguish tools, in a name (``in_name``) or else in a
    description.
    """
    return word in (_NAME_FILLER if in_name else _FILLER)


def without_ending(word: str, rules: Endings, shortest: int) -> list[str]:
    """The base words that remain when an ending is removed or replaced."""
    bases = []
    for ending, others in rules:
        if not word.endswith(ending) or len(word) < len(ending) + shortest:
            continue
        root = word[: -len(ending)]
        if ending.endswith("s") and stem(word) == word:
            continue  # *gas*, *news*: the s is not an ending
        bases += [
            root + other
            for other in others
            if _is_base(root + other, rules)
            and (other or ending != "es" or root.endswith(_HISSING))  # *notes* is not from *not*
        ]
        if rules is INFLECTED and root[-1] == root[-2] and wordnet.is_word(root[:-1]):
            bases.append(root[:-1])
    return bases


def _is_base(word: str, rules: Endings) -> bool:
    """Whether a word may be the base of another.

    For nouns, only known verbs are bases: *version* does not come from *verse*, nor *portion* from
    *port*.
    """
    if rules is _DERIVED:
        return word in _VERBS
    return wordnet.is_word(word) or word in _LISTED


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
"""Endings of nouns that are derived from verbs, each with the endings of the verb."""

_SNOWBALL = Stemmer.Stemmer("english")
_GROUPS = tuple(map(frozenset, WORD_LISTS["same"]["words"]))
"""Interchangeable words in tools that WordNet does not relate. A word may be in several lines."""

_LISTED = frozenset().union(*_GROUPS)
_VERBS = frozenset("recognize transcribe".split()).union(*WORD_LISTS["classes"]["words"].values())


PARAMETER_WORDS = Path(__file__).with_name("data") / "parameter_words.json"
"""Groups of interchangeable words. The first word represents its group; the file
names the sources.
"""
_NUMBER_OF = re.compile(r"\bno(?=[_\s]of[_\s])|\bno\.(?=\s)|(?<=[_\s])no$", re.IGNORECASE)


@lru_cache(maxsize=65_536)
def name_words(name: str) -> frozenset[str]:
    """The words of an identifier as stems, with one word for each meaning.

    The identifier is split at case, digits and punctuation.
    """
    plain = plain_words(name)
    if plain[:2] in _STAY:
        plain = (_STAY[plain[:2]], *plain[2:])
    words = [meaning(word) for word in plain]
    if not _TIMES.isdisjoint(words):
        words = [_TIME_SIDES.get(word, word) for word in words]
    return frozenset(word for word in words if word not in STOP_WORDS) or frozenset(words)


@lru_cache(maxsize=65_536)
def text_words(text: str) -> frozenset[str]:
    """The meaningful words of a description as stems, with one word for each meaning."""
    words = (word for word in words_of(text.lower()) if len(word) > 1 or not word.isalpha())
    return frozenset(meaning(word) for word in words if not is_filler(word))


@lru_cache(maxsize=65_536)
def plain_words(name: str) -> tuple[str, ...]:
    """The words and numbers of a text, in order and in lower case; *no. of* becomes *number of*."""
    return tuple(words_of(_NUMBER_OF.sub("number", name)))


def spelling(value: object) -> str:
    """A form of an enum value for comparisons, which ignores case and marks between words."""
    if isinstance(value, str):
        return "s" + re.sub(r"(?<=[^\W_])[\s_-]+(?=[^\W_])", "", value.casefold())
    return canonical_json(value)


@lru_cache(maxsize=65_536)
def meaning(word: str) -> str:
    """The word that represents the meaning of a word, or else its stem. A stop word outside the
    groups is returned unchanged.
    """
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
    """The first word of the group of each word."""
    groups = json.loads(PARAMETER_WORDS.read_text("utf-8"))["groups"]
    return {word: group[0] for group in groups for word in group}


_TIMES = frozenset(map(meaning, "date datetime time timestamp day month year".split()))
_TIME_SIDES = {"source": "start", "destination": "end"}
"""In the name of a time, *from* is its start and *to* is its end."""
_STAY: dict[tuple[str, ...], str] = {("check", "in"): "start", ("check", "out"): "end"}
"""*Check in* and *check out* at the front of a name mean the start and the end of a stay."""
