"""The arguments of a gateway tool: its members' arguments, joined if they mean the same.

If only some members have an argument, its description says which. It also states a member's
restrictions: fewer values, another type or a smaller range. So a call that is written from the
merged schema alone contains everything that its member requires.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from toolscope_core.judging.arguments.agreement import agree, agreed_matches, common_key
from toolscope_core.judging.arguments.alignment import inferences, move_to
from toolscope_core.judging.arguments.subschema import (
    admits,
    inlined,
    leaves_out,
    type_set,
    types_overlap,
)
from toolscope_core.merging import gateway_words
from toolscope_core.model.numbers import enumerated
from toolscope_core.model.tool import JsonObject, Parameter, Tool, canonical_json
from toolscope_core.wording.words import plain_words, spelling

_Entry = TypeVar("_Entry")

_WORDS = ("description", "title", "default")
_NOUNS = {
    "integer": "a whole number",
    "number": "a number",
    "array": "a list",
    "string": "a text",
    "boolean": "true or false",
}
_MOST_VALUES = 24
"""The largest number of values that are listed for one member; more would be too long to read."""


@dataclass(frozen=True, slots=True)
class JoinedArguments:
    """The ``properties`` of the merged schema, in order.

    For each tool id, ``names`` maps the tool's parameters to properties, and ``inferred`` has
    sentences on matches that were guessed. ``keys`` are the properties for which each member has a
    key of its own.
    """

    members: tuple[Tool, ...]
    properties: Mapping[str, JsonObject]
    names: Mapping[str, Mapping[str, str]]
    inferred: Mapping[str, tuple[str, ...]]
    keys: frozenset[str]

    @property
    def always_supplied(self) -> list[str]:
        """The properties that every member requires."""
        required = [
            {self.names[tool.id][p.name] for p in tool.parameters if p.required}
            for tool in self.members
        ]
        return [name for name in self.properties if all(name in names for names in required)]

    def described(self, selector: str, values: Mapping[str, str]) -> dict[str, JsonObject]:
        """The properties, each with what an agent has to know about it.

        ``values`` gives the selector's value for each tool id.
        """
        owners: dict[str, dict[str, Parameter]] = {name: {} for name in self.properties}
        for tool in self.members:
            for parameter in inlined(tool).parameters:
                owners[self.names[tool.id][parameter.name]][values[tool.id]] = parameter
        every = [values[tool.id] for tool in self.members]
        return {
            name: self._described(name, owners[name], selector, every) for name in self.properties
        }

    def _described(
        self, name: str, owners: Mapping[str, Parameter], selector: str, every: Sequence[str]
    ) -> JsonObject:
        """A property with its owners, its meaning and the restrictions of each owner."""
        schema = self.properties[name]
        texts = {value: parameter.description for value, parameter in owners.items()}
        limits: dict[str, list[str]] = {}
        for value, parameter in owners.items():
            if text := enumerated(_limits(parameter.schema, schema)):
                limits.setdefault(text, []).append(value)
        required = [value for value, parameter in owners.items() if parameter.required]
        sentences = (
            gateway_words.owners_note(list(owners), every, required),
            gateway_words.argument_description(selector, texts, each=name in self.keys),
            *(gateway_words.limits_note(of, text) for text, of in limits.items()),
        )
        defaults = {canonical_json(one.schema.get("default")) for one in owners.values()}
        needless = {"default"} if len(defaults) > 1 or schema.get("default") is None else set()
        text = gateway_words.paragraph(sentences)
        if text or plain_words(str(schema.get("title", ""))) == plain_words(name):
            needless.add("title")
        new = {key: value for key, value in schema.items() if key not in needless}
        return {**new, "description": text} if text else new


def join_arguments(members: Sequence[Tool], family: bool = False) -> JoinedArguments:
    """The joined arguments of the members, in order.

    In a ``family``, the keys of the things that distinguish the members are joined: ``issue_id``
    and ``merge_request_id`` become ``id``.
    """
    properties: dict[str, JsonObject] = {}
    givers: dict[str, list[tuple[Tool, Parameter]]] = {}
    inferred: dict[str, tuple[str, ...]] = {}
    keys: set[str] = set()
    taken = {parameter.name for tool in members for parameter in tool.parameters}
    for tool in map(inlined, members):
        so_far = Tool("", members[0].name, schema={"type": "object", "properties": properties})
        owners = {name: given[0][0] for name, given in givers.items()}
        matches = agreed_matches(tool, so_far, owners)
        pairs = {match.left: match.right for match in matches}
        common = _common_keys(tool, so_far, pairs, owners) if family else {}
        for name, (old, key) in common.items():
            if key == old or key not in taken | properties.keys():
                properties, givers = _renamed(properties, old, key), _renamed(givers, old, key)
                pairs[name] = key
                keys.add(key)
        for parameter in tool.parameters:
            matched = [pairs[parameter.name]] if parameter.name in pairs else []
            taken_by_others = set(pairs.values())
            namesakes = (
                name
                for name, ((other, first), *_) in givers.items()
                if name not in taken_by_others and first.name == parameter.name
                if agree(parameter, first, (tool, other))
            )
            joints = (
                (name, joint)
                for name in (*matched, *namesakes)
                if (joint := _joint(properties[name], parameter, givers[name])) is not None
            )
            alone = free_name(parameter.name, properties), parameter.schema
            target, joint = next(joints, alone)
            pairs[parameter.name] = target
            properties[target] = joint
            givers.setdefault(target, []).append((tool, parameter))
        kept = [match for match in matches if pairs[match.left] == match.right]
        inferred[tool.id] = inferences(tool, kept)
    names: dict[str, dict[str, str]] = {tool.id: {} for tool in members}
    for name, given in givers.items():
        for tool, parameter in given:
            names[tool.id][parameter.name] = name
    return JoinedArguments(tuple(members), properties, names, inferred, frozenset(keys))


def _renamed(entries: Mapping[str, _Entry], old: str, new: str) -> dict[str, _Entry]:
    return {new if name == old else name: entry for name, entry in entries.items()}


def free_name(name: str, properties: Mapping[str, JsonObject]) -> str:
    """The name; a number is added if a property already has this name."""
    number, free = 1, name
    while free in properties:
        number += 1
        free = f"{name}_{number}"
    return free


def _common_keys(
    tool: Tool, so_far: Tool, pairs: Mapping[str, str], owners: Mapping[str, Tool]
) -> Mapping[str, tuple[str, str]]:
    """For each unmatched parameter, an unmatched property that is the same kind of key for the
    other tools' subjects.

    The part that both names share comes with it. A parameter and a property are joined only if
    neither could be joined with another one.
    """
    rest = [p for p in tool.parameters if p.name not in pairs]
    others = [p for p in so_far.parameters if p.name not in pairs.values()]
    keys = [
        (own.name, other.name, key)
        for own in rest
        for other in others
        if (key := common_key(own, other, (tool, owners[other.name])))
    ]
    return {
        own: (other, key)
        for own, other, key in keys
        if sum(own == a or other == b for a, b, _ in keys) == 1
    }


def _joint(
    schema: JsonObject, parameter: Parameter, givers: Sequence[tuple[Tool, Parameter]]
) -> JsonObject | None:
    """A schema that accepts the values of all members, with the first member's words.

    If only one side takes lists, a single value is passed as a list of one. If only one side takes
    text, other values are passed as text. ``None`` if there is no such schema.
    """
    types = _types(schema), _types(parameter.schema)
    joint = _list_of(parameter, schema)
    if joint is None and all(types) and ("array" in types[0]) != ("array" in types[1]):
        return None
    joint = joint or _text_of(parameter, schema)
    if joint is None:
        joint = widened(schema, parameter)
    joint = {**_without_words(joint), **{key: schema[key] for key in _WORDS if key in schema}}
    moves = [
        move_to(one, parameter.name, joint) for one in (*(one for _, one in givers), parameter)
    ]
    return joint if all(moves) else None


def _list_of(parameter: Parameter, schema: JsonObject) -> JsonObject | None:
    """The schema of the side that takes lists, if the other side's values fit into its lists."""
    own = parameter.schema
    if ("array" in type_set(own)) == ("array" in type_set(schema)):
        return None
    array, one = (own, schema) if "array" in type_set(own) else (schema, own)
    move = move_to(Parameter(parameter.name, False, one), parameter.name, array)
    return array if move and move.op == "wrap" else None


def _text_of(parameter: Parameter, schema: JsonObject) -> JsonObject | None:
    """The schema of the side that takes text, if the other side's values can be written as text."""
    for text, other in ((schema, parameter.schema), (parameter.schema, schema)):
        if not types_overlap(text, other):
            move = move_to(Parameter(parameter.name, False, other), parameter.name, text)
            if move and move.op == "cast":
                return text
    return None


def widened(schema: JsonObject, parameter: Parameter) -> JsonObject:
    """The smallest schema we can write that accepts the values of both sides, with the words of the
    first.
    """
    other = parameter.schema
    if admits(schema, other) and not leaves_out(schema, other):
        return schema
    words = {key: schema[key] for key in _WORDS if key in schema}
    ours, theirs = _without_words(schema), _without_words(other)
    if admits(theirs, ours) and not leaves_out(theirs, ours):
        return {**theirs, **words}
    values, others = schema.get("enum"), other.get("enum")
    if isinstance(values, list) and isinstance(others, list):
        ours_rest, theirs_rest = ({**part, "enum": []} for part in (ours, theirs))
        if canonical_json(ours_rest) == canonical_json(theirs_rest):
            return {**ours, "enum": _all_values(values, others), **words}
    options = ours["anyOf"] if set(ours) == {"anyOf"} else [ours]
    return {"anyOf": [*options, theirs], **words}


def _all_values(values: list[Any], others: list[Any]) -> list[Any]:
    """The values of both lists; spelling variants of a value appear only once."""
    are_distinct = all(len(set(map(spelling, one))) == len(one) for one in (values, others))
    spelled = {spelling(value) for value in values} if are_distinct else set()
    new = [one for one in others if one not in values and spelling(one) not in spelled]
    return [*values, *new]


def _without_words(schema: JsonObject) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in _WORDS}


def _types(schema: JsonObject) -> frozenset[str]:
    """The types of a schema and its alternatives, except *null*."""
    options = [one for key in ("anyOf", "oneOf") for one in schema.get(key) or ()]
    own = [type_set(one) for one in (schema, *options) if isinstance(one, Mapping)]
    return frozenset[str]().union(*own) - {"null"}


def _limits(own: JsonObject, joint: JsonObject) -> Iterator[str]:
    """The restrictions in a member's own schema that the joint schema lacks, as parts of a
    sentence.
    """
    values, joint_values = own.get("enum"), joint.get("enum") or ()
    if isinstance(values, list) and len(values) <= _MOST_VALUES:
        spelled = set(map(spelling, values))
        shown = [one for one in joint_values if spelling(one) in spelled] or values
        others = [one for one in joint_values if spelling(one) not in spelled]
        if others and len(others) < len(shown):
            yield f"not {', '.join(map(str, others))}"
        elif others or not joint_values:
            yield f"one of {', '.join(map(str, shown))}"
    low, high = (
        own[key] if key in own and own[key] != joint.get(key) else None
        for key in ("minimum", "maximum")
    )
    if low is not None and high is not None:
        yield f"{low} to {high}"
    elif low is not None or high is not None:
        yield f"at least {low}" if high is None else f"at most {high}"
    types = _types(own)
    if len(types) == 1 and types != _types(joint) and not values and low is high is None:
        yield _NOUNS.get(min(types), f"of type {min(types)}")
    if own.get("format") and own["format"] != joint.get("format"):
        yield f"as {own['format']}"
    if own.get("pattern") and own["pattern"] != joint.get("pattern"):
        yield f"matching {own['pattern']}"
