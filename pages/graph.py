"""Graph: which servers overlap, and how the tools in a larger cluster are connected."""

import streamlit as st

from ui.graph.server_network_panel import cluster_table, server_network_panel
from ui.shared import page_frame
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.graph import components
from ui.shared.graph.network_panel import network_panel
from ui.shared.pairs.pair_panel import families_note, nothing_overlaps
from ui.shared.services import review
from ui.shared.tools import tool_selection

st.title("Graph")
snapshot = page_frame.analysed_snapshot()
if not snapshot.plan.clusters:
    nothing_overlaps(snapshot, "There are no clusters: the judge proposes no merges.")
server_network_panel(snapshot)
families_note(snapshot)
rows = components.clusters(snapshot)
chosen = tool_selection.selected(snapshot)
if chosen is not None and tool_selection.only(snapshot):
    rows = tuple(row for row in rows if not chosen.tool_ids.isdisjoint(row.cluster.members))
if rows:
    st.markdown(
        "**How are the tools in this cluster connected?** Clusters of three tools or more: "
        f"**{len(rows):,}**. Select one to draw it."
    )
    cluster_table(snapshot, rows)
cluster = review.cluster(snapshot, st.query_params.get("drawn", ""))
decision_buttons.notice(snapshot)
if cluster is not None:
    network_panel(snapshot, cluster.id)
    page_frame.page_link(
        "review", "Open in Review", catalog=snapshot.record.name, cluster=cluster.id
    )
decision_trail.trail(snapshot, "drawn")
