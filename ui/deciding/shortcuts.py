"""The keyboard shortcuts of the Review page, in one table.

To add one, add a line to ``SHORTCUTS``, and give its button ``letter`` as shortcut. A button of the
bar at the bottom of the page needs no more than a line in ``actions`` of ``pages/review.py``.
"""

from __future__ import annotations

from typing import NamedTuple


class Shortcut(NamedTuple):
    """A key, the label of its button, and what the help says of it."""

    letter: str
    label: str
    help: str


SHORTCUTS = {
    "accept": Shortcut("A", "Accept", "accept the merge"),
    "reject": Shortcut("X", "Reject", "reject it: never merge these tools"),
    "family": Shortcut("F", "Family", "of an undecided pair: a family"),
    "skip": Shortcut("S", "Skip", "skip it, to the end of the queue"),
    "undo": Shortcut("U", "Undo", "undo your last decision"),
    "next": Shortcut("J", "Next", "next proposal"),
    "previous": Shortcut("K", "Previous", "previous proposal"),
    "split": Shortcut("P", "Split", "split off the chosen members"),
}
"""By action, in the order of the buttons. Streamlit keeps C and R for itself."""


def letter(action: str, enabled: bool = True) -> str | None:
    """The key of an action for ``st.button(shortcut=)``, ``None`` while shortcuts are off."""
    return SHORTCUTS[action].letter if enabled else None


def help_text() -> str:
    """All shortcuts as markdown."""
    keys = [f"- **{key.letter}**: {key.help}" for key in SHORTCUTS.values()]
    notes = (
        "Click the head of a column of the queue to sort by it, again to reverse the order. "
        "Shortcuts are ignored while you type; the switch turns them off."
    )
    return "\n".join([*keys, "", notes])
