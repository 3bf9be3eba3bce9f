"""What is checked of a document while it is edited, and how it differs from each old tool's."""

from __future__ import annotations

import streamlit as st

from ui.documents.document_checks import document_checks
from ui.shared import safe_text
from ui.shared.cards.cards import Card


def checks(card: Card) -> None:
    """A line for each check, with what does not hold."""
    lines = []
    for check in document_checks(card.cluster, card.tools):
        if check.holds:
            lines.append(f"- :green[:material/check:] {check.what}")
        else:
            reason = safe_text.untrusted(check.reason)
            lines.append(f"- :orange[:material/warning:] {check.what}: not so. {reason}")
    st.markdown("\n".join(lines))


def differences(card: Card, key: str) -> None:
    """The description word by word against that of one of the old tools."""
    tools = {tool.id: tool for tool in card.tools}
    chosen = card.canonical.id
    if len(tools) > 1:
        chosen = st.selectbox(
            "Description compared with",
            list(tools),
            key=f"compared_{key}",
            format_func=lambda one: f"{tools[one].name} ({tools[one].server or one})",
        )
    else:
        st.markdown("**Changes from the original description**")
    text = card.cluster.document.description
    st.html(safe_text.word_diff(tools[chosen].description, text))
