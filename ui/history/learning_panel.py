"""What the judge has learned from decisions on this catalog, and the buttons to use it."""

import json
from dataclasses import dataclass, replace

import streamlit as st

from toolscope_core.judging import learned_weights
from toolscope_core.judging.signals import COUNTS
from toolscope_core.model.numbers import quantity
from ui.shared import data_tables, page_frame
from ui.shared.cards import decision_buttons
from ui.shared.data_tables import Column, Columns
from ui.shared.kept import kept_under
from ui.shared.services import learned_judge
from ui.shared.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class LearningView:
    """The decisions to learn from, what they would teach now, and the update in use.

    ``offer`` is ``None`` if there are too few decisions. Later decisions do not change the update
    in use.
    """

    taught: tuple[learned_weights.Lesson, ...]
    offer: learned_weights.WeightUpdate | None
    update_in_use: learned_weights.JudgeUpdate | None

    @property
    def changes(self) -> tuple[tuple[str, float], ...]:
        """How the update in use changes the weight of each signal, in words,
        largest change first.
        """
        weights = self.update_in_use.weights if self.update_in_use else {}
        ordered = sorted(weights.items(), key=lambda one: (-abs(one[1]), one[0]))
        return tuple((COUNTS[name], weight) for name, weight in ordered if name in COUNTS)


def _view(snapshot: Snapshot) -> LearningView:
    """The data of the panel. Raises ``JobError`` before the analysis is done."""
    analysis, log = snapshot.analysis, snapshot.log

    def made() -> LearningView:
        taught = learned_weights.lessons(analysis.catalog, log)
        return LearningView(taught, learned_weights.learned(analysis.judge, taught), None)

    kept_view = kept_under(analysis, "learning", len(log), made, limit=1)
    return replace(kept_view, update_in_use=learned_judge.update_in_use(snapshot))


_SHOWN = 8


def learning_panel(snapshot: Snapshot) -> None:
    """Show what could be learned, what is in use, and the buttons."""
    decision_buttons.notice(snapshot)
    page_frame.wait_for_analysis(snapshot)
    with st.spinner("Checking what the judge could learn …"):
        learnt = _view(snapshot)
    decisions, same = {one.seq for one in learnt.taught}, sum(one.same for one in learnt.taught)
    st.markdown("**Learning**: can the judge learn from the decisions on this catalog?")
    st.markdown(
        f"Decided one by one: **{quantity(len(decisions), 'decision')}** on "
        f"{quantity(len(learnt.taught), 'pair')}, {same:,} of which do the same job. Decisions "
        "made in bulk do not count, because nobody reviewed each of them."
    )
    _offer(snapshot, learnt)
    _judge_in_use(snapshot, learnt)


def _offer(snapshot: Snapshot, view: LearningView) -> None:
    offer, used = view.offer, view.update_in_use
    if offer is None:
        st.info(
            f"The judge can learn from {learned_weights.LEAST_DECISIONS} decisions or more, "
            f"with at least {learned_weights.LEAST_OF_A_KIND} pairs of each kind.",
            icon=":material/school:",
        )
        return
    st.markdown(
        f"**Learned from {quantity(offer.decisions, 'decision')}. On decisions held out for "
        f"testing, the area under the curve (AUC) goes from {offer.before:.2f} to "
        f"{offer.after:.2f}** (gain between {offer.low:+.2f} and {offer.high:+.2f}, 90 % "
        "interval)."
    )
    if not offer.helps:
        st.info(
            "This gain may be due to chance, so it is not offered yet. More decisions may "
            "settle it.",
            icon=":material/balance:",
        )
        return
    is_in_use = used is not None and used.version == offer.update.version
    update = offer.update
    decision_buttons.record_button(
        "Learn again from all decisions"
        if used and not is_in_use
        else "Sort the queue by what was learned",
        lambda: learned_judge.use(snapshot, update),
        "Review now has the order “Learned: surest first”",
        key=f"learn_{offer.update.version}",
        type="primary",
        disabled=is_in_use,
        help="Adds the order *Learned: surest first* to Review. It does not change what is "
        "proposed, safe or merged.",
    )


def _judge_in_use(snapshot: Snapshot, view: LearningView) -> None:
    used = view.update_in_use
    if used is None:
        return
    with st.container(border=True):
        st.markdown(f"In use: version `{used.version}`, as a sort order of the Review queue.")
        columns: Columns[tuple[str, float]] = [
            Column("signal", lambda change: change[0]),
            Column("weight added", lambda change: change[1]),
        ]
        data_tables.draw(
            view.changes[:_SHOWN], columns, "Largest changes in the update", key="learned_weights"
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
