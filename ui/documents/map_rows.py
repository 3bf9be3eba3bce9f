"""An argument map as the rows of a table that people edit, and what they gave by it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolscope_core.model.argument_map import ArgumentMap
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import JsonObject, Tool, canonical_json
from ui.documents.drafts import value_of
from ui.shared.cards.cards import text_of

DROPPED = "(dropped)"


@dataclass(frozen=True, slots=True)
class MapRow:
    """One argument of an old tool: the merged one that it becomes, or ``DROPPED`` with the reason;
    ``values`` is the table of its values as JSON, an object of old value (as text) and new one.
    """

    argument: str
    type: str
    becomes: str
    values: str = ""
    reason: str = ""


def map_rows(tool: Tool, alpha: ArgumentMap) -> tuple[MapRow, ...]:
    """A row for each declared argument, in order."""
    moves = {move.source: move for move in alpha.moves}
    rows = []
    for parameter in tool.parameters:
        move = moves.get(parameter.name)
        if move is None:
            reason = alpha.dropped.get(parameter.name, "")
            rows.append(MapRow(parameter.name, parameter.type, DROPPED, reason=reason))
            continue
        values = {text_of(old): new for old, new in move.values}
        text = json.dumps(values, ensure_ascii=False) if values else ""
        rows.append(MapRow(parameter.name, parameter.type, move.target, text))
    return tuple(rows)


def given_by(
    tool: Tool, generated: ArgumentMap, rows: Sequence[MapRow], constants: str
) -> dict[str, Any]:
    """What the rows and the constants (a JSON object) say otherwise than the
    ``generated`` map, as ``merging.given_maps`` reads it; empty for nothing.

    Raises ``DecisionError`` for a table of values or constants that cannot be read, and for an
    argument that is dropped without a reason.
    """
    before = {row.argument: row for row in map_rows(tool, generated)}
    kinds = {parameter.name: parameter.type for parameter in tool.parameters}
    moves: dict[str, Any] = {}
    dropped: dict[str, str] = {}
    for row in rows:
        if row == before.get(row.argument):
            continue
        if row.becomes == DROPPED:
            if not row.reason.strip():
                raise DecisionError(
                    f"`{row.argument}` of {tool.name} is dropped without a reason; say why its "
                    "callers can do without it"
                )
            dropped[row.argument] = row.reason.strip()
            continue
        values = _object(row.values, f"the values of `{row.argument}`")
        moves[row.argument] = {"to": row.becomes}
        if values:
            table = [[value_of(old, kinds[row.argument]), new] for old, new in values.items()]
            moves[row.argument]["values"] = table
    given: dict[str, Any] = {}
    if moves:
        given["moves"] = moves
    if dropped:
        given["dropped"] = dropped
    always = _object(constants, "what is always sent")
    if canonical_json(always) != canonical_json(dict(generated.constants)):
        given["constants"] = always
    return given


def _object(text: str, what: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise DecisionError(
            f'{what} are {text[:80]!r}; give a JSON object such as {{"old": "new"}}'
        )
    return value


def reachable(
    tools: Sequence[Tool], arguments: Sequence[ArgumentMap]
) -> tuple[tuple[str, str], ...]:
    """The required arguments of the old tools that have no place in the merged one, each with its
    tool's name.
    """
    maps: Mapping[str, ArgumentMap] = {alpha.tool_id: alpha for alpha in arguments}
    return tuple(
        (tool.name, parameter.name)
        for tool in tools
        for parameter in tool.parameters
        if parameter.required
        and tool.id in maps
        and parameter.name not in {move.source for move in maps[tool.id].moves}
    )


def as_constants(constants: JsonObject) -> str:
    """What is always sent, as the text of a field; empty for nothing."""
    return json.dumps(dict(constants), ensure_ascii=False) if constants else ""
