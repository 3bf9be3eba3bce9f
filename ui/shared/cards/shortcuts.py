"""The keyboard shortcuts of all pages in one table, and one script that pauses them.

To add a shortcut, add a line to ``SHORTCUTS``, and draw its button with ``button``. Draw whatever
opens in the page in a ``panel``: it gets the focus, and the keys pause until it is closed.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


class Shortcut(NamedTuple):
    """A key, the label of its button, and a help text.

    ``in_the_bar`` says whether the button is in the bottom bar. ``blind`` is the label of an answer
    on a card that asks only about the tools.
    """

    letter: str
    label: str
    help: str
    in_the_bar: bool = False
    blind: str = ""


SHORTCUTS = {
    "accept": Shortcut(
        "A", "Accept", "accept the merge (for a pair: the same job)", True, "Same job"
    ),
    "keep_apart": Shortcut(
        "X", "Keep apart", "keep these tools apart for good", True, "Not the same"
    ),
    "family": Shortcut(
        "F", "Family", "accept the proposal as one operation for several providers or values", True
    ),
    "skip": Shortcut("S", "Skip", "move the proposal to the end of the queue", True),
    "undo": Shortcut("U", "Undo", "undo your last decision", True),
    "next": Shortcut("J", "Next", "next proposal", True),
    "previous": Shortcut("K", "Previous", "previous proposal", True),
    "drop_in": Shortcut("M", "Make it a drop-in", "keep one tool, switch the others off"),
    "parts": Shortcut(
        "P", "Split or move", "split the proposal, or move tools in and out, with a preview"
    ),
    "drop": Shortcut("D", "Drop", "take out the member that the judge is least sure of"),
    "canonical": Shortcut("N", "Next name", "the next member gives the merged tool its name"),
    "flag": Shortcut("G", "Flag", "flag the proposal with a note"),
    "help": Shortcut("H", "Help", "show or hide this list"),
}
"""The keys for the actions, in the order of the buttons and of the help. Streamlit keeps C and R
for itself, and does not accept a question mark.
"""

CLOSE = "Escape"
"""The key that closes a panel, even if a person has turned the shortcuts off."""

LISTENS = "keys_listen"
"""Session key for whether the browser holds back paused keys. Until it does, there are no keys."""

_resting_keys = st.components.v2.component(
    "toolscope_keys",
    html="<i></i>",
    js=Path(__file__).with_name("resting_keys.js").read_text("utf-8"),
)


def pause_when_ambiguous() -> None:
    """Pause the keys whenever they could mean something else.

    Call this on each page with shortcuts, before its buttons. ``resting_keys.js`` decides when to
    pause.
    """
    _resting_keys(
        key="resting_keys",
        width="content",
        data={"listens": st.session_state.get(LISTENS, False)},
        on_listens_change=_give_keys,
    )


def panel(name: str, border: bool = False) -> DeltaGenerator:
    """A container for a form or panel that the person opened on the page.

    The keys pause while it is shown.
    """
    return st.container(key=f"panel_{name}", border=border)


def letter(action: str) -> str | None:
    """The key of an action, for ``st.button(shortcut=)``. ``None`` if the person has turned the
    keys off.
    """
    has_keys = st.session_state.get(LISTENS) and st.session_state.get("keys", True)
    return SHORTCUTS[action].letter if has_keys else None


def label(action: str, blind: bool) -> str:
    """The label of an action's button. If ``blind``, the label is about the tools."""
    shortcut = SHORTCUTS[action]
    return (blind and shortcut.blind) or shortcut.label


def button(
    action: str,
    key: str,
    on_click: Callable[..., None],
    *args: object,
    label: str = "",
    **look: Any,
) -> None:
    """Draw the button of an action. Its letter presses it too.

    ``key`` is the key of the widget. ``look`` is passed to ``st.button``.
    """
    st.button(
        label or SHORTCUTS[action].label,
        key=key,
        type="primary" if action == "accept" else "secondary",
        shortcut=letter(action),
        on_click=on_click,
        args=args,
        **look,
    )


def help_button() -> None:
    """Draw a button that shows and hides ``help_box``. The key H does the same."""
    button("help", "help", _toggle)


def help_box() -> None:
    """Draw all shortcuts and their switches, if the box is open."""
    if not st.session_state.get("help_shown"):
        return
    with st.container(border=True, key="help_box"):
        columns = st.columns(3)
        keys = [f"**{key.letter}** {key.help}" for key in SHORTCUTS.values()]
        step = -(-len(keys) // len(columns))
        for number, column in enumerate(columns):
            column.markdown("  \n".join(keys[number * step : (number + 1) * step]))
        st.caption(
            "Click a column heading of the queue to sort by it, and again to reverse the order. "
            "The keys do nothing while you type, while a list or a table other than the queue has "
            "the focus, and while anything is open: **Esc** closes it."
        )
        with st.container(horizontal=True):
            st.toggle("Keyboard shortcuts", True, key="keys", persist_state="session")
            st.toggle(
                "Blind: hide what the judge says",
                key="blind",
                persist_state="session",
                help=(
                    "For an honest audit: the card shows the tools, but neither probability nor "
                    "kind."
                ),
            )


def _give_keys() -> None:
    st.session_state[LISTENS] = True


def _toggle() -> None:
    st.session_state["help_shown"] = not st.session_state.get("help_shown", False)
