"""Two tools side by side: what differs, the scan's findings, and the argument mapping."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from toolscope_core.model.catalog import Finding
from toolscope_core.model.tool import Tool
from ui.shared import safe_text
from ui.shared.pairs.pair_view import DIFFERS, PairView
from ui.shared.tools import tool_drawer

TEXT_SHOWN = 4_000
SIDES = ("Tool A", "Tool B")


def side_by_side(view: PairView) -> None:
    """Draw both tools, and below them their parameters, aligned."""
    one, other = view.tools
    for side, column, tool, findings in zip(
        SIDES, st.columns(2), view.tools, view.findings, strict=True
    ):
        with column.container(border=True, height="stretch"):
            st.caption(side)
            _tool(tool, None if tool is one else one)
            _findings(findings)
    if view.rest:
        _table([*view.rest], f"Results and annotations of {one.name} and {other.name}")
    _arguments(view)


def _tool(tool: Tool, base: Tool | None) -> None:
    """Draw a tool; what differs from ``base`` is marked."""
    name, text = tool.name, tool.description[:TEXT_SHOWN]
    marked = ""
    if base is not None and base.name != name:
        marked = safe_text.word_diff(base.name.replace("_", " "), name.replace("_", " "))
    st.html(f"<b>{safe_text.untrusted_html(name)}</b> <small>{marked}</small>")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(
            safe_text.owner(tool.id, tool.name, tool.server), color="gray", icon=":material/dns:"
        )
        tool_drawer.open_button(tool, "pair")
    tool_drawer.declared_line(tool)
    if not text.strip():
        st.caption("No description.")
    elif base is None:
        st.html(safe_text.untrusted_html(text))
    else:
        st.html(safe_text.word_diff(base.description[:TEXT_SHOWN], text))


def _findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        safe_text.finding(finding.severity, f"{finding.severity}: {finding.message}")


def _arguments(view: PairView) -> None:
    st.markdown("**Argument mapping**")
    if view.parameters:
        _table([*view.parameters], "The parameters of both tools, aligned")
    else:
        st.caption("Neither tool declares parameters.")
    one, other = view.tools
    for column, (tool, target), steps in zip(
        st.columns(2), ((one, other), (other, one)), view.maps, strict=True
    ):
        with column:
            names = (safe_text.untrusted(tool.id), safe_text.untrusted(target.id))
            st.markdown(f"To replace a call to {names[0]} by a call to {names[1]}:")
            none = (
                "Its arguments are not known."
                if tool.schema is None
                else "No arguments are needed."
            )
            lines = steps or (none,)
            st.markdown("\n".join(f"- {safe_text.untrusted(line)}" for line in lines))


def _table(rows: list[object], alt: str) -> None:
    """Draw a table; cells that differ begin with a sign and have a coloured background."""
    frame = pd.DataFrame(rows)

    def background(cell: object) -> str:
        marked = isinstance(cell, str) and cell.startswith(DIFFERS.strip())
        return "background-color: rgba(230,159,0,0.22)" if marked else ""

    st.dataframe(
        frame.style.map(background),
        hide_index=True,
        column_config={name: _heading(name) for name in frame.columns},
        alt=alt,
    )


def _heading(column: str) -> str:
    """``A`` for the column of the first tool, ``B, type`` for the type of the second."""
    side, comma, attribute = column.partition(",")
    return f"{ {'one': 'A', 'other': 'B'}.get(side, side) }{comma}{attribute}"
