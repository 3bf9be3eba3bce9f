"""Leaving tools out of the toolset, with a reason, and undoing that."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.services import toolsets
from ui.shared.snapshot import Snapshot


def leave_out_panel(snapshot: Snapshot, ids: Sequence[str], place: str) -> None:
    """A button that asks for the reason; for tools left out already, who did so and an undo button.
    ``place`` keeps the widget keys of several views apart.
    """
    left_out = toolsets.left_out(snapshot)
    decisions = {left_out[tool_id].seq: left_out[tool_id] for tool_id in ids if tool_id in left_out}
    for decision in decisions.values():
        text = f":material/visibility_off: {in_words(decision)}"
        decision_buttons.undo_line(snapshot, text, decision, f"in_again_{place}")
    staying = tuple(tool_id for tool_id in ids if tool_id not in left_out)
    if not staying:
        return
    which = "Leave out" if len(ids) == 1 else f"Leave out {quantity(len(staying), 'tool')}"
    with st.popover(f"{which}…", icon=":material/visibility_off:", key=f"out_{place}"):
        reason = st.text_input("Reason", key=f"why_{place}", placeholder="never called")
        st.caption(
            "Agents no longer see it, and calls to it have no replacement: relabelling lists the "
            "affected queries. This can be undone."
        )
        decision_buttons.record_button(
            which,
            lambda: toolsets.leave_out(snapshot, staying, page_frame.reviewer(), reason),
            f"Left out: {quantity(len(staying), 'tool')}",
            key=f"leave_{place}",
            type="primary",
            disabled=not reason.strip(),
        )


def in_words(decision: Decision) -> str:
    """Why tools are left out, and who decided so; safe in markdown."""
    reason = safe_text.untrusted(str(decision.detail.get("reason", "")))
    return f"Left out: {reason} :gray[({decision_trail.by_whom(decision)})]"
