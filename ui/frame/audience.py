"""Who can reach the app: this machine alone, or others too."""

from __future__ import annotations

import streamlit as st

from ui.frame import sign_in

LOOPBACK = ("localhost", "127.0.0.1", "::1")
FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-Ip")


def is_shared() -> bool:
    """Whether other machines may reach the app: it listens for them, a proxy passes them on, or
    people sign in.
    """
    return (
        st.get_option("server.address") not in LOOPBACK
        or any(header in st.context.headers for header in FORWARDED)
        or sign_in.is_configured()
    )
