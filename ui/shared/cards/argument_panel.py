"""The parameters of a cluster's members side by side, with what sets them apart."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from ui.shared import safe_text
from ui.shared.cards.argument_table import ArgumentCell, ArgumentLine, argument_table
from ui.shared.cards.cards import Card

COLUMNS_SHOWN = 4
"""Up to so many members the table of arguments is drawn with its differences."""


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
        rows = [
            {
                "parameter": f"lost: {line.name}" if line.lost else line.name,
                **{
                    tool.id: f"{cell.source} ({cell.declared})" if cell.declared else cell.source
                    for tool, cell in zip(card.tools, line.cells, strict=True)
                },
            }
            for line in lines
        ]
        st.dataframe(rows, hide_index=True, alt="Argument mapping of the members")
        return
    heads = "".join(_cell("th", safe_text.untrusted_html(tool.name)) for tool in card.tools)
    body = "".join(_line(line) for line in lines)
    st.html(
        '<div style="overflow-x:auto"><table style="width:100%;border-collapse:collapse;'
        f'font-size:.875rem"><thead><tr>{_cell("th", "merged tool")}{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _line(line: ArgumentLine) -> str:
    """A row of the table of arguments, escaped."""
    own = safe_text.marked(f"lost: {line.name}") if line.lost else _bold(line.name)
    cells = "".join(_argument(cell, line.name) for cell in line.cells)
    return f"<tr>{_cell('th', own)}{cells}</tr>"


def _argument(cell: ArgumentCell, name: str) -> str:
    """What a member gives for the merged parameter ``name``, which is not said again."""
    if not cell.source:
        return _cell("td", safe_text.marked("not given") if cell.differs else "–")
    shown = safe_text.marked if cell.differs else safe_text.dimmed
    if cell.source == name and cell.declared:
        return _cell("td", shown(cell.declared))
    return _cell("td", f"{shown(cell.source)} {safe_text.dimmed(cell.declared)}")


def _bold(text: str) -> str:
    return f"<strong>{safe_text.untrusted_html(text)}</strong>"


def _cell(kind: Literal["th", "td"], content: str) -> str:
    """A cell with content that is escaped already."""
    return (
        f'<{kind} style="text-align:left;vertical-align:top;padding:2px 8px 2px 0;'
        f'border-bottom:1px solid rgba(128,128,128,.3)">{content}</{kind}>'
    )
