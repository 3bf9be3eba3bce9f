"""How much a word tells in the text of a tool: little where many tools say it.

Counted once over public catalogs (``benchmarks/count_words.py``), so that what two tools are to
each other does not depend on what else is loaded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from toolscope_core.judging.vocabulary import stem

WORD_COUNTS = Path(__file__).with_name("data") / "word_counts.json"
"""How many tools there were, and by stem how many of them say it; rare stems are left out."""


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
