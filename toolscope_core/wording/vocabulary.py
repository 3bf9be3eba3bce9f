"""The meaning of words in tool names and descriptions for the judge.

The module covers actions, opposites, words for things that somebody owns, and how informative a
word is. General English comes from ``wordnet``; ``data/tool_words.json`` adds the language of
tools.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from unicodedata import name

from toolscope_core.wording.wordnet import are_opposite
from toolscope_core.wording.words import (
    INFLECTED,
    STOP_WORDS,
    WORD_LISTS,
    groups_of,
    is_filler,
    singular,
    stem,
    without_ending,
)

_LETTERS = re.compile(r"[^\W\d_]+")

WORD_COUNTS = Path(__file__).with_name("data") / "word_counts.json"
"""The number of tools, and the number of tools that use each stem; rare stems are left out.

The tools were counted once in public catalogs (``benchmarks/count_words.py``), so that the
comparison of two tools does not depend on what else is loaded.
"""

_CLASSES: Mapping[str, Sequence[str]] = WORD_LISTS["classes"]["words"]
"""Verbs grouped by their action. WordNet has no such groups: *get* and *read*
share no sense there.
"""

_ALSO_NOUNS = frozenset(WORD_LISTS["also_nouns"]["words"])
_LEAD = frozenset("list search check find export import".split())
_OPPOSITES: Sequence[Sequence[str]] = WORD_LISTS["opposites"]["words"]
_NEGATING = ("un", "de", "dis", "non", "in")
_SHORTEST_STEM, _LONGEST_PREFIX = 4, 4
_BORDERS = frozenset(WORD_LISTS["borders"]["words"])
_ENGLISH = STOP_WORDS.union(WORD_LISTS["english"]["words"])
_FOREIGN = frozenset(WORD_LISTS["foreign"]["words"])
_KEPT = frozenset(WORD_LISTS["kept"]["words"])
_FACTS = frozenset(WORD_LISTS["facts"]["words"])
_OF_THE_MACHINE = frozenset(WORD_LISTS["machine"]["words"])


def only_gets(word: str) -> bool:
    """Whether the word only says that something is fetched."""
    return not groups_of(word).isdisjoint(groups_of("get"))


@lru_cache(maxsize=65_536)
def is_foreign(text: str) -> bool:
    """Whether a text is clearly not English, the language of the labelled pairs.

    A text is foreign if most of its letters are not ASCII. It is also foreign if it has two or more
    small words from other languages, and more than twice as many as small English words.
    """
    letters = [char for char in text if char.isalpha()]
    if sum(not char.isascii() for char in letters) * 2 > len(letters):
        return True
    words = [word.lower() for word in _LETTERS.findall(text)]
    foreign = sum(word in _FOREIGN for word in words)
    return foreign >= 2 and foreign > 2 * sum(word in _ENGLISH for word in words)


def are_of_other_languages(one: str, other: str) -> bool:
    """Whether two texts are plainly in different languages.

    Their letters are mostly from different scripts, or exactly one of the texts is foreign (see
    ``is_foreign``).
    """
    scripts = _script(one), _script(other)
    return all(scripts) and (scripts[0] != scripts[1] or is_foreign(one) != is_foreign(other))


@lru_cache(maxsize=65_536)
def _script(text: str) -> str:
    """The most frequent script among the letters, as named by Unicode; empty if there are no
    letters.
    """
    names = Counter(name(char, "").partition(" ")[0] for char in text if char.isalpha())
    return max(names, key=lambda script: (names[script], script), default="")


def keeps_things(words: Iterable[str]) -> bool:
    """Whether one of the words names something that somebody owns.

    The *task* of one owner is not the task of another; the *weather* is the same wherever it is
    asked.
    """
    return not _KEPT.isdisjoint(map(singular, words))


def is_of_the_machine(words: Iterable[str]) -> bool:
    """Whether one of the words names something that a machine has only once."""
    return not _OF_THE_MACHINE.isdisjoint(map(singular, words))


def is_of_facts(words: Iterable[str]) -> bool:
    """Whether one of the words names public facts or calculations, which nobody owns."""
    return not _FACTS.isdisjoint(map(singular, words))


def is_border(word: str) -> bool:
    """Whether the word ends the noun phrase before it: ``of``, ``by``, ``using``."""
    return word in _BORDERS


@lru_cache(maxsize=65_536)
def action_classes(word: str) -> frozenset[str]:
    """The actions that a verb may mean (``reads``, ``creates``, …). Several if the verb is
    ambiguous; empty if the word is not a verb.
    """
    for form in _verb_forms(word):
        classes = frozenset(name for name, verbs in _VERBS.items() if form in verbs)
        if classes:
            return classes
    return frozenset()


def is_plain_verb(word: str) -> bool:
    """Whether the word is an action and not also a common noun (``delete``; not ``order``)."""
    return bool(action_classes(word)) and not (_ALSO_NOUNS & set(_verb_forms(word)))


def leads(word: str) -> bool:
    """Whether the word is an action whenever another word follows: ``zz_list_alerts``."""
    return word in _LEAD


@lru_cache(maxsize=65_536)
def opposites(left: frozenset[str], right: frozenset[str]) -> tuple[str, str] | None:
    """The first two opposite words in sorted order, each on one side only; ``None`` without such a
    pair.
    """
    for here in sorted(left - right):
        for there in sorted(right - left):
            if _are_contrary(here, there):
                return here, there
    return None


@lru_cache(maxsize=65_536)
def word_weight(word: str) -> float:
    """The inverse document frequency of a word, in [0, 1]: 1 if hardly any tool uses it."""
    tools, counts = _counts()
    return math.log((tools + 1) / (counts.get(stem(word), 0) + 1)) / math.log(tools + 1)


def total_weight(words: Iterable[str]) -> float:
    """The sum of the weights of some words; the order of the words does not matter."""
    return math.fsum(map(word_weight, words))


def weighted_jaccard(ours: frozenset[str], theirs: frozenset[str]) -> float:
    """The weight of the common words divided by the weight of all words; NaN if
    there are no words.
    """
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
    if long.startswith("re") and are_opposite(long[2:], short):  # such as reopen and close
        return True
    return any(long == f"{prefix}{short}" for prefix in _NEGATING) or _differ_in_prefix(short, long)


def _differ_in_prefix(short: str, long: str) -> bool:
    """Whether two non-English words have one stem with different prefixes.

    Many languages form opposites in this way: *sperren* and *entsperren*, *включить* and
    *выключить*.
    """
    pairs = zip(reversed(short), reversed(long), strict=False)
    stem_length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if (
        stem_length < max(_SHORTEST_STEM, len(long) / 2)
        or len(long) - stem_length > _LONGEST_PREFIX
    ):
        return False
    _, counts = _counts()
    is_english = any(
        groups_of(one) or is_filler(one) or stem(one) in counts for one in (short, long)
    )
    return short != long and (short + long).isalpha() and not is_english


def _verb_forms(word: str) -> tuple[str, ...]:
    return word, *without_ending(word, INFLECTED, 3)


_VERBS = {name: frozenset(verbs) for name, verbs in _CLASSES.items()}
_CONTRARIES = frozenset(pair for one, other in _OPPOSITES for pair in ((one, other), (other, one)))
