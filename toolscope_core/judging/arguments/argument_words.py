"""Finds disagreements between the words of two matched arguments.

A schema may say that both take a text while the words say that one is a UUID and the other a key,
that one ends a day earlier, or that one of two arguments must be given. If the words contradict
each other, calls would break or change their meaning. If only one argument has such words, calls
may break too. If the words of the kept tool accept less, that tool does not accept every call.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from toolscope_core.judging.arguments import omitted_arguments, units, value_facts
from toolscope_core.judging.arguments.omitted_arguments import MOST_READ
from toolscope_core.judging.arguments.subschema import inlined
from toolscope_core.judging.arguments.value_facts import FORMS, IDENTIFIER, LIST, WEAK, ValueFacts
from toolscope_core.judging.distinctions import is_key
from toolscope_core.model.cluster import ArgumentMove
from toolscope_core.model.numbers import enumerated
from toolscope_core.model.tool import JsonObject, Parameter, Tool
from toolscope_core.wording import words as english
from toolscope_core.wording.vocabulary import are_of_other_languages, opposites
from toolscope_core.wording.words import (
    STOP_WORDS,
    is_plural,
    plain_words,
    singular,
    stem,
    words_of,
)

OTHER_LANGUAGES = "the descriptions are in different languages"
_NOT_SAID = ", which is not said by "
_LONGEST_EXAMPLE = 40
"""A longer example is a text of its own kind, such as a query."""
_LONGEST_PASSAGE = 120
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_MOST_REPLACED = 3
_FRAME = 0.5
"""Two descriptions are one frame if at least this share of their words is equal at equal places."""
_TURNS = frozenset(
    "all any with up from into onto over under above below before after until through".split()
)
"""Small words that change which side or end is meant."""
_AFTER_NOUNS = STOP_WORDS - {"the", "a", "an", "of", "one", "name", "id"}
_SIDES = _TURNS | {"in", "out", "on", "off"}
_LABELLED = re.compile(
    r"\b(-?\d+|\w{1,2}(?= ?[:=])) ?(?:\(|=|:|is |means |for |as ) ?(?:the |a )?(\w+)"
)
_LABEL_FIRST = re.compile(r"\b(\w+) (?:is|are|=) (?:the )?(-?\d+|positive|negative)\b")
_SEQUENCE = re.compile(r"\b[a-z]+(?:(?:, ?|[./:x-])[a-z]+){1,5}\b")


def with_all_words(parameter: Parameter) -> Parameter:
    """The parameter with all words in its description.

    They include its title, the descriptions of its alternatives and values, examples, and text
    encoding.
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
    """One example of each, if the two have no examples of the same form; otherwise empty."""
    ours, theirs = ({_form(text): text for text in _short(two)} for two in (one, other))
    if not ours or not theirs or not ours.keys().isdisjoint(theirs):
        return ""
    return f"one gives “{min(ours.values())}” as an example, the other “{min(theirs.values())}”"


def _short(parameter: Parameter) -> list[str]:
    if parameter.type in ("integer", "number", "boolean"):
        return []
    return [
        one
        for one in value_facts.examples_of(parameter.description)
        if len(one) <= _LONGEST_EXAMPLE
    ]


@lru_cache(maxsize=65_536)
def _form(example: str) -> str:
    """The kinds of characters in an example.

    Words in lower case share a form; ``C024BE91L``, ``31.12.2026``, ``#ff0000`` and ``de`` have
    different ones.
    """
    if re.fullmatch(r"[A-Za-z]{2}", example):
        return "code"
    if re.fullmatch(r"[^\W\d_]?[^\W\dA-Z_]+(?:[ _-][^\W\d_]?[^\W\dA-Z_]*\d*)*", example):
        return "words"
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "9", example))


def ordered_apart(one: str, other: str) -> Iterator[str]:
    """Numbers and short values with different labels in two descriptions, and reordered words.

    They are returned as parts of a sentence.
    """
    texts = [" ".join(text[:MOST_READ].split()).casefold() for text in (one, other)]
    labels = [dict(_LABELLED.findall(text)) | dict(_LABEL_FIRST.findall(text)) for text in texts]
    for label in sorted(labels[0].keys() & labels[1].keys()):
        pair = labels[0][label], labels[1][label]
        if not _are_alike(*pair):
            yield f"“{label}” means “{pair[0]}” in one and “{pair[1]}” in the other"
    orders = [_SEQUENCE.findall(text) for text in texts]
    for ours in orders[0]:
        for theirs in orders[1]:
            parts = [re.findall("[a-z]+", sequence) for sequence in (ours, theirs)]
            if parts[0] != parts[1] and sorted(parts[0]) == sorted(parts[1]):
                yield f"the order is “{ours}” in one and “{theirs}” in the other"


def worded_apart(one: str, other: str) -> Iterator[str]:
    """Words that change the meaning, for two descriptions that are the only difference between
    their tools.

    They include ``ordered_apart``, opposites, and a word replaced in the same frame, as parts of a
    sentence.
    """
    yield from ordered_apart(one, other)
    words = [words_of(value_facts.left_over(text[:MOST_READ])) for text in (one, other)]
    alone = [frozenset(own) - frozenset(theirs) for own, theirs in (words, words[::-1])]
    if contrary := opposites(*alone):
        yield f"“{contrary[0]}” is the opposite of “{contrary[1]}”"
    turns = [side & _TURNS for side in alone]
    if all(turns) and not _are_alike(min(turns[0]), min(turns[1])):
        yield f"one says “{min(turns[0])}” where the other says “{min(turns[1])}”"
    stems = [{stem(word) for word in side if word not in STOP_WORDS} for side in words]
    if stems[0] == stems[1] and ("by" in words[0]) != ("by" in words[1]):
        yield "one says who does something, the other who it is done by"
    yield from _replaced(*words)


def _replaced(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[str]:
    """The words that replace each other when all others are equal and in order."""
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    longest = max((max(b - a, d - c) for _, a, b, c, d in changes), default=0)
    if matcher.ratio() < _FRAME or longest > _MOST_REPLACED:
        return
    if not all(kind == "replace" for kind, *_ in changes):
        return
    for _, a, b, c, d in changes:
        sides = [
            [w for w in words if w in _SIDES or not (w in STOP_WORDS or english.is_filler(w))]
            for words in (ours[a:b], theirs[c:d])
        ]
        if all(sides) and not any(_are_alike(x, y) for x in sides[0] for y in sides[1]):
            yield f"one says “{' '.join(sides[0])}” where the other says “{' '.join(sides[1])}”"


def _are_alike(word: str, other: str) -> bool:
    return word == other or not value_facts.keys_of_word(word).isdisjoint(
        value_facts.keys_of_word(other)
    )


_DEEPEST = 20
"""The deepest level at which the fields inside an argument are compared."""

_NO_NAMES = frozenset({"a UUID", "a number", "an e-mail address", "a URL", "a phone number"})
_NO_IDS = _NO_NAMES - {"a UUID", "a number"} | {"a login name", "coordinates", "an IP address"}
"""Values that are certainly not a name or an id."""


@dataclass(frozen=True, slots=True)
class _Two:
    """An argument of one tool and its match in the other, at some depth."""

    name: str
    source: Parameter
    target: Parameter

    @property
    def facts(self) -> tuple[ValueFacts, ValueFacts]:
        return value_facts.facts_of(self.source), value_facts.facts_of(self.target)

    @property
    def turned(self) -> "_Two":
        return _Two(self.name, self.target, self.source)


def difference(one: Parameter, other: Parameter) -> str:
    """A disagreement between the words of the two, such as ``a UUID, not a key``; otherwise empty.

    Silence is no disagreement, and neither is something that only one accepts in addition.
    """
    return next(filter(None, map(_difference, _levels(one, other, one.name))), "")


def demands(
    tool: Tool,
    target: Tool,
    moves: Sequence[ArgumentMove],
    constants: JsonObject = MappingProxyType({}),
) -> Iterator[str]:
    """Sentences on why ``target`` cannot serve calls to ``tool`` as intended, though its schema
    accepts them with the ``constants``.

    They cover the requirements in the target's words, and the target's behaviour if an argument is
    left out. If two tools have no other difference, anything that only one says about an argument
    separates them, because it must be the reason for having both tools.
    """
    tool, target = inlined(tool), inlined(target)
    pairs = list(_moved(tool, target, moves))
    for two in pairs:
        name = f"`{two.name}` of {target.id}"
        if defaults := omitted_arguments.other_default(two.source, two.target):
            yield (
                f"if left out, `{two.source.name}` of {tool.id} is {defaults[0]}, and {name} "
                f"{defaults[1]}"
            )
        if not _difference(two) and (limits := list(_limits(two, tool))):
            yield f"{name} must be {enumerated(limits)}{_NOT_SAID}{tool.id}"
    only = _only_difference(pairs, tool, target)
    if only is not None:
        yield from _only_one_says(pairs, tool, target)
        for words in worded_apart(only.source.description, only.target.description):
            yield f"`{only.name}`: {words}"
    for words in ordered_apart(tool.description, target.description):
        yield f"in the tools' own descriptions, {words}"
    yield from _swapped(pairs)
    yield from omitted_arguments.unmet_conditions(tool, target, moves, constants)


def told_once(sentences: Iterable[str]) -> tuple[str, ...]:
    """The sentences; those that say the same about several tools are combined."""
    tools_by_fact: dict[str, dict[str, None]] = {}
    for sentence in sentences:
        fact, _, tool = sentence.partition(_NOT_SAID)
        tools_by_fact.setdefault(fact, {}).update({tool: None} if tool else {})
    return tuple(
        f"{fact}{_NOT_SAID}{enumerated(tools)}" if tools else fact
        for fact, tools in tools_by_fact.items()
    )


_TELL_FORM = frozenset("const format pattern examples example default".split())


def keys_without_form(tool: Tool, other: Tool, moves: Sequence[ArgumentMove]) -> tuple[str, ...]:
    """The identifiers of ``tool`` that become one of ``other`` though nothing says of
    either which form it has: no listed value, format, pattern, example or word.
    """
    ours, theirs = ({one.name: one for one in side.parameters} for side in (tool, other))
    matched = ((ours.get(one.source), theirs.get(one.target)) for one in moves)
    return tuple(
        own.name
        for own, its in matched
        if own and its and is_key(own) and "string" in own.type and _lacks_form(own, its)
    )


def _lacks_form(*parameters: Parameter) -> bool:
    return not any(
        one.enum
        or not _TELL_FORM.isdisjoint(one.schema)
        or value_facts.facts_of(one).of(IDENTIFIER) - WEAK
        or value_facts.examples_of(one.description)
        for one in parameters
    )


def silent_changes(tool: Tool, target: Tool, moves: Sequence[ArgumentMove]) -> Iterator[str]:
    """Sentences on how calls to ``tool`` may change their meaning on ``target`` without losing
    anything.

    They cover what only one of the two says about an argument, and numbers passed as text (ids are
    not numbers).
    """
    ours, theirs = inlined(tool), inlined(target)
    yield from _only_one_says(list(_moved(ours, theirs, moves)), ours, theirs)
    for move in moves:
        if move.op == "cast" and plain_words(move.source)[-1:] not in (("id",), ("ids",)):
            yield f"`{move.source}` of {tool.id} would be written as text"


def _only_one_says(pairs: Sequence[_Two], tool: Tool, target: Tool) -> Iterator[str]:
    for two in pairs:
        if examples := examples_apart(two.source, two.target):
            yield f"`{two.name}`: {examples}"
        are_foreign = are_of_other_languages(two.source.description, two.target.description)
        if are_foreign:
            yield OTHER_LANGUAGES
        for own, who, other in ((two.turned, tool, target), (two, target, tool)):
            words = [] if are_foreign else value_facts.unsaid(own.target, other)
            alone = [*_asked(own, other), *_bounds(own), *_passage(own.target, words)]
            if alone and not _difference(two):
                yield f"only {who.id} says this of `{own.target.name}`: {enumerated(alone)}"
        if stated := omitted_arguments.unshared_default(two.source, two.target):
            yield f"only one of them says what the default of `{two.name}` is: {stated}"
    yield from omitted_arguments.conditions_apart(tool, target)


def _passage(parameter: Parameter, words: Collection[str]) -> Iterator[str]:
    """A quotation of the sentences with one of these words in a description, if there are any."""
    if not words:
        return
    sentences = _SENTENCE.split(" ".join(parameter.description.split()))
    telling = [one for one in sentences if not set(words).isdisjoint(words_of(one.casefold()))]
    text = " ".join(telling or sentences)
    yield f"“{text}”" if len(text) <= _LONGEST_PASSAGE else f"“{text[:_LONGEST_PASSAGE]}…”"


def _only_difference(pairs: Sequence[_Two], tool: Tool, target: Tool) -> _Two | None:
    """The argument whose words are the only difference between two tools besides their names."""
    differing = [two for two in pairs if two.source.description != two.target.description]
    names = [[parameter.name for parameter in one.parameters] for one in (tool, target)]
    is_all = names[0] == names[1] and tool.description == target.description
    return differing[0] if is_all and len(differing) == 1 else None


def _swapped(pairs: Sequence[_Two]) -> Iterator[str]:
    """Two arguments that are described the other way round in the other tool."""
    described = {two.target.description: two.name for two in pairs if two.target.description}
    for two in pairs:
        other = described.get(two.source.description, two.name)
        if other != two.name and two.source.description != two.target.description:
            yield f"one says of `{two.name}` what the other says of `{other}`"


def _moved(tool: Tool, target: Tool, moves: Iterable[ArgumentMove]) -> Iterator[_Two]:
    ours, theirs = ({p.name: p for p in one.parameters} for one in (tool, target))
    for move in moves:
        yield from _levels(ours[move.source], theirs[move.target], move.target)


def _levels(one: Parameter, other: Parameter, name: str, depth: int = 0) -> Iterator[_Two]:
    """The two arguments, and the contents that have the same names in both, at every depth."""
    yield _Two(name, with_all_words(one), with_all_words(other))
    if depth >= _DEEPEST:
        return
    ours, theirs = dict(_inside(one.schema)), dict(_inside(other.schema))
    for key in (key for key in ours if key in theirs):
        sides = Parameter(key, False, ours[key]), Parameter(key, False, theirs[key])
        yield from _levels(*sides, f"{name}{key}", depth + 1)


def _inside(schema: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """The parts inside a value, by place.

    ``[]`` stands for items, ``.*`` for values of any name, and ``.x`` for fields, including the
    fields of alternatives.
    """
    for option in (one for key in ("anyOf", "oneOf", "allOf") for one in schema.get(key) or ()):
        if isinstance(option, Mapping):
            yield from _inside(option)
    marked = [("[]", schema.get("items")), (".*", schema.get("additionalProperties"))]
    marked += [(f"[{at}]", one) for at, one in enumerate(schema.get("prefixItems") or ())]
    yield from ((mark, inner) for mark, inner in marked if isinstance(inner, Mapping))
    fields = schema.get("properties")
    for name, inner in fields.items() if isinstance(fields, Mapping) else ():
        if isinstance(inner, Mapping):
            yield f".{name}", inner


def _difference(two: _Two) -> str:
    return units.difference(two.source, two.target) or _contradiction(*two.facts)


def _contradiction(a: ValueFacts, b: ValueFacts) -> str:
    agreed = any(a.of(about) & b.of(about) - WEAK for about in a.say)
    for about in sorted({*a.say, *b.say, *a.shown, *b.shown}):
        ours, theirs = a.of(about), b.of(about)
        if _are_two(about, ours, theirs) and not (ours <= WEAK and theirs <= WEAK and agreed):
            return f"{_either(ours)}, not {_either(theirs)}"
        for labels, refusals in ((ours, b.refuse.get(about)), (theirs, a.refuse.get(about))):
            if refusals and labels & refusals:
                return f"{_either(labels & refusals)}, which the other does not accept"
    if a.values and b.values and a.values.isdisjoint(b.values):
        return "the two parameters list no value in common"
    return ""


def _are_two(about: str, ours: frozenset[str], theirs: frozenset[str]) -> bool:
    if not ours or not theirs or not ours.isdisjoint(theirs):
        return False
    if about != IDENTIFIER:
        return True
    weak = [WEAK & labels for labels in (ours, theirs)]
    if not any(weak):
        return True
    if ours <= WEAK and theirs <= WEAK:
        return {"a name", "an id"} <= ours | theirs
    weaker, other = (ours, theirs) if ours <= WEAK else (theirs, ours)
    if weaker <= WEAK and other.isdisjoint(WEAK):
        return (weaker == {"a name"} and other <= _NO_NAMES) or (
            weaker == {"an id"} and other <= _NO_IDS
        )
    return False


def _asked(two: _Two, tool: Tool) -> Iterator[str]:
    """The facts about the value that only the target's words state."""
    ours, theirs = dict(units.units_of(two.source)), dict(units.units_of(two.target))
    new_units = [unit for dimension, unit in theirs.items() if dimension not in ours]
    for fact in _facts_asked(two, tool, frozenset(two.facts[1].say)):
        if not any(unit.startswith(fact) for unit in new_units):
            yield fact
    yield from new_units
    if several := _only_here_several(two):
        yield f"several values (“{several}”)"
    if _lists_values(two) and two.facts[1].values not in _values(two):
        yield "one of the values that it lists"


def _only_here_several(two: _Two) -> str:
    """The first noun if it is plural in the target's text and singular in the source's.

    For example *main actors* and *main actor*; empty otherwise.
    """
    if two.source.type != "string" or two.target.type != "string":
        return ""
    ours, theirs = (_first_nouns(one.description) for one in (two.source, two.target))
    return next((w for w in theirs if is_plural(w) and w not in ours and singular(w) in ours), "")


def _first_nouns(description: str) -> list[str]:
    """The words of the first noun phrase of a text."""
    beginning = re.split(r"[^\w\s'’-]", description[:MOST_READ].casefold(), maxsplit=1)[0]
    words = itertools.takewhile(lambda word: word not in _AFTER_NOUNS, beginning.split())
    return list(words)


def _limits(two: _Two, tool: Tool) -> Iterator[str]:
    """Limits in the target's words that the source does not promise."""
    source, target = two.facts
    takes_one_too = "a JSON list" not in target.say.get(LIST, ())  # a value is like a list of one
    yield from _facts_asked(two, tool, FORMS - {LIST} if takes_one_too else FORMS)
    form = dict(units.units_of(two.target)).get("form")
    if form and "form" not in dict(units.units_of(two.source)) and "format uri" not in form:
        yield form
    if source.of(LIST) and not target.of(LIST) and two.target.type == "string":
        yield "one value"
    if _lists_values(two) and not any(values <= target.values for values in _values(two)):
        yield "one of the values that it lists"
    parts, own_parts = (units.parts_of(one.description) for one in (two.target, two.source))
    if parts and not own_parts <= parts:
        yield f"made up of {enumerated(sorted(parts))} only"
    yield from _bounds(two, narrower=True)


def _facts_asked(two: _Two, tool: Tool, kinds: frozenset[str]) -> Iterator[str]:
    source, target = two.facts
    of_tool = value_facts.facts_of_text(tool.description)
    for about in sorted(kinds & target.say.keys()):
        theirs, ours = target.say[about] - WEAK, source.of(about) - WEAK
        if theirs - of_tool.get(about, frozenset()) and not (ours and ours <= theirs):
            yield _either(theirs)


def _lists_values(two: _Two) -> bool:
    """Whether the target's words list its values and no schema does."""
    return bool(two.facts[1].values) and not (two.source.enum and two.target.enum)


def _values(two: _Two) -> Iterator[frozenset[str]]:
    """The sets of values that the source gives according to its schema or words."""
    facts = two.facts[0]
    return filter(
        None, (facts.values, facts.glosses, frozenset(map(english.spelling, two.source.enum)))
    )


def _bounds(two: _Two, narrower: bool = False) -> Iterator[str]:
    """The target's bounds that the source lacks; only ``narrower`` ones if requested."""
    source, target = two.facts
    for words, sign, own, bounds in (
        ("at least", -1, source.least, target.least),
        ("at most", 1, source.most, target.most),
    ):
        for unit, bound in bounds.items():
            own_bound = own.get(unit, _declared(two.source, words, unit))
            wider = own_bound is None or own_bound * sign > bound * sign
            if wider if narrower else own_bound != bound:
                yield f"{words} {bound:g}{f' {unit}s' if unit else ''}"


def _declared(parameter: Parameter, words: str, unit: str) -> float | None:
    """The bound stated by a parameter's schema; ``None`` if none."""
    of_value = {"at least": "minimum", "at most": "maximum"}
    of_text = {"at least": "minLength", "at most": "maxLength"}
    keyword = {"": of_value, "character": of_text}.get(unit, {}).get(words, "")
    return parameter.schema.get(keyword)


def _either(labels: Iterable[str]) -> str:
    return " or ".join(sorted(labels))
