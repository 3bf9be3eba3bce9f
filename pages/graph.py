"""Graph: which servers overlap, and how the tools of a larger cluster hang together."""

import streamlit as st

from ui.graph.cluster_table import cluster_table
from ui.graph.server_network_panel import server_network_panel
from ui.shared import page_frame
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.graph.components import MergeGraphs
from ui.shared.graph.network_panel import network_panel
from ui.shared.pairs.pair_panel import nothing_overlaps
from ui.shared.tools import tool_selection

st.title("Graph")
page_frame.analysis()
record = page_frame.current()
if not page_frame.workspace().review.plan(record.id).clusters:
    nothing_overlaps("There are no clusters: the judge would merge no tools.")
server_network_panel(record.id)
rows = page_frame.service(MergeGraphs).clusters(record.id)
chosen = tool_selection.selected(record.id)
if chosen is not None and tool_selection.only():
    rows = tuple(row for row in rows if not chosen.tool_ids.isdisjoint(row.tool_ids))
if rows:
    st.markdown(
        f"**How do the tools of a cluster hang together?** Clusters of three tools or more: "
        f"**{len(rows):,}**. Select one to draw it."
    )
    cluster_table(record.id, rows)
drawn = page_frame.workspace().review.cluster(record.id, st.query_params.get("drawn", ""))
decision_buttons.notice()
if drawn is not None:
    network_panel(record.id, drawn.id)
    page_frame.page_link("review", "Open in Review", catalog=record.name, cluster=drawn.id)
decision_trail.trail(record.id, "drawn")
