"""One pair: what the judge says of it, what a person says, and all that speaks for either."""

from __future__ import annotations

import streamlit as st

from pages import _decisions, _outcomes, _selection, _ui
from pages._pair_evidence import evidence_panel
from pages._pair_tools import side_by_side
from toolscope_core.datamodel import Decision, Pair
from toolscope_core.decisions import ACTIONS
from toolscope_core.workspace.pair_view import PairView


def show_pair(key: str) -> None:
    """Put the pair into the address, which decides what is shown."""
    st.query_params["pair"] = key


def pair_view(catalog_id: int, pair: Pair) -> None:
    """Everything on two tools, and the buttons."""
    view = _ui.workspace().pairs.view(catalog_id, pair)
    with st.container(border=True):
        _heading(view)
        _buttons(catalog_id, view)
        side_by_side(view)
        evidence_panel(view, show_pair)


def _heading(view: PairView) -> None:
    said = view.verdict
    one, other = (_ui.untrusted(tool.name) for tool in view.tools)
    st.subheader(f"{one} and {other}", anchor=False)
    with st.container(horizontal=True):
        _outcomes.badge("Judge", said.outcome)
        st.badge(f"Same job {said.probability:.2f}", color="gray")
        st.badge(f"Family {said.family:.2f}", color="gray")
        if view.asked:
            offline, differs = view.offline, said.outcome != view.offline.outcome
            st.badge(
                f"Offline: {offline.outcome}, {_outcomes.probability(offline)}",
                color="orange" if differs else "gray",
                icon=":material/difference:" if differs else ":material/done_all:",
            )
        st.badge(f"Cosine {said.similarity:.2f}", color="gray")
        if view.card is not None:
            st.badge(f"On a card: {view.card.state}", color="blue", icon=":material/rule:")
    relation, serving, *words = view.relation
    st.markdown(f"**{_ui.untrusted(relation)}** {_ui.untrusted(serving)}")
    st.markdown(" ".join(map(_ui.untrusted, words)))


def _buttons(catalog_id: int, view: PairView) -> None:
    _decisions.notice()
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
        _selection.select_button(catalog_id, ids, "a pair", f"both_{view.key}", "Select both")
    for decision in view.said:
        _standing(decision)


def _standing(decision: Decision) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        who = _decisions.by_whom(decision)
        st.caption(f"{_decisions.done(decision)} by {who}", width="content")
        st.button(
            "Undo",
            key=f"pair_undo_{decision.seq}",
            on_click=_decisions.undo,
            args=((decision.seq,),),
        )


def _say(catalog_id: int, view: PairView, action: str) -> None:
    sets, pair = _ui.workspace().toolsets, view.verdict.pair
    names = " and ".join(tool.name for tool in view.tools)
    does = sets.never_merge if action == "reject" else sets.send_to_review
    show_pair(view.key)
    _decisions.attempt(
        lambda: does(catalog_id, (pair.left, pair.right), view.version, _ui.reviewer()),
        f"{ACTIONS[action].done}: {names}",
    )
