"""Why two tools look like the same job, or not: sentences for the person who decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolscope_core.datamodel import Tool
from toolscope_core.merging.matching import Match, match_parameters
from toolscope_core.merging.reading import Reading
from toolscope_core.merging.units import difference
from toolscope_core.merging.vocabulary import is_foreign, opposites, siblings

_MOST_NAMES = 6
_VERY_CLOSE, _CLOSE = 0.85, 0.7
COUNTS = {
    "closeness": "how close names and descriptions are",
    "other_action": "what the verbs do",
    "opposite_words": "opposite words in the names",
    "other_kind": "words for different things of one kind",
    "shared_phrase": "the words after the verb",
    "shared_object": "the noun they work on",
    "name_words_apart": "name words that each has to itself",
    "name_words_added": "name words that only one has",
    "shared_arguments": "the words of the parameter names",
    "shared_returns": "the words of what they return",
}
"""The signals in words."""


def explain(
    tools: tuple[Tool, Tool],
    readings: tuple[Reading, Reading],
    similarity: float,
    contributions: Mapping[str, float],
    general: str = "",
    brief: bool = False,
) -> tuple[str, ...]:
    """Plain sentences: what agrees, what differs, what decided.

    ``contributions`` is what each signal added to the log-odds of *merge*; ``general`` the name
    of the tool that both are with an argument fixed, if so; ``brief`` leaves the arguments out.
    Names and words in
    the sentences come from the catalog and are not escaped.
    """
    left, right = tools
    if left.content_hash == right.content_hash:
        return (
            "Exact copies: name, description, parameters and results are the same.",
            *_on_servers(left, right, *readings),
        )
    return (
        *([f"Both are {general}, with an argument fixed or left open."] if general else []),
        _on_closeness(similarity),
        *_on_actions(left, right, *readings),
        *_on_kinds(left, right, *readings),
        *_on_words(left, right, *readings),
        *([] if brief else (*_on_doubt(left, right), *_on_arguments(left, right))),
        *_on_servers(left, right, *readings),
        *_on_what_decided(contributions),
    )


def _on_closeness(similarity: float) -> str:
    degree = "hardly close"
    if similarity >= _CLOSE:
        degree = "very close" if similarity >= _VERY_CLOSE else "close"
    return f"Names and descriptions are {degree} (cosine {similarity:.2f})."


def _on_actions(left: Tool, right: Tool, a: Reading, b: Reading) -> Iterator[str]:
    contrary = opposites(a.contraries, b.contraries)
    if contrary:
        yield f"The names hold opposites: {contrary[0]} and {contrary[1]}."
    common = sorted(a.classes & b.classes)
    if common:
        verbs = " or ".join(name.removesuffix("s") for name in common)
        thing = " ".join(word for word in a.phrase if word in b.phrase) or "something"
        yield f"Both {verbs} {thing} ({_listed(dict.fromkeys((a.verb, b.verb)))})."
    elif a.classes and b.classes:
        yield (
            f"They act differently: {_who(left, right)} {' or '.join(sorted(a.classes))} "
            f"({a.verb}), {_who(right, left)} {' or '.join(sorted(b.classes))} ({b.verb})."
        )


def _on_kinds(left: Tool, right: Tool, a: Reading, b: Reading) -> Iterator[str]:
    found = siblings(a.kinds, b.kinds)
    if found:
        here, there = found
        yield f"{_who(left, right)} is about {here}, {_who(right, left)} about {there}."


def _on_words(left: Tool, right: Tool, a: Reading, b: Reading) -> Iterator[str]:
    both = [word for word in a.text if word in b.text]
    if both:
        yield f"Both mention {_listed(both)}."
    for tool, other, ours, theirs in ((left, right, a, b), (right, left, b, a)):
        alone = [word for word in ours.text if word not in theirs.text]
        if alone:
            yield f"Only {_who(tool, other)} mentions {_listed(alone)}."


def _on_doubt(left: Tool, right: Tool) -> Iterator[str]:
    """What the judge cannot know, so that a person must look."""
    for tool, other in ((left, right), (right, left)):
        if tool.schema is None:
            yield f"{_who(tool, other)} does not declare its parameters, so a person must look."
        if not tool.description.strip():
            yield f"{_who(tool, other)} has no description, so a person must look."
        elif is_foreign(tool.description):
            yield f"{_who(tool, other)} is not described in English, so a person must look."


def _on_arguments(left: Tool, right: Tool) -> Iterator[str]:
    if left.schema is None or right.schema is None:
        return
    if not left.parameters and not right.parameters:
        yield "Neither takes arguments."
        return
    matches = match_parameters(left, right)
    yield from _on_matches(matches)
    yield from _on_units(left, right, matches)
    ours, theirs = {m.left for m in matches}, {m.right for m in matches}
    for tool, other, taken in ((left, right, ours), (right, left, theirs)):
        rest = [
            f"{p.name} ({'required' if p.required else 'optional'})"
            for p in tool.parameters
            if p.name not in taken
        ]
        if rest:
            yield f"Only {_who(tool, other)} takes {_listed(rest)}."


def _on_matches(matches: Sequence[Match]) -> Iterator[str]:
    if not matches:
        yield "No argument of one has a counterpart in the other."
    for said, some in (
        ("Arguments that align", [m for m in matches if not m.surmised]),
        ("Nothing else is left, so these may be the same", [m for m in matches if m.surmised]),
    ):
        same = [m.left if m.left == m.right else f"{m.left} ↔ {m.right}" for m in some]
        if same:
            yield f"{said}: {_listed(same)}."


def _on_units(left: Tool, right: Tool, matches: Iterable[Match]) -> Iterator[str]:
    ours, theirs = ({p.name: p for p in tool.parameters} for tool in (left, right))
    for match in matches:
        unit = difference(ours[match.left], theirs[match.right])
        if unit:
            yield f"{match.left} would have to be converted for {match.right}: {unit}."


def _on_servers(left: Tool, right: Tool, a: Reading, b: Reading) -> Iterator[str]:
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
    ranked = sorted(contributions.items(), key=lambda item: (-abs(item[1]), item[0]))
    told = [(name, added) for name, added in ranked if abs(added) >= 0.05][:3]
    for verdict, names in (
        ("for", [COUNTS[name] for name, added in told if added > 0]),
        ("against", [COUNTS[name] for name, added in told if added < 0]),
    ):
        if names:
            yield f"What counted most {verdict} merging: {'; '.join(names)}."


def _who(tool: Tool, other: Tool) -> str:
    """What tells the tool apart in a sentence: its name, or its id where both share a name."""
    return tool.id if tool.name == other.name else tool.name


def _listed(words: Iterable[str]) -> str:
    names: Sequence[str] = list(words)
    more = len(names) - _MOST_NAMES
    shown = ", ".join(names[:_MOST_NAMES])
    return f"{shown} and {more} more" if more > 0 else shown
