"""An old call tried on the merged tool: what it becomes, and the way back."""

from __future__ import annotations

import json

import streamlit as st

from toolscope_core.model.address_keys import tool_key
from toolscope_core.model.errors import DecisionError
from ui.documents.tried_calls import sample_call, try_call
from ui.shared import safe_text
from ui.shared.cards.cards import Card


def try_it(card: Card, key: str) -> None:
    """Draw a field for a call of one member, and what becomes of it."""
    tools = {tool.id: tool for tool in card.tools}
    alphas = {alpha.tool_id: alpha for alpha in card.cluster.arguments}
    with st.expander("Try a call", icon=":material/play_circle:"):
        chosen = st.selectbox(
            "Old tool", list(tools), key=f"try_tool_{key}",
            index=min(1, len(tools) - 1), format_func=lambda one: f"{tools[one].name} ({one})",
        )  # fmt: skip
        tool = tools[chosen]
        text = st.text_area(
            "Its call, as JSON", sample_call(tool), key=f"try_{key}_{tool_key(chosen)}", height=140
        )
        try:
            tried = try_call(tool, alphas[chosen], card.cluster.document, text)
        except DecisionError as error:
            safe_text.show_error(error)
            return
        for refusal in tried.refusals:
            st.warning(
                safe_text.untrusted(f"{tool.name} itself does not take this call: {refusal}")
            )
        there, back = st.columns(2)
        for column, title, name, arguments in (
            (there, "Becomes", card.cluster.document.name, tried.new),
            (back, "And back", tool.name, tried.back),
        ):
            column.caption(title)
            call = {"name": name, "arguments": dict(arguments)}
            column.code(json.dumps(call, ensure_ascii=False, indent=1), language="json")
        for name in tried.lost:
            st.warning(f"`{safe_text.untrusted(name)}` has no place in the merged tool.")
        for problem in tried.problems:
            st.error(safe_text.untrusted(f"The merged tool refuses it: {problem}"))
        if tried.undone and not tried.problems and not tried.refusals:
            st.markdown(":green[:material/check:] There and back gives the same call.")
