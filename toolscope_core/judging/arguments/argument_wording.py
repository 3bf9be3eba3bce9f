"""How two descriptions of one argument are worded beside each other: their examples, the order of
their words, and the word that stands in the place of another.

Facts that have words of their own are in ``value_facts``; here nothing has to be in a list.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from toolscope_core.judging.arguments.omitted_arguments import MOST_READ
from toolscope_core.judging.arguments.value_facts import examples_of, keys_of_word, left_over
from toolscope_core.judging.vocabulary import opposites
from toolscope_core.judging.words import STOP_WORDS, is_filler, stem, words_of
from toolscope_core.model.tool import Parameter

_LONGEST_EXAMPLE = 40
"""A longer one is a text of its own, such as a query."""
_MOST_REPLACED = 3
_FRAME = 0.5
"""Share of the words that two descriptions must have at the same places to be one frame."""
_TURNS = frozenset(
    "all any with up from into onto over under above below before after until through".split()
)
"""Small words that turn which side, or which end, is meant."""
_SIDES = _TURNS | {"in", "out", "on", "off"}
_LABELLED = re.compile(
    r"\b(-?\d+|\w{1,2}(?= ?[:=])) ?(?:\(|=|:|is |means |for |as ) ?(?:the |a )?(\w+)"
)
_LABEL_FIRST = re.compile(r"\b(\w+) (?:is|are|=) (?:the )?(-?\d+|positive|negative)\b")
_SEQUENCE = re.compile(r"\b[a-z]+(?:(?:, ?|[./:x-])[a-z]+){1,5}\b")


def with_all_words(parameter: Parameter) -> Parameter:
    """The parameter, its description with what its schema says in other places: the title, the
    descriptions of its alternatives and values, examples, how a text is encoded.
    """
    texts = list(dict.fromkeys(_texts(parameter.schema, depth=0)))
    if len(texts) < 2 and parameter.description:
        return parameter
    return replace(parameter, schema={**parameter.schema, "description": " ".join(texts)})


def _texts(schema: Mapping[str, Any], depth: int) -> Iterator[str]:
    description = schema.get("description")
    if isinstance(description, str) and description:
        yield description if description.endswith((".", "!", "?")) else f"{description}."
    title = schema.get("title")
    if isinstance(title, str) and title.casefold() not in str(description).casefold():
        yield f"{title}."
    examples = schema.get("examples", [schema["example"]] if "example" in schema else [])
    shown = [one for one in _listed(examples) if isinstance(one, str)]
    if shown:
        yield " ".join(f"E.g. '{one}'." for one in shown)
    for key in ("contentEncoding", "contentMediaType"):
        if isinstance(schema.get(key), str):
            yield f"{schema[key]}."
    values = zip(_listed(schema.get("enum")), _listed(schema.get("enumDescriptions")), strict=False)
    yield from (f"{value} = {text}." for value, text in values)
    for key in ("anyOf", "oneOf", "allOf"):
        for option in _listed(schema.get(key)):
            if isinstance(option, Mapping) and depth < 3:
                value = f"{option['const']} = " if "const" in option else ""
                yield from (f"{value}{text}" for text in _texts(option, depth + 1))


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def examples_apart(one: Parameter, other: Parameter) -> str:
    """An example of each where none of the one has the form of any of the other; else empty."""
    ours, theirs = ({_form(text): text for text in _short(two)} for two in (one, other))
    if not ours or not theirs or not ours.keys().isdisjoint(theirs):
        return ""
    return f"an example is “{min(ours.values())}”, that of the other “{min(theirs.values())}”"


def _short(parameter: Parameter) -> list[str]:
    if parameter.type in ("integer", "number", "boolean"):
        return []
    return [one for one in examples_of(parameter.description) if len(one) <= _LONGEST_EXAMPLE]


@lru_cache(maxsize=65_536)
def _form(example: str) -> str:
    """The kinds of signs of which an example is made: words of small letters are one form, whatever
    they are; ``C024BE91L``, ``31.12.2026``, ``#ff0000`` and ``de`` are others.
    """
    if re.fullmatch(r"[A-Za-z]{2}", example):
        return "code"
    if re.fullmatch(r"[^\W\d_]?[^\W\dA-Z_]+(?:[ _-][^\W\d_]?[^\W\dA-Z_]*\d*)*", example):
        return "words"
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "9", example))


def ordered_apart(one: str, other: str) -> Iterator[str]:
    """Numbers and short values that have other labels in two descriptions, and the same words in
    another order, as parts of a sentence.
    """
    texts = [" ".join(text[:MOST_READ].split()).casefold() for text in (one, other)]
    labels = [dict(_LABELLED.findall(text)) | dict(_LABEL_FIRST.findall(text)) for text in texts]
    for label in sorted(labels[0].keys() & labels[1].keys()):
        pair = labels[0][label], labels[1][label]
        if not _are_alike(*pair):
            yield f"“{label}” stands for “{pair[0]}” and “{pair[1]}”"
    orders = [_SEQUENCE.findall(text) for text in texts]
    for ours in orders[0]:
        for theirs in orders[1]:
            parts = [re.findall("[a-z]+", sequence) for sequence in (ours, theirs)]
            if parts[0] != parts[1] and sorted(parts[0]) == sorted(parts[1]):
                yield f"the order is “{ours}” and “{theirs}”"


def worded_apart(one: str, other: str) -> Iterator[str]:
    """What turns the meaning of one of two descriptions that are all that two tools differ in, as
    parts of a sentence: the above, opposites, and a word in the place of another in one frame.
    """
    yield from ordered_apart(one, other)
    words = [words_of(left_over(text[:MOST_READ])) for text in (one, other)]
    alone = [frozenset(own) - frozenset(theirs) for own, theirs in (words, words[::-1])]
    if contrary := opposites(*alone):
        yield f"“{contrary[0]}” is the contrary of “{contrary[1]}”"
    turns = [side & _TURNS for side in alone]
    if all(turns) and not _are_alike(min(turns[0]), min(turns[1])):
        yield f"“{min(turns[0])}” stands where the other has “{min(turns[1])}”"
    stems = [{stem(word) for word in side if word not in STOP_WORDS} for side in words]
    if stems[0] == stems[1] and ("by" in words[0]) != ("by" in words[1]):
        yield "one says who does it, the other by whom it is done"
    yield from _replaced(*words)


def _replaced(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[str]:
    """The words that stand for each other where all the others are the same, in one order."""
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    longest = max((max(b - a, d - c) for _, a, b, c, d in changes), default=0)
    if matcher.ratio() < _FRAME or longest > _MOST_REPLACED:
        return
    if not all(kind == "replace" for kind, *_ in changes):
        return
    for _, a, b, c, d in changes:
        sides = [
            [w for w in words if w in _SIDES or not (w in STOP_WORDS or is_filler(w))]
            for words in (ours[a:b], theirs[c:d])
        ]
        if all(sides) and not any(_are_alike(x, y) for x in sides[0] for y in sides[1]):
            yield f"“{' '.join(sides[0])}” stands where the other has “{' '.join(sides[1])}”"


def _are_alike(word: str, other: str) -> bool:
    return word == other or not keys_of_word(word).isdisjoint(keys_of_word(other))
