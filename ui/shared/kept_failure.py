"""A failure in a button's callback, shown where the page draws the panel the next time."""

from collections.abc import Callable

import streamlit as st

from toolscope_core.model.errors import ToolScopeError
from ui.shared import safe_text


def attempt(key: str, work: Callable[[], object]) -> bool:
    """Whether ``work`` succeeded; its failure is kept in the session under ``key``."""
    try:
        work()
    except ToolScopeError as error:
        st.session_state[key] = str(error)
        return False
    return True


def show(key: str) -> None:
    """Draw the failure that is kept under ``key``, once."""
    if failure := st.session_state.pop(key, ""):
        safe_text.show_error(ToolScopeError(failure))
