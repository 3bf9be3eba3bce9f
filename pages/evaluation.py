"""Evaluation: whether a merge helps, measured on queries whose answers are known."""

import streamlit as st

from ui.evaluation.comparison_panel import confusions_panel, result_panel
from ui.evaluation.experiments_panel import experiments_panel
from ui.shared import page_frame

PANELS = {"Result": result_panel, "Confusions": confusions_panel, "Experiments": experiments_panel}

st.title("Evaluation")
snapshot = page_frame.analysed_snapshot()
page_frame.draw_tabs(snapshot, PANELS, "evaluation_view")
