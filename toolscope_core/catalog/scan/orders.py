"""Finds sentences that read like orders to the agent, or like actions beyond the tool's job.

Words, and pairs of nearby words, count for or against an order. Their weights are learned
(``benchmarks/train_scan.py``).
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import Stemmer

WORD = r"(?:\w++(?:['’]\w++)*+\W++)"
"""Matches a word and the characters after it; possessive, so that hostile text cannot slow a
search.
"""
EXPLAINS = re.compile(
    r"\b(?:detect|flag|recogni[sz]|classif|identif|analy[sz]|block|explain|document|describ|warn|"
    r"report|scan|check|teach|protect|prevent|filter|guard|catch|reject|inspect)\w*\W+"
    + WORD
    + r"{0,6}?(?:prompts?|texts?|messages?|descriptions?|instructions?|requests?|tools?|attacks?|"
    r"injections?|jailbreaks?|attempts?|whether|how|what|when|leaked|repositories|phrases?)\b"
    r"|\b(?:sample|example|expected|mock|canned|training|dummy|illustrative|test)s?\W+"
    + WORD
    + r"{0,3}?(?:outputs?|responses?|answers?|texts?|repl(?:y|ies)|attacks?|prompts?|used)\b"
    r"|\b(?:such\W+as|e\.g\.|for\W+example|for\W+instance)\W|\battack(?:s|er|ers)?\b"
    r"|\b(?:like|say|says|write|writes)\W{0,2}[\"'“‘`]",
    re.IGNORECASE,
)
"""Matches words after which hostile wording in the same sentence is only mentioned."""
_CLAUSE = re.compile(
    r"(?<!e\.g)[.;!?]['\"”’)]?(?=\s|\Z)|\n|,\W+then\b|\b(?:also|and\W+then|instead)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"[^\"\n]{3,200}\"|“[^”\n]{3,200}”|„[^“\n]{3,200}“|«[^»\n]{3,200}»|‘[^’\n]{3,200}’"
    r"|(?<!\w)'[^'\n]{3,200}'(?!\w)"
)
_SENTENCE = re.compile(
    r"(?<!e\.g)(?<!i\.e)[.!?]+['\"”’)]?(?=\s|\Z)|[。！？]|\n(?=\s{0,40}(?:[^\sa-z]|\Z))"
)
_TOKEN = re.compile(
    r"(?P<address>\b(?:https?|ftp|s3|gs)://[^\s\"'<>]{1,300}|[\w.+-]{1,64}@[\w-]{1,64}\.\w+)"
    r"|(?P<file>(?:~|\$HOME|/root|/home/\w{1,30}|/etc)/[\w./-]{1,200}"
    r"|(?<!\w)\.(?:env|netrc|npmrc|pypirc|pgpass|aws|ssh|kube)\b)"
    r"|(?P<name>\b[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,6}+\b"
    r"|\b[a-z]{2,30}[A-Z][A-Za-z0-9]{1,40}\b)"
    r"|(?P<number>\d[\d.,]*)|(?P<word>[^\W\d_]+(?:['’][a-z]+)?)|(?P<mark>[,;:()])"
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""Matches letters of Chinese and Japanese, which write no blanks between words."""
_NEAR = 3
"""The largest distance between two words that make a pair."""
_MOST_TOKENS = 80
_WEIGHTS = Path(__file__).with_name("order_weights.json")
_stem = lru_cache(1 << 14)(Stemmer.Stemmer("english").stemWord)


@dataclass(frozen=True, slots=True)
class TextOrder:
    """The position of a sentence that reads like an order."""

    start: int
    end: int


def find_orders(text: str) -> Iterator[TextOrder]:
    """The sentences in a plain text that read like orders."""
    start = 0
    for sentence in sentences(text):
        if reads_like_order(sentence):
            yield TextOrder(start, start + len(sentence))
        start += len(sentence)


@lru_cache(maxsize=1)
def order_weights() -> dict[str, Any]:
    """The learned weights: ``least`` is the weight of an order, ``signals`` are by first and
    other word.
    """
    own: dict[str, Any] = json.loads(_WEIGHTS.read_text("utf-8"))
    return own


def reads_like_order(sentence: str, times: int = 1) -> bool:
    """Whether a sentence weighs at least ``times`` times as much as an order."""
    weights = order_weights()
    tables = weights["signals"]
    pairs = signals(sentence)
    score = sum(tables[first].get(other, 0) for first, other in pairs if first in tables)
    return bool(score >= times * weights["least"])


def sentences(text: str) -> Iterator[str]:
    """The sentences of a plain text."""
    start = 0
    for end in (*(cut.end() for cut in _SENTENCE.finditer(text)), len(text)):
        yield text[start:end]
        start = end


def signals(sentence: str) -> set[tuple[str, str]]:
    """The words of a sentence, each paired with an empty word, and the pairs of nearby words.

    A quotation counts as one word.
    """
    tokens = _tokens(_QUOTED.sub(" QUOTED ", sentence))
    if len(tokens) < _NEAR:
        tokens = _tokens(sentence)  # all of the sentence is in quotes
    padded = ["^", *tokens, *[""] * _NEAR]
    near = zip(*(padded[shift:] for shift in range(_NEAR + 1)), strict=False)
    return {(first, other) for first, *others in near for other in ("", *others)}


def _tokens(sentence: str) -> list[str]:
    tokens: list[str] = []
    for token in _TOKEN.finditer(sentence):
        kind, text = token.lastgroup, token.group()
        if kind == "word":
            word = text.lower().replace("’", "'")
            tokens += text if _UNSPACED.search(text) else [_stem(word)]
        else:
            tokens.append(text if kind == "mark" else f"<{kind}>")
        if len(tokens) >= _MOST_TOKENS:
            break
    return tokens


def is_explained(plain: str, start: int, end: int, cue: re.Pattern[str] = EXPLAINS) -> bool:
    """Whether words are only mentioned.

    They are if they are in quotes, or if the sentence before them says that it quotes, tests or
    looks for such words.
    """
    near = max(0, start - 300)
    starts = [cut.end() for cut in _CLAUSE.finditer(plain, near, start)]
    if cue.search(plain, starts[-1] if starts else near, start):
        return True
    quotes = _QUOTED.finditer(plain, near, end + 200)
    return any(one.start() <= start and end <= one.end() for one in quotes)
