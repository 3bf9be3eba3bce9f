"""Reads facts about the value of an argument from its words: its form and its meaning.

A *form* limits what is accepted: a UUID, values separated by commas, at most 50. A *reading* says
what a value means: the zone of a time, counting from 0 or from 1. ``units`` reads units and dates,
``omitted_arguments`` defaults.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from toolscope_core.judging.arguments.omitted_arguments import MOST_READ, without_omission
from toolscope_core.model.tool import Parameter, Tool, canonical_json
from toolscope_core.wording import words as english
from toolscope_core.wording.words import STOP_WORDS, meaning, spelling, words_of

_FACTS: Mapping[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "argument_facts.json").read_text("utf-8")
)
"""The words for each fact, by topic; the file names the sources."""

_TELLING, _PLAIN = frozenset(_FACTS["telling"]), frozenset(_FACTS["plain"])
_SAME: Mapping[str, frozenset[str]] = {
    word: frozenset({f"line {at}" for at, line in enumerate(_FACTS["same"]) if word in line})
    for group in _FACTS["same"]
    for word in group
}
"""Interchangeable words in arguments: for each word, the lines that contain it."""
FORMS = frozenset(_FACTS["forms"])
IDENTIFIER, LIST = "identifier", "list"

_PLACES = frozenset("page line row column col index position".split())
"""Last words in names for an ordinal position, never for a count."""

Statements = Mapping[str, frozenset[str]]
"""Statements in words (such as ``UTC``), by topic (such as ``zone``)."""


def _compiled(group: str) -> dict[str, dict[str, re.Pattern[str]]]:
    return {
        about: {label: re.compile(rf"(?<!\w)(?:{words})(?!\w)") for label, words in labels.items()}
        for about, labels in _FACTS[group].items()
    }


_FORM_WORDS, _READING_WORDS, _WEAK_WORDS = map(_compiled, ("forms", "readings", "weak"))
_SHAPES = [(about, label, re.compile(shape)) for about, label, shape in _FACTS["shapes"]]
WEAK = frozenset(label for labels in _WEAK_WORDS.values() for label in labels)
"""Names that fit nearly every value; they count only together with other evidence."""

_NUMBER = r"(\d[\d,_]*(?:\.\d+)?)(?![\d-])(?: ?(k)\b)?"
_COUNTED = (
    r"(?:[ -](characters?|chars?|words?|items?|entries|results?|rows?|bytes|kb|mb|digits?)\b)?"
)
_SIZE = r"(?: (?:length|value|size|count|number|is|of|allowed|the))*[ :=]*"
_MOST = re.compile(
    rf"(?:\bmax(?:imum)?{_SIZE}|\b(?:at most|up to|limited to|capped at|less than or equal to"
    r"|(?:not|never|cannot) (?:to )?exceed(?:ing)?|(?:no |cannot be )?(?:longer|more|larger) than)"
    r"[ :=]*|[<≤]=? ?)"
    rf"{_NUMBER}{_COUNTED}"
)
_LEAST = re.compile(
    rf"(?:\bmin(?:imum)?{_SIZE}|\b(?:at least|no (?:less|fewer) than|greater than or equal to)"
    rf"[ :=]*|[>≥]=? ?){_NUMBER}{_COUNTED}"
)
_RANGE = re.compile(
    r"(?:\b(?:between|from|range|values?)[ :]+|[(\[:,] ?)(-?\d[\d,_]*(?:\.\d+)?)"
    rf" ?(?:-|–|to|and|\.\.+) ?{_NUMBER}{_COUNTED}(?! ?(?:-|/|:)\d)"
)

_TOKEN = r"(?:'[^']+'|\"[^\"]+\"|`[^`]+`)"
_ONE = rf"(?:{_TOKEN}|[\w+-]+(?:\.[\w+-]+)*)"
_AND = r"(?: ?[,|/] ?(?:or |and )?| or | and )"
_LISTED = re.compile(
    r"\b(?:(?<!exactly )(?<!least )one of|options?|choices?|must be|accepts|(?:allowed|valid"
    r"|possible|supported|accepted|permitted)(?: \w+)?)(?: are| is| include)?:? "
    r"(?:the following:? )?"
    rf"\(?({_ONE}(?:{_AND}{_ONE})+)|\(({_ONE}(?: ?[,|] ?(?:or )?{_ONE})+)\)"
    rf"|({_TOKEN}(?:{_AND}{_TOKEN})+)"
    rf"|[:,–-] ({_ONE}(?:, {_ONE})*,? or {_ONE}|{_ONE}(?:, {_ONE}){{2,}})(?= *(?:[.;)]|$))",
    re.IGNORECASE,
)
_GLOSS = re.compile(rf"\(({_ONE}(?:,? or {_ONE})+)\)")
_CHOICE = re.compile(r"\b(?:exactly|only|just|at least) one of [^.;)]*", re.IGNORECASE)
"""Which arguments are given, not which values."""
_SUM = r"(?:\([\d +*/.^-]+\)(?= ?[-+*/^])|(?<=[-+*/^] )\([\d +*/.^-]+\))"
_CALCULATED = re.compile(rf"{_SUM}|\d [*/+^] \d")
"""An expression. It is not a value of a form and states no bounds."""
_EXAMPLE = re.compile(
    r"(?:\be\. ?g\b\.?|\beg\b|\bfor (?:example|instance)\b|\bsuch as\b|\bi\.e\.|\bexamples?\b"
    rf"|(?<!would )\blike\b(?! to\b))[,:]?((?:{_SUM}|[^().;]|\.(?=\S))*)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?<!\w)(?:'([^']+)'|\"([^\"]+)\"|`+([^`]+)`+|“([^”]+)”)(?!\w)")
_REFUSED = re.compile(
    r"\b(?:not|n['’]t|never|rather than|instead of|without|unlike)\b(?! (?:required|given|specified"
    r"|provided|set|present|included?|including|inclusive|encoded|(?:to )?exceed|case|more|less"
    r"|only|regard|tax|vat)\b)[^,.;()]*",
    re.IGNORECASE,
)
_FOUND = re.compile(
    r"\b(?:obtained|retrieved|returned|found|taken|copied|listed|available)\b"
    r"|\b(?:use|see|call) (?:the )?(?:`|\w+_\w|[\w ]+ (?:tool|method|endpoint)\b)|\bfrom the ",
    re.IGNORECASE,
)
"""The text after these words says where a value is found, and nothing about its form."""
_SPANS = (
    *(
        words
        for table in (_FORM_WORDS, _READING_WORDS, _WEAK_WORDS)
        for part in table.values()
        for words in part.values()
    ),
    _RANGE,
    _LEAST,
    _MOST,
    re.compile(
        r"\b(?:is )?(?:not )?(?:optional(?:ly)?|required|mandatory)\b"
        r"|\bmay be (?:omitted|left out)\b"
    ),
)
"""Text for facts and bounds, whose words are not compared because the facts and bounds are."""


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """The facts in an argument's words.

    ``say`` and ``refuse`` are statements; ``shown`` comes only from examples, the name or the
    schema. ``values`` are the allowed values in normal spelling, ``glosses`` possible values.
    ``least`` and ``most`` are the bounds, keyed by the counted unit (the empty key is the value
    itself).
    """

    say: Statements
    refuse: Statements
    shown: Statements
    values: frozenset[str]
    glosses: frozenset[str]
    least: Mapping[str, float]
    most: Mapping[str, float]

    def of(self, about: str) -> frozenset[str]:
        """The statements on a topic, or else what examples show."""
        labels = self.say.get(about, frozenset())
        return labels if labels - WEAK else self.shown.get(about, labels)


@lru_cache(maxsize=65_536)
def facts_of_text(text: str) -> Statements:
    """The facts that a text states about values in general."""
    beginning = text[:MOST_READ].casefold()
    return _by_words(_FORM_WORDS, beginning) | _by_words(_READING_WORDS, beginning)


def examples_of(description: str) -> list[str]:
    """The examples and quoted texts in a description."""
    text = " ".join(description[:MOST_READ].split())
    return list(dict.fromkeys(_examples(_REFUSED.sub(" ", text))))


def facts_of(parameter: Parameter) -> ValueFacts:
    """The facts that a parameter's name and description state about its value.

    They include whether a page or line counts from 0 or 1, if the schema says where it begins.
    """
    facts = _facts(parameter.name, parameter.description)
    first = parameter.schema.get("minimum", parameter.schema.get("default"))
    if type(first) is int and first in (0, 1) and _is_place(parameter.name):
        base = {"base": frozenset({f"counted from {first}"})}
        return replace(facts, shown={**facts.shown, **base})
    return facts


def unsaid(parameter: Parameter, other: Tool) -> list[str]:
    """The words of a description that the other tool does not express in any form.

    The other tool may express them itself, in an argument or in its schema. Facts, bounds, defaults
    and examples are not counted.
    """
    telling = _telling_words(parameter.description)
    keys = _keys_said(other) if telling else frozenset()
    return [word for word in telling if keys.isdisjoint(keys_of_word(word))]


@lru_cache(maxsize=65_536)
def _is_place(name: str) -> bool:
    """Whether a name is for a position in a series: ``page``, ``start_line``."""
    words = [word for word in english.plain_words(name) if word not in ("number", "num", "no")]
    return bool(words) and words[-1] in _PLACES and "per" not in words


@lru_cache(maxsize=65_536)
def _facts(name: str, description: str) -> ValueFacts:
    text = " ".join(description[:MOST_READ].split())
    refusal = " ".join(match[0] for match in _REFUSED.finditer(text))
    own = _REFUSED.sub(" ", text)
    examples = list(_examples(own))
    plain = _QUOTED.sub(" ", _EXAMPLE.sub(" ", own))
    statements = _statements(plain, " ".join(english.plain_words(name)))
    shown = _by_words(_READING_WORDS, " ".join(english.plain_words(name)))
    shown |= _shown(examples, statements)
    least, most = _bounds(text.casefold())
    return ValueFacts(
        say=statements | _by_words(_READING_WORDS, text.casefold()),
        refuse=_merged(_by_words(_FORM_WORDS, refusal.casefold()), _shown(_examples(refusal), {})),
        shown=shown,
        values=_values(own),
        glosses=_glosses(own),
        least=least,
        most=most,
    )


def _statements(text: str, name: str) -> dict[str, frozenset[str]]:
    """The facts that the words state about the form.

    The kind of identifier is read only before any words on how to find it. The name is read only if
    the description says nothing.
    """
    lower = text.casefold()
    statements = _merged(_by_words(_FORM_WORDS, lower), _by_words(_WEAK_WORDS, lower))
    origin = _FOUND.search(lower)
    for words in (lower[: origin.start()] if origin else lower, name):
        kinds = _labels(_FORM_WORDS[IDENTIFIER], words) | _labels(_WEAK_WORDS[IDENTIFIER], words)
        statements[IDENTIFIER] = kinds
        if kinds:
            break
    return {about: labels for about, labels in statements.items() if labels}


def _by_words(
    tables: Mapping[str, Mapping[str, re.Pattern[str]]], text: str
) -> dict[str, frozenset[str]]:
    labels_by_topic = {about: _labels(table, text) for about, table in tables.items()}
    return {about: labels for about, labels in labels_by_topic.items() if labels}


def _labels(table: Mapping[str, re.Pattern[str]], text: str) -> frozenset[str]:
    return frozenset(label for label, words in table.items() if words.search(text))


def _examples(text: str) -> Iterator[str]:
    """The examples and quoted texts in a description."""
    for match in _EXAMPLE.finditer(text):
        bare = "" if _CALCULATED.search(match[1]) else _QUOTED.sub(" ", match[1])
        yield from (word.strip(",:") for word in bare.split() if word not in ("or", "and"))
    for groups in _QUOTED.findall(text):
        yield from filter(None, groups)


def _shown(examples: Iterable[str], statements: Statements) -> dict[str, frozenset[str]]:
    """The kinds of the examples by shape; a bare number is an id if the words mention an id."""
    shown: dict[str, set[str]] = {}
    for example in examples:
        for about, label, shape in _SHAPES:
            if shape.fullmatch(example):
                shown.setdefault(about, set()).add(label)
    if "an id" not in statements.get(IDENTIFIER, ()):
        shown.get(IDENTIFIER, set()).discard("a number")
    return {about: frozenset(labels) for about, labels in shown.items() if labels}


def _merged(one: Statements, other: Statements) -> dict[str, frozenset[str]]:
    empty = frozenset[str]()
    return {about: one.get(about, empty) | other.get(about, empty) for about in {*one, *other}}


def _values(text: str) -> frozenset[str]:
    """The values that a description allows: two or more that it does not call examples."""
    plain = _CHOICE.sub(" ", _EXAMPLE.sub(" ", text))
    for match in _LISTED.finditer(plain):
        values = next(filter(None, match.groups()))
        tokens = re.findall(_ONE, re.sub(_AND, " , ", values))
        in_capitals = match[2] and any(token != token.casefold() for token in tokens)
        if in_capitals or any("," in token for token in tokens):
            continue  # (City, State) and 'City, State' are forms
        return frozenset(spelling(token.strip("'\"`")) for token in tokens)
    return frozenset()


def _glosses(text: str) -> frozenset[str]:
    """Text in brackets such as *this or that*: values, or other words for the same."""
    match = _GLOSS.search(text)
    tokens = re.findall(_ONE, match[1]) if match else []
    return frozenset(map(spelling, tokens)) - {spelling("or")}


def _bounds(text: str) -> tuple[dict[str, float], dict[str, float]]:
    least: dict[str, float] = {}
    most: dict[str, float] = {}
    for match in _RANGE.finditer(text):
        low, high, thousand, noun = match.groups()
        if _number(low) <= _number(high, thousand):
            least[_unit(noun)], most[_unit(noun)] = _number(low), _number(high, thousand)
    for bounds, words in ((least, _LEAST), (most, _MOST)):
        for number, thousand, noun in words.findall(text):
            bounds[_unit(noun)] = _number(number, thousand)
    return least, most


def _number(text: str, thousand: str | None = "") -> float:
    return float(text.replace(",", "").replace("_", "")) * (1000 if thousand else 1)


def _unit(noun: str | None) -> str:
    """The counted unit in one word (*chars*, *characters*); a count of results counts as the value
    itself.
    """
    unit = (noun or "").rstrip("s")
    return {"char": "character", "result": "", "item": "", "entrie": "", "row": ""}.get(unit, unit)


@lru_cache(maxsize=65_536)
def _telling_words(description: str) -> tuple[str, ...]:
    words = words_of(left_over(without_omission(description)))
    return tuple(filter(_is_telling, dict.fromkeys(words)))


def _is_telling(word: str) -> bool:
    """Whether the word may change the meaning of a value: it is listed, a number,
    or not English.
    """
    return (
        word in _TELLING
        or word.isdigit()
        or not (english.is_english(word) or word in STOP_WORDS or word in _PLAIN)
    )


@lru_cache(maxsize=8_192)
def _keys_said(tool: Tool) -> frozenset[english.WordKey]:
    texts = [*english.plain_words(tool.name), tool.description, canonical_json(tool.schema)]
    words = {word for text in texts for word in (*words_of(text), *words_of(text.casefold()))}
    return frozenset(key for word in words for key in keys_of_word(word))


@lru_cache(maxsize=65_536)
def keys_of_word(word: str) -> frozenset[english.WordKey]:
    """The keys by which a word of an argument may be recognised."""
    return (
        english.keys_of(word) | _SAME.get(word, frozenset()) | {meaning(word), english.stem(word)}
    )


def left_over(description: str) -> str:
    """The description in lower case without facts, bounds and examples."""
    beginning, rest = " ".join(description[:MOST_READ].split()), description[MOST_READ:]
    text = _QUOTED.sub(" ", _EXAMPLE.sub(" ", beginning)).casefold()
    for words in _SPANS:
        text = words.sub(" ", text)
    return f"{text} {rest.casefold()}"
