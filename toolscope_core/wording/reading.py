"""Reads a tool once: its words, its action, the things it works on, and its arguments."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.model.tool import Tool
from toolscope_core.wording.tool_text import source_name, source_text
from toolscope_core.wording.vocabulary import action_classes, is_border, is_plain_verb, leads
from toolscope_core.wording.words import (
    KEY_WORDS,
    WordKeys,
    is_empty,
    is_filler,
    keys_of,
    plain_words,
    sentences,
    singular,
    words_of,
)

_LONGEST = 2_000
_BEGINNING = 220
_PHRASE = 6
_TAG = re.compile(
    r"</?(?:a|abbr|b|blockquote|br|center|code|div|em|font|h[1-6]|hr|i|img|li|ol|p|pre|small|span"
    r"|strong|sub|sup|table|tbody|td|th|thead|tr|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class ToolReading:
    """One tool as words in lower case, without hidden characters; readings are compared by
    identity.

    ``name`` and ``text`` are all words of the name and of the description, in order, ``sentence``
    those of its first sentence; ``name_words`` and ``text_words`` are those without filler and
    repeats, ``words`` both.

    ``verb`` is the word for the tool's action, and ``classes`` are its possible meanings. Nouns are
    in the singular, without empty words: ``nouns`` are those of the name without its verb,
    ``phrase`` the first noun phrase after the description's verb, ``objects`` the last nouns of
    name and phrase, ``content`` the nouns of the name and the beginning of the description.
    ``arguments`` are the words of the parameter names, ``None`` if parameters are not declared.
    """

    tool: Tool
    name: tuple[str, ...]
    text: tuple[str, ...]
    name_words: tuple[str, ...]
    text_words: tuple[str, ...]
    words: tuple[str, ...]
    sentence: tuple[str, ...]
    verb: str
    classes: frozenset[str]
    nouns: tuple[str, ...]
    objects: tuple[str, ...]
    phrase: tuple[str, ...]
    content: tuple[str, ...]
    arguments: tuple[str, ...] | None

    @cached_property
    def keys(self) -> tuple[WordKeys, ...]:
        """The forms by which each of ``words`` may be recognised."""
        return tuple(map(keys_of, self.words))

    @cached_property
    def lead(self) -> WordKeys:
        """The keys of the name and the first sentence."""
        return _keys((*self.name_words, *self.sentence))

    @cached_property
    def word_keys(self) -> WordKeys:
        """The keys of all ``words``."""
        return frozenset[str | int]().union(*self.keys)

    @cached_property
    def argument_keys(self) -> WordKeys:
        """The keys of the words in parameter names and listed values."""
        return _keys(self._argument_words)

    @cached_property
    def all_keys(self) -> WordKeys:
        """The keys of all ``words`` and of the arguments."""
        return self.word_keys | self.argument_keys

    @cached_property
    def plain(self) -> frozenset[str]:
        """All words of the name, description and arguments."""
        return frozenset((*self.name, *self.text, *self._argument_words))

    @cached_property
    def compounds(self) -> Mapping[str, tuple[str, str]]:
        """Two consecutive words written as one, with the two words."""
        return {a + b: (a, b) for part in (self.name, self.text) for a, b in pairwise(part)}

    @cached_property
    def initials(self) -> str:
        """The first letters of all words in a row."""
        return "".join(word[0] for word in (*self.name, *self.text))

    @cached_property
    def _argument_words(self) -> frozenset[str]:
        return frozenset(_argument_words(self.tool))


@lru_cache(maxsize=65_536)
def read_tool(tool: Tool, plain: Tool | None = None) -> ToolReading:
    """A tool as words. The name and description are those of ``plain`` if
    boilerplate was removed.
    """
    shown = plain or tool
    description = _TAG.sub(" ", without_hidden(source_text(shown)[:_LONGEST])).lower()
    name, text = whole_name(shown), words_of(description)
    if text[:1] in (["return"], ["returns"]):
        text[0] = "get"  # *returns* may mean an investment's elsewhere
    name_words = named_words(shown)
    text_words = _distinct(word for word in text if not is_filler(word))
    sentence = words_of(next(iter(sentences(description)), ""))

    verb_at = _verb_in_name(without_hidden(source_name(shown)), name)
    described_verb = next((word for word in sentence[:3] if action_classes(word)), "")
    verb = name[verb_at] if verb_at is not None else described_verb
    classes = action_classes(verb)
    in_name = [word for at, word in enumerate(name) if at != verb_at]
    phrase = _noun_phrase(
        sentence[sentence.index(described_verb) + 1 :] if described_verb else sentence
    )
    nouns = _nouns(word for word in in_name if not is_empty(word))
    beginning = (
        word
        for word in words_of(description[:_BEGINNING])
        if not is_empty(word) and not (action_classes(word) & classes)
    )
    return ToolReading(
        tool=tool,
        name=name,
        text=tuple(text),
        name_words=name_words,
        text_words=text_words,
        words=_distinct((*name_words, *text_words)),
        sentence=tuple(sentence),
        verb=verb,
        classes=classes,
        nouns=nouns,
        objects=_distinct([*_last(_noun_phrase(in_name)), *_last(phrase)]),
        phrase=phrase[:_PHRASE],
        content=_distinct([*nouns, *_nouns(beginning)]),
        arguments=_nouns(word for one in tool.parameters for word in plain_words(one.name))
        if tool.schema is not None
        else None,
    )


@lru_cache(maxsize=65_536)
def whole_name(tool: Tool) -> tuple[str, ...]:
    """All words of a tool's name, in order, as in ``ToolReading.name``."""
    return tuple(words_of(without_hidden(source_name(tool))))


def named_words(tool: Tool) -> tuple[str, ...]:
    """The words of the tool's name without filler, and without *by id*, which an argument
    expresses.
    """
    return _distinct(_telling(whole_name(tool)))


def _keys(words: Iterable[str]) -> WordKeys:
    return frozenset(key for word in words for key in keys_of(word))


def _argument_words(tool: Tool) -> Iterator[str]:
    """The words in parameter names that identify a thing, and the words in listed values.

    For example, ``team_key`` gives *team*.
    """
    for parameter in tool.parameters:
        yield from (word for word in plain_words(parameter.name) if word not in KEY_WORDS)
        for value in parameter.enum:
            yield from words_of(str(value))


def _telling(name: Sequence[str]) -> Iterator[str]:
    for before, word in zip(("", *name), name, strict=False):
        if not is_filler(word, in_name=True) and not (before == "by" and word in KEY_WORDS):
            yield word


def _verb_in_name(name: str, words: Sequence[str]) -> int | None:
    """The position of the verb; the part after the last dot or slash is searched first.

    The first choice is a word that is only a verb. The next is an action word that comes first or
    is known to lead, with a word after it. The last is the action word nearest to the end of the
    name (``room_booking``).
    """
    last_part = len(words) - len(words_of(re.split(r"[./]", name)[-1]))
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
    """The last noun of a noun phrase; empty if the phrase is so long that it is a whole clause."""
    return phrase[-1:] if len(phrase) <= _PHRASE else ()


def _nouns(words: Iterable[str]) -> tuple[str, ...]:
    return _distinct(singular(word) for word in words)


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
