"""Review: one proposed merge at a time; a person decides, by button or by key."""

from collections.abc import Callable
from typing import Any, Literal

import streamlit as st

from toolscope_core.datamodel import Tool
from toolscope_core.numbers import quantity
from toolscope_core.views.queue import Order, matching
from toolscope_core.workspace.review import Show
from ui.deciding import (
    argument_panel,
    cluster_card,
    decision_buttons,
    decision_trail,
    look_again,
    server_pair_panel,
    shortcuts,
    sticky_question,
)
from ui.evaluation.measured_effects import merge_line
from ui.frame import page_frame, tool_selection
from ui.models import ask_panel
from ui.pairs import undecided_panel
from ui.tools import tool_drawer

# What is listed, by its value in the address.
SHOW: dict[str, Show | Literal["servers", "again", "undecided"]] = {
    "All": "all",
    "Duplicates": "duplicates",
    "Families": "families",
    server_pair_panel.SHOW: "servers",
    "Look again": "again",
    "Undecided pairs": "undecided",
}
BESIDE = 2
"""Up to so many members what speaks against a merge stands beside the arguments."""
QUEUE_HEIGHT = 560
"""So that queue and decisions end above the buttons on a screen of 900 pixels."""
ORDERS: dict[Order, str] = {
    "risk": "Riskiest first",
    "tokens": "Most tokens saved",
    "surest": "Surest first",
    "uncertain": "Most uncertain",
    "families": "Families first",
    "audit": "Random audit",
}
BY_JUDGES: dict[Order, str] = {"disagreement": "Judges disagree"}

head = st.container(horizontal=True, vertical_alignment="center")
head.title("Review", width="content")
page_frame.analysis()
review, catalog_id = page_frame.workspace().review, page_frame.current().id
progress, safe = review.progress(catalog_id), review.safe(catalog_id)
standing, outdated = review.standing(catalog_id), len(review.look_again(catalog_id))
with head:
    again = f". Accepted, to look at again: {outdated:,}" if outdated else ""
    st.progress(
        progress.decided / max(progress.total, 1),
        f"{progress.decided:,} of {progress.total:,} reviewed: {progress.accepted:,} accepted, "
        f"{progress.rejected:,} rejected. Waiting: "
        f"{quantity(progress.waiting - progress.families, 'duplicate')}, "
        f"{'1 family' if progress.families == 1 else f'{progress.families:,} families'}{again}",
    )
    st.button(
        f"Accept safe merges ({len(safe.clusters)})…",
        key="accept_safe",
        disabled=not safe.clusters,
        on_click=decision_buttons.toggle_safe_list,
        help=decision_buttons.batch_in_words(safe),
    )
    model = st.popover("Ask a model", key="ask", icon=":material/forum:", on_change="rerun")
safe_listed = bool(safe.clusters) and st.session_state.get("safe_list", False)
if safe_listed:  # shortcuts are off meanwhile: the card they act on is out of sight
    decision_buttons.safe_list(safe)

if model.open:
    with model:
        ask_panel.judge_choice(catalog_id)
        ask_panel.asking_panel(catalog_id, "judge", "Ask for verdicts")


def forget_cluster() -> None:
    """Drop the cluster from the address: the list that it was chosen from changes."""
    st.query_params.pop("cluster", None)


bar = st.container(horizontal=True, vertical_alignment="center")
show = SHOW[bar.segmented_control(
    "Show", list(SHOW), default="All", required=True, key="show", bind="query-params",
    label_visibility="collapsed", on_change=forget_cluster,
)]  # fmt: skip
if show == "undecided":
    undecided_panel.undecided_panel(catalog_id)
    st.stop()
if show == "servers":
    server_pair_panel.server_pair_panel(catalog_id)
    st.stop()
if show == "again":
    look_again.look_again_panel(catalog_id)
    st.stop()
gaps = review.gaps(catalog_id)
orders = ORDERS | BY_JUDGES if gaps else ORDERS
by = bar.selectbox(
    "Order", list(orders), key="by", format_func=lambda one: orders.get(one, one), width=180,
    label_visibility="collapsed", persist_state="session", on_change=forget_cluster,
)  # fmt: skip
servers = sorted({tool.owner for tool in page_frame.analysis().catalog.tools} - {""})
server = None
if len(servers) > 1:
    server = bar.selectbox(
        "Server", servers, None, key="review_server", placeholder="any server", width=150,
        label_visibility="collapsed", on_change=forget_cluster,
    )  # fmt: skip
find = bar.text_input(
    "Find", type="search", key="review_find", placeholder="find a tool", width=150,
    label_visibility="collapsed", on_change=forget_cluster,
)  # fmt: skip
order: list[str] = st.session_state.setdefault(f"order_{catalog_id}_{by}_{show}", [])
waiting = review.queue(catalog_id, order, by, show)
order.extend(cluster.id for cluster in waiting if cluster.id not in order)
if not waiting:
    decision_buttons.notice()
    rest = " in this list. Choose *All* for the other clusters" if progress.waiting else ""
    st.info(f"Nothing left to review{rest}.", icon=":material/task_alt:")
    st.page_link("pages/export.py", label="Export the toolset", icon=":material/ios_share:")
    by_key = st.session_state.get("keys", True) and not tool_drawer.is_open()
    decision_buttons.undo_button(standing, by_key)
    decision_trail.trail(catalog_id)
    st.stop()
total, selection = len(waiting), tool_selection.selected(catalog_id)
if find or server:
    waiting = matching(waiting, page_frame.analysis().catalog.by_id, find, server)
    if not waiting:
        st.info(f"None of {quantity(total, 'cluster')} matches.", icon=":material/search_off:")
        decision_trail.trail(catalog_id)
        st.stop()
if selection and tool_selection.only():
    waiting = tuple(
        cluster
        for cluster in waiting
        if not selection.tool_ids.isdisjoint(cluster_card.all_members(cluster))
    )
    if not waiting:
        st.caption(f"0 of {quantity(total, 'cluster')} hold selected tools.")
        decision_trail.trail(catalog_id)
        st.stop()
ids = [cluster.id for cluster in waiting]
linked = st.query_params.get("cluster")
place = ids.index(linked) if linked in ids else 0
shown, onward = waiting[place], ids[(place + 1) % len(ids)]
st.query_params["cluster"] = shown.id
suffix = f"{shown.id}_{shown.version[:8]}"


def go(cluster_id: str, skipped: bool = False) -> None:
    st.query_params["cluster"] = cluster_id
    if skipped:
        order.append(order.pop(order.index(shown.id)))


def pick() -> None:
    """Show the row that was chosen, or sort by the column whose head was clicked: once to sort,
    twice to reverse, three times to restore the order.
    """
    chosen = st.session_state["queue"]["selection"]
    column = next(iter(chosen["columns"]), None)
    if column == sorted_by[0]:
        go(ids[chosen["rows"][0]])
        return
    descending = column is None and not sorted_by[1]
    by_column = sorted_by[0] if descending else column
    st.session_state[sort_key] = (by_column, descending)
    order.clear()
    if by_column:
        order.extend(ids[row] for row in cluster_card.sorted_rows(table, by_column, descending))


sort_key = f"sorted_{catalog_id}_{by}_{show}"
sorted_by: tuple[str | None, bool] = st.session_state.get(sort_key, (None, False))
table = cluster_card.queue_table(
    waiting, selection.tool_ids if selection else frozenset(), gaps, show == "families"
)
blind: bool = st.session_state.get("blind", False)
if blind:
    table = table.drop(columns=[name for name in cluster_card.OPINIONS if name in table])


def drop_button(tool: Tool) -> None:
    """A button that takes one member out of the cluster, where that leaves a cluster."""
    if len(shown.members) > 2 and tool.id in shown.members and shown.state != "accepted":
        rest = [member for member in shown.members if member != tool.id]
        help_text = "Never merges it with the others, which stay a proposal."
        st.button(
            "Remove", f"drop_{suffix}_{tool.id}", help_text, on_click=decision_buttons.take_apart,
            args=(shown, [rest, [tool.id]], onward, order),
        )  # fmt: skip


queue, body = st.columns([4, 8], gap="medium")
with queue:
    chosen_columns = [name for name in sorted_by[:1] if name in table.columns]
    st.session_state["queue"] = {
        "selection": {"rows": [place], "columns": chosen_columns, "cells": []}
    }
    st.dataframe(
        table,
        key="queue",
        height=min(QUEUE_HEIGHT, 38 + 35 * len(waiting)),
        hide_index=True,
        column_config=cluster_card.queue_columns(),
        on_select=pick,
        selection_mode=["single-row-required", "single-column"],
        alt="Clusters to review, in the chosen order",
    )
    st.caption(f"{len(waiting):,} of {total:,} shown, {progress.total:,} in all")
    decision_trail.trail(catalog_id)
with body, st.container(gap="small"):
    card = review.card(catalog_id, shown)
    with sticky_question.question():
        cluster_card.title(card, blind)
        if blind:
            st.markdown("Do these tools do the same job?")
        else:
            cluster_card.question(card)
    cluster_card.members(card, drop_button)
    if len(card.tools) <= BESIDE:
        left, right = st.container(key="beside").columns([3, 2], gap="medium")
    else:
        left = right = st.container()
    with left:
        argument_panel.arguments(card)
        decision_buttons.reshape(card, suffix, onward, order)
    with right:
        if blind:
            st.caption("Hidden until you decide: what the judge says, and what speaks against it.")
        else:
            cluster_card.objections(card)
    if not blind:
        merge_line(catalog_id, shown.members)
    with st.container(horizontal=True, vertical_alignment="center"):
        together = review.server_pair_of(catalog_id, shown)
        if together is not None:
            server_pair_panel.open_link(together)
        members = cluster_card.all_members(shown)
        tool_selection.select_button(
            catalog_id, members, "a cluster", f"all_{suffix}", "Select members"
        )
    if not blind:
        cluster_card.differing(card)
        with st.expander("Verdicts on the pairs, weakest first"):
            cluster_card.evidence(card)
    sticky_question.start_at_top(shown.id)

with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
    with st.popover("?", help="Keyboard shortcuts"):
        keys = st.toggle("Keyboard shortcuts", True, key="keys", persist_state="session")
        st.toggle(
            "Blind: hide what the judge says",
            key="blind",
            persist_state="session",
            help="For an honest audit: the card shows the tools, and neither probability nor kind.",
        )
        st.markdown(shortcuts.help_text())
    by_key = keys and not tool_drawer.is_open() and not safe_listed
    actions: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
        "accept": (decision_buttons.decide, (shown, "accept", onward)),
        "reject": (decision_buttons.decide, (shown, "reject", onward)),
        "skip": (go, (onward, True)),
        "next": (go, (onward,)),
        "previous": (go, (ids[place - 1],)),
    }
    for name, shortcut in shortcuts.SHORTCUTS.items():
        if name == "undo":
            decision_buttons.undo_button(standing, by_key)
        elif name in actions:
            action, args = actions[name]
            st.button(
                shortcut.label,
                key=f"{name}_{suffix}",
                type="primary" if name == "accept" else "secondary",
                shortcut=shortcuts.letter(name, by_key),
                on_click=action,
                args=args,
            )
    decision_buttons.notice()
