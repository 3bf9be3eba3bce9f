"""What the offline judge reads in a tool: what it does, on what, with which arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from toolscope_core.catalog.source_words import source_name, source_text
from toolscope_core.embedding.tool_text import split_name
from toolscope_core.judging.vocabulary import (
    action_classes,
    is_border,
    is_empty,
    is_plain_verb,
    leads,
    singular,
    words_of,
)
from toolscope_core.model.tool import Tool

_DESCRIPTION = 220
_PHRASE = 6
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")


@dataclass(frozen=True, slots=True)
class Reading:
    """One tool as words (nouns as of one, no repeats, in order), empty words left out.

    ``verb`` is the word that says what it does, ``classes`` what that word may mean; ``whole`` are
    all words of the name. ``name`` leaves the verb out; ``phrase`` is the first noun phrase after
    the description's verb; ``objects`` the last nouns of name and phrase, ``text`` all of name and
    description; ``arguments`` the words of the parameter names, ``None`` where parameters are not
    declared.
    """

    verb: str
    classes: frozenset[str]
    whole: frozenset[str]
    name: tuple[str, ...]
    objects: tuple[str, ...]
    phrase: tuple[str, ...]
    text: tuple[str, ...]
    arguments: tuple[str, ...] | None


@lru_cache(maxsize=65_536)
def read_tool(tool: Tool) -> Reading:
    """The words that the judge compares; hidden characters and case play no part."""
    spelled, text = source_name(tool), source_text(tool)
    name = split_name(spelled)
    words = words_of(text[:_DESCRIPTION])
    sentence = words_of(_SENTENCE.split(text.strip(), maxsplit=1)[0])
    verb_at = _verb_in_name(spelled, name)
    described_verb = next((word for word in sentence[:3] if action_classes(word)), "")
    verb = name[verb_at] if verb_at is not None else described_verb
    nouns = [word for at, word in enumerate(name) if at != verb_at]
    phrase = _noun_phrase(
        sentence[sentence.index(described_verb) + 1 :] if described_verb else sentence
    )
    classes = action_classes(verb)
    content = [
        word for word in words if not is_empty(word) and not (action_classes(word) & classes)
    ]
    name_words = _nouns(word for word in nouns if not is_empty(word))
    return Reading(
        verb=verb,
        classes=classes,
        whole=frozenset(name),
        name=name_words,
        objects=_distinct([*_last(_noun_phrase(nouns)), *_last(phrase)]),
        phrase=phrase[:_PHRASE],
        text=_distinct([*name_words, *_nouns(content)]),
        arguments=_argument_words(tool),
    )


def _verb_in_name(name: str, words: Sequence[str]) -> int | None:
    """Where the verb stands, looked for after the last dot or slash first.

    A word that is only a verb; else a verb-or-noun that leads or has something after it; else
    one that ends the name (``room_booking``).
    """
    last_part = len(words) - len(split_name(re.split(r"[./]", name)[-1]))
    for start in (last_part, 0):
        for at in range(start, len(words)):
            if is_plain_verb(words[at]):
                return at
        for at in range(start, len(words) - 1):
            if leads(words[at]) or (at == start and action_classes(words[at])):
                return at
    return next((at for at in range(len(words) - 1, -1, -1) if action_classes(words[at])), None)


def _noun_phrase(words: Iterable[str]) -> tuple[str, ...]:
    nouns: list[str] = []
    for word in words:
        if is_border(word) and nouns:
            break
        if not is_border(word) and not is_empty(word):
            nouns.append(singular(word))
    return tuple(nouns)


def _last(phrase: tuple[str, ...]) -> tuple[str, ...]:
    """The head noun; none where the phrase is a whole clause."""
    return phrase[-1:] if len(phrase) <= _PHRASE else ()


def _argument_words(tool: Tool) -> tuple[str, ...] | None:
    if tool.schema is None:
        return None
    return _nouns(word for parameter in tool.parameters for word in split_name(parameter.name))


def _nouns(words: Iterable[str]) -> tuple[str, ...]:
    return _distinct(singular(word) for word in words)


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
