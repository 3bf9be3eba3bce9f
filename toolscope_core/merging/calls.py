"""Calls through α, and evaluation sets through φ and α.

ToolScope relabels gold answers by φ (equation 3); a call keeps its meaning only if its arguments
move too, which is what the argument maps are for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolscope_core.datamodel import ArgumentMap, ArgumentMove, JsonObject, canonical_json


@dataclass(frozen=True, slots=True)
class MappedCall:
    """A call to the merged tool; ``lost`` names the arguments that have no place there."""

    tool: str
    arguments: JsonObject
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelabelledQuery:
    """One row of an evaluation set after φ and α, and what became of it.

    ``shrunk`` holds the groups of gold ids that became one; ``unknown`` lists ids that φ does
    not know (left as they are); ``lost`` names the arguments of its calls that have no place any
    more.
    """

    row: JsonObject
    changed: bool
    shrunk: tuple[tuple[str, ...], ...] = ()
    unknown: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def map_call(alpha: ArgumentMap, arguments: JsonObject) -> MappedCall:
    """The call to ``alpha.to`` that does what ``arguments`` asked of ``alpha.tool_id``.

    Arguments that the old tool never declared are passed on under their own name, unless that
    name is taken.
    """
    mapped: dict[str, Any] = {}
    lost: list[str] = []
    moves = {move.source: move for move in alpha.moves}
    for name, value in arguments.items():
        move = moves.get(name)
        if move is not None:
            mapped[move.target] = _forward(move, value)
    targets = {move.target for move in alpha.moves} | set(alpha.constants)
    for name, value in arguments.items():
        if name in alpha.dropped or (name not in moves and name in targets):
            lost.append(name)
        elif name not in moves:
            mapped[name] = value
    return MappedCall(alpha.to, {**mapped, **alpha.constants}, tuple(lost))


def unmap_call(alpha: ArgumentMap, arguments: JsonObject, types: Mapping[str, str]) -> JsonObject:
    """The old arguments again, where α is lossless.

    ``types`` gives the JSON type of the old parameters by name: what ``cast`` turns text back to.
    """
    back: dict[str, Any] = {}
    moves = {move.target: move for move in alpha.moves}
    for name, value in arguments.items():
        move = moves.get(name)
        if move is not None:
            back[move.source] = _backward(move, value, types.get(move.source, "any"))
        elif name not in alpha.constants:
            back[name] = value
    return back


def relabel_query(
    row: JsonObject, phi: Mapping[str, str], alphas: Mapping[str, ArgumentMap]
) -> RelabelledQuery:
    """``gold`` and ``calls`` of one row rewritten; everything else, and the order, as it was.

    ``gold`` keeps first occurrences; calls are never dropped or joined.
    """
    gold = [tool for tool in _listed(row.get("gold")) if isinstance(tool, str)]
    became: dict[str, list[str]] = {}
    for tool in dict.fromkeys(gold):
        became.setdefault(phi.get(tool, tool), []).append(tool)
    calls, lost = _calls(row.get("calls"), phi, alphas)
    new_row = dict(row)
    if isinstance(row.get("gold"), list):
        new_row["gold"] = list(became)
    if isinstance(row.get("calls"), list):
        new_row["calls"] = calls
    named = [*gold, *(str(call.get("tool")) for call in _listed(row.get("calls")))]
    return RelabelledQuery(
        row=new_row,
        changed=canonical_json(new_row) != canonical_json(dict(row)),
        shrunk=tuple(tuple(old) for old in became.values() if len(old) > 1),
        unknown=tuple(dict.fromkeys(tool for tool in named if tool not in phi)),
        lost=tuple(lost),
    )


def _calls(
    calls: object, phi: Mapping[str, str], alphas: Mapping[str, ArgumentMap]
) -> tuple[list[JsonObject], list[str]]:
    mapped: list[JsonObject] = []
    lost: list[str] = []
    for call in _listed(calls):
        tool, arguments = call.get("tool"), call.get("arguments")
        alpha = alphas.get(tool)
        if alpha is None or alpha.to != phi.get(tool):
            mapped.append({**call, "tool": phi.get(tool, tool)})
            continue
        new = map_call(alpha, arguments if isinstance(arguments, Mapping) else {})
        mapped.append({**call, "tool": new.tool, "arguments": dict(new.arguments)})
        lost += [f"{tool}.{name}" for name in new.lost]
    return mapped, lost


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _forward(move: ArgumentMove, value: Any) -> Any:
    if move.op == "map":
        told = canonical_json(value)
        return next((new for old, new in move.values if canonical_json(old) == told), value)
    if move.op == "wrap":
        return [value]
    return canonical_json(value) if move.op == "cast" else value


def _backward(move: ArgumentMove, value: Any, kind: str) -> Any:
    if move.op == "map":
        told = canonical_json(value)
        return next((old for old, new in move.values if canonical_json(new) == told), value)
    if move.op == "wrap":
        return value[0] if isinstance(value, list) and len(value) == 1 else value
    if move.op == "cast" and isinstance(value, str):
        return json.loads(value) if kind in ("integer", "number", "boolean") else value
    return value
