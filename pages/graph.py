"""Graph: the clusters as a table, and the merge graph of the selected ones or of all."""

from __future__ import annotations

import streamlit as st

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.model.numbers import quantity
from ui.graph.cluster_table import cluster_table, only_selected
from ui.graph.components import MergeGraphs
from ui.graph.network import Colouring, without_unsure
from ui.graph.network_panel import network_panel
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_trail
from ui.shared.pairs.pair_panel import nothing_overlaps
from ui.shared.tools import tool_selection

DRAWN = ("Chosen clusters", "All")
COLOURS: tuple[Colouring, ...] = ("server", "state", "relation")

st.title("Graph")
page_frame.analysis()
record, graphs = page_frame.current(), page_frame.service(MergeGraphs)
rows = graphs.clusters(record.id)
if not rows:
    nothing_overlaps("There are no clusters: the judge would merge no tools.")

counts = page_frame.workspace().review.progress(record.id).clusters
apart = len(rows) - counts.duplicates.total - counts.families.total
taken_apart = f" Chains of tools that correction takes apart: **{apart:,}**." if apart else ""
st.markdown(
    f"Duplicates, clusters of tools that do the same job: **{counts.duplicates.total:,}**. "
    "Families, which only a gateway could merge: "
    f"**{counts.families.total:,}**.{taken_apart} Select rows to draw them. "
    f"Token counts ({PROMPT_SHAPES[0]}): {safe_text.untrusted(tokenizer().label)}."
)
shown = only_selected(record.id, rows)
chosen = cluster_table(record.id, shown)
if len(chosen) == 1:
    st.query_params["drawn"] = chosen[0].id
with st.container(horizontal=True, vertical_alignment="bottom"):
    choice = st.segmented_control(
        "Show", DRAWN, default=DRAWN[0], required=True, key="draw", bind="query-params"
    )
    colour = st.segmented_control(
        "Colour by", COLOURS, default=COLOURS[0], required=True, key="graph_colour",
        bind="query-params",
    )  # fmt: skip
    unsure = st.toggle("Unsure links", True, key="unsure", bind="query-params")
    everything = choice == DRAWN[1]
    if chosen and not everything:
        members = [tool_id for row in chosen for tool_id in row.tool_ids]
        label = "Select tools"
        tool_selection.select_button(record.id, members, "the merge graph", "members", label)
    if len(chosen) == 1 and chosen[0].waiting and not everything:
        page_frame.page_link(
            "review",
            "Open in Review",
            icon="arrow_forward",
            catalog=record.name,
            cluster=chosen[0].id,
        )
if not chosen and not everything:
    st.info("Select one or more rows of the table to draw them.", icon=":material/hub:")
    st.stop()

drawn = shown if everything else chosen
part = graphs.network(record.id, None if drawn is rows else [row.id for row in drawn])
if part.left_out:
    st.caption(
        f"Showing {quantity(len(part.nodes), 'tool')} of the largest components; not shown: "
        f"{part.left_out:,}."
    )
network_panel(record.id, part if unsure else without_unsure(part), colour)
decision_trail.trail(record.id, "drawn")
