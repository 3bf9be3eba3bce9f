"""What the judge learned from the decisions on this catalog, and whether to use it."""

from __future__ import annotations

import json

import streamlit as st

from toolscope_core.model.numbers import quantity
from ui.history import learning
from ui.history.learning import LearningView
from ui.shared import data_tables, page_frame
from ui.shared.cards import decision_buttons
from ui.shared.services import learned_judge
from ui.shared.snapshot import Snapshot

SHOWN = 8


def learning_panel(snapshot: Snapshot) -> None:
    """Draw what could be learned, what is in use, and the buttons."""
    decision_buttons.notice(snapshot)
    page_frame.wait_for_analysis(snapshot)
    with st.spinner("Checking what the judge could learn …"):
        view = learning.view(snapshot)
    same = sum(one.same for one in view.taught)
    st.markdown("**Learning**: can the judge learn from the decisions on this catalog?")
    st.markdown(
        f"Decided one by one: **{quantity(view.decisions, 'decision')}** on "
        f"{quantity(len(view.taught), 'pair')}, {same:,} of them the same job. Decisions made many "
        "at once do not count, because nobody looked at each of them."
    )
    _offer(snapshot, view)
    _used(snapshot, view)


def _offer(snapshot: Snapshot, view: LearningView) -> None:
    offer, used = view.offer, view.used
    if offer is None:
        decisions, pairs = view.least
        st.info(
            f"From {decisions} decisions on, with {pairs} pairs or more of each kind, the judge "
            "can learn from them.",
            icon=":material/school:",
        )
        return
    st.markdown(
        f"**Learned from {quantity(offer.decisions, 'decision')}. On decisions kept back as a "
        f"test, the area under the curve (AUC) goes from {offer.before:.2f} to {offer.after:.2f}** "
        f"(gain between {offer.low:+.2f} and {offer.high:+.2f}, 90 % interval)."
    )
    if not offer.helps:
        st.info(
            "That gain may be chance, so it is not offered. With more decisions it may be sure.",
            icon=":material/balance:",
        )
        return
    same = used is not None and used.version == offer.update.version
    update = offer.update
    decision_buttons.record_button(
        "Learn again from all decisions" if used and not same else "Use it for the queue",
        lambda: learned_judge.use(snapshot, update),
        "Review has the order “Learned: surest first” now",
        key=f"learn_{offer.update.version}",
        type="primary",
        disabled=same,
        help="Adds the order *Learned: surest first* to Review. What is proposed, what is safe and "
        "what is merged do not change.",
    )


def _used(snapshot: Snapshot, view: LearningView) -> None:
    used = view.used
    if used is None:
        return
    with st.container(border=True):
        st.markdown(f"In use: version `{used.version}`, an order of the Review queue.")
        data_tables.draw(
            [{"signal": name, "weight added": weight} for name, weight in view.changes[:SHOWN]],
            "What the update changes most",
            key="learned_weights",
        )
        with st.container(horizontal=True):
            decision_buttons.record_button(
                "Switch off",
                lambda: learned_judge.switch_off(snapshot),
                "Switched off",
                key="learn_off",
            )
            st.download_button(
                "Export JSON",
                json.dumps(used.as_json(), indent=2),
                f"learned-{used.version}.json",
                "application/json",
                key="learn_export",
            )
