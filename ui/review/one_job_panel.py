"""A family taken for one job: what would become of it, before anybody says so."""

from __future__ import annotations

import streamlit as st

from toolscope_core.model.cluster import Cluster
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons, shortcuts
from ui.shared.cards.reshape_panel import cluster_preview

OPEN = "one_job"
"""Session key: the id of the family that is looked at."""


def button(shown: Cluster, suffix: str) -> None:
    """Opens and closes the look at a family."""
    st.button(
        "One job", key=f"one_job_{suffix}", on_click=_toggle, args=(shown.id,),
        help="Shows what they become as one job in place of a family. Accepts nothing.",
    )  # fmt: skip


def panel(catalog_id: int, shown: Cluster, suffix: str, onward: str) -> None:
    """What the family would become, where somebody asked, and the button that accepts it."""
    if st.session_state.get(OPEN) != shown.id:
        return
    reshapes = page_frame.workspace().reshapes
    seen = reshapes.preview_as(catalog_id, shown, "duplicate", page_frame.reviewer())
    with shortcuts.panel("one_job"):
        st.markdown("**As one job**")
        if seen.refusal:
            st.error(safe_text.untrusted(seen.refusal), icon=":material/error:")
        for cluster in seen.clusters:
            cluster_preview(catalog_id, cluster, {})
        with st.container(horizontal=True):
            st.button(
                "Accept as one job", key=f"accept_one_job_{suffix}", type="primary",
                disabled=bool(seen.refusal), on_click=_accept, args=(shown, onward),
            )  # fmt: skip
            st.button(
                "Cancel", key=f"one_job_cancel_{suffix}", shortcut=shortcuts.CLOSE,
                on_click=_toggle, args=(shown.id,),
            )  # fmt: skip


def _accept(shown: Cluster, onward: str) -> None:
    st.session_state[OPEN] = None
    decision_buttons.decide(shown, "accept", onward, relation="duplicate")


def _toggle(cluster_id: str) -> None:
    closed = st.session_state.get(OPEN) != cluster_id
    st.session_state[OPEN] = cluster_id if closed else None
