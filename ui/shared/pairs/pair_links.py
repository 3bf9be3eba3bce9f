"""A link from a pair of tools to its view on the Overlap page."""

from __future__ import annotations

import streamlit as st

from ui.shared import page_frame


def pair_link(key: str) -> None:
    """Draw the link to the pair of this key."""
    st.page_link(
        "pages/overlap.py",
        label="Open the pair",
        icon=":material/join_inner:",
        query_params={"catalog": page_frame.current().name, "pair": key},
        width=140,
    )
