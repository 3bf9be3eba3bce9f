"""One pair: the verdict, the decisions on it, and the evidence."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from toolscope_core.decisions.actions import ACTIONS
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.pair import Pair
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_words, outcome_badges
from ui.shared.cards.measured_effects import confused_line
from ui.shared.pairs.pair_evidence import evidence_panel
from ui.shared.pairs.pair_tools import side_by_side
from ui.shared.pairs.pair_view import PairView
from ui.shared.tools import tool_selection


def show_pair(key: str) -> None:
    """Write the pair into the address, which decides what is shown."""
    st.query_params["pair"] = key


def pair_view(catalog_id: int, pair: Pair) -> None:
    """Draw two tools with their verdict, buttons and evidence."""
    view = page_frame.workspace().pairs.view(catalog_id, pair)
    with st.container(border=True):
        _heading(view)
        confused_line(catalog_id, pair)
        _buttons(catalog_id, view)
        side_by_side(view)
        evidence_panel(view, show_pair)


def pair_body(view: PairView, show: Callable[[str], None]) -> None:
    """Draw two tools with their verdict and evidence, without buttons; ``show`` shows another."""
    _heading(view)
    side_by_side(view)
    evidence_panel(view, show)


def _heading(view: PairView) -> None:
    verdict = view.verdict
    one, other = (safe_text.untrusted(tool.name) for tool in view.tools)
    st.subheader(f"{one} and {other}", anchor=False)
    with st.container(horizontal=True):
        outcome_badges.badge("Judge", verdict.outcome)
        st.badge(f"Same job {verdict.probability:.2f}", color="gray")
        st.badge(f"Family {verdict.family:.2f}", color="gray")
        if view.asked:
            offline, differs = view.offline, verdict.outcome != view.offline.outcome
            st.badge(
                f"Offline: {offline.outcome}, {outcome_badges.probability(offline)}",
                color="orange" if differs else "gray",
                icon=":material/difference:" if differs else ":material/done_all:",
            )
        st.badge(f"Similarity {verdict.similarity:.2f}", color="gray")
        if view.card is not None:
            st.badge(f"Cluster: {view.card.state}", color="blue", icon=":material/rule:")
    relation, serving, *wording = view.relation
    st.markdown(f"**{safe_text.untrusted(relation)}** {safe_text.untrusted(serving)}")
    st.markdown(" ".join(map(safe_text.untrusted, wording)))


def _buttons(catalog_id: int, view: PairView) -> None:
    decision_buttons.notice()
    kept_apart = any(decision.action == "reject" for decision in view.decisions)
    with st.container(horizontal=True, vertical_alignment="center"):
        if view.card is not None:
            st.page_link(
                "pages/review.py",
                label="Open in Review",
                icon=":material/rule:",
                query_params={"cluster": view.card.id},
            )
        else:
            st.button(
                "Send to review",
                icon=":material/outbox:",
                key=f"propose_{view.key}",
                disabled=kept_apart,
                help="Adds a proposal to the review queue. Nothing is merged until it is accepted.",
                on_click=_record,
                args=(catalog_id, view, "propose"),
            )
        st.button(
            "Never merge",
            icon=":material/block:",
            key=f"never_{view.key}",
            disabled=kept_apart,
            help="Keeps the two apart, whatever the judge says, until the decision is undone.",
            on_click=_record,
            args=(catalog_id, view, "reject"),
        )
        ids = [tool.id for tool in view.tools]
        tool_selection.select_button(catalog_id, ids, "a pair", f"both_{view.key}", "Select both")
    for decision in view.decisions:
        _decision(decision)


def _decision(decision: Decision) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        who = decision_words.by_whom(decision)
        st.caption(f"{decision_words.in_words(decision)} by {who}", width="content")
        st.button(
            "Undo",
            key=f"pair_undo_{decision.seq}",
            on_click=decision_buttons.undo,
            args=((decision.seq,),),
        )


def _record(catalog_id: int, view: PairView, action: Action) -> None:
    sets, pair = page_frame.workspace().toolsets, view.verdict.pair
    names = " and ".join(tool.name for tool in view.tools)
    decide = sets.never_merge if action == "reject" else sets.send_to_review
    show_pair(view.key)
    decision_buttons.attempt(
        lambda: decide(catalog_id, (pair.left, pair.right), view.version, page_frame.reviewer()),
        f"{ACTIONS[action].done}: {names}",
    )
