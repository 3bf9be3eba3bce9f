"""Relations of English words: synonyms, opposites, kinds of one thing.

Derived from the Open English WordNet (CC BY 4.0; the notices are beside the tables) by
``benchmarks/derive_wordnet.py``. The tables have single words in their four most common senses. A
sense has a rank for each of its words, 1 if it is the word's most common one. Synonyms share the
most common sense of both and are also similar in meaning, so *book* is not a synonym of *word*.
Words are in lower case.
"""

import gzip
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

TABLES = Path(__file__).with_name("oewn") / "tables.json.gz"

_STEPS, _RANKS = 8, 2


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of WordNet.

    ``senses`` gives each word's senses, each as its number × 8 plus the word's rank. ``above``
    gives the sense above each sense, or −1 if none is above. ``names`` gives the names of senses
    that have others below them. ``synonyms`` gives the numbers of each word's groups.
    """

    senses: dict[str, list[int]]
    synonyms: dict[str, list[int]]
    above: list[int]
    names: dict[int, str]
    opposites: frozenset[tuple[str, str]]


@lru_cache(maxsize=1)
def tables() -> Tables:
    """The tables in the package, which are read only once."""
    content = json.loads(gzip.decompress(TABLES.read_bytes()))
    pairs = [tuple(pair) for pair in content["opposites"]]
    return Tables(
        senses=content["words"],
        synonyms=content["synonyms"],
        above=content["above"],
        names={int(sense): name for sense, name in content["names"].items()},
        opposites=frozenset(pairs) | {(other, one) for one, other in pairs},
    )


def is_word(word: str) -> bool:
    """Whether this exact form is an English word."""
    return word in tables().senses


def are_opposite(one: str, other: str) -> bool:
    return (one, other) in tables().opposites


@lru_cache(maxsize=65_536)
def kinds_of(word: str) -> frozenset[str]:
    """The names of the senses above a word's common senses: *language* for *french*."""
    names = tables().names
    return frozenset(
        names[kind]
        for code in tables().senses.get(word, ())
        if code % 8 <= _RANKS
        for kind in _chain(code // 8)
        if kind in names
    )


@lru_cache(maxsize=65_536)
def _chain(sense: int) -> tuple[int, ...]:
    above = tables().above
    chain: list[int] = []
    while len(chain) < _STEPS and (sense := above[sense]) >= 0:
        chain.append(sense)
    return tuple(chain)
