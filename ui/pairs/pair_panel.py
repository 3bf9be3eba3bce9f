"""One pair: what the judge says of it, what a person says, and all that speaks for either."""

from __future__ import annotations

import streamlit as st

from toolscope_core.datamodel import Decision, Pair
from toolscope_core.decisions import ACTIONS
from toolscope_core.views.pair_view import PairView
from ui.deciding import decision_buttons, outcome_badges
from ui.frame import page_frame, safe_text, tool_selection
from ui.pairs.pair_evidence import evidence_panel
from ui.pairs.pair_tools import side_by_side


def show_pair(key: str) -> None:
    """Put the pair into the address, which decides what is shown."""
    st.query_params["pair"] = key


def pair_view(catalog_id: int, pair: Pair) -> None:
    """Everything on two tools, and the buttons."""
    view = page_frame.workspace().pairs.view(catalog_id, pair)
    with st.container(border=True):
        _heading(view)
        _buttons(catalog_id, view)
        side_by_side(view)
        evidence_panel(view, show_pair)


def _heading(view: PairView) -> None:
    said = view.verdict
    one, other = (safe_text.untrusted(tool.name) for tool in view.tools)
    st.subheader(f"{one} and {other}", anchor=False)
    with st.container(horizontal=True):
        outcome_badges.badge("Judge", said.outcome)
        st.badge(f"Same job {said.probability:.2f}", color="gray")
        st.badge(f"Family {said.family:.2f}", color="gray")
        if view.asked:
            offline, differs = view.offline, said.outcome != view.offline.outcome
            st.badge(
                f"Offline: {offline.outcome}, {outcome_badges.probability(offline)}",
                color="orange" if differs else "gray",
                icon=":material/difference:" if differs else ":material/done_all:",
            )
        st.badge(f"Cosine {said.similarity:.2f}", color="gray")
        if view.card is not None:
            st.badge(f"On a card: {view.card.state}", color="blue", icon=":material/rule:")
    relation, serving, *words = view.relation
    st.markdown(f"**{safe_text.untrusted(relation)}** {safe_text.untrusted(serving)}")
    st.markdown(" ".join(map(safe_text.untrusted, words)))


def _buttons(catalog_id: int, view: PairView) -> None:
    decision_buttons.notice()
    kept_apart = any(decision.action == "reject" for decision in view.said)
    with st.container(horizontal=True, vertical_alignment="center"):
        if view.card is not None:
            st.page_link(
                "pages/review.py",
                label="Open its card",
                icon=":material/rule:",
                query_params={"cluster": view.card.id},
            )
        else:
            st.button(
                "Send to review",
                icon=":material/outbox:",
                key=f"propose_{view.key}",
                disabled=kept_apart,
                help="Makes a card with both, which a person accepts or rejects. Merges nothing.",
                on_click=_say,
                args=(catalog_id, view, "propose"),
            )
        st.button(
            "Never merge",
            icon=":material/block:",
            key=f"never_{view.key}",
            disabled=kept_apart,
            help="Keeps the two apart, whatever the judge says, until somebody undoes it.",
            on_click=_say,
            args=(catalog_id, view, "reject"),
        )
        ids = [tool.id for tool in view.tools]
        tool_selection.select_button(catalog_id, ids, "a pair", f"both_{view.key}", "Select both")
    for decision in view.said:
        _standing(decision)


def _standing(decision: Decision) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        who = decision_buttons.by_whom(decision)
        st.caption(f"{decision_buttons.done(decision)} by {who}", width="content")
        st.button(
            "Undo",
            key=f"pair_undo_{decision.seq}",
            on_click=decision_buttons.undo,
            args=((decision.seq,),),
        )


def _say(catalog_id: int, view: PairView, action: str) -> None:
    sets, pair = page_frame.workspace().toolsets, view.verdict.pair
    names = " and ".join(tool.name for tool in view.tools)
    does = sets.never_merge if action == "reject" else sets.send_to_review
    show_pair(view.key)
    decision_buttons.attempt(
        lambda: does(catalog_id, (pair.left, pair.right), view.version, page_frame.reviewer()),
        f"{ACTIONS[action].done}: {names}",
    )
