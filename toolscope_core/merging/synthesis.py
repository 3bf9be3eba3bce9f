"""The merged tool: its canonical member, its kind, its document, and the argument map of each
member.

A *drop-in* keeps one member unchanged, because that member's own schema serves the calls of all
members: the others can be switched off. A *gateway* is a new tool for all members, with a selector
argument that says whose job is meant; it needs a gateway to run. *Unknown* members do not declare
their arguments: they look alike, and nothing is merged. The description template is ours; an LLM
may write a better description later (ToolScope, section 3.2, d* = M_D(C_b)).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from toolscope_core.judging.arguments.actions import action_of
from toolscope_core.judging.arguments.alignment import argument_map, map_onto
from toolscope_core.judging.distinctions import lost_parts, unshared
from toolscope_core.judging.selector import own_words, selector_of
from toolscope_core.merging import gateway_words
from toolscope_core.merging.joined_arguments import free_name, join_arguments
from toolscope_core.model.cluster import ArgumentMap, ClusterKind, Document
from toolscope_core.model.tool import JsonObject, Tool, canonical_json
from toolscope_core.wording.reading import ToolReading, read_tool
from toolscope_core.wording.vocabulary import total_weight

_CONDITIONS = frozenset(
    """$ref allOf anyOf oneOf not if patternProperties propertyNames maxProperties
    unevaluatedProperties""".split()
)
"""Schema keywords that may forbid an argument even if the schema does not list it."""


_MUCH = 7.0
"""The weight of words of one tool that are much more than another tool says. In eight labelled
groups and 247 servers that were read, 32 of 33 labelled drop-ins say less, and 4 of 5 that promise
too little say more.
"""


@dataclass(frozen=True, slots=True)
class Keepers:
    """Preferences for the member that is kept.

    ``shares`` gives, for each server, the share of its tools that others replace (0 to 1); the
    lowest is preferred. ``unfit`` are the ids of tools that cannot represent the others. ``warned``
    are the ids of tools with a *warn* finding; these are avoided. ``contents_of`` returns what an
    owner contains: its own description, or the things that its tools work on, most frequent first.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    unfit: frozenset[str] = frozenset()
    warned: frozenset[str] = frozenset()
    contents_of: Callable[[str], Sequence[str]] | None = None


NO_KEEPERS = Keepers()


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The merged form of a set of tools.

    ``arguments`` has one map for each member, in member order. ``selector`` is the argument that
    says which member is meant; it is empty for a drop-in. ``keep_all`` says whether the tools form
    a gateway tool because each of them has to stay reachable.
    """

    kind: ClusterKind
    canonical: str
    document: Document
    arguments: tuple[ArgumentMap, ...]
    selector: str = ""
    keep_all: bool = False


def synthesise(
    members: Sequence[Tool],
    blocked: frozenset[str] = frozenset(),
    preferred: str | None = None,
    family: bool = False,
    keep_all: bool = False,
    keepers: Keepers = NO_KEEPERS,
) -> Synthesis:
    """The merged tool of ``members`` (two or more, in id order).

    ``blocked`` members are canonical only if all members are blocked. ``preferred`` is the id of
    the canonical that a person chose.

    The merged tool is a drop-in if some allowed canonical serves all the other members. A
    ``family`` is never a drop-in, because the words of one member do not serve the callers of
    another. Nor is a set that must ``keep_all``. Unless a person chose the canonical, its result
    must include what the results of the other members include, and its text must not say much less
    than theirs, unless they have a *warn* finding. Tools with undeclared arguments only
    look alike.

    If several members serve all the others and are not unfit, the one on the server that others
    replace least (``keepers``) stays. So all merges between two servers keep the tools of the same
    server.
    """
    free = [tool for tool in members if tool.id not in blocked] or list(members)
    allowed = [tool for tool in free if tool.id == preferred] or free
    fit = [tool for tool in allowed if tool.id not in keepers.unfit]
    if not preferred:
        fit = [tool for tool in fit if not _loses_parts(tool, members)]
    guess = any(tool.schema is None for tool in members)
    are_unknown = guess and len({tool.content_hash for tool in members}) > 1
    candidates = () if family or (keep_all and (preferred or not are_unknown)) else fit
    serving = [(tool, maps) for tool in candidates if (maps := serving_maps(tool, members, guess))]
    if serving and not preferred and guess:
        canonical = min(allowed, key=lambda tool: (len(tool.name), tool.id))
        maps = serving_maps(canonical, members, guess)
        return Synthesis("looks_alike", canonical.id, document_of(canonical), maps)
    if serving:
        reading_by_id = {tool.id: read_tool(tool) for tool in members} if len(serving) > 1 else {}
        canonical, maps = min(
            serving,
            key=lambda one: (
                keepers.shares.get(one[0].server, 0.0),
                one[0].server,
                one[0].id in keepers.warned,
                _preference(one[0], one[1], reading_by_id),
            ),
        )
        trusted = [tool for tool in members if tool.id not in keepers.warned]
        if preferred or not _says_less(canonical, trusted):
            return Synthesis("drop_in", canonical.id, document_of(canonical), maps)
    general, actions = ("", {}) if family else _actions(allowed, members)
    canonical = min(
        allowed,
        key=lambda tool: (
            tool.id != general,
            tool.id in keepers.warned or gateway_words.shouts(tool.description),
            len(tool.name),
            tool.id,
        ),
    )
    ordered = [canonical, *(tool for tool in members if tool.id != canonical.id)]
    gateway = _gateway(ordered, members, family, keep_all, actions)
    contents_of = keepers.contents_of if keep_all and not family else None
    return _in_words(gateway, ordered, blocked, replace(keepers, contents_of=contents_of))


def _loses_parts(canonical: Tool, members: Sequence[Tool]) -> bool:
    """Whether the result of some member includes things that the canonical's result lacks."""
    kept = read_tool(canonical)
    return any(lost_parts(kept, read_tool(tool)) for tool in members if tool is not canonical)


def _says_less(canonical: Tool, members: Sequence[Tool]) -> bool:
    """Whether some member's text says much that the canonical's does not."""
    kept = read_tool(canonical)
    return any(total_weight(unshared(read_tool(tool), kept)) > _MUCH for tool in members)


def _preference(
    tool: Tool, maps: Sequence[ArgumentMap], reading_by_id: Mapping[str, ToolReading]
) -> tuple[int, int, int, str]:
    """Sort key: fewest limits, then most general (fewest words that others lack), then shortest
    name, then id.
    """
    own = reading_by_id.get(tool.id)
    alone = sum(len(unshared(own, other)) for other in reading_by_id.values()) if own else 0
    notes = sum(len(alpha.notes) for alpha in maps)
    return notes, alone, len(tool.name), tool.id


def serving_maps(
    canonical: Tool, members: Sequence[Tool], guess: bool = False
) -> tuple[ArgumentMap, ...]:
    """The argument map α from each member to the canonical's own schema.

    Empty if one of the maps would lose anything. Also empty if one of them would match an argument
    on weak evidence, unless the whole match is a ``guess``.
    """
    maps = []
    for tool in members:
        alpha = argument_map(tool, canonical)
        if not (alpha.lossless if guess else alpha.exact):
            return ()
        maps.append(alpha)
    return tuple(maps)


def document_of(tool: Tool) -> Document:
    """The document that an agent reads about the tool today."""
    return Document(tool.name, tool.description, tool.schema, tool.returns, tool.annotations)


def edited_arguments(
    members: Sequence[Tool],
    canonical: str,
    schema: JsonObject,
    before: Sequence[ArgumentMap],
    renames: Mapping[str, str] = MappingProxyType({}),
) -> tuple[ArgumentMap, ...]:
    """The argument maps ``before``, adapted to an edited schema by the names of their targets.

    ``renames`` (old name of a merged parameter → new name) are applied first. An argument is
    dropped, with the reason, if its target is gone or no longer accepts its values.
    """
    properties = schema.get("properties") or {}
    new_maps = []
    for tool, alpha in zip(members, before, strict=True):
        pairs = {move.source: renames.get(move.target, move.target) for move in alpha.moves}
        constants = {renames.get(name, name): value for name, value in alpha.constants.items()}
        new_maps.append(
            map_onto(
                tool,
                canonical,
                schema,
                {source: target for source, target in pairs.items() if target in properties},
                constants,
            )
        )
    return tuple(new_maps)


def merged_annotations(members: Sequence[Tool]) -> dict[str, Any]:
    """The lowest common promise of the members' hints, for each hint that at least one member
    gives.

    The merged tool is read-only, harmless or closed only if all members say so, because MCP assumes
    the opposite for a tool that says nothing. ``idempotentHint`` is never derived.
    """
    hints: dict[str, Any] = {}
    for hint, safe in (
        ("readOnlyHint", True),
        ("destructiveHint", False),
        ("openWorldHint", False),
    ):
        values = [tool.annotations[hint] for tool in members if hint in tool.annotations]
        if values:
            hints[hint] = safe if values.count(safe) == len(members) else not safe
    return hints


def with_default_server(synthesis: Synthesis) -> Synthesis:
    """The same merged tool, with the canonical's server as the default.

    It is used when people have said that all servers work on the same account.
    """
    schema = synthesis.document.schema
    if synthesis.selector != "server" or schema is None:
        return synthesis
    own = next(one for one in synthesis.arguments if one.tool_id == synthesis.canonical)
    selector = {**schema["properties"]["server"], "default": own.constants["server"]}
    new_schema = {
        **schema,
        "properties": {**schema["properties"], "server": selector},
        "required": [name for name in schema["required"] if name != "server"],
    }
    return replace(synthesis, document=replace(synthesis.document, schema=new_schema))


def _actions(allowed: Sequence[Tool], members: Sequence[Tool]) -> tuple[str, dict[str, JsonObject]]:
    """The member that can do what other members do if one argument is set, and this argument with
    its value for each of them, by id.

    Empty unless servers and values together tell all members apart.
    """
    for general in allowed:
        values = {
            tool.id: action_of(tool, general) for tool in members if tool.owner != general.owner
        }
        acts: dict[str, JsonObject] = {
            tool: {act[0]: act[1]} for tool, act in values.items() if act
        }
        choices = {(tool.owner, canonical_json(acts.get(tool.id))) for tool in members}
        wholes = {tool.owner for tool in members if tool.id not in acts}
        partly = {tool.owner for tool in members if tool.id in acts}
        one = len({name for act in acts.values() for name in act}) == 1
        if one and len(choices) == len(members) and wholes.isdisjoint(partly) and all(wholes):
            return general.id, acts
    return "", {}


def _gateway(
    ordered: Sequence[Tool],
    members: Sequence[Tool],
    family: bool,
    keep_all: bool,
    actions: Mapping[str, JsonObject],
) -> Synthesis:
    """The gateway tool without its texts; the canonical is the first of ``ordered``.

    ``actions`` are the canonical's arguments and values that choose between members on one server.
    """
    canonical = ordered[0]
    one_schema = _is_shared(ordered)
    schema = (canonical.schema or {}) if one_schema else {}
    joined = join_arguments(() if one_schema else ordered, family)
    acts = {name for act in actions.values() for name in act}
    if any(not acts.isdisjoint(joined.names[one].values()) for one in actions):
        actions = {}
    properties = dict(schema.get("properties") or joined.properties)
    needed = list(schema.get("required") or joined.always_supplied)
    if actions:
        selector, values = free_name("server", properties), {one.id: one.owner for one in ordered}
        needed += acts.difference(needed)
    else:
        selector, values = _selector(ordered, properties, family, keep_all)
    choice = list(dict.fromkeys(values[tool.id] for tool in ordered))
    properties[selector] = {"type": "string", "enum": choice}
    rest = {"properties": properties, "required": [*needed, selector]}
    schema = {"type": "object", **schema, **rest}
    maps = []
    for tool in members:
        constants = {selector: values[tool.id], **actions.get(tool.id, {})}
        if one_schema:
            same = argument_map(tool, canonical if tool.schema is None else tool)
            alpha = replace(same, to=canonical.id, constants=constants)
        else:
            alpha = map_onto(tool, canonical.id, schema, joined.names[tool.id], constants)
            alpha = replace(alpha, inferred=joined.inferred[tool.id])
        maps.append(alpha)
    if not one_schema:  # only now, or one value's words would be compared with another's
        labels = {alpha.tool_id: _label(alpha, selector) for alpha in maps}
        described = joined.described(selector, labels)
        properties |= {k: one for k, one in described.items() if not actions or k not in acts}
    document = Document(canonical.name, "", schema, None, merged_annotations(members))
    return Synthesis("gateway", canonical.id, document, tuple(maps), selector, keep_all)


def _label(alpha: ArgumentMap, selector: str) -> str:
    """The constants that choose a member, in words: the selector's value, then
    that of an action.
    """
    actions = [str(value) for name, value in alpha.constants.items() if name != selector]
    value = str(alpha.constants[selector])
    return f"{value} ({', '.join(actions)})" if actions else value


def _in_words(
    gateway: Synthesis, ordered: Sequence[Tool], blocked: frozenset[str], keepers: Keepers
) -> Synthesis:
    """The gateway tool with descriptions of the tool and of its selector.

    They are made from the descriptions of the members, canonical first. For servers that store
    things, the selector's is made from their contents instead.
    """
    selector, document = gateway.selector, gateway.document
    values = {alpha.tool_id: _label(alpha, selector) for alpha in gateway.arguments}
    texts = {
        values[tool.id]: "" if tool.id in blocked and tool is not ordered[0] else tool.description
        for tool in ordered
    }
    what = ""
    if selector == "server" and keepers.contents_of:
        contents = {values[tool.id]: keepers.contents_of(tool.owner) for tool in ordered}
        what = gateway_words.store_description(contents)
    what = what or gateway_words.selector_description(texts)
    text = gateway_words.gateway_description(selector, texts)
    schema = document.schema or {}
    if what:
        properties = schema["properties"]
        properties = {**properties, selector: {**properties[selector], "description": what}}
        schema = {**schema, "properties": properties}
    return replace(gateway, document=replace(document, description=text, schema=schema))


def _is_shared(members: Sequence[Tool]) -> bool:
    """Whether all members share one schema to which an argument can be added."""
    schema = members[0].schema
    if schema is None:
        return len({tool.content_hash for tool in members}) == 1
    alike = len({canonical_json(tool.schema) for tool in members}) == 1
    return alike and _CONDITIONS.isdisjoint(schema)


def _selector(
    ordered: Sequence[Tool], properties: Mapping[str, JsonObject], family: bool, keep_all: bool
) -> tuple[str, dict[str, str]]:
    """A free argument name, and one value for each tool id.

    In a family, the argument is what distinguishes the members. Otherwise it is the server, the
    name or the id, whichever first tells them apart. For ``keep_all`` tools, it is the server, or
    the id, which begins with the server.
    """
    ids = [tool.id for tool in ordered]
    owners = {tool.id: tool.owner for tool in ordered}
    if family and not (keep_all and _are_names(owners)):
        selector, selector_values = selector_of(
            ordered, own_words([read_tool(tool) for tool in ordered])
        )
        return free_name(selector, properties), dict(zip(ids, selector_values, strict=True))
    names = {} if keep_all else {tool.id: tool.name for tool in ordered}
    for name, values in (
        ("server", owners),
        ("variant", names),
        ("server" if keep_all else "variant", {one: one for one in ids}),
    ):
        if _are_names(values):
            return free_name(name, properties), values
    raise ValueError("some tool ids are used more than once")  # a bug: a catalog's ids are unique


def _are_names(values: Mapping[str, str]) -> bool:
    """Whether there are values, all of them different and none empty."""
    return bool(values) and all(values.values()) and len(set(values.values())) == len(values)
