"""Documents: the name, description and parameters that agents see, edited by a person."""

import streamlit as st

from toolscope_core.model.numbers import quantity
from ui.documents import document_panel, namespace_panel, siblings_panel, variant_panel
from ui.shared import page_frame
from ui.shared.cards import decision_buttons
from ui.shared.cards.queue import all_members
from ui.shared.tools import tool_parts, tool_selection

MERGES, VARIANTS, SIBLINGS, SPACES = "Merges", "For search", "Tell apart", "Namespaces"

st.title("Documents")
snapshot = page_frame.analysed_snapshot()
clusters = {cluster.id: cluster for cluster in snapshot.plan.clusters}
mode = st.segmented_control(
    "Documents of", [MERGES, tool_parts.SINGLE, SIBLINGS, VARIANTS, SPACES],
    default=MERGES if clusters else tool_parts.SINGLE, required=True, key="texts",
    bind="query-params", label_visibility="collapsed",
)  # fmt: skip
if mode == VARIANTS:
    variant_panel.variant_panel(snapshot)
    st.stop()
if mode == SPACES:
    namespace_panel.namespace_panel(snapshot)
    st.stop()
if mode == SIBLINGS:
    siblings_panel.siblings_panel(snapshot)
    st.stop()
if mode == MERGES and not clusters:
    st.info("No tools do the same job here. You can still edit single tools.")
    st.stop()

total, picked = len(clusters), tool_selection.selected(snapshot)
if mode == MERGES and picked and tool_selection.only(snapshot):
    clusters = {
        key: cluster
        for key, cluster in clusters.items()
        if not picked.tool_ids.isdisjoint(all_members(cluster))
    }
    st.caption(f"{len(clusters):,} of {quantity(total, 'cluster')} contain selected tools.")
    if not clusters:
        st.stop()
cluster = (
    document_panel.chosen_merge(snapshot, clusters)
    if mode == MERGES
    else document_panel.chosen_tool(snapshot)
)
decision_buttons.notice(snapshot)
if mode != MERGES:
    tool_parts.leave_out_panel(snapshot, cluster.members, "single")
document_panel.document_panel(snapshot, cluster, is_merge=mode == MERGES)
