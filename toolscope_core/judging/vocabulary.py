"""What words of tool names and descriptions mean to the judge: stems, actions, opposites, whether
somebody keeps the thing that a word is for, and how much a word tells.

General English comes from ``wordnet``; the lists of ``data/tool_words.json`` say what tools say and
it does not.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import Stemmer

from toolscope_core.judging.wordnet import are_opposite, is_word

_WORD = re.compile(r"[a-z]+|\d+|[^\W\d_a-z]+")
_LETTERS = re.compile(r"[^\W\d_]+")

TOOL_WORDS = Path(__file__).with_name("data") / "tool_words.json"
"""The lists below, each with where it comes from."""
WORD_COUNTS = Path(__file__).with_name("data") / "word_counts.json"
"""How many tools there were, and by stem how many of them say it; rare stems are left out. Counted
once over public catalogs (``benchmarks/count_words.py``), so that what two tools are to each other
does not depend on what else is loaded.
"""

_LISTS: Mapping[str, Any] = json.loads(TOOL_WORDS.read_text("utf-8"))

_CLASSES: Mapping[str, Sequence[str]] = _LISTS["classes"]["words"]
"""Verbs by what they do; WordNet has no such kinds: *get* and *read* share no sense there."""

_ALSO_NOUNS = frozenset(_LISTS["also_nouns"]["words"])
_LEAD = frozenset("list search check find export import".split())
STOP_WORDS: frozenset[str] = frozenset(_LISTS["stop_words"]["words"])
"""Words that say nothing by themselves; *not*, *without*, *all*, *before*, *last* do."""

_FILLER = frozenset(_LISTS["filler"]["words"])
"""What descriptions add without telling one tool from another."""

_NAME_FILLER = frozenset(_LISTS["name_filler"]["words"])
"""The same in names, where each word is chosen."""

_EMPTY = STOP_WORDS.union(_LISTS["empty"]["words"])
"""What the judge's signals leave out."""

_SAME: Sequence[Sequence[str]] = _LISTS["same"]["words"]
"""Words that tools use for each other and WordNet does not; a word may stand in several lines."""

_OPPOSITES: Sequence[Sequence[str]] = _LISTS["opposites"]["words"]
_NEGATING = ("un", "de", "dis", "non", "in")
_BORDERS = frozenset(_LISTS["borders"]["words"])
_ENGLISH = STOP_WORDS.union(_LISTS["english"]["words"])
_FOREIGN = frozenset(_LISTS["foreign"]["words"])
_KEPT = frozenset(_LISTS["kept"]["words"])
_FACTS = frozenset(_LISTS["facts"]["words"])
_OF_THE_MACHINE = frozenset(_LISTS["machine"]["words"])


def words_of(text: str) -> list[str]:
    """The words and numbers of a text, lower case, in order."""
    return _WORD.findall(text.lower())


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The word without its endings, by Snowball's English stemmer."""
    return str(_SNOWBALL.stemWord(word))


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """The word for one of what a plural speaks of; itself where it is none."""
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    forms = _without_ending(word, _PLURAL, 2)
    return forms[0] if forms else word


@lru_cache(maxsize=65_536)
def base_forms(word: str) -> tuple[str, ...]:
    """The word and the English words it may come from: *notes* → note, *analysis* → analyze."""
    forms = [word]
    for rules, shortest in ((_INFLECTED, 2), (_DERIVED, 3)):
        for form in tuple(forms):
            forms += _without_ending(form, rules, shortest)
    return tuple(dict.fromkeys(forms))


@lru_cache(maxsize=65_536)
def groups_of(word: str) -> frozenset[int]:
    """The lines of our list of words that tools use for each other, by number."""
    forms = set(base_forms(word))
    return frozenset(row for row, group in enumerate(_GROUPS) if forms & group)


def is_empty(word: str) -> bool:
    """Whether the word says nothing about what a tool does."""
    return word in _EMPTY


def only_gets(word: str) -> bool:
    """Whether the word says no more than that something is got."""
    return not groups_of(word).isdisjoint(_GETTING)


def is_filler(word: str, named: bool = False) -> bool:
    """Whether the word, of a description or in a name (``named``), tells no tool from another."""
    return word in (_NAME_FILLER if named else STOP_WORDS | _FILLER)


@lru_cache(maxsize=65_536)
def is_foreign(text: str) -> bool:
    """Whether a text is plainly not English, the language of the labelled pairs.

    Most of its letters are of another script, or it has two or more small words of another
    language, more than twice those of English.
    """
    letters = [char for char in text if char.isalpha()]
    if sum(not char.isascii() for char in letters) * 2 > len(letters):
        return True
    words = [word.lower() for word in _LETTERS.findall(text)]
    foreign = sum(word in _FOREIGN for word in words)
    return foreign >= 2 and foreign > 2 * sum(word in _ENGLISH for word in words)


def keeps_things(words: Iterable[str]) -> bool:
    """Whether one of the words is for something that somebody keeps: the *task* of one owner is not
    the task of another; the *weather* is the same wherever it is asked.
    """
    return not _KEPT.isdisjoint(map(singular, words))


def is_of_the_machine(words: Iterable[str]) -> bool:
    """Whether one of the words is for what a machine has once."""
    return not _OF_THE_MACHINE.isdisjoint(map(singular, words))


def is_of_facts(words: Iterable[str]) -> bool:
    """Whether one of the words is for public facts or sums, which nobody keeps."""
    return not _FACTS.isdisjoint(map(singular, words))


def is_border(word: str) -> bool:
    """Whether the word ends the noun phrase before it: ``of``, ``by``, ``using``."""
    return word in _BORDERS


@lru_cache(maxsize=65_536)
def action_classes(word: str) -> frozenset[str]:
    """What a verb does (``reads``, ``creates``, …); several where it may be either, or none."""
    for form in _verb_forms(word):
        classes = frozenset(name for name, verbs in _VERBS.items() if form in verbs)
        if classes:
            return classes
    return frozenset()


def is_plain_verb(word: str) -> bool:
    """Whether the word is an action and not also a common noun (``delete``; not ``order``)."""
    return bool(action_classes(word)) and not (_ALSO_NOUNS & set(_verb_forms(word)))


def leads(word: str) -> bool:
    """Whether the word is an action wherever something follows it: ``zz_list_alerts``."""
    return word in _LEAD


@lru_cache(maxsize=65_536)
def opposites(left: frozenset[str], right: frozenset[str]) -> tuple[str, str] | None:
    """The first two words (sorted) that mean the contrary, one on each side only; ``None`` if
    none.
    """
    for here in sorted(left - right):
        for there in sorted(right - left):
            if _are_contrary(here, there):
                return here, there
    return None


@lru_cache(maxsize=65_536)
def word_weight(word: str) -> float:
    """The inverse document frequency of a word, in [0, 1]: 1 where hardly a tool says it."""
    tools, counts = _counts()
    return math.log((tools + 1) / (counts.get(stem(word), 0) + 1)) / math.log(tools + 1)


def total_weight(words: Iterable[str]) -> float:
    """The weight of some words together, whatever order they come in."""
    return math.fsum(map(word_weight, words))


def weighted_jaccard(ours: frozenset[str], theirs: frozenset[str]) -> float:
    """Weight of the common words over that of all; NaN where there are none."""
    every = ours | theirs
    return total_weight(ours & theirs) / total_weight(every) if every else math.nan


@lru_cache(maxsize=1)
def _counts() -> tuple[int, Mapping[str, int]]:
    content = json.loads(WORD_COUNTS.read_text("utf-8"))
    return content["tools"], content["counts"]


def _are_contrary(one: str, other: str) -> bool:
    if (one, other) in _CONTRARIES or are_opposite(one, other):
        return True
    short, long = sorted((one, other), key=len)
    if long.startswith("re") and are_opposite(long[2:], short):  # reopen, close
        return True
    return any(long == f"{prefix}{short}" for prefix in _NEGATING)


def _verb_forms(word: str) -> tuple[str, ...]:
    return word, *_without_ending(word, _INFLECTED, 3)


def _without_ending(word: str, rules: _Endings, shortest: int) -> list[str]:
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
        if rules is _INFLECTED and root[-1] == root[-2] and is_word(root[:-1]):
            bases.append(root[:-1])
    return bases


def _is_base(word: str, rules: _Endings) -> bool:
    """Whether a word may be what another is made of; of a noun only a verb we know: a *version* is
    of no *verse*, a *portion* of no *port*.
    """
    if rules is _DERIVED:
        return word in _ACTIONS
    return is_word(word) or word in _LISTED


_Endings = tuple[tuple[str, tuple[str, ...]], ...]
_HISSING = ("s", "x", "z", "ch", "sh", "o")
_PLURAL: _Endings = (("ies", ("y", "ie")), ("es", ("e", "")), ("s", ("",)))
_INFLECTED: _Endings = (
    *_PLURAL,
    ("ing", ("", "e")),
    ("ied", ("y",)),
    ("ed", ("e", "")),
)
_DERIVED: _Endings = (
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
_VERBS = {name: frozenset(verbs) for name, verbs in _CLASSES.items()}
_ACTIONS = frozenset().union(*_VERBS.values()) | frozenset("recognize transcribe".split())
_GROUPS = tuple(frozenset(group) for group in _SAME)
_LISTED = frozenset().union(*_GROUPS)
_GETTING = frozenset(row for row, group in enumerate(_GROUPS) if "get" in group)
_CONTRARIES = frozenset(pair for one, other in _OPPOSITES for pair in ((one, other), (other, one)))
