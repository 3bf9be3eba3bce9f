"""Which targets take the outgoing toolset, what stands against one of them, what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from toolscope_core.views.exports import ExportFigures, ToolsetLine, Way
from ui.frame import safe_text


def validity_panel(found: ExportFigures, chosen: str) -> str:
    """The matrix of targets beside the tokens by shape, and the rules that one of them finds
    broken, at first ``chosen``; returns that target's name.
    """
    st.subheader("Who takes it", anchor=False)
    matrix, tokens = st.columns([2, 1], gap="large")
    matrix.dataframe(
        found.matrix,
        hide_index=True,
        column_order=("target", "verdict", "names", "descriptions", "schemas", "tools", "fixable"),
        column_config={"schemas": "parameters", "tools": "too many"},
        alt="Targets and how many of their rules the toolset breaks",
    )
    tokens.dataframe(
        found.tokens,
        hide_index=True,
        column_config={"shape": "tokens in"},
        alt="Tokens of the toolset by shape",
    )
    tokens.caption(f"Tokens: {safe_text.untrusted(found.counted)}.")
    titles = {line.name: line.target for line in found.matrix}
    others = [name for name, against in found.violations.items() if against and name != chosen]
    rules = st.selectbox(
        "Broken rules of",
        [chosen, *others],
        format_func=lambda name: f"{titles.get(name, name)} ({len(found.violations[name]):,})",
        key=f"rules_{chosen}",
    )
    if not found.violations[rules]:
        st.caption(f"{titles.get(rules, rules)} takes the toolset as it goes out.")
        return rules
    _told(found, chosen, rules, titles)
    st.dataframe(
        found.violations[rules],
        hide_index=True,
        column_order=("tool_id", "rule", "value", "fix", "message", "remedy"),
        column_config={
            "tool_id": st.column_config.TextColumn("tool", width=180),
            "fix": st.column_config.TextColumn(width=320),
            "message": st.column_config.TextColumn(width=320),
            "remedy": "else",
        },
        alt="Broken rules and the fixes offered",
    )
    return rules


def limit_panel(
    lines: Sequence[ToolsetLine], ways: Sequence[Way], policies: Mapping[str, str]
) -> None:
    """What brings too many tools under a limit: merging more, or the parts that splitting makes."""
    st.subheader("Too many tools for one", anchor=False)
    more, parts = st.columns(2, gap="large")
    more.caption("Merging leaves so many; choose it above.")
    more.dataframe(
        [{"merge": policies[way.accept], "tools": way.tools, "parts": way.parts} for way in ways],
        hide_index=True,
        alt="Tools left by merging, and the parts that they need",
    )
    parts.caption("Splitting keeps servers whole and drops no tool; give each agent one part.")
    parts.dataframe(
        lines,
        hide_index=True,
        column_config={"file": "part", "tokens": "tokens ≈"},
        alt="The parts of the toolset",
    )


def _told(found: ExportFigures, chosen: str, rules: str, titles: Mapping[str, str]) -> None:
    against = found.violations[rules]
    fixable = sum(bool(violation.fix) for violation in against)
    name = titles.get(rules, rules)
    told = f"Broken rules of {name}: {len(against):,}, {fixable:,} of them with a fix."
    if rules != chosen:
        st.info(f"{told} It stands against no download here.", icon=":material/rule:")
    elif found.refusals:
        st.warning(f"{told} Until they are mended there is no download.", icon=":material/rule:")
    else:
        st.info(f"{told} It came in so and may go out so.", icon=":material/rule:")
