"""The merged tool: its canonical member, its kind, its document and everybody's argument map.

A *prune* keeps one member as it is, because its own schema serves every member's calls: the
others can be switched off. A *router* is a new tool over all members, with a selector argument
that says whose job is meant; it needs a gateway. The description template is ours; an LLM may
write a better one later (ToolScope, section 3.2, d* = M_D(C_b)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from toolscope_core.datamodel import (
    ArgumentMap,
    Document,
    JsonObject,
    Kind,
    Parameter,
    Tool,
    canonical_json,
)
from toolscope_core.merging.alignment import argument_map, inlined, map_onto, surmises
from toolscope_core.merging.families import own_words
from toolscope_core.merging.licence import ToolWords, tool_words, unshared
from toolscope_core.merging.matching import match_parameters
from toolscope_core.merging.slots import slot_of
from toolscope_core.merging.subschema import admits, leaves_out
from toolscope_core.merging.units import difference

_WORDS = ("description", "title", "default")

MOST_NAMED = 12
"""So many values of a selector are named in the description; its schema lists all."""


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What a set of tools becomes: ``arguments`` has one map per member, in member order;
    ``selector`` is the argument that says which one is meant, empty for a prune.
    """

    kind: Kind
    canonical: str
    document: Document
    arguments: tuple[ArgumentMap, ...]
    selector: str = ""


def synthesise(
    members: Sequence[Tool],
    blocked: frozenset[str] = frozenset(),
    chosen: str | None = None,
    family: bool = False,
) -> Synthesis:
    """The merged tool of ``members`` (in id order, two or more).

    ``blocked`` members are never canonical while another is free to be; ``chosen`` is the id of
    the canonical a person wants. Prune wherever some allowed canonical serves all the others; a
    ``family`` never, since the words of one member do not serve the callers of another.
    """
    free = [tool for tool in members if tool.id not in blocked] or list(members)
    allowed = [tool for tool in free if tool.id == chosen] or free
    serving = [
        (tool, maps) for tool in allowed if not family and (maps := serving_maps(tool, members))
    ]
    if serving:
        words_by_id = {tool.id: tool_words(tool) for tool in members} if len(serving) > 1 else {}
        canonical, maps = min(serving, key=lambda one: _preference(one[0], one[1], words_by_id))
        return Synthesis("prune", canonical.id, document_of(canonical), maps)
    canonical = min(allowed, key=lambda tool: (len(tool.name), tool.id))
    return _router(canonical, members, family)


def earlier_canonical(members: Sequence[Tool], blocked: frozenset[str] = frozenset()) -> str | None:
    """Who stayed by the rule of version 1, which looked at no words: the id of the serving member
    with the shortest name, then of the first id; ``None`` where none serves.
    """
    free = [tool for tool in members if tool.id not in blocked] or list(members)
    serving = [(tool, maps) for tool in free if (maps := serving_maps(tool, members))]
    if not serving:
        return None
    return min(serving, key=lambda one: _preference(one[0], one[1], {}))[0].id


def _preference(
    tool: Tool, maps: Sequence[ArgumentMap], words_by_id: Mapping[str, ToolWords]
) -> tuple[int, int, int, str]:
    """What is surmised of fewest arguments first, then the most general: the one that says fewest
    words that others do not; then the shortest name, then the id.
    """
    surmised = sum(len(alpha.surmised) for alpha in maps)
    own = words_by_id.get(tool.id)
    alone = sum(len(unshared(own, other)) for other in words_by_id.values()) if own else 0
    return surmised, alone, len(tool.name), tool.id


def serving_maps(canonical: Tool, members: Sequence[Tool]) -> tuple[ArgumentMap, ...]:
    """α of every member onto the canonical's own schema; empty if one would lose anything."""
    maps = []
    for tool in members:
        alpha = argument_map(tool, canonical)
        if not alpha.lossless:
            return ()
        maps.append(alpha)
    return tuple(maps)


def document_of(tool: Tool) -> Document:
    """What an agent reads of the tool today."""
    return Document(tool.name, tool.description, tool.schema, tool.returns, tool.annotations)


def edited_arguments(
    members: Sequence[Tool],
    canonical: str,
    schema: JsonObject,
    before: Sequence[ArgumentMap],
    renames: Mapping[str, str] = MappingProxyType({}),
) -> tuple[ArgumentMap, ...]:
    """The maps of ``before`` re-aimed at an edited schema: by target name, after ``renames`` (old
    name of a merged parameter → new name).

    An argument whose target is gone or no longer takes its values is dropped with the reason.
    """
    properties = schema.get("properties") or {}
    aimed = []
    for tool, alpha in zip(members, before, strict=True):
        pairs = {move.source: renames.get(move.target, move.target) for move in alpha.moves}
        constants = {renames.get(name, name): value for name, value in alpha.constants.items()}
        aimed.append(
            map_onto(
                tool,
                canonical,
                schema,
                {source: target for source, target in pairs.items() if target in properties},
                constants,
            )
        )
    return tuple(aimed)


def merged_annotations(members: Sequence[Tool]) -> dict[str, Any]:
    """The floor of what the members promise, each hint that one of them gives: read-only,
    harmless or closed only if all say so, since MCP takes a silent tool for none of it.

    ``idempotentHint`` is never derived.
    """
    merged: dict[str, Any] = {}
    for hint, safe in (
        ("readOnlyHint", True),
        ("destructiveHint", False),
        ("openWorldHint", False),
    ):
        given = [tool.annotations[hint] for tool in members if hint in tool.annotations]
        if given:
            merged[hint] = safe if given.count(safe) == len(members) else not safe
    return merged


def _router(canonical: Tool, members: Sequence[Tool], family: bool) -> Synthesis:
    ordered = [canonical, *(tool for tool in members if tool.id != canonical.id)]
    properties: dict[str, JsonObject] = {}
    pairs: dict[str, dict[str, str]] = {}
    surmised: dict[str, tuple[str, ...]] = {}
    for tool in ordered:
        pairs[tool.id], surmised[tool.id] = _join(tool, properties)
    selector, values = _selector(ordered, properties, family)
    properties[selector] = {
        "type": "string",
        "enum": [values[tool.id] for tool in ordered],
        "default": values[canonical.id],
        "description": "Which of the merged tools does the work.",
    }
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    needed = _always_supplied(ordered, pairs, properties)
    if needed:
        schema["required"] = needed
    maps = tuple(
        replace(
            map_onto(tool, canonical.id, schema, pairs[tool.id], {selector: values[tool.id]}),
            surmised=surmised[tool.id],
        )
        for tool in members
    )
    named = [values[tool.id] for tool in ordered]
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    text = (
        f"{canonical.description.rstrip()} Choose with `{selector}` which one does it: "
        f"{', '.join(named[:MOST_NAMED])}{more}."
    ).strip()
    document = Document(canonical.name, text, schema, None, merged_annotations(members))
    return Synthesis("router", canonical.id, document, maps, selector)


def _join(tool: Tool, properties: dict[str, JsonObject]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Widen ``properties`` so that they take the tool's arguments; parameter → property, and what
    of that is only surmised.
    """
    tool = inlined(tool)
    sofar = Tool("", tool.name, schema={"type": "object", "properties": dict(properties)})
    ours, theirs = ({p.name: p for p in one.parameters} for one in (tool, sofar))
    matches = [
        match
        for match in match_parameters(tool, sofar)
        if not difference(ours[match.left], theirs[match.right])
    ]
    pairs = {match.left: match.right for match in matches}
    for parameter in tool.parameters:
        target = pairs.get(parameter.name)
        if target is None:
            target = _free_name(parameter.name, properties)
            pairs[parameter.name] = target
            properties[target] = parameter.schema
        else:
            properties[target] = widened(properties[target], parameter)
    return pairs, surmises(tool, matches)


def widened(schema: JsonObject, parameter: Parameter) -> JsonObject:
    """The least schema we can write that takes the values of both; the first one's words stay."""
    other = parameter.schema
    if admits(schema, other) and not leaves_out(schema, other):
        return schema
    words = {key: schema[key] for key in _WORDS if key in schema}
    ours = {key: value for key, value in schema.items() if key not in _WORDS}
    theirs = {key: value for key, value in other.items() if key not in _WORDS}
    if admits(theirs, ours) and not leaves_out(theirs, ours):
        return {**theirs, **words}
    values = [schema.get("enum"), other.get("enum")]
    if all(isinstance(value, list) for value in values):
        ours_rest, theirs_rest = ({**part, "enum": []} for part in (ours, theirs))
        if canonical_json(ours_rest) == canonical_json(theirs_rest):
            added = [value for value in other["enum"] if value not in schema["enum"]]
            return {**ours, "enum": [*schema["enum"], *added], **words}
    options = ours["anyOf"] if set(ours) == {"anyOf"} else [ours]
    return {"anyOf": [*options, theirs], **words}


def _selector(
    ordered: Sequence[Tool], properties: Mapping[str, JsonObject], family: bool
) -> tuple[str, dict[str, str]]:
    """A free argument name and one value per tool id: in a family what differs, else the server,
    the name, or the id.
    """
    ids = [tool.id for tool in ordered]
    if family:
        slot, slot_values = slot_of(ordered, own_words([tool_words(tool) for tool in ordered]))
        return _free_name(slot, properties), dict(zip(ids, slot_values, strict=True))
    for name, values in (
        ("server", {tool.id: tool.server for tool in ordered}),
        ("variant", {tool.id: tool.name for tool in ordered}),
        ("variant", {tool.id: tool.id for tool in ordered}),
    ):
        if all(values.values()) and len(set(values.values())) == len(ordered):
            return _free_name(name, properties), values
    raise ValueError("tool ids repeat")  # ids are unique in a catalog, so this is a bug


def _free_name(name: str, properties: Mapping[str, JsonObject]) -> str:
    number, free = 1, name
    while free in properties:
        number += 1
        free = f"{name}_{number}"
    return free


def _always_supplied(
    ordered: Sequence[Tool],
    pairs: Mapping[str, Mapping[str, str]],
    properties: Mapping[str, JsonObject],
) -> list[str]:
    supplied = [{pairs[tool.id][p.name] for p in tool.parameters if p.required} for tool in ordered]
    return [name for name in properties if all(name in names for names in supplied)]
