"""Leaving tools out of the toolset, with a reason, and taking that back."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from toolscope_core.datamodel import Decision
from toolscope_core.numbers import quantity
from ui.deciding import decision_buttons
from ui.frame import page_frame, safe_text


def leaving_out(catalog_id: int, ids: Sequence[str], place: str) -> None:
    """A button that asks for the reason, or who left them out and the way back. ``place`` makes
    its keys unlike those of another view.
    """
    left_out = page_frame.workspace().toolsets.left_out(catalog_id)
    made = {left_out[tool_id].seq: left_out[tool_id] for tool_id in ids if tool_id in left_out}
    for decision in made.values():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/visibility_off: {in_words(decision)}", width="content")
            st.button(
                "Take back",
                key=f"in_again_{place}_{decision.seq}",
                on_click=decision_buttons.undo,
                args=((decision.seq,), decision),
            )
    staying = tuple(tool_id for tool_id in ids if tool_id not in left_out)
    if not staying:
        return
    which = "Leave it out" if len(ids) == 1 else f"Leave out {quantity(len(staying), 'tool')}"
    with st.popover(f"{which} …", icon=":material/visibility_off:", key=f"out_{place}"):
        reason = st.text_input("Why?", key=f"why_{place}", placeholder="nobody calls it")
        st.caption(
            "Agents no longer see it. Calls to it lead nowhere, and relabel lists the queries that "
            "asked for it. One undo takes it back."
        )
        st.button(
            which,
            key=f"leave_{place}",
            type="primary",
            disabled=not reason.strip(),
            on_click=_leave,
            args=(catalog_id, staying, reason),
        )


def in_words(decision: Decision) -> str:
    """Why tools are left out, and who said so; safe in markdown."""
    reason = safe_text.untrusted(str(decision.detail.get("reason", "")))
    return f"Left out: {reason} :gray[({decision_buttons.by_whom(decision)})]"


def _leave(catalog_id: int, ids: Sequence[str], reason: str) -> None:
    sets = page_frame.workspace().toolsets
    decision_buttons.attempt(
        lambda: sets.leave_out(catalog_id, ids, page_frame.reviewer(), reason),
        f"Left out: {quantity(len(ids), 'tool')}",
    )
