"""Review: one proposed merge at a time; a person decides, by button or by key."""

import streamlit as st

from toolscope_core.datamodel import Tool
from toolscope_core.numbers import quantity
from ui.deciding import cluster_card, decision_buttons, decision_trail, look_again, sticky_question
from ui.frame import page_frame, tool_selection
from ui.models import ask_panel
from ui.tools import tool_drawer

HELP = """**A** accept · **X** reject, never merge these · **S** skip, ask me last · **U** undo my
last decision · **J** / **K** next / previous · **P** split off the chosen members.
The queue is in the order of the column whose head you click; again turns it round.
Keys do nothing while you type. The switch beside this turns them off."""

SHOW = {"All": "all", "Duplicates": "duplicates", "Families": "families", "Look again": "again"}
ORDERS = {"risk": "the riskiest", "disagreement": "where the judges differ most"}

st.title("Review")
page_frame.analysis()
review, catalog_id = page_frame.workspace().review, page_frame.current().id
far, safe = review.progress(catalog_id), review.safe(catalog_id)
standing = review.standing(catalog_id)
st.progress(
    far.decided / max(far.total, 1),
    f"{far.decided:,} of {far.total:,} decided: {far.accepted:,} accepted, "
    f"{far.rejected:,} never to merge, {far.waiting:,} waiting",
)
with st.container(horizontal=True, vertical_alignment="center"):
    st.button(
        f"Accept safe ({len(safe.clusters)}) …",
        key="accept_safe",
        disabled=not safe.clusters,
        on_click=decision_buttons.toggle_safe_list,
    )
    st.caption(decision_buttons.batch_in_words(safe), width="stretch")
listed = bool(safe.clusters) and st.session_state.get("safe_list", False)
if listed:  # the keys rest meanwhile: the card they act on is out of sight
    decision_buttons.safe_list(safe)

model = st.expander("Ask a model", key="ask", icon=":material/forum:", on_change="rerun")
if model.open:
    with model:
        ask_panel.judge_choice(catalog_id)
        ask_panel.asking_panel(catalog_id, "judge", "Ask for verdicts")

again = len(review.look_again(catalog_id))
with st.container(horizontal=True, vertical_alignment="center"):
    show = SHOW[st.segmented_control(
        "Show", list(SHOW), default="All", required=True, key="show", bind="query-params",
        label_visibility="collapsed", on_change=lambda: st.query_params.pop("cluster", None),
    )]  # fmt: skip
    st.caption(
        f"Duplicates waiting: {far.waiting - far.families:,}. Families: {far.families:,}. "
        f"Accepted merges to look at again: {again:,}."
    )
if show == "again":
    look_again.again_panel(catalog_id)
    st.stop()
by, gaps = "risk", review.gaps(catalog_id)
if gaps:
    by = st.segmented_control(
        "First come", ["risk", "disagreement"], default="risk", required=True, key="by",
        format_func=ORDERS.get, persist_state="session",
        on_change=lambda: st.query_params.pop("cluster", None),
    )  # fmt: skip
order: list[str] = st.session_state.setdefault(f"order_{catalog_id}_{by}_{show}", [])
waiting = review.queue(catalog_id, order, by, show)
order.extend(cluster.id for cluster in waiting if cluster.id not in order)
if not waiting:
    decision_buttons.notice()
    rest = " here; other clusters do: choose All" if far.waiting else ""
    st.info(f"Nothing waits for you{rest}.", icon=":material/task_alt:")
    st.page_link("pages/export.py", label="Export the toolset", icon=":material/ios_share:")
    by_key = st.session_state.get("keys", True) and not tool_drawer.is_open()
    decision_buttons.undo_button(standing, by_key)
    decision_trail.trail(catalog_id)
    st.stop()
total, picked = len(waiting), tool_selection.selected(catalog_id)
if picked and tool_selection.only():
    waiting = tuple(c for c in waiting if not picked.tool_ids.isdisjoint(cluster_card.everybody(c)))
    st.caption(f"{len(waiting):,} of {quantity(total, 'cluster')} hold selected tools.")
    if not waiting:
        decision_trail.trail(catalog_id)
        st.stop()
ids = [cluster.id for cluster in waiting]
asked = st.query_params.get("cluster")
place = ids.index(asked) if asked in ids else 0
shown, onward = waiting[place], ids[(place + 1) % len(ids)]
st.query_params["cluster"] = shown.id
seen = f"{shown.id}_{shown.version[:8]}"


def go(cluster_id: str, skipped: bool = False) -> None:
    st.query_params["cluster"] = cluster_id
    if skipped:
        order.append(order.pop(order.index(shown.id)))


def pick() -> None:
    """A row was chosen, or the head of a column: once to sort by it, twice the other way round,
    three times to go back to the order it had.
    """
    chosen = st.session_state["queue"]["selection"]
    column = next(iter(chosen["columns"]), None)
    if column == sorted_by[0]:
        go(ids[chosen["rows"][0]])
        return
    falling = column is None and not sorted_by[1]
    by_column = sorted_by[0] if falling else column
    st.session_state[sorting] = (by_column, falling)
    order.clear()
    if by_column:
        order.extend(ids[row] for row in cluster_card.sorted_rows(table, by_column, falling))


sorting = f"sorted_{catalog_id}_{by}_{show}"
sorted_by: tuple[str | None, bool] = st.session_state.get(sorting, (None, False))
table = cluster_card.queue_table(
    waiting, picked.tool_ids if picked else frozenset(), gaps, show == "families"
)


def drop(tool: Tool) -> None:
    if len(shown.members) > 2 and tool.id in shown.members and shown.state != "accepted":
        rest = [member for member in shown.members if member != tool.id]
        help_text = "Keeps it apart from the others for good. They stay here, to be decided."
        st.button(
            "Drop it", f"drop_{seen}_{tool.id}", help_text, on_click=decision_buttons.take_apart,
            args=(shown, [rest, [tool.id]], onward, order),
        )  # fmt: skip


queue, body = st.columns([3, 7], gap="medium")
with queue:
    chosen_columns = [name for name in sorted_by[:1] if name in table.columns]
    st.session_state["queue"] = {
        "selection": {"rows": [place], "columns": chosen_columns, "cells": []}
    }
    st.dataframe(
        table,
        key="queue",
        height=480,
        hide_index=True,
        column_config=cluster_card.queue_columns(),
        on_select=pick,
        selection_mode=["single-row-required", "single-column"],
        alt="Clusters that wait: duplicates, riskiest first, then families, the largest first",
    )
    decision_trail.trail(catalog_id)
with body:
    card = review.card(catalog_id, shown)
    with sticky_question.question():
        cluster_card.title(card)
        cluster_card.question(card)
    cluster_card.against(card)
    cluster_card.differing(card)
    cluster_card.members(card, drop)
    everybody = cluster_card.everybody(shown)
    tool_selection.select_button(
        catalog_id, everybody, "a cluster", f"all_{seen}", "Select members"
    )
    cluster_card.arguments(card)
    cluster_card.evidence(card)
    decision_buttons.reshape(card, seen, onward, order)
    sticky_question.start_at_top(shown.id)

with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
    keys = st.toggle("Keys", True, key="keys", persist_state="session")
    by_key = keys and not tool_drawer.is_open() and not listed
    st.popover("?").markdown(HELP)
    for name, letter, action, args in (
        ("Accept", "A", decision_buttons.decide, (shown, "accept", onward)),
        ("Reject", "X", decision_buttons.decide, (shown, "reject", onward)),
        ("Skip", "S", go, (onward, True)),
        ("Undo", "U", None, ()),
        ("Next", "J", go, (onward,)),
        ("Previous", "K", go, (ids[place - 1],)),
    ):
        if action is None:
            decision_buttons.undo_button(standing, by_key)
            continue
        st.button(
            name,
            key=f"{name.lower()}_{seen}",
            type="primary" if letter == "A" else "secondary",
            shortcut=letter if by_key else None,
            on_click=action,
            args=args,
        )
    decision_buttons.notice()
