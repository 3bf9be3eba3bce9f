"""The queue beside one card, and below them the bar of buttons and keys."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.review import queue_panel, reshape_panel, review_card
from ui.review.queue_panel import Listing
from ui.shared.cards import decision_buttons, decision_trail, shortcuts
from ui.shared.services import review
from ui.shared.snapshot import Snapshot


def one_by_one_panel(snapshot: Snapshot, listed: Listing) -> None:
    """One card after another; where nothing is listed, why."""
    if not listed.clusters:
        queue_panel.nothing_listed(snapshot, listed, review.progress(snapshot).waiting)
        decision_buttons.notice(snapshot)
        decision_buttons.undo_button(snapshot, review.standing(snapshot))
        decision_trail.trail(snapshot)
        return
    st.query_params["cluster"] = listed.shown.id
    reshape_panel.open_from_address(snapshot, listed.shown)
    parts = reshape_panel.parts_of(listed.shown)
    blind: bool = st.session_state.get("blind", False)
    queue, body = queue_panel.queue_and_card()
    with queue:
        queue_panel.table(snapshot, listed, blind)
    with body, st.container(gap="small"):
        if parts is None:
            review_card.review_card(snapshot, listed, blind)
        else:
            with shortcuts.panel("parts"):
                reshape_panel.reshape_panel(snapshot, listed, parts)
    with st.bottom:
        shortcuts.help_box()
    with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
        if parts is None:
            _bar(snapshot, listed, blind)
        decision_buttons.notice(snapshot)


def _bar(snapshot: Snapshot, listed: Listing, blind: bool) -> None:
    """The buttons that decide on the shown cluster, or lead to another."""
    shown, suffix = listed.shown, review_card.suffix_of(listed)
    actions: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
        "skip": (queue_panel.go, (listed, listed.onward, True)),
        "next": (queue_panel.go, (listed, listed.onward)),
        "previous": (queue_panel.go, (listed, listed.back)),
    }
    if listed.is_open:
        for name in ("accept", "reject", "family"):
            args = (snapshot, shown, name, listed.onward, blind)
            actions[name] = (decision_buttons.answer, args)
    shortcuts.help_button()
    for name, shortcut in shortcuts.SHORTCUTS.items():
        if name == "undo":
            decision_buttons.undo_button(snapshot, review.standing(snapshot))
        elif shortcut.in_the_bar and name in actions:
            action, args = actions[name]
            label = shortcuts.label(name, blind)
            shortcuts.button(name, f"{name}_{suffix}", action, *args, label=label)
    decision_buttons.take_back_button(snapshot, queue_panel.settled_cluster(snapshot, listed))
