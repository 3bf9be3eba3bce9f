"""Finds the selector that distinguishes the members of a family, with a value for each member.

*Amazon price* and *eBay price* are one operation with different providers; *first day of January*
and *first day of March* are one with different months.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from toolscope_core.judging.distinctions import is_key, renamed, unshared
from toolscope_core.model.tool import Tool
from toolscope_core.wording.products import FILE_FORMATS, names_a_product
from toolscope_core.wording.reading import ToolReading, read_tool, whole_name
from toolscope_core.wording.vocabulary import action_classes
from toolscope_core.wording.wordnet import is_word, kinds_of
from toolscope_core.wording.words import (
    base_forms,
    is_english,
    plain_words,
    singular,
    stem,
    words_of,
)

_KINDS = {
    "language": "language",
    "month": "month",
    "weekday": "day",
    "day": "day",
    "currency": "currency",
    "country": "country",
    "nationality": "country",
    "continent": "continent",
    "color": "color",
    "colour": "color",
    "chromaticity": "color",
    "sport": "sport",
    "season": "season",
    "planet": "planet",
    "animal": "animal",
    "beverage": "drink",
    "food": "food",
    "vehicle": "vehicle",
    "document": "document",
    "shape": "shape",
    "number": "number",
    "period": "period",
    "unit": "unit",
    "person": "role",
    "individual": "role",
}
"""WordNet's name for a kind, most informative first → the name of the selector."""

FIXED = frozenset(
    "language month day currency country season planet period format number color".split()
)
"""Kinds whose words are always values for one selector."""

_PERIODS = frozenset(
    """daily weekly monthly quarterly yearly annual hourly current last next previous past today
    tomorrow yesterday historical""".split()
)
_BARE_KEYS = frozenset("id ids uuid guid gid sid slug key".split())
_MOST_WORDS = 3
_NAME = re.compile(r"(?<=[\w,] )[A-Z](?=\w*[a-z])\w*")
"""A word with a capital and a small letter inside a sentence."""


@dataclass(frozen=True, slots=True)
class NameTemplate:
    """What a tool shares with similarly named tools of its server.

    ``arguments`` has the name, without the word of the tool's name that may differ, the need and
    the type of each. ``is_of_values`` says that this word is no act, and nothing whose key is an
    argument.
    """

    server: str
    arguments: tuple[tuple[str, bool, str], ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    is_of_values: bool


def rows_by_template(tools: Sequence[Tool]) -> dict[NameTemplate, list[int]]:
    """The rows of the tools that have each template, ascending."""
    rows: dict[NameTemplate, list[int]] = {}
    for row, tool in enumerate(tools):
        for template in _templates(tool):
            rows.setdefault(template, []).append(row)
    return rows


def _templates(tool: Tool) -> Iterator[NameTemplate]:
    """The templates of a tool, one for each word of its name that may differ."""
    name = whole_name(tool)
    if not tool.server or not tool.parameters or len(name) < 2:
        return
    words = [(plain_words(one.name), one) for one in tool.parameters]
    for at, word in enumerate(name):
        own = [
            ("_".join("*" if stem(part) == stem(word) else part for part in parts), one)
            for parts, one in words
        ]
        keyed = any(is_key(one) and ("*" in shared or shared in _BARE_KEYS) for shared, one in own)
        arguments = sorted(
            (shared, one.required, str(one.schema.get("type"))) for shared, one in own
        )
        takes_more = any(one.required and not is_key(one) for one in tool.parameters)
        is_of_values = takes_more and not keyed and not action_classes(word)
        yield NameTemplate(tool.server, tuple(arguments), name[:at], name[at + 1 :], is_of_values)


def selector_of(
    tools: Sequence[Tool], unshared: Sequence[Sequence[str]]
) -> tuple[str, tuple[str, ...]]:
    """The selector's name and a different value for each tool, in order.

    ``unshared`` lists, for each tool, the words that only this tool uses, with words from its name
    first. If words of names or of one kind do not distinguish the tools, then servers do, then
    names, then the first words of descriptions, then ids.
    """
    words_by_tool = [
        [word for word in words if word in read_tool(tool).name]
        for tool, words in zip(tools, unshared, strict=True)
    ]
    named = [
        [word for word in own if word not in words_of(tool.server)]
        for tool, own in zip(tools, words_by_tool, strict=True)
    ]
    if all(named):  # the server's name is not a value beside other words
        words_by_tool = named
    values = [
        "_".join(_once(own or list(words))[:_MOST_WORDS])
        for own, words in zip(words_by_tool, unshared, strict=True)
    ]
    told_by_words = all(values) and _are_distinct(values)
    if told_by_words and (all(words_by_tool) or kind_of_values(values)):
        return _kind(values, tools), tuple(values)
    servers, names = [tool.server for tool in tools], [tool.name for tool in tools]
    for name, labels in (("server", servers), ("variant", names)):
        if all(labels) and _are_distinct(labels):
            return name, tuple(labels)
    if told_by_words:
        return _kind(values, tools), tuple(values)
    return "variant", tuple(tool.id for tool in tools)


def own_words(readings: Sequence[ToolReading]) -> list[tuple[str, ...]]:
    """For each tool, the words of its name that are in no other name, then the words of its text
    that are in no other text.
    """
    return reduce(DistinctWords.with_tool, readings, DistinctWords()).own_words()


@dataclass(frozen=True, slots=True)
class DistinctWords:
    """Tools compared with each other.

    For each tool, ``name_words`` are the words of its name that no other name has, and
    ``all_words`` are the words that no other tool has. Adding a tool compares it with each other
    tool once.
    """

    readings: tuple[ToolReading, ...] = ()
    name_words: tuple[frozenset[str], ...] = ()
    all_words: tuple[frozenset[str], ...] = ()

    def with_tool(self, reading: ToolReading) -> DistinctWords:
        """The compared tools with one more tool."""
        names = [renamed(one, reading) for one in self.readings]
        words = [(unshared(one, reading), unshared(reading, one)) for one in self.readings]
        return DistinctWords(
            (*self.readings, reading),
            _narrowed(self.name_words, frozenset(reading.name_words), names),
            _narrowed(self.all_words, frozenset(reading.words), words),
        )

    def own_words(self) -> list[tuple[str, ...]]:
        each = zip(self.readings, self.name_words, self.all_words, strict=True)
        return [tuple([word for word in one.words if word in a or word in b]) for one, a, b in each]


def _narrowed(
    words: Sequence[frozenset[str]],
    new_words: frozenset[str],
    pairs: Sequence[tuple[tuple[str, ...], tuple[str, ...]]],
) -> tuple[frozenset[str], ...]:
    """The words of each tool that the added one lacks, then the words that only
    the added one has.
    """
    narrower = [own.intersection(ours) for own, (ours, _) in zip(words, pairs, strict=True)]
    return (*narrower, new_words.intersection(*(theirs for _, theirs in pairs)))


def _once(words: Sequence[str]) -> list[str]:
    """The words without repeats of a noun: ``issues`` after ``issue``."""
    return list({singular(word): word for word in reversed(words)}.values())[::-1]


def _are_distinct(values: Sequence[str]) -> bool:
    return len(set(values)) == len(values)


def kind_of_values(values: Sequence[str]) -> str:
    """The kind of the values, if lists or WordNet give one kind for all of them;
    otherwise empty.
    """
    words = [value.split("_") for value in values]
    for name, words_of_kind in (("period", _PERIODS), ("format", FILE_FORMATS)):
        if all(not words_of_kind.isdisjoint(of) for of in words):
            return name
    if all(any(word.isdigit() for word in of) for of in words):
        return "number"
    kinds = [
        frozenset().union(*(kinds_of(form) for word in of for form in base_forms(word)))
        for of in words
    ]
    common = frozenset.intersection(*kinds)
    return next((name for kind, name in _KINDS.items() if kind in common), "")


def _kind(values: Sequence[str], tools: Sequence[Tool]) -> str:
    """The name of the selector.

    The name is the kind of the values if there is one. It is *provider* if each value is a listed
    product or written as a name, or else *variant*. If the tools are on no server or on several, a
    value with a non-English word counts as a name too.
    """
    kind = kind_of_values(values)
    strange = [not all(map(is_english, value.split("_"))) for value in values]
    if kind and not (any(strange) and kind == "role"):
        return kind
    on_one_server = tools[0].server and len({tool.server for tool in tools}) == 1
    are_names = (
        names_a_product(value)
        or _is_written_as_name(value, tool)
        or (is_strange and not on_one_server)
        for value, tool, is_strange in zip(values, tools, strange, strict=True)
    )
    return "provider" if any(strange) and all(are_names) else "variant"


def _is_written_as_name(value: str, tool: Tool) -> bool:
    """Whether a word of the value that is in no dictionary is written as a name
    in the description.
    """
    names = {name.casefold() for name in _NAME.findall(tool.description)}
    return any(word in names and not is_word(word) for word in value.split("_"))
