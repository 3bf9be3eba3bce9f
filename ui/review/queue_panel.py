"""The queue of the Review page: its contents, its order and its table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.catalog.tokens import SizeChange
from toolscope_core.judging.relation_words import selector_in
from toolscope_core.model.cluster import KINDS, Cluster, ProposalKind
from toolscope_core.model.numbers import listed, quantity
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import decision_trail, queue
from ui.shared.data_tables import Column
from ui.shared.services import learned_judge, review, usage_evidence
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_selection

QUEUE_HEIGHT = 560
"""At this height, the queue and the decisions end above the buttons on a screen 900 pixels high."""
ORDERS: dict[queue.Order, str] = {
    "risk": "Riskiest first",
    "tokens": "Most tokens saved",
    "surest": "Surest first",
    "uncertain": "Most uncertain",
    "families": "Families first",
    "audit": "Random audit",
    "disagreement": "Judges disagree",
    "learned": "Learned: surest first",
    "used": "Most used first",
}
_LOOK_AGAIN, NEW = queue.VERSION_PARTS["again"], queue.VERSION_PARTS["new"]
FLAGGED, UNDECIDED = "Flagged", "Undecided"
_FAMILIES = "Families"
_RELATIONS: dict[str, queue.Show] = {"Same job": "duplicates", _FAMILIES: "families"}
SETTLED: dict[str, review.SettledState] = {"Accepted": "accepted", "Kept apart": "kept_apart"}
_NOTHING = {
    _LOOK_AGAIN: (
        "No tool has changed since it was decided on, and the logs show no merge after which more "
        "calls failed."
    ),
    NEW: (
        "There have been no new proposals since you opened the queue, and this version of the "
        "catalog adds none."
    ),
    FLAGGED: "Nothing is flagged.",
    "Accepted": "Nothing has been accepted.",
    "Kept apart": "Nothing has been kept apart.",
}
SHOWN = ("Waiting", *_RELATIONS, _LOOK_AGAIN, NEW, UNDECIDED, FLAGGED, *SETTLED)
"""The lists that can be shown, by their values in the address."""
_TOGGLES = ("review_share", "review_larger")
FILTERS = ("review_server", "review_size", "review_kind", "review_objection", *_TOGGLES)


@dataclass(frozen=True, slots=True)
class Listing:
    """The ``clusters`` listed from a list of ``total``. The cluster at ``place`` is the shown one.

    ``show`` is the name of the list. ``order`` is the order kept in this session; it is changed in
    place.
    """

    clusters: tuple[Cluster, ...]
    total: int
    place: int
    order: list[str]
    order_by: queue.Order
    show: str

    @property
    def is_open(self) -> bool:
        """Whether the shown cluster waits for a decision."""
        return self.show not in SETTLED and queue.waits(self.current)

    @property
    def current(self) -> Cluster:
        return self.clusters[self.place]

    @property
    def onward(self) -> str:
        return self.clusters[(self.place + 1) % len(self.clusters)].id

    @property
    def back(self) -> str:
        return self.clusters[self.place - 1].id


def is_narrowed(listing: Listing) -> bool:
    """Whether fewer clusters are listed than wait in total."""
    return listing.show != SHOWN[0] or len(listing.clusters) < listing.total


def forget_cluster() -> None:
    """Remove the cluster from the address, because the list changes."""
    st.query_params.pop("cluster", None)


def show_list_of(cluster: Cluster) -> None:
    """Choose the list that contains the settled cluster of a link, before the choice is drawn."""
    of_state = {state: name for name, state in SETTLED.items()}
    if cluster.state in of_state and not queue.waits(cluster):
        st.session_state["show"] = of_state[cluster.state]


def listing(snapshot: Snapshot, bar: DeltaGenerator) -> Listing:
    """Draw the filters and the order in ``bar``. Returns the list that they give."""
    show: str = bar.selectbox(
        "Show", SHOWN, key="show", bind="query-params", width=140,
        label_visibility="collapsed", on_change=forget_cluster,
    )  # fmt: skip
    orders = _orders(snapshot)
    order_by: queue.Order = bar.selectbox(
        "Order", list(orders), key="by", format_func=lambda one: orders.get(one, one), width=175,
        label_visibility="collapsed", persist_state="session", on_change=forget_cluster,
    )  # fmt: skip
    _filters(bar, snapshot)
    order: list[str] = st.session_state.setdefault(f"order_{snapshot.id}_{order_by}_{show}", [])
    clusters = _clusters(snapshot, order, order_by, show)
    order.extend(cluster.id for cluster in clusters if cluster.id not in order)
    filters = chosen_filters(snapshot, show not in SETTLED)
    matches = queue.matching(clusters, snapshot.analysis.catalog.by_id, filters)
    ids = [cluster.id for cluster in matches]
    linked = st.query_params.get("cluster")
    place = ids.index(linked) if linked in ids else 0
    return Listing(matches, len(clusters), place, order, order_by, show)


def _orders(snapshot: Snapshot) -> dict[queue.Order, str]:
    """The orders that can be used for this catalog."""
    figures = usage_evidence.figures(snapshot)
    is_possible: dict[queue.Order, bool] = {
        "disagreement": bool(review.judge_differences(snapshot)),
        "learned": learned_judge.update_in_use(snapshot) is not None,
        "used": bool(figures.calls),
    }
    return {order: label for order, label in ORDERS.items() if is_possible.get(order, True)}


def _clusters(
    snapshot: Snapshot, order: list[str], order_by: queue.Order, show: str
) -> tuple[Cluster, ...]:
    """The clusters in the list ``show``, in the session's order."""
    places = {cluster_id: number for number, cluster_id in enumerate(order)}

    def place(cluster: Cluster) -> int:
        return places.get(cluster.id, len(places))

    if show in SETTLED:
        decided_clusters = (one.cluster for one in review.clusters(snapshot, SETTLED[show]))
        return tuple(sorted(decided_clusters, key=place))
    learned = learned_judge.of_clusters(snapshot) if order_by == "learned" else None
    usage_by_id = usage_evidence.figures(snapshot).by_id if order_by == "used" else {}
    calls = {one: usage.calls for one, usage in usage_by_id.items()}
    relation = _RELATIONS.get(show, "all")
    queued = review.queue(snapshot, order, order_by, relation, learned, calls)
    if show == _LOOK_AGAIN:
        bad = sorted(usage_evidence.went_bad(snapshot), key=place)
        return (*bad, *(one for one in queued if one.state == "stale"))
    if show == NEW:
        new = new_clusters(snapshot)
        return tuple(one for one in queued if one.id in new)
    if show == FLAGGED:
        flagged = review.flags(snapshot).keys()
        return tuple(one for one in queued if not flagged.isdisjoint(one.members))
    return queued


def new_clusters(snapshot: Snapshot) -> set[str]:
    """The ids of the clusters that wait now but did not wait when this visit began, or are new in
    this version.
    """
    key = f"seen_{snapshot.id}"
    waiting_ids = {one.id for one in snapshot.plan.clusters if queue.waits(one)}
    if key not in st.session_state:
        new = {one.id for one in review.queue_part(snapshot, "new")}
        st.session_state[key] = waiting_ids - new
    seen_ids: set[str] = st.session_state[key]
    return waiting_ids - seen_ids


def settled_cluster(snapshot: Snapshot, listing: Listing) -> review.SettledCluster | None:
    """The shown cluster with the decision on it, if the list contains decided clusters."""
    if listing.show not in (*SETTLED, _LOOK_AGAIN):
        return None
    state = SETTLED.get(listing.show, "accepted")
    decided_clusters = review.clusters(snapshot, state)
    return next((one for one in decided_clusters if one.cluster.id == listing.current.id), None)


def _filters(bar: DeltaGenerator, snapshot: Snapshot) -> None:
    """Draw the filters."""
    filter_count = sum(bool(st.session_state.get(key)) for key in FILTERS)
    label = f"Filter ({filter_count})" if filter_count else "Filter"
    with bar.popover(label, icon=":material/filter_list:"):
        servers = sorted({tool.owner for tool in snapshot.analysis.catalog.tools} - {""})
        for key, name, options in (
            ("review_kind", "Kind", list(KINDS)),
            ("review_server", "Server", servers),
            ("review_size", "Size", list(queue.SIZES)),
            ("review_objection", "Reasons against it", list(queue.REASON_KINDS)),
        ):
            if options:
                st.selectbox(
                    name, options, None, key=key, placeholder="any",
                    format_func=_kind_name if key == "review_kind" else str,
                    persist_state="session", on_change=forget_cluster,
                )  # fmt: skip
        owners = review.owners(snapshot)
        if page_frame.reviewer() in owners.values():
            st.toggle(
                "My share", key="review_share", on_change=forget_cluster, persist_state="session"
            )
        st.toggle(
            "Larger than its tools", key="review_larger", on_change=forget_cluster,
            persist_state="session",
        )  # fmt: skip
        st.button("Clear", key="review_clear", disabled=not filter_count, on_click=_clear)
    bar.text_input(
        "Find", type="search", key="review_find", placeholder="find", width=130,
        label_visibility="collapsed", on_change=forget_cluster, persist_state="session",
    )  # fmt: skip


def _clear() -> None:
    for key in FILTERS:
        st.session_state[key] = None
    st.session_state.update(dict.fromkeys(_TOGGLES, False))
    forget_cluster()


def clear_filters() -> None:
    """Clear all filters. Call this before the queue is drawn."""
    st.session_state["review_find"] = ""
    tool_selection.show_only(False)
    _clear()


def say_narrowed(
    snapshot: Snapshot,
    count: int,
    total: int,
    noun: str,
    show: str = "",
    clear: Callable[[], None] = clear_filters,
) -> None:
    """Show that only ``count`` of ``total`` are listed, and why.

    One reason may be the list ``show``. A button calls ``clear``, which lists all again. Nothing is
    drawn if all are listed.
    """
    if count >= total:
        return
    find = safe_text.untrusted((st.session_state.get("review_find") or "").strip())
    filter_count = sum(bool(st.session_state.get(key)) for key in FILTERS)
    why = (
        f"*{show}*" if show else "",
        f"find “{find}”" if find else "",
        quantity(filter_count, "filter") if filter_count else "",
        "*Show only selected*" if tool_selection.only(snapshot) else "",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":material/filter_list: **{count:,} of {quantity(total, noun)}** listed, by "
            f"{', '.join(filter(None, why))}.",
            width="content",
        )
        st.button("List all", key="list_all", on_click=clear)


def _kind_name(kind: ProposalKind) -> str:
    return KINDS[kind].name


def chosen_filters(snapshot: Snapshot, is_open: bool = True) -> queue.Filters:
    """The filters chosen in the bar. If only selected tools are shown, they are part of the
    filters.

    The reviewer's share counts only in lists of waiting clusters (``is_open``).
    """
    selection, value = tool_selection.selected(snapshot), st.session_state.get
    return queue.Filters(
        find=value("review_find") or "",
        server=value("review_server"),
        size=value("review_size"),
        kind=value("review_kind"),
        kind_of_reason=value("review_objection"),
        ids=selection.tool_ids if selection and tool_selection.only(snapshot) else None,
        clusters=_chosen_clusters(snapshot, is_open),
    )


def _chosen_clusters(snapshot: Snapshot, is_open: bool) -> frozenset[str] | None:
    """The ids of the clusters that pass the toggles of the filter; ``None`` for all clusters."""
    value, cluster_ids = st.session_state.get, []
    if is_open and value("review_share") and (own := _own_share(snapshot)):
        cluster_ids.append(own)
    if value("review_larger"):
        sizes = review.sizes(snapshot)
        cluster_ids.append(frozenset(one for one, size in sizes.items() if size.grows))
    return frozenset.intersection(*cluster_ids) if cluster_ids else None


def _own_share(snapshot: Snapshot) -> frozenset[str] | None:
    """The clusters in the reviewer's share; ``None`` if the queue is not divided or the reviewer
    has no share.
    """
    owners, reviewer = review.owners(snapshot), page_frame.reviewer()
    own = frozenset(one for one, person in owners.items() if person == reviewer)
    return own or None


def nothing_listed(snapshot: Snapshot, listing: Listing, waiting_count: int) -> None:
    """Show why the list is empty, although ``waiting_count`` clusters may wait in other lists."""
    if listing.total:
        selected = " and contains selected tools" if tool_selection.only(snapshot) else ""
        st.info(
            f"No proposal of {listing.total:,} matches the filters{selected}.",
            icon=":material/search_off:",
        )
        st.button("List all", key="list_all", on_click=clear_filters)
    elif listing.show in _NOTHING:
        st.info(_NOTHING[listing.show], icon=":material/inbox:")
    else:
        hint = " in this list. Choose *Waiting* for the other clusters" if waiting_count else ""
        st.info(f"Nothing left to review{hint}.{_undecided(snapshot)}", icon=":material/task_alt:")
        page_frame.page_link("export", "Export the toolset")


def _undecided(snapshot: Snapshot) -> str:
    """A sentence on the pairs about which the judge is unsure and nobody has decided."""
    from ui.shared.pairs import (
        pair_view,  # imports the charts of a pair, so only when nothing is left
    )

    pairs = pair_view.undecided(snapshot)
    if not pairs:
        return ""
    tools = snapshot.catalog.by_id
    names = (
        " / ".join(f"**{safe_text.untrusted(tools[one].name)}**" for one in (pair.left, pair.right))
        for pair in pairs
    )
    text = f"{quantity(len(pairs), 'pair')} of tools may do the same job"
    return f" Choose *{UNDECIDED}* too: {text} ({listed(names, 3)})."


def queue_and_card() -> list[DeltaGenerator]:
    """The two columns of the page, for the queue and for the card."""
    return st.container(key="queue_and_card").columns([5, 8], gap="medium")


def go(listing: Listing, cluster_id: str, skipped: bool = False) -> None:
    """Show another cluster. If the shown one is ``skipped``, it goes to the end of the order."""
    st.query_params["cluster"] = cluster_id
    if skipped:
        order, shown_id = listing.order, listing.current.id
        order.append(order.pop(order.index(shown_id)))


def columns(
    snapshot: Snapshot, listing: Listing, blind: bool = False
) -> tuple[Column[Cluster], ...]:
    """The columns of the list.

    Clusters with a selected tool are marked. A ``blind`` table hides the judge's results.
    """
    tools = snapshot.analysis.catalog.by_id
    wider = {one: family for family in snapshot.plan.families for one in chain(*family.tools)}
    disagreements, selection = review.judge_differences(snapshot), tool_selection.selected(snapshot)
    selected = selection.tool_ids if selection else frozenset[str]()
    has_settled = any(one.state != "proposed" for one in listing.clusters)

    def servers(cluster: Cluster) -> str:
        owners = (tools[one].owner for one in queue.all_members(cluster))
        return ", ".join(dict.fromkeys(filter(None, owners)))

    def widest_gap(cluster: Cluster) -> str:
        own = [disagreements[tool] for tool in queue.all_members(cluster) if tool in disagreements]
        return f"{max(own):.2f}" if own else ""

    def family(cluster: Cluster) -> str:
        family = wider.get(cluster.canonical)
        return f"with {len(family.members) - 1}" if family else ""

    def mark(cluster: Cluster) -> str:
        return "" if selected.isdisjoint(queue.all_members(cluster)) else "●"

    return (
        Column("", mark, width=25, visible=bool(selected)),
        Column("name", lambda one: one.document.name, width=150),
        Column("kind", queue.short_kind, width=95, visible=not blind),
        _token_column(snapshot, listing.clusters, not blind),
        Column("server", servers, width=90, visible=any(one.owner for one in tools.values())),
        Column("gap", widest_gap, width=50, visible=bool(disagreements) and not blind),
        Column("weakest", _weakest, width=62, format="%.2f", visible=not blind),
        Column("tools", lambda one: len(one.members), width=42),
        Column(
            "what differs", _differs, width=160, visible=listing.show == _FAMILIES and not blind
        ),
        Column("family", family, width=76, visible=bool(snapshot.plan.families) and not blind),
        Column("state", lambda one: one.state, width=80, visible=has_settled),
    )


def _token_column(
    snapshot: Snapshot, clusters: Sequence[Cluster], is_shown: bool
) -> Column[Cluster]:
    """The tokens with their sign, in red if a merge adds tokens."""
    sizes = review.sizes(snapshot)

    def label(cluster: Cluster) -> list[str]:
        tokens = _added_tokens(sizes, cluster)
        return [] if tokens is None else [f"{tokens:+,}".replace("-", "−")]

    options = sorted({one for cluster in clusters for one in label(cluster)})
    colors = ["red" if one[0] == "+" and one != "+0" else "gray" for one in options]
    labels = st.column_config.MultiselectColumn(options=options, color=colors, width=60)
    return Column("tokens", label, config=labels, visible=is_shown and bool(sizes))


def _added_tokens(sizes: Mapping[str, SizeChange], cluster: Cluster) -> int | None:
    size = sizes.get(cluster.id)
    return None if size is None else size.added


def _weakest(cluster: Cluster) -> float:
    return round(cluster.weakest_edge, 2)


def _differs(cluster: Cluster) -> str:
    selector = selector_in(cluster)
    return selector.in_words if selector else ""


def table(snapshot: Snapshot, listing: Listing, blind: bool) -> None:
    """Draw the list with the shown cluster selected, and below it the decisions."""
    columns_shown = columns(snapshot, listing, blind)
    sort_key = f"sorted_{snapshot.id}_{listing.order_by}_{listing.show}"
    sorted_by: tuple[str | None, bool] = st.session_state.get(sort_key, (None, False))

    def pick() -> None:
        """Show the chosen row, or sort by the clicked column.

        The first click sorts, the second reverses the order, and the third resets it.
        """
        selection = st.session_state["queue"]["selection"]
        column = next(iter(selection["columns"]), None)
        if column == sorted_by[0]:
            for row in selection["rows"]:
                go(listing, listing.clusters[row].id)
            return
        descending = column is None and not sorted_by[1]
        by_column = sorted_by[0] if descending else column
        st.session_state[sort_key] = (by_column, descending)
        listing.order.clear()
        by = next((one for one in columns_shown if one.name == by_column), None)
        if by:
            cell = (
                partial(_added_tokens, review.sizes(snapshot)) if by.name == "tokens" else by.cell
            )
            places = sorted_rows([cell(one) for one in listing.clusters], descending)
            listing.order.extend(listing.clusters[row].id for row in places)

    heads = [one.name for one in columns_shown if one.visible and one.name == sorted_by[0]]
    data_tables.select_rows("queue", [listing.place], heads)
    data_tables.draw(
        listing.clusters,
        columns_shown,
        "Clusters to review, in the chosen order",
        most=QUEUE_HEIGHT,
        key="queue",
        on_select=pick,
        selection_mode=["single-row-required", "single-column"],
    )
    counts(snapshot, listing)
    members = [one for cluster in listing.clusters for one in queue.all_members(cluster)]
    tool_selection.select_button(
        snapshot, members, "the review queue", "listed", "Select all listed tools"
    )
    decision_trail.trail(snapshot)


def counts(snapshot: Snapshot, listing: Listing) -> None:
    """Show how many clusters are listed, and how many wait in total."""
    progress = review.progress(snapshot)
    apart = (
        f", {progress.leftovers:,} of them with tools that were kept apart"
        if progress.leftovers
        else ""
    )
    st.container(key="queue_counts").caption(
        f"{len(listing.clusters):,} of {listing.total:,} shown. Waiting: "
        f"{progress.clusters.waiting_in_words}{apart}."
    )


def sorted_rows(values: Sequence[object], descending: bool) -> list[int]:
    """The row numbers in the order of a column's values. Text is sorted without regard to case."""
    keys = pd.Series(values)
    keys = keys.str.casefold() if keys.dtype == object else keys
    return list(keys.sort_values(ascending=not descending, kind="stable").index)
