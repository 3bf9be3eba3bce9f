"""The keyboard shortcuts of all pages in one table, and one script that pauses them.

To add one, add a line to ``SHORTCUTS``, and give its button ``letter`` as shortcut. Something that
opens in the page is a ``panel``: it gets the focus, and the keys pause until it is closed.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


class Shortcut(NamedTuple):
    """A key, the label of its button, and its help.

    ``in_the_bar`` says whether the bottom bar has the button. ``blind`` is an answer's label if the
    card asks only about the tools.
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
        "F", "Family", "accept it as one operation for several providers or values", True
    ),
    "skip": Shortcut("S", "Skip", "skip it, to the end of the queue", True),
    "undo": Shortcut("U", "Undo", "undo your last decision", True),
    "next": Shortcut("J", "Next", "next proposal", True),
    "previous": Shortcut("K", "Previous", "previous proposal", True),
    "drop_in": Shortcut("M", "Make it a drop-in", "keep one tool, switch the others off"),
    "parts": Shortcut("P", "Split or move", "split it, or move tools in and out, with a preview"),
    "drop": Shortcut("D", "Drop", "take out the member that the judge is least sure of"),
    "canonical": Shortcut("N", "Next name", "the next member gives the merged tool its name"),
    "flag": Shortcut("G", "Flag", "flag it with a note"),
    "help": Shortcut("H", "Help", "show or hide this list"),
}
"""The keys by action, in the order of the buttons and of the help. Streamlit keeps C and R for
itself, and takes no question mark.
"""

CLOSE = "Escape"
"""The key that closes a panel; also where people want no shortcuts."""

LISTENS = "keys_listen"
"""Session key: whether the browser holds back paused keys; until then there are none."""

_resting_keys = st.components.v2.component(
    "toolscope_keys",
    html="<i></i>",
    js=Path(__file__).with_name("resting_keys.js").read_text("utf-8"),
)


def pause_when_ambiguous() -> None:
    """Pause the keys whenever they could mean something else.

    Call it on each page with shortcuts, before its buttons; ``resting_keys.js`` decides when.
    """
    _resting_keys(
        key="resting_keys",
        width="content",
        data={"listens": st.session_state.get(LISTENS, False)},
        on_listens_change=_give_keys,
    )


def panel(name: str, border: bool = False) -> DeltaGenerator:
    """The container of something opened in the page."""
    return st.container(key=f"panel_{name}", border=border)


def letter(action: str) -> str | None:
    """The key of an action for ``st.button(shortcut=)``, ``None`` if the person turned keys off."""
    has_keys = st.session_state.get(LISTENS) and st.session_state.get("keys", True)
    return SHORTCUTS[action].letter if has_keys else None


def label(action: str, blind: bool) -> str:
    """The label of an action's button; with ``blind``, an answer's label about the tools."""
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
    """The button of an action, which its letter also presses.

    ``key`` is the widget's; ``look`` is passed to ``st.button``.
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
    """A button, and the key H, that show and hide ``help_box``."""
    button("help", "help", _toggle)


def help_box() -> None:
    """All shortcuts and the switches, if opened."""
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
