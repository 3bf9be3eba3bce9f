"""Overlap: the ranked pairs with their evidence, and charts of where tools collide."""

import streamlit as st

from toolscope_core.model.numbers import quantity
from ui.overlap.heatmap_panel import heatmap_panel
from ui.overlap.map_panel import map_panel
from ui.overlap.pair_table import pair_panel
from ui.overlap.threshold_panel import threshold_panel
from ui.shared import ask_panel, page_frame
from ui.shared.pairs import pair_list
from ui.shared.pairs.pair_panel import nothing_overlaps
from ui.shared.services import review

PANELS = {
    "Pairs": pair_panel,
    "Threshold": threshold_panel,
    "Heatmap": heatmap_panel,
    "Map": map_panel,
}

st.title("Overlap")
snapshot = page_frame.analysed_snapshot()
analysis = snapshot.analysis
candidates = pair_list.pair_counts(analysis)
clusters = review.progress(snapshot).clusters
if not candidates.total:
    text = f"No two tools reach the similarity threshold of {analysis.threshold:.2f}."
    nothing_overlaps(snapshot, text)
st.container(key="pair_counts").markdown(
    f"**{candidates.total:,}** pairs of tools are alike in name or at a similarity of "
    f"{analysis.threshold:.2f} or more. The offline judge's verdicts: same job "
    f"**{candidates.merge:,}**; family (the same operation for another provider or value) "
    f"**{candidates.family:,}**; looks alike, for a person to decide "
    f"**{candidates.unsure:,}**; different jobs **{candidates.keep:,}**. In Review they "
    f"are grouped: {quantity(clusters.duplicates.total, 'same-job proposal')}, "
    f"{quantity(clusters.families.total, 'family')}."
)
offered = st.container()
page_frame.draw_tabs(snapshot, PANELS, "view")
with offered:
    ask_panel.offer(snapshot)
