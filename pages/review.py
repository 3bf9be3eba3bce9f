"""Review: one proposed merge at a time; a person decides, by button or by key."""

from collections.abc import Callable
from typing import Any, Literal

import streamlit as st

from ui.review import (
    bulk_panel,
    queue_panel,
    reshape_panel,
    review_card,
    server_pair_panel,
    undecided_panel,
)
from ui.shared import page_frame
from ui.shared.cards import decision_buttons, decision_trail, shortcuts
from ui.shared.cards.queue import Show

# What is listed, by its value in the address.
SHOW: dict[str, Show | Literal["bulk", "servers", "undecided"]] = {
    "All": "all",
    "Duplicates": "duplicates",
    "Families": "families",
    bulk_panel.SHOW: "bulk",
    server_pair_panel.SHOW: "servers",
    "Undecided": "undecided",
}

head = st.container(horizontal=True, vertical_alignment="center")
head.title("Review", width="content")
with head:
    shortcuts.let_rest()
page_frame.analysis()
review, catalog_id = page_frame.workspace().review, page_frame.current().id
progress, safe = review.progress(catalog_id), review.safe(catalog_id)
standing = review.standing(catalog_id)
with head:
    left = f" ({progress.left:,} with tools of rejected ones)" if progress.left else ""
    st.progress(
        progress.decided / max(progress.total, 1),
        f"{progress.decided:,} of {progress.total:,} reviewed: {progress.accepted:,} accepted, "
        f"{progress.rejected:,} rejected. Waiting: {progress.clusters.waiting_in_words}"
        f"{left}",
    )
    st.button(
        f"Accept safe merges ({len(safe.clusters)})…",
        key="accept_safe",
        disabled=not safe.clusters,
        on_click=decision_buttons.toggle_safe_list,
        help=decision_buttons.batch_in_words(safe),
    )
    model = st.popover("Ask a model", key="ask", icon=":material/forum:", on_change="rerun")
decision_buttons.open_safe_list_from_address()
if safe.clusters and st.session_state.get("safe_list", False):
    decision_buttons.safe_list(safe)

if model.open:
    from ui.shared.models import ask_panel  # with all that asks, where somebody opens it

    with model:
        ask_panel.judge_choice(catalog_id)
        ask_panel.ask_panel(catalog_id, "judge", "Ask for verdicts")

bar = st.container(horizontal=True, vertical_alignment="center")
show = SHOW[bar.segmented_control(
    "Show", list(SHOW), default="All", required=True, key="show", bind="query-params",
    label_visibility="collapsed", on_change=queue_panel.forget_cluster,
)]  # fmt: skip
if show == "undecided":
    undecided_panel.undecided_panel(catalog_id)
    st.stop()
if show == "servers":
    server_pair_panel.server_pair_panel(catalog_id)
    st.stop()
if show == "bulk":
    bulk_panel.bulk_panel(catalog_id, queue_panel.listing(catalog_id, "all", bar))
    st.stop()
listed = queue_panel.listing(catalog_id, show, bar)
if not listed.clusters:
    if listed.total or listed.state != "waiting":
        queue_panel.nothing_listed(listed)
    else:
        rest = " in this list. Choose *All* for the other clusters" if progress.waiting else ""
        st.info(f"Nothing left to review{rest}.", icon=":material/task_alt:")
        page_frame.page_link("export", "Export the toolset")
    decision_buttons.notice()
    decision_buttons.undo_button(standing)
    decision_trail.trail(catalog_id)
    st.stop()
st.query_params["cluster"] = listed.shown.id
reshape_panel.open_from_address(catalog_id, listed.shown)
parts = reshape_panel.parts_of(listed.shown)
blind: bool = st.session_state.get("blind", False)
queue, body = st.container(key="queue_and_card").columns([4, 8], gap="medium")
with queue:
    queue_panel.table(catalog_id, listed, blind)
with body, st.container(gap="small"):
    if parts is None:
        review_card.review_card(catalog_id, listed, blind)
    else:
        with shortcuts.panel("parts"):
            reshape_panel.reshape_panel(catalog_id, listed, parts)

shown, suffix = listed.shown, review_card.suffix_of(listed)
actions: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
    "skip": (queue_panel.go, (listed, listed.onward, True)),
    "next": (queue_panel.go, (listed, listed.onward)),
    "previous": (queue_panel.go, (listed, listed.back)),
}
if listed.state in ("waiting", "flagged"):
    for name in ("accept", "reject", "family"):
        actions[name] = (decision_buttons.answer, (shown, name, listed.onward, blind))
with st.bottom:
    shortcuts.help_box()
with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
    if parts is None:
        shortcuts.help_button()
        for name, shortcut in shortcuts.SHORTCUTS.items():
            if name == "undo":
                decision_buttons.undo_button(standing)
            elif shortcut.in_the_bar and name in actions:
                action, args = actions[name]
                label = shortcuts.label(name, blind)
                shortcuts.button(name, f"{name}_{suffix}", action, *args, label=label)
        decision_buttons.take_back_button(queue_panel.settled(catalog_id, listed))
    decision_buttons.notice()
