"""What matches a word: as it stands, inflected, abbreviated, or as a synonym.

Two tools that do one job say the same in other words, so words are compared by what they may be
known by.
"""

from __future__ import annotations

from functools import lru_cache

from toolscope_core.judging import wordnet
from toolscope_core.judging.vocabulary import base_forms, groups_of, stem

Key = str | int
Keys = frozenset[Key]

KEY_WORDS = frozenset("id ids uuid key keys name names type types value values".split())
"""In a name of an argument they do not say which thing it is about."""

_GROUPS_FROM = 10_000_000
"""Keys of the lines of our own list begin here, above those of WordNet."""


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
