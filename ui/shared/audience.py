"""Who can reach the app: this machine alone, or others too."""

from __future__ import annotations

import streamlit as st

from ui.shared import request_guard, sign_in

FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-Ip")


def is_shared() -> bool:
    """Whether other machines may reach the app: it listens for them, a proxy passes them on, or
    people sign in.
    """
    return (
        is_bound_to_others()
        or any(header in st.context.headers for header in FORWARDED)
        or sign_in.is_configured()
    )


def is_bound_to_others() -> bool:
    """Whether the app listens on an address that other machines can reach."""
    return st.get_option("server.address") not in request_guard.LOOPBACK


def refuse_strangers() -> None:
    """Stop a page whose browser names a foreign host or comes from a foreign page.

    ``python -m ui`` refuses such requests before Streamlit sees them; ``streamlit run app.py`` has
    no such guard in front.
    """
    host = st.context.headers.get("Host")
    if host and (reason := request_guard.refusal(host, st.context.headers.get("Origin"))):
        st.text(reason)
        st.stop()
