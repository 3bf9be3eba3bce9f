"""The list of decisions, newest first, each with its undo button or who undid it."""

from __future__ import annotations

import streamlit as st

from toolscope_core.model.decision import Decision
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_words

PAGE_SIZE = 10


def trail(catalog_id: int, parameter: str = "cluster") -> None:
    """Draw all decisions, page by page, and those that say *never merge*. ``parameter`` names the
    cluster in the address of the page.
    """
    review = page_frame.workspace().review
    history, standing = review.history(catalog_id), review.standing(catalog_id)
    with st.expander(f"All decisions ({len(history):,})"):
        pages = -(-len(history) // PAGE_SIZE)
        page = st.pagination(pages, key="trail_page") if pages > 1 else 1
        for decision, undone in history[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]:
            _line(decision, undone, "recent", parameter)
    rejected = [decision for decision in standing if decision.action == "reject"]
    with st.expander(f"Never merge ({len(rejected)})"):
        for decision in rejected:
            _line(decision, None, "never", parameter)


def _line(decision: Decision, undone: Decision | None, place: str, parameter: str) -> None:
    names = safe_text.untrusted(" | ".join(", ".join(part) for part in decision.parts))
    text = f"{decision_words.in_words(decision)}{': ' if names else ''}{names}"
    with st.container(horizontal=True, vertical_alignment="center"):
        if undone is None:
            st.button(
                "Undo",
                key=f"{place}_undo_{decision.seq}",
                on_click=decision_buttons.undo,
                args=((decision.seq,), decision, parameter),
            )
            st.markdown(text, width="stretch")
            st.caption(decision_words.by_whom(decision), width="content")
        else:
            st.markdown(f":gray[~~{text}~~]", width="stretch")
            whom = decision_words.by_whom(decision)
            st.caption(f"{whom}; undone by {decision_words.by_whom(undone)}", width="content")
