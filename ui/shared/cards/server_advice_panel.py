"""Lines on servers that could be switched off. Each line links to the page of its server."""

from typing import NoReturn

import streamlit as st

from toolscope_core.model.numbers import listed
from ui.shared import page_frame, safe_text
from ui.shared.cards.batches import server_pair_query
from ui.shared.services import server_advice
from ui.shared.snapshot import Snapshot

_SHOWN = 5
EVERY, ADVISED, TOGETHER = "All servers", "Can be switched off", "Can be switched off together"
"""The choices of servers that the table on the Catalog page shows."""
SERVERS = {"part": "Servers"}
CAN_GO = SERVERS | {"servers_shown": ADVISED}
"""The address of that table with the servers that can be switched off."""


def advice(snapshot: Snapshot, limit: int = _SHOWN) -> None:
    """Show which servers could be switched off, largest saving first, with their use in logs. Then
    draw the copies.
    """
    advised = server_advice.advice(snapshot)
    if not advised.switch_off and not advised.copies:
        st.markdown("No server does most of another's work.")
    for one in advised.switch_off[:limit]:
        text = safe_text.sentence(one.in_words)
        if len(one.others) == 1:
            page_frame.page_link("review", text, server_pair_query(one.server, *one.others))
        else:
            page_frame.page_link("catalog", text, CAN_GO, server=one.server)
        for sentence in filter(None, (*one.keeps, server_advice.use_in_words(snapshot, one))):
            st.caption(safe_text.sentence(sentence))
    if (more := len(advised.switch_off) - limit) > 0:
        page_frame.page_link("catalog", f"{more} more", CAN_GO)
    if together := advised.needless_in_words:
        page_frame.page_link(
            "catalog", safe_text.sentence(together), SERVERS, servers_shown=TOGETHER
        )
    for group in advised.copies[:limit]:
        text = f"Keep one of {len(group):,} copies: {safe_text.untrusted(listed(group))}"
        page_frame.page_link("catalog", text, SERVERS, copies=group[0])


def show_pair(one: str, other: str) -> NoReturn:
    """Go to the page that shows two servers."""
    st.switch_page("pages/review.py", query_params=server_pair_query(one, other))
