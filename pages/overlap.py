"""Overlap: the ranked pairs with their evidence, and pictures of where the tools collide."""

from __future__ import annotations

import streamlit as st

from pages import _ui
from pages._curve import curve_panel
from pages._heatmap import heatmap_panel
from pages._map import map_panel
from pages._pair import pair_panel
from pages._threshold import threshold_panel
from toolscope_core.workspace.overlaps import PairFilter

st.title("Overlap")
analysis, record, explore = _ui.analysis(), _ui.current(), _ui.workspace().explore
candidates = explore.pairs(record.id, PairFilter())
if not candidates.total:
    nearest = explore.closest(record.id)
    said = f"No two tools are as close as θ = {analysis.threshold:.2f}."
    if nearest is not None:
        names = " and ".join(_ui.untrusted(name) for name in (nearest.left, nearest.right))
        said += f" The closest are {names}, at {nearest.similarity:.2f}."
    st.info(said, icon=":material/check_circle:")
    st.stop()
st.markdown(
    f"Pairs at a similarity of {analysis.threshold:.2f} or more: **{candidates.total:,}** "
    f"candidates. The judge expects about {candidates.expected:,} of them to be the same job "
    f"({candidates.expected / candidates.total:.0%}) and is sure enough to propose "
    f"**{candidates.merges:,}**. **{candidates.families:,}** are families: the same operation for "
    "another provider or value."
)


pairs, curve, threshold, heatmap, plane = st.tabs(
    ["Pairs", "Curve", "Threshold", "Heatmap", "Map"],
    key="view",
    bind="query-params",
    on_change="rerun",
)
if pairs.open:
    with pairs:
        pair_panel(record.id)
if curve.open:
    with curve:
        curve_panel(record.id)
if threshold.open:
    with threshold:
        threshold_panel(record.id)
if heatmap.open:
    with heatmap:
        heatmap_panel(record.id)
if plane.open:
    with plane:
        map_panel(record.id)
