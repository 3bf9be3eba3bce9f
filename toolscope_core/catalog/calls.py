"""Finds the parts of tool calls, maps calls through α, and checks them against a schema."""

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from jsonschema_rs import Draft202012Validator, ReferencingError

from toolscope_core.catalog.formats.record_format import value_at
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove, Operation
from toolscope_core.model.tool import JsonObject, Parameter, canonical_json


@dataclass(frozen=True, slots=True)
class MappedCall:
    """A call after α; ``losses`` are the names of arguments that do not fit anywhere in it."""

    tool: str
    arguments: JsonObject
    losses: tuple[str, ...] = ()


_TOOL_KEYS = (
    *("tool", "name", "tool_name", "toolName", "function_name", "recipient_name"),
    *("action", "function"),
)
_ARGUMENT_KEYS = (
    *("arguments", "input", "args", "kwargs", "parameters", "params", "inputs", "tool_input"),
    *("toolInput", "tool_args", "action_input", "input_parameters"),
)
_HOLDERS = ((), ("function",))
"""The paths to a call's tool and arguments: in the call itself, or one level down in OpenAI's
chat.
"""
_OF_SCHEMAS = ("properties", "$ref", "additionalProperties")

_INVERSE: Mapping[Operation, Operation] = {"wrap": "unwrap", "unwrap": "wrap"}

_SAMPLES: dict[str, Any] = {
    "string": "…",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


class _NewName(str):
    """A property name that a rename created; a property with such a name is not renamed again.

    Places may overlap, so a rename may meet properties that already have their new names.
    """

    __slots__ = ()


def map_call(alpha: ArgumentMap, arguments: JsonObject) -> MappedCall:
    """The call to ``alpha.to`` that does what ``arguments`` asked ``alpha.tool_id`` to do.

    Arguments that the old tool did not declare keep their names, unless a name is taken.
    """
    moves = {move.source: (move.target, partial(_forward, move)) for move in alpha.moves}
    declared = {move.target for move in alpha.moves} | alpha.constants.keys() | alpha.dropped.keys()
    mapped, lost = _mapped_arguments(arguments, moves, declared)
    for rename in alpha.nested:
        mapped = renamed_inside(mapped, rename.source, rename.target, lost)
    return MappedCall(alpha.to, {**mapped, **alpha.constants}, tuple(dict.fromkeys(lost)))


def unmap_call(alpha: ArgumentMap, arguments: JsonObject, types: Mapping[str, str]) -> MappedCall:
    """The call to the old tool that ``map_call`` changed, with the original arguments if α is
    lossless.

    ``types`` has the JSON types of the old parameters by name, so that ``cast`` can be reversed.
    Arguments that the merged tool did not declare keep their names, unless the old tool has a
    parameter with that name.
    """
    lost: list[str] = []
    for rename in reversed(alpha.nested):
        arguments = renamed_inside(arguments, rename.target, rename.source, lost)
    moves = {
        move.target: (move.source, partial(_backward, move, kind=types.get(move.source, "any")))
        for move in alpha.moves
    }
    declared = {move.source for move in alpha.moves} | alpha.dropped.keys() | types.keys()
    own = {name: value for name, value in arguments.items() if name not in alpha.constants}
    back, unplaced = _mapped_arguments(own, moves, declared)
    return MappedCall(alpha.tool_id, back, tuple(dict.fromkeys((*lost, *unplaced))))


def foreign_arguments(
    alpha: ArgumentMap, arguments: JsonObject, declared: JsonObject
) -> dict[str, bool]:
    """The arguments that the merged tool has ``declared`` only for other old tools.

    Each is mapped to whether it can be left out because it only repeats the declared default, which
    some clients fill in.
    """
    own = {move.target for move in alpha.moves} | alpha.constants.keys()
    return {
        name: isinstance(schema := declared[name], Mapping)
        and "default" in schema
        and schema["default"] == value
        for name, value in arguments.items()
        if name in declared and name not in own
    }


def _mapped_arguments(
    arguments: JsonObject,
    moves: Mapping[str, tuple[str, Callable[[Any], Any]]],
    declared: Collection[str],
) -> tuple[dict[str, Any], list[str]]:
    """The arguments under their new names, and the names of arguments that fit nowhere.

    Only a move may fill a name that is ``declared``. If two moves fill the same name, the first
    wins.
    """
    givers: dict[str, str] = {}
    for name, (target, _) in moves.items():
        if name in arguments:
            givers.setdefault(target, name)
    mapped: dict[str, Any] = {}
    lost: list[str] = []
    for name, value in arguments.items():
        if name not in moves and name not in declared:
            mapped[name] = value
        elif name in moves and givers[moves[name][0]] == name:
            target, convert = moves[name]
            mapped[target] = convert(value)
        else:
            lost.append(name)
    return mapped, lost


def renamed_inside(
    arguments: JsonObject, source: str, target: str, lost: list[str]
) -> dict[str, Any]:
    """The arguments with the property at the pointer ``source`` renamed to the last name in
    ``target``.

    If an undeclared property already has the new name, it is removed and its pointer is added to
    ``lost``.
    """
    steps = [step.replace("~1", "/").replace("~0", "~") for step in source.split("/")[1:]]
    new = target.rpartition("/")[2].replace("~1", "/").replace("~0", "~")

    def renamed(value: Any, depth: int) -> Any:
        step, last = steps[depth], depth + 1 == len(steps)
        if step == "*" and not last and isinstance(value, list):
            return [renamed(inner, depth + 1) for inner in value]
        if not isinstance(value, dict):
            return value
        if not last:
            return {
                key: renamed(inner, depth + 1) if step in ("*", key) else inner
                for key, inner in value.items()
            }
        clashing_keys = {key for key in value if key == new and not isinstance(key, _NewName)}
        if clashing_keys:
            lost.append(target)
        entries = {key: inner for key, inner in value.items() if key not in clashing_keys}
        return {_NewName(new) if key == step else key: inner for key, inner in entries.items()}

    return dict(renamed(dict(arguments), 0))


def sample_arguments(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Example arguments that show the types: a default, the first of listed values, or a plain
    value.
    """
    return {parameter.name: _sample(parameter) for parameter in parameters}


def _sample(parameter: Parameter) -> Any:
    """A value that shows the type of a parameter; the first value if values are listed."""
    if parameter.enum:
        return parameter.enum[0]
    return parameter.schema.get("default", _SAMPLES.get(parameter.type, "…"))


@dataclass(frozen=True, slots=True)
class CallPlaces:
    """The paths to the tool and the arguments in a call; ``arguments`` is empty if the call has
    none.
    """

    tool: tuple[str, ...]
    arguments: tuple[str, ...]


def read_call(call: object) -> tuple[str, JsonObject] | None:
    """The tool in a call (by id or name) and the arguments, in any form that ``relabel`` rewrites.

    ``None`` if the value is not a call.
    """
    places = call_places(call)
    if places is None:
        return None
    value = value_at(call, places.arguments)
    arguments = {} if value is None else arguments_of(value)
    return None if arguments is None else (value_at(call, places.tool), arguments)


def call_places(call: object, is_tool: Callable[[str], object] = bool) -> CallPlaces | None:
    """The paths to the tool, for which ``is_tool`` is true, and to its arguments in an object.

    A schema does not count as arguments. An object without arguments is a call only if it has
    nothing except ``tool`` or ``name``. ``None`` if the object is not a call.
    """
    for holder in _HOLDERS:
        inner = value_at(call, holder)
        if not isinstance(inner, dict):
            continue
        named = (key for key in _TOOL_KEYS if isinstance(inner.get(key), str))
        tool = next((key for key in named if is_tool(inner[key])), None)
        given = next((key for key in _ARGUMENT_KEYS if _are_arguments(inner, key)), None)
        if tool == "action" and given != "action_input":
            continue
        if tool is not None and (given or tool in ("tool", "name")):
            return CallPlaces((*holder, tool), (*holder, given or "arguments"))
    return None


def _are_arguments(inner: JsonObject, key: str) -> bool:
    value = inner.get(key)
    if value is None or (key in ("parameters", "params", "inputs") and "description" in inner):
        return False
    return not is_schema(value)


def is_schema(value: object) -> bool:
    """Whether an object describes arguments instead of giving them."""
    return isinstance(value, dict) and (
        any(isinstance(value.get(key), (dict, str)) for key in _OF_SCHEMAS)
        or (isinstance(value.get("type"), str) and value["type"].lower() in ("object", "dict"))
    )


def arguments_of(arguments: object) -> JsonObject | None:
    """The arguments as an object; JSON text, as stored in some evaluation sets, is parsed."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return arguments if isinstance(arguments, dict) else None


def _forward(move: ArgumentMove, value: Any) -> Any:
    if move.op == "map":
        encoded = canonical_json(value)
        return next((new for old, new in move.values if canonical_json(old) == encoded), value)
    if move.op == "wrap":
        return [value]
    if move.op == "unwrap":
        return value[0] if isinstance(value, list) and len(value) == 1 else value
    is_written = move.op == "cast" and not isinstance(value, str)
    return canonical_json(value) if is_written else value


def _backward(move: ArgumentMove, value: Any, kind: str) -> Any:
    if move.op == "cast":
        is_written = isinstance(value, str) and kind in ("integer", "number", "boolean")
        return _plain_value(value) if is_written else value
    back = tuple((new, old) for old, new in move.values)
    return _forward(replace(move, op=_INVERSE.get(move.op, move.op), values=back), value)


def _plain_value(text: str) -> Any:
    """The number or truth value that the text spells; otherwise the text itself."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    is_plain = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value if is_plain else text


def validator_of(schema: JsonObject | None, mask: str | None = None) -> Draft202012Validator | None:
    """A validator; ``None`` if the tool declares no arguments or no validator can read the schema.

    Without a validator, any call is valid. Error messages show ``mask`` in place of values.
    """
    if schema is None:
        return None
    try:
        return Draft202012Validator(_encodable(dict(schema)), retriever=_nothing_outside, mask=mask)
    except (ValueError, ReferencingError):
        return None


def takes(validator: Draft202012Validator | None, value: object) -> bool:
    """Whether the value is valid."""
    return validator is None or validator.is_valid(_encodable(value))


def call_refusals(
    schema: JsonObject | None, arguments: JsonObject, most: int = 5, mask: str | None = None
) -> tuple[str, ...]:
    """The first ``most`` objections of the schema to these arguments.

    They are sentences, cut to 300 characters, with ``mask`` in place of values.
    """
    validator = validator_of(schema, mask)
    if validator is None:
        return ()
    errors = validator.iter_errors(_encodable(dict(arguments)))
    return tuple(error.message[:300] for error in islice(errors, most))


def _nothing_outside(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema")


def _encodable(value: object) -> Any:
    """The value without lone surrogates, which the validator does not accept as text."""
    return json.loads(canonical_json(value).encode("utf-8", "replace"))
