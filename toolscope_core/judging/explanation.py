"""Why two tools look like the same job, or not: sentences for the person who decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.judging.arguments.matching import Match
from toolscope_core.judging.arguments.units import difference
from toolscope_core.judging.reading import ToolReading
from toolscope_core.judging.selector import selector_of
from toolscope_core.judging.vocabulary import action_classes, is_foreign, opposites
from toolscope_core.judging.words import base_forms
from toolscope_core.model.numbers import listed
from toolscope_core.model.pair import Relation, Serves
from toolscope_core.model.tool import Tool

_MOST_NAMES = 6
_VERY_CLOSE, _CLOSE = 0.85, 0.7
COUNTS = {
    "closeness": "how close names and descriptions are",
    "same_verb": "whether they do the same",
    "other_effect": "whether one reads and the other writes",
    "opposite_words": "opposite words in the names",
    "shared_object": "the noun they work on",
    "shared_phrase": "the words of what they work on",
    "shared_arguments": "the words of the parameter names",
    "required_matched": "whether their required arguments match",
    "common_words": "how much both say",
    "words_apart": "what each says and the other does not",
    "least_name_words_apart": "name words that each has to itself",
    "most_name_words_apart": "name words that one has to itself",
    "one_word_apart": "whether the names are equal but for a word",
    "one_server": "whether both were made for one server",
    "shared_server_word": "a word that the names of both servers have",
    "shared_product": "a product that both are made for",
    "other_products": "the products that they are made for",
    "no_product": "whether any product is named",
    "other_engines": "who answers",
    "programs": "programs that work on what anybody has",
    "unlisted_names": "names that only one of the servers goes by",
    "other_stores": "whether each server keeps its own",
}
"""The signals in words."""

_NOUNS = frozenset(
    """lookup info details detail inquiry retrieval finder viewer calc calculator comparison
    recommender converter generator reservation booking payment login signin checkout""".split()
)
"""Words for actions that do not follow *both*."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two tools beside each other: how they read, what they are to each other, the words that
    only the one and only the other says, their parameters that are the same, what tells them apart
    whatever they say, and the general tool that both are forms of, if any.
    """

    tools: tuple[Tool, Tool]
    readings: tuple[ToolReading, ToolReading]
    similarity: float
    relation: Relation
    serves: Serves
    unshared: tuple[tuple[str, ...], tuple[str, ...]]
    matches: tuple[Match, ...]
    distinctions: tuple[str, ...] = ()
    general: str = ""


def explain(
    compared: Compared, contributions: Mapping[str, float], brief: bool = False
) -> tuple[str, ...]:
    """Plain sentences: what the two are to each other, what agrees, what differs, what decided.

    ``contributions`` is what each signal added to the log-odds of the same job; ``brief`` leaves
    the arguments out. Names and words in the sentences come from the catalog and are not escaped.
    """
    left, right = compared.tools
    readings = compared.readings
    if left.content_hash == right.content_hash:
        return (
            "Exact copies: name, description, parameters and results are the same.",
            *_on_servers(left, right, *readings),
        )
    return (
        *_on_relation(compared),
        _on_closeness(compared.similarity),
        *_on_actions(left, right, *readings),
        *_on_words(compared),
        *([] if brief else (*_on_doubt(left, right), *_on_arguments(compared))),
        *_on_servers(left, right, *readings),
        *_on_what_decided(contributions),
    )


def _on_relation(compared: Compared) -> Iterator[str]:
    left, right = compared.tools
    if compared.general:
        yield f"Both are {compared.general}, with an argument fixed or left open."
    elif compared.distinctions:
        yield f"They look like one job, but {'; '.join(compared.distinctions)}."
    elif compared.relation == "parametric":
        selector, values = selector_of(compared.tools, compared.unshared)
        yield f"The same operation for another {selector}: {' / '.join(values)}."
    elif compared.relation in ("duplicate", "subsumes"):
        if left.schema is None or right.schema is None:
            yield "They look alike; their arguments are not known."
            return
        one, other = _who(left, right), _who(right, left)
        yield {
            "both": "By their arguments each takes every call of the other.",
            "left": f"By its arguments {one} takes every call of {other}.",
            "right": f"By its arguments {other} takes every call of {one}.",
            "none": "By their arguments neither takes every call of the other.",
        }[compared.serves]
    elif compared.relation == "related":
        yield "They have to do with each other, but they are not one job."
    else:
        yield "They have little to do with each other."


def _on_closeness(similarity: float) -> str:
    degree = "hardly close"
    if similarity >= _CLOSE:
        degree = "very close" if similarity >= _VERY_CLOSE else "close"
    return f"Names and descriptions are {degree} (cosine {similarity:.2f})."


def _on_actions(left: Tool, right: Tool, a: ToolReading, b: ToolReading) -> Iterator[str]:
    contrary = opposites(frozenset(a.name), frozenset(b.name))
    if contrary:
        yield f"The names hold opposites: {contrary[0]} and {contrary[1]}."
    common = sorted(a.classes & b.classes)
    if common:
        thing = " ".join(word for word in a.phrase if word in b.phrase) or "something"
        verbs = dict.fromkeys(_infinitive(verb, common) for verb in (a.verb, b.verb))
        yield f"Both {' or '.join(verbs)} {thing}."
    elif a.classes and b.classes:
        yield (
            f"They act differently: {_who(left, right)} {' or '.join(sorted(a.classes))} "
            f"({a.verb}), {_who(right, left)} {' or '.join(sorted(b.classes))} ({b.verb})."
        )


def _infinitive(verb: str, classes: Iterable[str]) -> str:
    """The verb as it follows *both*: *get* of ``gets``, *convert* of ``conversion``; the kind of
    action where the tool has a noun that no verb is known for.
    """
    kinds = set(classes)
    forms = [form for form in base_forms(verb) if not kinds.isdisjoint(action_classes(form))]
    verbs = [form for form in forms if form not in _NOUNS and not form.endswith(("ion", "ysis"))]
    return verbs[-1] if verbs else min(kinds).removesuffix("s")


def _on_words(compared: Compared) -> Iterator[str]:
    left, right = compared.tools
    both = [word for word in compared.readings[0].content if word in compared.readings[1].content]
    if both:
        yield f"Both mention {listed(both, _MOST_NAMES)}."
    if compared.unshared == ((), ()):
        yield "Neither says a word that the other does not say in some form."
    for tool, other, words in (
        (left, right, compared.unshared[0]),
        (right, left, compared.unshared[1]),
    ):
        if words:
            yield f"Only {_who(tool, other)} says {listed(words, _MOST_NAMES)}."


def _on_doubt(left: Tool, right: Tool) -> Iterator[str]:
    """What the judge cannot know, so that a person must look."""
    for tool, other in ((left, right), (right, left)):
        if tool.schema is None:
            yield f"{_who(tool, other)} does not declare its parameters, so a person must look."
        if not tool.description.strip():
            yield f"{_who(tool, other)} has no description, so a person must look."
        elif is_foreign(tool.description):
            yield f"{_who(tool, other)} is not described in English, so a person must look."


def _on_arguments(compared: Compared) -> Iterator[str]:
    left, right = compared.tools
    if left.schema is None or right.schema is None:
        return
    if not left.parameters and not right.parameters:
        yield "Neither takes arguments."
        return
    yield from _on_matches(compared.matches)
    yield from _on_units(left, right, compared.matches)
    ours, theirs = {m.left for m in compared.matches}, {m.right for m in compared.matches}
    for tool, other, taken in ((left, right, ours), (right, left, theirs)):
        rest = [
            f"{p.name} ({'required' if p.required else 'optional'})"
            for p in tool.parameters
            if p.name not in taken
        ]
        if rest:
            yield f"Only {_who(tool, other)} takes {listed(rest, _MOST_NAMES)}."


def _on_matches(matches: Sequence[Match]) -> Iterator[str]:
    if not matches:
        yield "No argument of one has a counterpart in the other."
    for label, some in (
        ("Arguments that align", [m for m in matches if not m.inferred]),
        ("Arguments that may be the same", [m for m in matches if m.inferred]),
    ):
        same = [m.left if m.left == m.right else f"{m.left} ↔ {m.right}" for m in some]
        if same:
            yield f"{label}: {listed(same, _MOST_NAMES)}."


def _on_units(left: Tool, right: Tool, matches: Iterable[Match]) -> Iterator[str]:
    ours, theirs = ({p.name: p for p in tool.parameters} for tool in (left, right))
    for match in matches:
        unit = difference(ours[match.left], theirs[match.right])
        if unit:
            yield f"{match.left} would have to be converted for {match.right}: {unit}."


def _on_servers(left: Tool, right: Tool, a: ToolReading, b: ToolReading) -> Iterator[str]:
    if left.server and left.server == right.server:
        yield f"Both are on server {left.server}, whose tools were made to stand side by side."
    elif left.server or right.server:
        names = (server or "no server" for server in (left.server, right.server))
        thing = next((word for word in a.objects if word in b.objects), "data")
        yield (
            f"They are on different servers, {' and '.join(names)}: the {thing} that only one of "
            "them can see would no longer be reached through the other."
        )


def _on_what_decided(contributions: Mapping[str, float]) -> Iterator[str]:
    counted = [(name, added) for name, added in contributions.items() if abs(added) >= 0.05]
    most = sorted(counted, key=lambda item: (-abs(item[1]), item[0]))[:3]
    for verdict, names in (
        ("for", [COUNTS[name] for name, added in most if added > 0]),
        ("against", [COUNTS[name] for name, added in most if added < 0]),
    ):
        if names:
            yield f"What counted most {verdict} merging: {'; '.join(names)}."


def _who(tool: Tool, other: Tool) -> str:
    """What tells the tool apart in a sentence: its name, or its id where both share a name."""
    return tool.id if tool.name == other.name else tool.name
