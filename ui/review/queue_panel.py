"""The queue of the Review page: what is listed, in which order, and the table to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.model.cluster import Cluster
from toolscope_core.model.kinds import KINDS, ProposalKind
from toolscope_core.model.numbers import quantity
from ui.review import queue_table
from ui.shared import page_frame
from ui.shared.cards import decision_trail
from ui.shared.cards.queue import (
    PART,
    PARTS,
    REASON_KINDS,
    SIZES,
    Filters,
    Order,
    Show,
    all_members,
    matching,
    of_show,
)
from ui.shared.services.learned_judge import LearnedJudge
from ui.shared.services.people import People
from ui.shared.services.settled import SettledCluster
from ui.shared.services.usage_evidence import UsageEvidence
from ui.shared.tools import tool_selection

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
BY_USE: dict[Order, str] = {"used": "Most used first"}
BY_LEARNED: dict[Order, str] = {"learned": "Learned: surest first"}
Listed = Literal["waiting", "accepted", "rejected", "flagged"]
STATES: dict[str, Listed] = {
    "Waiting": "waiting",
    "Accepted": "accepted",
    "Rejected": "rejected",
    "Flagged": "flagged",
}
FILTERS = (
    "review_server",
    "review_size",
    "review_kind",
    "review_objection",
    "review_share",
    "review_part",
)


@dataclass(frozen=True, slots=True)
class Listing:
    """The listed ``clusters`` of ``total`` in this state, the one shown at ``place``; ``order`` is
    the order of the session, to be changed in place.
    """

    clusters: tuple[Cluster, ...]
    total: int
    place: int
    order: list[str]
    by: Order
    show: Show
    state: Listed

    @property
    def shown(self) -> Cluster:
        return self.clusters[self.place]

    @property
    def onward(self) -> str:
        return self.clusters[(self.place + 1) % len(self.clusters)].id

    @property
    def back(self) -> str:
        return self.clusters[self.place - 1].id


def forget_cluster() -> None:
    """Drop the cluster from the address: the list that it was chosen from changes."""
    st.query_params.pop("cluster", None)


def listing(catalog_id: int, show: Show, bar: DeltaGenerator) -> Listing:
    """What is listed under the filters and the order that are drawn in ``bar``."""
    _follow_link()
    review = page_frame.workspace().review
    orders = ORDERS | BY_JUDGES if review.gaps(catalog_id) else ORDERS
    if page_frame.service(LearnedJudge).chosen(catalog_id):
        orders |= BY_LEARNED
    if page_frame.service(UsageEvidence).figures(catalog_id).calls:
        orders |= BY_USE
    by: Order = bar.selectbox(
        "Order", list(orders), key="by", format_func=lambda one: orders.get(one, one), width=175,
        label_visibility="collapsed", persist_state="session", on_change=forget_cluster,
    )  # fmt: skip
    state = _filters(bar, catalog_id)
    order: list[str] = st.session_state.setdefault(f"order_{catalog_id}_{by}_{show}_{state}", [])
    clusters = _clusters(catalog_id, order, by, show, state)
    order.extend(cluster.id for cluster in clusters if cluster.id not in order)
    listed = matching(clusters, page_frame.analysis().catalog.by_id, chosen_filters(catalog_id))
    ids = [cluster.id for cluster in listed]
    linked = st.query_params.get("cluster")
    place = ids.index(linked) if linked in ids else 0
    return Listing(listed, len(clusters), place, order, by, show, state)


def _clusters(
    catalog_id: int, order: list[str], by: Order, show: Show, state: Listed
) -> tuple[Cluster, ...]:
    """The clusters in this state, in the order of the session."""
    work = page_frame.workspace()
    if state in ("accepted", "rejected"):
        settled = of_show((one.cluster for one in work.settled.clusters(catalog_id, state)), show)
        place = {cluster_id: number for number, cluster_id in enumerate(order)}
        return tuple(sorted(settled, key=lambda one: place.get(one.id, len(place))))
    learned = work.service(LearnedJudge).of_clusters(catalog_id) if by == "learned" else None
    used = work.service(UsageEvidence).figures(catalog_id).by_id if by == "used" else {}
    calls = {one: usage.calls for one, usage in used.items()}
    waiting = work.review.queue(catalog_id, order, by, show, learned, calls)
    if state == "waiting":
        return waiting
    flagged = work.settled.flags(catalog_id).keys()
    return tuple(one for one in waiting if not flagged.isdisjoint(one.members))


def settled(catalog_id: int, listed: Listing) -> SettledCluster | None:
    """The shown cluster with what settled it, where the list is one of decided clusters."""
    if listed.state not in ("accepted", "rejected"):
        return None
    decided = page_frame.workspace().settled.clusters(catalog_id, listed.state)
    return next((one for one in decided if one.cluster.id == listed.shown.id), None)


def _filters(bar: DeltaGenerator, catalog_id: int) -> Listed:
    """Draw the filters; the state that is listed."""
    chosen = sum(bool(st.session_state.get(key)) for key in FILTERS)
    chosen += st.session_state.get("review_state", "Waiting") != "Waiting"
    label = f"Filter ({chosen})" if chosen else "Filter"
    with bar.popover(label, icon=":material/filter_list:"):
        state = st.segmented_control(
            "State", list(STATES), default="Waiting", required=True, key="review_state",
            persist_state="session", on_change=forget_cluster,
        )  # fmt: skip
        servers = sorted({tool.owner for tool in page_frame.analysis().catalog.tools} - {""})
        for key, name, options, unset in (
            ("review_server", "Server", servers, "any server"),
            ("review_size", "Size", list(SIZES), "any size"),
            ("review_kind", "Kind", list(KINDS), "any kind"),
            (
                "review_objection",
                "What speaks against it",
                list(REASON_KINDS),
                "anything or nothing",
            ),
        ):
            if options:
                st.selectbox(
                    name, options, None, key=key, placeholder=unset,
                    format_func=_kind_name if key == "review_kind" else str,
                    persist_state="session", on_change=forget_cluster,
                )  # fmt: skip
        if page_frame.workspace().catalogs.earlier(page_frame.current()):
            st.selectbox(
                "Of the new version", list(PARTS.values()), None, key="review_part",
                placeholder="new and older", persist_state="session", on_change=forget_cluster,
            )  # fmt: skip
        owners = page_frame.service(People).owners(catalog_id)
        if page_frame.reviewer() in owners.values():
            st.toggle(
                "My share", key="review_share", on_change=forget_cluster, persist_state="session"
            )
        st.button("Clear", key="review_clear", disabled=not chosen, on_click=_clear)
    bar.text_input(
        "Find", type="search", key="review_find", placeholder="find", width=130,
        label_visibility="collapsed", on_change=forget_cluster, persist_state="session",
    )  # fmt: skip
    return STATES[state]


def _follow_link() -> None:
    """Set the filters as the link says that led here, and take it out of the address."""
    linked = st.query_params.pop(PART, None)
    part = next((one for one in PARTS if one == linked), None)
    if part is not None:
        for key in (*FILTERS, "review_state", "review_find"):
            st.session_state.pop(key, None)
        st.session_state["review_part"] = PARTS[part]


def _clear() -> None:
    for key in FILTERS:
        st.session_state[key] = None
    st.session_state["review_share"] = False
    st.session_state["review_state"] = "Waiting"
    forget_cluster()


def _kind_name(kind: ProposalKind) -> str:
    return KINDS[kind].name


def chosen_filters(catalog_id: int) -> Filters:
    """What is chosen in the bar, and the selection of tools where only that is shown."""
    selection, value = tool_selection.selected(catalog_id), st.session_state.get
    waiting = STATES[value("review_state") or "Waiting"] in ("waiting", "flagged")
    return Filters(
        find=value("review_find") or "",
        server=value("review_server"),
        size=value("review_size"),
        kind=value("review_kind"),
        kind_of_reason=value("review_objection"),
        ids=selection.tool_ids if selection and tool_selection.only() else None,
        clusters=_listed_only(catalog_id) if waiting else None,
    )


def _listed_only(catalog_id: int) -> frozenset[str] | None:
    """The clusters of the chosen part of the new version and of the reviewer's share; ``None`` for
    all.
    """
    part = next(
        (p for p, label in PARTS.items() if label == st.session_state.get("review_part")), None
    )
    own = _own_share(catalog_id) if st.session_state.get("review_share") else None
    if part is None:
        return own
    review = page_frame.workspace().review
    of_part = frozenset(one.id for one in review.queue_part(page_frame.current(), part))
    return of_part if own is None else of_part & own


def _own_share(catalog_id: int) -> frozenset[str] | None:
    """The clusters of the reviewer's share, where the queue is divided and the reviewer has one."""
    owners, reviewer = page_frame.service(People).owners(catalog_id), page_frame.reviewer()
    own = frozenset(one for one, person in owners.items() if person == reviewer)
    return own or None


def nothing_listed(listed: Listing) -> None:
    """Say why the list is empty."""
    if listed.total:
        selected = " and holds selected tools" if tool_selection.only() else ""
        st.info(
            f"None of {quantity(listed.total, 'cluster')} passes the filters{selected}.",
            icon=":material/search_off:",
        )
    elif listed.state != "waiting":
        st.info(f"Nothing is {listed.state}.", icon=":material/inbox:")


def go(listed: Listing, cluster_id: str, skipped: bool = False) -> None:
    """Show another cluster; one that is ``skipped`` goes to the end."""
    st.query_params["cluster"] = cluster_id
    if skipped:
        order, shown = listed.order, listed.shown.id
        order.append(order.pop(order.index(shown)))


def table(catalog_id: int, listed: Listing, blind: bool) -> None:
    """Draw the list, with the shown cluster selected, and the decisions below it."""
    review, selection = page_frame.workspace().review, tool_selection.selected(catalog_id)
    around = queue_table.Around(
        selection.tool_ids if selection else frozenset(),
        review.gaps(catalog_id),
        listed.show == "families",
        blind,
    )
    rows = queue_table.queue_table(listed.clusters, around)
    sort_key = f"sorted_{catalog_id}_{listed.by}_{listed.show}_{listed.state}"
    sorted_by: tuple[str | None, bool] = st.session_state.get(sort_key, (None, False))

    def pick() -> None:
        """Show the row that was chosen, or sort by the column whose head was clicked: once to
        sort, twice to reverse, three times to restore the order.
        """
        chosen = st.session_state["queue"]["selection"]
        column = next(iter(chosen["columns"]), None)
        if column == sorted_by[0]:
            for row in chosen["rows"]:
                go(listed, listed.clusters[row].id)
            return
        descending = column is None and not sorted_by[1]
        by_column = sorted_by[0] if descending else column
        st.session_state[sort_key] = (by_column, descending)
        listed.order.clear()
        if by_column:
            sorted_rows = queue_table.sorted_rows(rows, by_column, descending)
            listed.order.extend(listed.clusters[row].id for row in sorted_rows)

    columns = [name for name in sorted_by[:1] if name in rows.columns]
    st.session_state["queue"] = {
        "selection": {"rows": [listed.place], "columns": columns, "cells": []}
    }
    st.dataframe(
        rows,
        key="queue",
        height=min(QUEUE_HEIGHT, 38 + 35 * len(rows)),
        hide_index=True,
        column_config=queue_table.queue_columns(),
        on_select=pick,
        selection_mode=["single-row-required", "single-column"],
        alt="Clusters to review, in the chosen order",
    )
    every = review.progress(catalog_id).total
    st.caption(f"{len(listed.clusters):,} of {listed.total:,} shown, {every:,} in all")
    members = [one for cluster in listed.clusters for one in all_members(cluster)]
    tool_selection.select_button(
        catalog_id, members, "the review queue", "listed", "Select all listed tools"
    )
    decision_trail.trail(catalog_id)
