"""The token of this start: whoever is to start programs from a page has to have read the terminal.

A program that runs on this machine, or a page that slipped past every other check, can open the
app as the user does, but cannot read what was printed there.
"""

import contextlib
import hmac
import secrets
import sys
from collections.abc import AsyncIterator
from functools import cache

import click
import streamlit as st

from ui.shared import sign_in

GIVEN = "start_token_given"
OPEN_TO_OTHERS = (
    "WARNING: other machines can reach this app, and it asks nobody for a login: whoever reaches "
    "it can read and change every catalog. Starting servers from the app is off."
)


@cache
def start_token() -> str:
    """The token, made and printed in the terminal the first time."""
    token = secrets.token_urlsafe(16)
    sys.stderr.write(f"  Token that starting servers from the app asks for: {token}\n")
    sys.stderr.flush()
    return token


@contextlib.asynccontextmanager
async def announced(_app: object) -> AsyncIterator[None]:
    """The life of the app, at whose start the terminal says what a user has to know of it."""
    if sign_in.is_bound_to_others() and not sign_in.is_configured():
        click.secho(OPEN_TO_OTHERS, fg="red", bold=True, err=True)
    start_token()
    yield


def asks_for_token() -> bool:
    """Whether this visitor has still to give the token; draws the field for it if so.

    Where people sign in nobody is asked. What was given holds until the page is loaded again.
    """
    if sign_in.is_configured() or st.session_state.get(GIVEN):
        return False
    token = start_token().encode()
    st.caption(
        "Here programs are started on this machine. To show that it is you, copy the token from "
        "the terminal in which you started ToolScope."
    )
    with st.form("start_token_form", border=False):
        typed = st.text_input("Token of this start", type="password", key="start_token")
        if st.form_submit_button("Continue", key="start_token_continue"):
            if hmac.compare_digest(typed.strip().encode(), token):
                st.session_state[GIVEN] = True
                st.rerun()
            st.error("This is not the token that the terminal shows. A new start has a new one.")
    return True
