"""Lines on servers that could be switched off, each with the way to its page."""

from typing import NoReturn

import streamlit as st

from toolscope_core.model.numbers import listed
from ui.shared import page_frame, safe_text
from ui.shared.cards.batches import server_pair_query
from ui.shared.services import server_advice
from ui.shared.snapshot import Snapshot

_SHOWN = 5


def advice(snapshot: Snapshot, limit: int = _SHOWN) -> None:
    """Which servers could go, those that save most first, with what the logs say of their use; then
    the copies.
    """
    advised = server_advice.advice(snapshot)
    if not advised.switch_off and not advised.copies:
        st.markdown("No server does most of another's work.")
    for one in advised.switch_off[:limit]:
        text = safe_text.sentence(one.in_words)
        if len(one.others) == 1:
            page_frame.page_link("review", text, server_pair_query(one.server, *one.others))
        else:
            st.markdown(text)
        for sentence in filter(None, (*one.keeps, server_advice.use_in_words(snapshot, one))):
            st.caption(safe_text.sentence(sentence))
    if (more := len(advised.switch_off) - limit) > 0:
        page_frame.page_link("overlap", f"{more} more", {"view": "Heatmap"})
    if together := advised.needless_in_words:
        st.caption(safe_text.sentence(together))
    for group in advised.copies[:limit]:
        st.caption(f"{len(group)} copies of one server: {safe_text.untrusted(listed(group))}")


def show_pair(one: str, other: str) -> NoReturn:
    """Go to the page of two servers."""
    st.switch_page("pages/review.py", query_params=server_pair_query(one, other))
