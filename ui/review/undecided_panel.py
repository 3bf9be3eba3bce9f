"""Undecided pairs, one after the other: a person says what two tools are to each other."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from toolscope_core.model.address_keys import pair_key
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair
from ui.shared import page_frame
from ui.shared.cards import decision_buttons, decision_trail, shortcuts
from ui.shared.pairs.pair_panel import pair_body
from ui.shared.pairs.pair_view import Pairs, PairView

Answer = Literal["duplicate", "parametric", "apart"]
ANSWERS: dict[str, tuple[Answer, str]] = {
    "accept": ("duplicate", "Same job"),
    "family": ("parametric", "Family"),
    "reject": ("apart", "Keep apart"),
}
"""By shortcut: what is recorded, and what the button says."""

SETTLED = (
    "somebody kept the two apart, both are in clusters, which are decided on their cards, or one "
    "reads and the other does not"
)


def undecided_panel(catalog_id: int) -> None:
    """The pair that the judge is unsure of and gives the highest probability, or the one that the
    address names, with buttons and keys to answer.
    """
    pairs = page_frame.service(Pairs).undecided(catalog_id)
    skipped: list[str] = st.session_state.setdefault(f"skipped_{catalog_id}", [])
    by_pair = {pair_key(pair): pair for pair in pairs}
    later = [key for key in skipped if key in by_pair]
    keys = [*(key for key in by_pair if key not in later), *later]
    standing = page_frame.workspace().review.standing(catalog_id)
    if not keys:
        decision_buttons.notice()
        st.info("No pair is left that the judge is unsure of.", icon=":material/task_alt:")
        decision_buttons.undo_button(standing)
        decision_trail.trail(catalog_id)
        return
    linked = st.query_params.get("undecided", "")
    at = keys.index(linked) if linked in keys else 0
    pair, onward = by_pair[keys[at]], keys[(at + 1) % len(keys)]
    _show(keys[at])
    settled = len(page_frame.service(Pairs).unsure(catalog_id)) - len(keys)
    others = f" The judge is unsure of {settled:,} more: {SETTLED}." if settled else ""
    st.caption(
        f"{quantity(len(keys), 'pair')} that the judge can neither merge nor keep apart, those of "
        f"the same servers together, the most probable first.{others} Each answer is a decision "
        "and can be undone."
    )
    view = page_frame.service(Pairs).view(catalog_id, pair)
    with st.container(border=True):
        pair_body(view, _show)
    decision_trail.trail(catalog_id)
    with st.bottom:
        shortcuts.help_box()
    with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
        shortcuts.help_button()
        for name, (answer, label) in ANSWERS.items():
            key, chosen = f"{name}_{view.key}", (catalog_id, view, answer, onward)
            shortcuts.button(name, key, _answer, *chosen, label=label)
        shortcuts.button("skip", f"skip_{view.key}", _skip, skipped, keys[at], onward)
        decision_buttons.undo_button(standing)
        for name, other in (("next", onward), ("previous", keys[at - 1])):
            shortcuts.button(name, f"{name}_{view.key}", _show, other)
        decision_buttons.notice()


def _show(key: str) -> None:
    st.query_params["undecided"] = key


def _skip(skipped: list[str], key: str, onward: str) -> None:
    """Move the pair to the end, and show the next."""
    if key in skipped:
        skipped.remove(key)
    skipped.append(key)
    _show(onward)


def _answer(catalog_id: int, view: PairView, answer: Answer, onward: str) -> None:
    sets, names = page_frame.workspace().toolsets, " and ".join(t.name for t in view.tools)
    pair: Pair = view.verdict.pair
    label = next(label for _, (one, label) in ANSWERS.items() if one == answer)
    if decision_buttons.attempt(
        lambda: sets.relate(catalog_id, pair, answer, view.version, page_frame.reviewer()),
        f"{label}: {names}",
    ):
        _show(onward)
