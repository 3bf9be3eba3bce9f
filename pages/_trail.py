"""What was decided: every decision, the newest first, with its undo or who took it back."""

from __future__ import annotations

import streamlit as st

from pages import _decisions, _ui
from toolscope_core.datamodel import Decision

RECENT = 10
"""So many stand on one page of the list."""


def trail(catalog_id: int) -> None:
    """All decisions, page by page, and everything that must never merge."""
    review = _ui.workspace().review
    told, standing = review.history(catalog_id), review.standing(catalog_id)
    with st.expander(f"Last decisions ({len(told):,})"):
        pages = -(-len(told) // RECENT)
        page = st.pagination(pages, key="trail_page") if pages > 1 else 1
        for decision, undone in told[(page - 1) * RECENT : page * RECENT]:
            _line(decision, undone, "recent")
    rejected = [decision for decision in standing if decision.action == "reject"]
    with st.expander(f"Never merge ({len(rejected)})"):
        for decision in rejected:
            _line(decision, None, "never")


def _line(decision: Decision, undone: Decision | None, place: str) -> None:
    names = _ui.untrusted(" | ".join(", ".join(part) for part in decision.parts))
    text = f"{_decisions.done(decision)}{': ' if names else ''}{names}"
    with st.container(horizontal=True, vertical_alignment="center"):
        if undone is None:
            st.button(
                "Undo",
                key=f"{place}_undo_{decision.seq}",
                on_click=_decisions.undo,
                args=((decision.seq,), decision),
            )
            st.markdown(text, width="stretch")
            st.caption(_decisions.by_whom(decision), width="content")
        else:
            st.markdown(f":gray[~~{text}~~]", width="stretch")
            whom = _decisions.by_whom(decision)
            st.caption(f"{whom}; taken back by {_decisions.by_whom(undone)}", width="content")
