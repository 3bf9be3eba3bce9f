"""Calls through α, and evaluation sets through φ and α.

ToolScope relabels gold answers by φ (equation 3); a call keeps its meaning only if its arguments
move too, which is what the argument maps are for.
"""

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from jsonschema_rs import Draft202012Validator, ReferencingError

from toolscope_core.model.cluster import ArgumentMap, ArgumentMove, Operation
from toolscope_core.model.tool import JsonObject, Parameter, canonical_json


@dataclass(frozen=True, slots=True)
class MappedCall:
    """A call on the other side of α; ``losses`` names the arguments that have no place there."""

    tool: str
    arguments: JsonObject
    losses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelabelledQuery:
    """One row of an evaluation set after φ and α, and what became of it.

    ``shrunk`` holds the groups of gold ids that became one; ``removed_tools`` the gold and called
    tools that were left out of the toolset, with ``is_emptied`` where no gold tool is left;
    ``unknown_ids`` lists ids that φ does not know (left as they are); ``losses`` names the
    arguments of its calls that have no place any more; ``unread_calls`` counts the calls of which
    it is not clear which tool they call; ``rename_count`` the names in gold and calls that became
    others; ``exempt`` are the JSON pointers at which a name that is gone may stand: the id of the
    row, called tools that were left out, and what α has put in.
    """

    row: JsonObject
    is_changed: bool
    shrunk: tuple[tuple[str, ...], ...] = ()
    unknown_ids: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    unread_calls: int = 0
    removed_tools: tuple[str, ...] = ()
    is_emptied: bool = False
    rename_count: int = 0
    exempt: frozenset[str] = frozenset()

    @property
    def is_understood(self) -> bool:
        """Whether the row has gold or calls at all."""
        return any(isinstance(self.row.get(key), list) for key in ("gold", "calls"))


_PLACES = (
    (("tool",), ("arguments",)),
    (("name",), ("input",)),
    (("name",), ("arguments",)),
    (("function", "name"), ("function", "arguments")),
)
"""Where a call has its tool and its arguments: ours, Anthropic, OpenAI responses, OpenAI chat."""

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
    """The name of a property that a rename gave it: what is called so in a call is another one.
    Places may overlap, so a rename meets properties that have their new name already.
    """

    __slots__ = ()


def map_call(alpha: ArgumentMap, arguments: JsonObject) -> MappedCall:
    """The call to ``alpha.to`` that does what ``arguments`` asked of ``alpha.tool_id``.

    Arguments that the old tool never declared are passed on under their own name, unless that
    name is taken.
    """
    moves = {move.source: (move.target, partial(_forward, move)) for move in alpha.moves}
    declared = {move.target for move in alpha.moves} | alpha.constants.keys() | alpha.dropped.keys()
    mapped, lost = _mapped_arguments(arguments, moves, declared)
    for rename in alpha.nested:
        mapped = renamed_inside(mapped, rename.source, rename.target, lost)
    return MappedCall(alpha.to, {**mapped, **alpha.constants}, tuple(dict.fromkeys(lost)))


def unmap_call(alpha: ArgumentMap, arguments: JsonObject, types: Mapping[str, str]) -> MappedCall:
    """The call to the old tool again, with its arguments where α is lossless.

    ``types`` gives the JSON type of the old parameters by name: what ``cast`` turns text back to.
    Arguments that the merged tool never declared are passed on under their own name, unless the
    old tool has a parameter of that name.
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


def _mapped_arguments(
    arguments: JsonObject,
    moves: Mapping[str, tuple[str, Callable[[Any], Any]]],
    declared: Collection[str],
) -> tuple[dict[str, Any], list[str]]:
    """The arguments under the names that ``moves`` lead to, and those that have no place: only a
    move may give what is ``declared``, and of two that give the same the first.
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
    """The arguments with the property at the pointer ``source`` called as in ``target``.

    A property that has the new name already, which nothing declares, goes, and ``lost`` gets its
    pointer.
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
    """Arguments that show the types: a default, the first of listed values, or a plain value."""
    return {parameter.name: _sample(parameter) for parameter in parameters}


def _sample(parameter: Parameter) -> Any:
    """A value that shows the type; the first of a list of values."""
    if parameter.enum:
        return parameter.enum[0]
    return parameter.schema.get("default", _SAMPLES.get(parameter.type, "…"))


def relabel_query(
    row: JsonObject,
    phi: Mapping[str, str | None],
    alphas: Mapping[str, ArgumentMap],
    names: Mapping[str, tuple[str, str | None]] | None = None,
) -> RelabelledQuery:
    """``gold`` and ``calls`` of one row rewritten; everything else, and the order, as it was.

    Of two gold tools that became one the first place stays, and one that was left out of the
    toolset leaves gold; calls are never dropped or joined, and one to such a tool stays as it is.
    A call says its tool by id or, where one tool has it, by name: ``names`` are old name → (old id,
    new name). What is no id or no call stays as it is.
    """
    gold = row.get("gold")
    old_ids: dict[str, list[str]] = {}
    new_gold: list[Any] = []
    removed_gold: list[str] = []
    for tool in gold if isinstance(gold, list) else ():
        new = phi.get(tool, tool) if isinstance(tool, str) else tool
        if new is None and tool is not None:
            removed_gold.append(tool)
            continue
        old_ones = old_ids.setdefault(new, []) if isinstance(new, str) else []
        if not old_ones or tool in old_ones:
            new_gold.append(new)
        if tool not in old_ones:
            old_ones.append(tool)
    called_tools = row["calls"] if isinstance(row.get("calls"), list) else ()
    calls = [_relabel_call(call, phi, alphas, names or {}) for call in called_tools]
    new_row = dict(row)
    if isinstance(gold, list):
        new_row["gold"] = new_gold
    if isinstance(row.get("calls"), list):
        new_row["calls"] = [call.row for call in calls]
    tool_ids = [tool for old in old_ids.values() for tool in old]
    tool_ids += [call.tool for call in calls if call.tool]
    called_gone = [call.tool for call in calls if phi.get(call.tool, "") is None]
    renamed = [tool for old in old_ids.values() for tool in old if phi.get(tool, tool) != tool]
    return RelabelledQuery(
        row=new_row,
        is_changed=canonical_json(new_row) != canonical_json(dict(row)),
        shrunk=tuple(tuple(old) for old in old_ids.values() if len(old) > 1),
        unknown_ids=tuple(dict.fromkeys(tool for tool in tool_ids if tool not in phi)),
        losses=tuple(name for call in calls for name in call.losses),
        unread_calls=sum(not call.tool for call in calls) + _unreadable(row),
        removed_tools=tuple(dict.fromkeys((*removed_gold, *called_gone))),
        is_emptied=bool(removed_gold) and not new_gold,
        rename_count=len(renamed) + sum(call.is_renamed for call in calls),
        exempt=frozenset(
            (
                "/id",
                *(f"/calls/{at}/{place}" for at, call in enumerate(calls) for place in call.exempt),
            )
        ),
    )


def _unreadable(row: JsonObject) -> int:
    """How many of ``gold`` and ``calls`` hold something and are no lists."""
    values = (row.get("gold"), row.get("calls"))
    return sum(value is not None and not isinstance(value, list) for value in values)


@dataclass(frozen=True, slots=True)
class _RelabelledCall:
    """A call rewritten, and the id of the tool that it called; empty if it was not understood.
    ``exempt`` as in ``RelabelledQuery``, in the call.
    """

    row: Any
    tool: str = ""
    losses: tuple[str, ...] = ()
    is_renamed: bool = False
    exempt: tuple[str, ...] = ()


def read_call(call: object) -> tuple[str, JsonObject] | None:
    """The tool of a call, by id or name, and its arguments, in any of the forms that
    ``relabel_query`` rewrites; ``None`` for what is no call.
    """
    places = _places(call)
    if places is None:
        return None
    tool, value = _at(call, places[0]), _at(call, places[1])
    arguments = {} if value is None else _object(value)
    return None if arguments is None else (tool, arguments)


def _places(call: object) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Where a call has its tool and its arguments."""
    for tool_at, arguments_at in _PLACES:
        has_arguments = _at(call, arguments_at) is not None or arguments_at[-1] == "arguments"
        if isinstance(_at(call, tool_at), str) and has_arguments:
            return tool_at, arguments_at
    return None


def _relabel_call(
    call: object,
    phi: Mapping[str, str | None],
    alphas: Mapping[str, ArgumentMap],
    names: Mapping[str, tuple[str, str | None]],
) -> _RelabelledCall:
    places = _places(call)
    if places is None:
        return _RelabelledCall(call)
    tool_at, arguments_at = places
    tool, value = _at(call, tool_at), _at(call, arguments_at)
    old, new = tool, phi.get(tool, tool)
    if tool not in phi and tool in names:
        old, new = names[tool]
    elif tool not in phi and tool_at != ("tool",):
        return _RelabelledCall(call)
    if new is None:
        return _RelabelledCall(call, old, exempt=("/".join(tool_at),))
    row, alpha = _put(call, tool_at, new), alphas.get(old)
    arguments = _object(value)
    if alpha is None or value is None:
        return _RelabelledCall(row, old, is_renamed=new != tool)
    if arguments is None:
        why = f"{old}: its arguments are no object"
        return _RelabelledCall(row, old, (why,), new != tool)
    new_call = map_call(alpha, arguments)
    new_arguments = dict(new_call.arguments)
    in_same_form = canonical_json(new_arguments) if isinstance(value, str) else new_arguments
    row = _put(row, arguments_at, in_same_form)
    lost = tuple(f"{old}.{name}" for name in new_call.losses)
    added_names = {*alpha.constants, *(move.target for move in alpha.moves if move.op == "map")}
    exempt = tuple(f"{'/'.join(arguments_at)}/{name}" for name in sorted(added_names))
    return _RelabelledCall(row, old, lost, new != tool, exempt)


def _at(value: object, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _put(value: Any, path: Sequence[str], new: Any) -> Any:
    key, *rest = path
    return {**value, key: _put(value[key], rest, new) if rest else new}


def _object(arguments: object) -> JsonObject | None:
    """The arguments as an object, also where an evaluation set holds them as JSON text."""
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
    return canonical_json(value) if move.op == "cast" else value


def _backward(move: ArgumentMove, value: Any, kind: str) -> Any:
    if move.op == "cast":
        is_written = isinstance(value, str) and kind in ("integer", "number", "boolean")
        return _plain_value(value) if is_written else value
    back = tuple((new, old) for old, new in move.values)
    return _forward(replace(move, op=_INVERSE.get(move.op, move.op), values=back), value)


def _plain_value(text: str) -> Any:
    """The number or truth value that is written so; the text itself where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    is_plain = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value if is_plain else text


def validator_of(schema: JsonObject | None, mask: str | None = None) -> Draft202012Validator | None:
    """``None`` for a tool that does not say what it takes, or says it in a schema that no validator
    reads: it takes everything. Its messages have the ``mask`` in place of values.
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
    """What the schema says against these arguments: the first ``most`` sentences, cut to 300, with
    the ``mask`` in place of values.
    """
    validator = validator_of(schema, mask)
    if validator is None:
        return ()
    errors = validator.iter_errors(_encodable(dict(arguments)))
    return tuple(error.message[:300] for error in islice(errors, most))


def _nothing_outside(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema")


def _encodable(value: object) -> Any:
    """Without lone surrogates, which are no text for the validator."""
    return json.loads(canonical_json(value).encode("utf-8", "replace"))
