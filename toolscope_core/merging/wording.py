"""The words of parameter names and descriptions, one word per meaning."""

from __future__ import annotations

import re
from functools import lru_cache

from toolscope_core.datamodel import canonical_json

_SAME_WORD = {
    word: group[0]
    for group in (
        ("query", "q", "search", "term", "keyword", "keywords"),
        ("text", "content", "body", "message", "msg", "txt", "string"),
        ("path", "file", "filename", "filepath", "pathname"),
        ("directory", "dir", "folder"),
        ("identifier", "id", "ident", "uuid"),
        ("number", "num", "count", "n", "qty", "quantity"),
        ("limit", "max", "maximum", "top"),
        ("language", "lang", "locale"),
        ("latitude", "lat"),
        ("longitude", "lon", "lng", "long"),
        ("source", "src", "origin", "from", "departure"),
        ("destination", "dst", "dest", "target", "to", "arrival"),
        ("address", "addr"),
        ("url", "uri", "link", "href"),
        ("location", "place", "city", "town"),
        ("user", "account"),
        ("start", "begin", "since", "after"),
        ("end", "finish", "until", "before", "stop"),
        ("mail", "email"),
        ("telephone", "phone", "tel"),
        ("temperature", "temp"),
        ("parameter", "param", "argument", "arg"),
    )
    for word in group
}
_EMPTY_WORDS = frozenset(
    "a an the of to for in on at by with and or is are be that this it its as from which used use "
    "value specified given optional required default e g eg etc will can should".split()
)


@lru_cache(maxsize=65_536)
def name_words(name: str) -> frozenset[str]:
    """The words of an identifier, split at case and marks, singular, one per meaning."""
    words = plain_words(name)
    plain = [
        _SAME_WORD.get(word, _SAME_WORD.get(_singular(word), _singular(word))) for word in words
    ]
    kept = [word for word in plain if word not in _EMPTY_WORDS]
    return frozenset(kept or plain)


def plain_words(name: str) -> list[str]:
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return re.findall(r"[^\W_]+", split.casefold())


@lru_cache(maxsize=65_536)
def text_words(text: str) -> frozenset[str]:
    words = re.findall(r"[^\W_]{2,}", text.casefold())
    return frozenset(_singular(word) for word in words if word not in _EMPTY_WORDS)


def spelling(value: object) -> str:
    if isinstance(value, str):
        return "s" + re.sub(r"(?<=[^\W_])[\s_-]+(?=[^\W_])", "", value.casefold())
    return canonical_json(value)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
