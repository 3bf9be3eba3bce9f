"""Undecided pairs in the queue, one after the other. A person says how the two
tools are related.
"""

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair, pair_key
from toolscope_core.model.tool import Tool
from ui.review import queue_panel
from ui.shared import data_tables, page_frame
from ui.shared.cards import decision_buttons, decision_trail, shortcuts
from ui.shared.cards.queue import pass_filters
from ui.shared.data_tables import Column
from ui.shared.pairs import pair_view
from ui.shared.pairs.pair_panel import pair_body
from ui.shared.services import review, toolsets
from ui.shared.snapshot import Snapshot

_Answer = Literal["duplicate", "family", "apart"]
ANSWERS: dict[str, tuple[_Answer, str]] = {
    "accept": ("duplicate", "Same job"),
    "family": ("family", "Family"),
    "keep_apart": ("apart", "Keep apart"),
}
"""The decision that each answer records and the text of its button, keyed by shortcut."""

_SETTLED = (
    "they are kept apart, have a card of their own in a proposal, or consist of a tool that reads "
    "and one that does not"
)


def undecided_panel(snapshot: Snapshot) -> None:
    """Draw the pairs about which the judge is unsure, most probable first, and the chosen pair.

    The address names the chosen pair. It has buttons and keys for the answers.
    """
    pairs = pair_view.undecided(snapshot)
    skipped: list[str] = st.session_state.setdefault(f"skipped_{snapshot.id}", [])
    by_pair = {pair_key(pair): pair for pair in pairs if _is_listed(snapshot, pair)}
    later = [key for key in skipped if key in by_pair]
    keys = [*(key for key in by_pair if key not in later), *later]
    decisions = review.active_decisions(snapshot)
    if not keys:
        decision_buttons.notice(snapshot)
        text = "No pair is left that the judge is unsure of."
        if pairs:
            text = f"No undecided pair of {len(pairs):,} matches the filters."
        st.info(text, icon=":material/task_alt:")
        decision_buttons.undo_button(snapshot, decisions)
        decision_trail.trail(snapshot)
        return
    linked = st.query_params.get("undecided", "")
    at = keys.index(linked) if linked in keys else 0
    onward = keys[(at + 1) % len(keys)]
    _show(keys[at])
    view = pair_view.view(snapshot, by_pair[keys[at]])
    queue, body = queue_panel.queue_and_card()
    with queue:
        _table(snapshot, [by_pair[key] for key in keys], keys, at)
        unsure_count = len(pair_view.unsure(snapshot.analysis)) - len(pairs)
        more = (
            f" Not listed: {quantity(unsure_count, 'unsure pair')}; {_SETTLED}."
            if unsure_count
            else ""
        )
        st.container(key="undecided_counts").caption(
            f"{quantity(len(keys), 'pair')} that the judge can neither merge nor keep apart.{more}"
        )
        decision_trail.trail(snapshot)
    with body.container(border=True):
        pair_body(view, _show)
    with st.bottom:
        shortcuts.help_box()
    with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
        shortcuts.help_button()
        for name, (answer, label) in ANSWERS.items():
            key, arguments = f"{name}_{view.key}", (snapshot, view, answer, onward)
            shortcuts.button(name, key, _answer, *arguments, label=label)
        shortcuts.button("skip", f"skip_{view.key}", _skip, skipped, keys[at], onward)
        decision_buttons.undo_button(snapshot, decisions)
        for name, other in (("next", onward), ("previous", keys[at - 1])):
            shortcuts.button(name, f"{name}_{view.key}", _show, other)
        decision_buttons.notice(snapshot)


def _is_listed(snapshot: Snapshot, pair: Pair) -> bool:
    """Whether the two tools pass the filters of the queue."""
    tools = snapshot.analysis.catalog.by_id
    ends = (tools[pair.left], tools[pair.right])
    return pass_filters(ends, queue_panel.chosen_filters(snapshot))


def _table(snapshot: Snapshot, pairs: Sequence[Pair], keys: Sequence[str], at: int) -> None:
    """Draw the pairs as rows that can be selected. The shown pair is selected."""
    tools = snapshot.analysis.catalog.by_id
    probability = pair_view.unsure(snapshot.analysis)

    def both(pair: Pair) -> tuple[Tool, Tool]:
        return tools[pair.left], tools[pair.right]

    data_tables.row_chooser(
        pairs,
        [
            Column("tools", lambda pair: " | ".join(one.name for one in both(pair)), width=150),
            Column(
                "server",
                lambda pair: ", ".join(dict.fromkeys(one.owner for one in both(pair))),
                width=95,
            ),
            Column("same job", probability.__getitem__, format="%.2f", width=60),
        ],
        "Undecided pairs (most probable first)",
        most=queue_panel.QUEUE_HEIGHT,
        key="undecided_queue",
        choose=lambda row: _show(keys[row]),
        selected=[at],
        selection_mode="single-row-required",
    )


def _show(key: str) -> None:
    st.query_params["undecided"] = key


def _skip(skipped: list[str], key: str, onward: str) -> None:
    """Move the pair to the end, and show the next pair."""
    if key in skipped:
        skipped.remove(key)
    skipped.append(key)
    _show(onward)


def _answer(snapshot: Snapshot, view: pair_view.PairView, answer: _Answer, onward: str) -> None:
    names = " and ".join(t.name for t in view.tools)
    pair: Pair = view.verdict.pair
    label = next(label for _, (one, label) in ANSWERS.items() if one == answer)
    if decision_buttons.attempt(
        lambda: toolsets.relate(snapshot, pair, answer, view.version, page_frame.reviewer()),
        f"{label}: {names}",
    ):
        _show(onward)
