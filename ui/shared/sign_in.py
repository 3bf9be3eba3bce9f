"""Who can reach the app, and how people sign in if Streamlit's secrets configure that (OpenID)."""

import contextlib
import hmac
import secrets
import sys
from collections.abc import AsyncIterator
from functools import cache

import click
import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from ui.shared import request_guard, safe_text

_OWN = {"redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url"}

CLAIMS = ("email", "preferred_username", "name", "sub")
"""The claims that can identify a person in the log. The first one that the
provider gives is used.
"""

FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-Ip")


def is_configured() -> bool:
    """Whether the secrets have an *auth* section."""
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False


def required() -> None:
    """If sign-in is configured and the visitor is not signed in, draw the sign-in buttons and stop
    the page.
    """
    if not is_configured() or st.user.get("is_logged_in"):
        return
    st.title("ToolScope")
    st.markdown("Sign in to see the catalogs and to decide. Decisions are kept under your name.")
    auth = st.secrets["auth"]
    providers = [one for one in auth if one not in _OWN and hasattr(auth[one], "keys")]
    for provider in [one for one in providers if one != "client_kwargs"] or [None]:
        label = f"Sign in with {safe_text.untrusted(provider)}" if provider else "Sign in"
        st.button(
            label, key=f"sign_in_{provider}", type="primary", on_click=st.login, args=(provider,)
        )
    st.stop()


def name() -> str:
    """The name of the person who is signed in. Empty if nobody is."""
    if not is_configured() or not st.user.get("is_logged_in"):
        return ""
    return next((str(st.user[claim]) for claim in CLAIMS if st.user.get(claim)), "")


def person() -> None:
    """Show who is signed in, and the button to sign out."""
    name_shown = str(st.user.get("name") or name())
    st.caption(f"Signed in as **{safe_text.untrusted(name_shown)}**")
    st.button("Sign out", key="sign_out", on_click=st.logout)


def is_shared() -> bool:
    """Whether other machines may reach the app: it listens on an address that they can reach, a
    proxy forwards requests to it, or people sign in.
    """
    return (
        is_bound_to_others()
        or any(header in st.context.headers for header in FORWARDED)
        or is_configured()
    )


def is_bound_to_others() -> bool:
    """Whether the app listens on an address that other machines can reach."""
    return st.get_option("server.address") not in request_guard.LOOPBACK


def refuse_unguarded() -> None:
    """Stop a page that was requested without passing the guard.

    This happens if another script than the app was started, or if the app was started in a way that
    bypasses the guard.
    """
    if st.context.headers.get("Host") and not request_guard.RequestGuard.is_in_front:
        st.text("This is only a part of ToolScope. Stop it, and start the whole app: toolscope app")
        st.stop()


GIVEN = "start_token_given"
OPEN_TO_OTHERS = (
    "WARNING: other machines can reach this app, and it does not ask for a login: anyone who "
    "reaches it can read and change every catalog. Starting servers from the app is off."
)


@cache
def start_token() -> str:
    """The token. It is made and printed in the terminal when it is first needed."""
    token = secrets.token_urlsafe(16)
    sys.stderr.write(f"  Token for starting servers from the app: {token}\n")
    sys.stderr.flush()
    return token


@contextlib.asynccontextmanager
async def announced(_app: object) -> AsyncIterator[None]:
    """The lifespan of the app. When it begins, the terminal prints what the user has to know."""
    if is_bound_to_others() and not is_configured():
        click.secho(OPEN_TO_OTHERS, fg="red", bold=True, err=True)
    start_token()
    yield


def asks_for_token() -> bool:
    """Whether this visitor still has to give the token. If so, draws the field for it.

    No token is needed if people sign in. A token that was given is valid until the page is
    reloaded.
    """
    if is_configured() or st.session_state.get(GIVEN):
        return False
    token = start_token().encode()
    st.caption(
        "This page starts programs on this machine. To show that it is you, copy the token from "
        "the terminal in which you started ToolScope."
    )
    with st.form("start_token_form", border=False):
        entry = st.text_input("Token from the terminal", type="password", key="start_token")
        if st.form_submit_button("Continue", key="start_token_continue"):
            if hmac.compare_digest(entry.strip().encode(), token):
                st.session_state[GIVEN] = True
                st.rerun()
            st.error("That token doesn't match. ToolScope prints a new one each time it starts.")
    return True
