"""Review: one proposed merge at a time. A person decides with a button or a key."""

import streamlit as st

from ui.review import bulk_panel, queue_panel, review_card, server_pair_panel
from ui.shared import page_frame
from ui.shared.cards import decision_buttons, shortcuts
from ui.shared.cards.batches import PAIR_VIEW
from ui.shared.services import review, usage_evidence

VIEWS = {
    "One by one": review_card.one_by_one_panel,
    bulk_panel.VIEW: bulk_panel.bulk_panel,
    PAIR_VIEW: server_pair_panel.server_pair_panel,
}
"""The views of the queue, by their values in the address."""

head = st.container(horizontal=True, vertical_alignment="center")
head.title("Review", width="content")
with head:
    shortcuts.pause_when_ambiguous()
snapshot = page_frame.analysed_snapshot()
progress, safe = review.progress(snapshot), review.safe(snapshot)
with head:
    new = len(queue_panel.new_clusters(snapshot))
    bad = len(usage_evidence.went_bad(snapshot))
    st.progress(
        progress.decided / max(progress.total, 1),
        f"{progress.decided:,} of {progress.total:,} reviewed: {progress.accepted:,} accepted, "
        f"{progress.kept_apart:,} kept apart{f', {new:,} new' if new else ''}"
        f"{f', {bad:,} went bad' if bad else ''}",
    )
    st.button(
        f"Accept safe merges ({len(safe.clusters):,})…",
        key="accept_safe",
        disabled=not safe.clusters,
        on_click=bulk_panel.show_safe,
        help=decision_buttons.safe_in_words(snapshot),
    )
    model = st.popover("Ask a model", key="ask", icon=":material/forum:", on_change="rerun")
shown_ids: set[str] = st.session_state.setdefault("shown_proposals", set())
linked = st.query_params.get("cluster")
new_link = review.cluster(snapshot, linked) if linked not in shown_ids else None
if linked and linked not in shown_ids and new_link is None:
    st.session_state["instead_of_gone"] = ""
    if st.session_state.get("show") in queue_panel.SETTLED:
        st.session_state["show"] = queue_panel.SHOWN[0]
elif linked:
    if new_link is not None:
        queue_panel.show_list_of(new_link)
    shown_ids.add(linked)
    # from the next run on, the address has what is shown instead, and the warning is gone
    if st.session_state.get("instead_of_gone") == "":
        st.session_state["instead_of_gone"] = linked
    elif st.session_state.get("instead_of_gone") != linked:
        st.session_state.pop("instead_of_gone", None)
if "instead_of_gone" in st.session_state:
    st.warning(
        "The proposal in this link is gone: its tools have been decided on or have changed. The "
        "next one in the list is shown instead.",
        icon=":material/link_off:",
    )
if st.query_params.pop("safe_merges", None):
    bulk_panel.show_safe()

if model.open:
    from ui.shared import ask_panel  # imports all that asks a model, so only once opened

    with model:
        ask_panel.judge_choice(snapshot)
        ask_panel.ask_panel(snapshot, "judge", "Ask for verdicts")

offered = st.container()
bar = st.container(horizontal=True, vertical_alignment="center")
listed = queue_panel.listing(snapshot, bar)
are_pairs = listed.show == queue_panel.UNDECIDED
view = bar.segmented_control(
    "View", list(VIEWS), default="One by one", required=True, key="queue_view",
    bind="query-params", label_visibility="collapsed", disabled=are_pairs,
)  # fmt: skip
if are_pairs:
    from ui.review import undecided_panel  # imports the charts of a pair, so only once listed

    undecided_panel.undecided_panel(snapshot)
else:
    VIEWS[view](snapshot, listed)
if snapshot.names_model and not model.open:
    from ui.shared import ask_panel

    with offered:
        ask_panel.offer(snapshot)
