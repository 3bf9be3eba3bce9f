"""Explains to the person who decides why two tools seem to do the same job, or not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.judging.arguments.argument_words import difference
from toolscope_core.judging.arguments.matching import Match
from toolscope_core.judging.distinctions import renamed
from toolscope_core.judging.selector import selector_of
from toolscope_core.judging.signals import COUNTS
from toolscope_core.model.numbers import listed, quoted
from toolscope_core.model.pair import Relation, Serves
from toolscope_core.model.tool import Tool, names_of
from toolscope_core.wording.reading import ToolReading
from toolscope_core.wording.vocabulary import action_classes, is_foreign, opposites
from toolscope_core.wording.words import base_forms

_MOST_NAMES = 6
_VERY_CLOSE, _CLOSE = 0.85, 0.7
RELATED = "They are related, but do different jobs."
UNRELATED = "They have little in common."
NO_WORDS_APART = "Each tool's main words also occur in the other tool's text, in some form."
_NOUNS = frozenset(
    """lookup info details detail inquiry retrieval finder viewer calc calculator comparison
    recommender converter generator reservation booking payment login signin checkout""".split()
)
"""Words for actions that are not commands."""


@dataclass(frozen=True, slots=True)
class ToolComparison:
    """Two tools compared.

    ``readings`` and ``relation`` describe the two tools. ``unshared`` has the words that only one
    uses, ``matches`` the matching parameters, and ``distinctions`` the differences that hold
    whatever the words are. ``general`` is the general tool of which both are forms, if there is
    one. ``are_of_two_products`` says that their servers are made for different products.
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
    are_of_two_products: bool = False


_TWO_PRODUCTS = "They are made for different products, so the same words may mean different jobs."


def explain(
    comparison: ToolComparison, contributions: Mapping[str, float], brief: bool = False
) -> tuple[str, ...]:
    """Plain sentences: the relation, the similarities, the differences, and the reasons for the
    decision.

    ``contributions`` is the amount that each signal added to the log-odds of the same job;
    ``brief`` leaves the arguments out. Names and words in the sentences come from the catalog and
    are not escaped.
    """
    left, right = comparison.tools
    readings = comparison.readings
    if left.content_hash == right.content_hash:
        return (
            "Exact copies: name, description, parameters and results are the same.",
            *([_TWO_PRODUCTS] if comparison.are_of_two_products else []),
            *_on_servers(left, right),
        )
    return (
        *_on_relation(comparison),
        _on_closeness(comparison.similarity),
        *_on_actions(left, right, *readings),
        *_on_words(comparison),
        *([] if brief else (*_on_doubt(left, right), *_on_arguments(comparison))),
        *_on_servers(left, right),
        *_on_what_decided(contributions),
    )


def _on_relation(comparison: ToolComparison) -> Iterator[str]:
    left, right = comparison.tools
    if comparison.general:
        yield f"Both do the job of {comparison.general}, with or without a fixed argument."
    elif comparison.distinctions:
        yield f"They seem to do the same job, but {'; '.join(comparison.distinctions)}."
    elif comparison.relation == "family":
        yield same_operation(comparison.tools, comparison.unshared)
    elif comparison.relation in ("duplicate", "subsumes"):
        if left.schema is None or right.schema is None:
            yield "They look alike; their arguments are unknown."
            return
        if not all(renamed(*comparison.readings)):
            yield serving_words(comparison.serves, comparison.tools)
    elif comparison.relation == "related":
        yield "Their jobs are related."
    else:
        yield UNRELATED


def same_operation(tools: tuple[Tool, Tool], unshared: Sequence[Sequence[str]]) -> str:
    """The sentence on two tools that do the same for different providers or values."""
    selector, values = selector_of(tools, unshared)
    other = "in two variants" if selector == "variant" else f"for another {selector}"
    return f"The same operation {other}: {' / '.join(values)}."


def serving_words(serves: Serves, tools: tuple[Tool, Tool]) -> str:
    """Which of the two could take the other's calls, in a sentence."""
    one, other = names_of(tools)
    if serves == "right":
        one, other = other, one
    return {
        "both": "Judging by their arguments, each could take every call made to the other.",
        "none": "Judging by their arguments, neither could take every call made to the other.",
    }.get(
        serves,
        f"Judging by their arguments, {one} could take every call made to {other}, but not the "
        "other way round.",
    )


def _on_closeness(similarity: float) -> str:
    degree = "not very similar"
    if similarity >= _CLOSE:
        degree = "very similar" if similarity >= _VERY_CLOSE else "similar"
    return f"Names and descriptions are {degree} ({round(similarity, 2) + 0.0:.2f})."


def _on_actions(left: Tool, right: Tool, a: ToolReading, b: ToolReading) -> Iterator[str]:
    contrary = opposites(frozenset(a.name), frozenset(b.name))
    if contrary:
        yield f"Their names are opposites: {contrary[0]} and {contrary[1]}."
    common = sorted(a.classes & b.classes)
    if common:
        verb, other = (_infinitive(verb, common) for verb in (a.verb, b.verb))
        if verb == other:
            yield f"They share the verb “{verb}”."
        else:
            yield f"Their verbs mean much the same: “{verb}” and “{other}”."
    elif a.classes and b.classes:
        yield (
            f"Their actions differ: {_who(left, right)} {' or '.join(sorted(a.classes))} "
            f"(“{a.verb}”), {_who(right, left)} {' or '.join(sorted(b.classes))} (“{b.verb}”)."
        )


def _infinitive(verb: str, classes: Iterable[str]) -> str:
    """The verb as a command: *get* of ``gets``, *convert* of ``conversion``.

    A noun without a known verb is replaced by the kind of action.
    """
    kinds = set(classes)
    forms = [form for form in base_forms(verb) if not kinds.isdisjoint(action_classes(form))]
    verbs = [form for form in forms if form not in _NOUNS and not form.endswith(("ion", "ysis"))]
    return verbs[-1] if verbs else min(kinds).removesuffix("s")


def _on_words(comparison: ToolComparison) -> Iterator[str]:
    left, right = comparison.tools
    first, second = comparison.readings
    common = [word for word in first.content if word in second.content]
    if common:
        yield f"Both say {quoted(common, _MOST_NAMES)}."
    if comparison.unshared == ((), ()):
        yield NO_WORDS_APART
    for tool, other, words in (
        (left, right, comparison.unshared[0]),
        (right, left, comparison.unshared[1]),
    ):
        if words:
            yield f"Only {_who(tool, other)} says {quoted(words, _MOST_NAMES)}."


def _on_doubt(left: Tool, right: Tool) -> Iterator[str]:
    """Sentences on facts that the judge cannot know, so that a person must review the pair."""
    for tool, other in ((left, right), (right, left)):
        if tool.schema is None:
            yield f"{_who(tool, other)} does not declare its parameters, so a person must check."
        if not tool.description.strip():
            yield f"{_who(tool, other)} has no description, so a person must check."
        elif is_foreign(tool.description):
            yield f"{_who(tool, other)} is not described in English, so a person must check."


def _on_arguments(comparison: ToolComparison) -> Iterator[str]:
    left, right = comparison.tools
    if left.schema is None or right.schema is None:
        return
    if not left.parameters and not right.parameters:
        yield "Neither takes arguments."
        return
    yield from _on_matches(comparison.matches)
    yield from _on_units(left, right, comparison.matches)
    ours, theirs = {m.left for m in comparison.matches}, {m.right for m in comparison.matches}
    for tool, other, matched in ((left, right, ours), (right, left, theirs)):
        rest = [
            f"{p.name} ({'required' if p.required else 'optional'})"
            for p in tool.parameters
            if p.name not in matched
        ]
        if rest:
            yield f"Only {_who(tool, other)} takes {listed(rest, _MOST_NAMES)}."


def _on_matches(matches: Sequence[Match]) -> Iterator[str]:
    if not matches:
        yield "None of their arguments match."
    for label, some in (
        ("Matching arguments", [m for m in matches if not m.inferred]),
        ("Arguments that probably match", [m for m in matches if m.inferred]),
    ):
        same = [m.left if m.left == m.right else f"{m.left} ↔ {m.right}" for m in some]
        if same:
            yield f"{label}: {listed(same, _MOST_NAMES)}."


def _on_units(left: Tool, right: Tool, matches: Iterable[Match]) -> Iterator[str]:
    ours, theirs = ({p.name: p for p in tool.parameters} for tool in (left, right))
    for match in matches:
        unit = difference(ours[match.left], theirs[match.right])
        if unit:
            names = " ↔ ".join(dict.fromkeys((match.left, match.right)))
            yield f"{names}: the value would have to be converted ({unit})."


def _on_servers(left: Tool, right: Tool) -> Iterator[str]:
    if left.server and left.server == right.server:
        yield (
            f"Both are on server {left.server}, which most likely offers them as two separate "
            "tools."
        )
    elif left.server or right.server:
        names = (server or "no server" for server in (left.server, right.server))
        yield (
            f"They are on different servers, {' and '.join(names)}: one may have no access to "
            "the other's data."
        )


def _on_what_decided(contributions: Mapping[str, float]) -> Iterator[str]:
    shares = [(name, share) for name, share in contributions.items() if abs(share) >= 0.05]
    most = sorted(shares, key=lambda item: (-abs(item[1]), item[0]))[:3]
    for verdict, names in (
        ("for", [COUNTS[name] for name, share in most if share > 0]),
        ("against", [COUNTS[name] for name, share in most if share < 0]),
    ):
        if names:
            yield f"Strongest signals {verdict} merging: {'; '.join(names)}."


def _who(tool: Tool, other: Tool) -> str:
    """The tool as named in a sentence: its name, or its id if both share a name."""
    return tool.id if tool.name == other.name else tool.name
