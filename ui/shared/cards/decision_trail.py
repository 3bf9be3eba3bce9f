"""Decisions in words, and a list of them with undo buttons or with who undid them."""

import streamlit as st

from toolscope_core.decisions import forms
from toolscope_core.model.decision import Decision
from ui.shared import safe_text
from ui.shared.cards import decision_buttons
from ui.shared.services import review
from ui.shared.snapshot import Snapshot

_PAGE_SIZE = 10


def trail(snapshot: Snapshot, parameter: str = "cluster") -> None:
    """Draw all decisions, page by page, once somebody opens them.

    ``parameter`` is the name of the cluster in the address of the page.
    """
    history = review.history(snapshot)
    if not history:
        return
    box = st.expander(f"All decisions ({len(history):,})", key="trail", on_change="rerun")
    if not box.open:
        return
    with box:
        pages = -(-len(history) // _PAGE_SIZE)
        page = st.pagination(pages, key="trail_page") if pages > 1 else 1
        for decision, undone in history[(page - 1) * _PAGE_SIZE : page * _PAGE_SIZE]:
            _line(snapshot, decision, undone, parameter)


def in_words(decision: Decision) -> str:
    """The decision in words. Safe in markdown."""
    return safe_text.untrusted(forms.in_words(decision))


def by_whom(decision: Decision) -> str:
    """Who made the decision, and when. Safe in markdown."""
    return safe_text.untrusted(f"{decision.reviewer}, {safe_text.clock(decision.at)}")


def _line(snapshot: Snapshot, decision: Decision, undone: Decision | None, parameter: str) -> None:
    names = safe_text.untrusted(" | ".join(", ".join(part) for part in decision.parts))
    text = f"{in_words(decision)}{': ' if names else ''}{names}"
    with st.container(horizontal=True, vertical_alignment="center"):
        if undone is None:
            decision_buttons.undo_one(snapshot, decision, "recent_undo", decision, parameter)
            st.markdown(text, width="stretch")
            st.caption(by_whom(decision), width="content")
        else:
            st.markdown(f":gray[~~{text}~~]", width="stretch")
            whom = by_whom(decision)
            st.caption(f"{whom}; undone by {by_whom(undone)}", width="content")
