"""Which targets take the outgoing toolset, what stands against the chosen one, what it costs."""

from __future__ import annotations

import streamlit as st

from pages import _ui
from toolscope_core.workspace.exports import ExportFigures


def validity_panel(found: ExportFigures, chosen: str) -> None:
    """The matrix of targets beside the tokens by shape, and the rules that ``chosen`` finds
    broken.
    """
    st.subheader("Who takes it", anchor=False)
    matrix, tokens = st.columns([2, 1], gap="large")
    matrix.dataframe(
        found.matrix,
        hide_index=True,
        column_config={"schemas": "parameters", "tools": "too many"},
        alt="Targets and how many of their rules the toolset breaks",
    )
    tokens.dataframe(
        found.tokens,
        hide_index=True,
        column_config={"shape": "tokens in"},
        alt="Tokens of the toolset by shape",
    )
    tokens.caption(f"Tokens: {_ui.untrusted(found.counted)}.")
    if not found.violations:
        return
    fixable = sum(bool(violation.fix) for violation in found.violations)
    told = f"{len(found.violations):,} rules of {chosen} are broken; {fixable:,} have a fix."
    if found.refusals:
        st.warning(f"{told} Until they are mended there is no download.", icon=":material/rule:")
    else:
        st.info(f"{told} It came in so and may go out so.", icon=":material/rule:")
    st.dataframe(
        found.violations,
        hide_index=True,
        column_order=("tool_id", "rule", "value", "fix", "message", "remedy"),
        column_config={
            "tool_id": st.column_config.TextColumn("tool", width=180),
            "message": st.column_config.TextColumn(width=380),
            "remedy": "else",
        },
        alt="Broken rules and the fixes offered",
    )
