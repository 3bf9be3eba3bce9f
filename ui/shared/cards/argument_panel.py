"""The parameters of a cluster's members side by side, each with what sets it apart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from toolscope_core.model.tool import Parameter, Tool, canonical_json
from ui.shared import data_tables, safe_text
from ui.shared.cards.cards import ArgumentRow, Card, cell_text
from ui.shared.data_tables import Column

COLUMNS_SHOWN = 4
"""Up to so many members the table of arguments is drawn with its differences."""

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

    @property
    def in_words(self) -> str:
        return f"{self.source} ({self.declared})" if self.declared else self.source


@dataclass(frozen=True, slots=True)
class ArgumentLine:
    """A merged parameter, or one that would be lost, with a cell for each member of the card, the
    canonical tool's first.
    """

    name: str
    is_lost: bool
    cells: tuple[ArgumentCell, ...]

    @property
    def differs(self) -> bool:
        return any(cell.differs for cell in self.cells)


def arguments(card: Card) -> None:
    """Each parameter of the merged tool with what the members declare and call it, a column a
    member; what differs from the canonical tool is marked.
    """
    st.markdown("**Argument mapping**")
    lines = argument_table(card)
    if not lines:
        st.caption("No parameters are declared.")
        return
    if len(card.tools) > COLUMNS_SHOWN:

        def cell_of(at: int) -> Callable[[ArgumentLine], str]:
            return lambda line: line.cells[at].in_words

        members = [Column(tool.id, cell_of(at)) for at, tool in enumerate(card.tools)]
        name = Column[ArgumentLine](
            "parameter", lambda line: f"lost: {line.name}" if line.is_lost else line.name
        )
        data_tables.draw(lines, [name, *members], "Argument mapping of the members")
        return
    heads = "".join(_cell("th", safe_text.untrusted_html(tool.name)) for tool in card.tools)
    body = "".join(_line(line) for line in lines)
    st.html(
        '<div style="overflow-x:auto"><table style="width:100%;border-collapse:collapse;'
        f'font-size:.875rem"><thead><tr>{_cell("th", "merged tool")}{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def argument_table(card: Card) -> tuple[ArgumentLine, ...]:
    """A line for each parameter in the order of the merged tool, those that would be lost, and the
    hints of the servers where a member has any.
    """
    lines = []
    for row in card.arguments:
        cells = [_source_and_declaration(card, tool, row) for tool in card.tools]
        lines.append(ArgumentLine(row.name, row.is_lost, _cells(cells)))
    hints = [
        (", ".join(f"{key} {canonical_json(tool.annotations[key])}" for key in _hint_names(tool)))
        for tool in card.tools
    ]
    if any(hints):
        lines.append(ArgumentLine(HINTS, False, _cells([(text, "") for text in hints])))
    return tuple(lines)


def declared(parameter: Parameter) -> str:
    """Type, whether it is required, default and values, in one line."""
    parts = [parameter.type, "required" if parameter.required else "optional"]
    if parameter.enum:
        more = len(parameter.enum) - _MOST_VALUES
        values = " | ".join(map(cell_text, parameter.enum[:_MOST_VALUES]))
        parts.append(f"one of {values}{f' and {more} more' if more > 0 else ''}")
    if "default" in parameter.schema:
        parts.append(f"default {cell_text(parameter.schema['default'])}")
    return ", ".join(parts)


def _line(line: ArgumentLine) -> str:
    """A row of the table of arguments, escaped."""
    own = safe_text.marked(f"lost: {line.name}") if line.is_lost else _bold(line.name)
    cells = "".join(_argument(cell, line.name) for cell in line.cells)
    return f"<tr>{_cell('th', own)}{cells}</tr>"


def _argument(cell: ArgumentCell, name: str) -> str:
    """What a member gives for the merged parameter ``name``, which is not said again."""
    if not cell.source:
        return _cell("td", safe_text.marked("not given") if cell.differs else "–")
    style = safe_text.marked if cell.differs else safe_text.dimmed
    if cell.source == name and cell.declared:
        return _cell("td", style(cell.declared))
    return _cell("td", f"{style(cell.source)} {safe_text.dimmed(cell.declared)}")


def _bold(text: str) -> str:
    return f"<strong>{safe_text.untrusted_html(text)}</strong>"


def _cell(kind: Literal["th", "td"], content: str) -> str:
    """A cell with content that is escaped already."""
    return (
        f'<{kind} style="text-align:left;vertical-align:top;padding:2px 8px 2px 0;'
        f'border-bottom:1px solid rgba(128,128,128,.3)">{content}</{kind}>'
    )


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


def _cells(members: Sequence[tuple[str, str]]) -> tuple[ArgumentCell, ...]:
    """Cells of (source, declaration), the canonical tool's first."""
    return tuple(ArgumentCell(*one, differs=one != members[0]) for one in members)


def _hint_names(tool: Tool) -> list[str]:
    return sorted(key for key, value in tool.annotations.items() if isinstance(value, bool))
