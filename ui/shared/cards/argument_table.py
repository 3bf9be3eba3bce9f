"""The parameters of the members of a cluster side by side, each with what sets it apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolscope_core.model.tool import Parameter, Tool, canonical_json
from ui.shared.cards.cards import ArgumentRow, Card

HINTS = "hints"
"""The row of what the servers declare of their tools' effects."""
_MOST_VALUES = 6


@dataclass(frozen=True, slots=True)
class ArgumentCell:
    """How the calls of a member give a merged parameter (its ``source``, empty where they leave it
    out), and what the member declares of it. ``differs`` from the canonical tool's.
    """

    source: str
    declared: str
    differs: bool


@dataclass(frozen=True, slots=True)
class ArgumentLine:
    """A merged parameter, or one that would be lost, with a cell for each member of the card, the
    canonical tool's first.
    """

    name: str
    lost: bool
    cells: tuple[ArgumentCell, ...]

    @property
    def differs(self) -> bool:
        return any(cell.differs for cell in self.cells)


def argument_table(card: Card) -> tuple[ArgumentLine, ...]:
    """A line for each parameter in the order of the merged tool, those that would be lost, and the
    hints of the servers where a member has any.
    """
    lines = []
    for row in card.arguments:
        cells = [_source_and_declaration(card, tool, row) for tool in card.tools]
        lines.append(ArgumentLine(row.name, row.lost, _cells(cells)))
    hints = [
        (", ".join(f"{key} {canonical_json(tool.annotations[key])}" for key in _hint_names(tool)))
        for tool in card.tools
    ]
    if any(hints):
        lines.append(ArgumentLine(HINTS, False, _cells([(text, "") for text in hints])))
    return tuple(lines)


def _source_and_declaration(card: Card, tool: Tool, row: ArgumentRow) -> tuple[str, str]:
    """The source of a merged parameter in the calls of one member, and what that declares of it."""
    source = row.sources.get(tool.id, "")
    alpha = next((one for one in card.cluster.arguments if one.tool_id == tool.id), None)
    moves = alpha.moves if alpha else ()
    own = next(
        (move.source for move in moves if move.target == row.name), "" if alpha else row.name
    )
    parameter = next((one for one in tool.parameters if one.name == own), None)
    if parameter is None:
        return source, ""
    return source or parameter.name, declared(parameter)


def declared(parameter: Parameter) -> str:
    """Type, whether it is required, default and values, in one line."""
    parts = [parameter.type, "required" if parameter.required else "optional"]
    if parameter.enum:
        more = len(parameter.enum) - _MOST_VALUES
        shown = " | ".join(map(_plain, parameter.enum[:_MOST_VALUES]))
        parts.append(f"one of {shown}{f' and {more} more' if more > 0 else ''}")
    if "default" in parameter.schema:
        parts.append(f"default {_plain(parameter.schema['default'])}")
    return ", ".join(parts)


def _cells(members: Sequence[tuple[str, str]]) -> tuple[ArgumentCell, ...]:
    """Cells of (source, declaration), the canonical tool's first."""
    return tuple(ArgumentCell(*one, differs=one != members[0]) for one in members)


def _hint_names(tool: Tool) -> list[str]:
    return sorted(key for key, value in tool.annotations.items() if isinstance(value, bool))


def _plain(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value)
