"""Accepted merges to look at again: what the judge objects to now, and the buttons to answer."""

from __future__ import annotations

import streamlit as st

from toolscope_core.views.outdated_merges import LookAgain
from ui.deciding import argument_panel, cluster_card, decision_buttons, decision_trail
from ui.frame import page_frame, safe_text, tool_selection

WHY = (
    "These merges were accepted as the same job before the judge distinguished duplicates from "
    "families and related tools. They stay accepted until somebody changes that."
)


def look_again_panel(catalog_id: int) -> None:
    """The list, and the chosen merge with its buttons."""
    review = page_frame.workspace().review
    items = review.look_again(catalog_id)
    decision_buttons.notice()
    if not items:
        st.info("No accepted merge needs another look.", icon=":material/task_alt:")
        return
    st.caption(WHY)
    ids = [item.cluster.id for item in items]
    linked = st.query_params.get("cluster")
    item = items[ids.index(linked) if linked in ids else 0]
    st.query_params["cluster"] = item.cluster.id
    queue, body = st.columns([3, 7], gap="medium")
    with queue:
        _queue(items, ids.index(item.cluster.id))
        decision_trail.trail(catalog_id)
    with body:
        card = review.card(catalog_id, item.cluster)
        cluster_card.title(card)
        why = [f"- {safe_text.sentence(reason)}" for reason in item.why]
        st.markdown(
            "\n".join([":orange[:material/history:] **Why to look at it again:**", "", *why])
        )
        _buttons(item)
        cluster_card.members(card)
        members = cluster_card.all_members(item.cluster)
        key = f"all_{item.cluster.id}"
        tool_selection.select_button(catalog_id, members, "a cluster", key, "Select members")
        argument_panel.arguments(card)
        cluster_card.evidence(card)


def _queue(items: tuple[LookAgain, ...], place: int) -> None:
    key = "again"
    st.session_state[key] = {"selection": {"rows": [place], "columns": [], "cells": []}}

    def pick() -> None:
        for row in st.session_state[key]["selection"]["rows"]:
            st.query_params["cluster"] = items[row].cluster.id

    st.dataframe(
        {
            "name": [item.cluster.document.name for item in items],
            "tools": [len(item.cluster.members) for item in items],
            "reason": [" ".join(item.why) for item in items],
        },
        key=key,
        height=min(480, 38 + 35 * len(items)),
        hide_index=True,
        column_config={
            "name": st.column_config.TextColumn(width=150),
            "tools": st.column_config.NumberColumn(width=50),
            "reason": st.column_config.TextColumn(width=400),
        },
        on_select=pick,
        selection_mode="single-row-required",
        alt="Accepted merges to look at again",
    )


def _buttons(item: LookAgain) -> None:
    suffix = f"{item.cluster.id}_{item.cluster.version[:8]}"
    names = ", ".join(f"decision {seq}" for seq in item.seqs)
    with st.container(horizontal=True):
        st.button(
            "Keep merged", f"keep_{suffix}", "Confirms the merge and removes it from this list.",
            icon=":material/check:",
            on_click=decision_buttons.keep_merged, args=(item,),
        )  # fmt: skip
        st.button(
            "Undo", f"again_undo_{suffix}",
            f"Undoes {names} and everything decided in it; the judge then proposes anew.",
            icon=":material/undo:",
            on_click=decision_buttons.undo, args=(item.seqs,),
        )  # fmt: skip
        st.button(
            "Keep apart", f"apart_{suffix}",
            "Takes out the tools that the kept tool cannot replace, and never merges them again.",
            icon=":material/block:",
            on_click=decision_buttons.keep_apart, args=(item,),
        )  # fmt: skip
