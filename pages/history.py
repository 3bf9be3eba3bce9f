"""History: all decisions, and the model runs with their outcome and cost."""

from __future__ import annotations

import streamlit as st

from ui.deciding import decision_buttons, decision_trail
from ui.deciding.import_panel import import_panel
from ui.frame import page_frame
from ui.models.runs_table import runs_panel

st.title("History")
st.subheader("Decisions", anchor=False)
catalog_id = page_frame.current().id
decision_buttons.notice()
decision_trail.trail(catalog_id)
import_panel(catalog_id)
st.subheader("Model runs", anchor=False)
runs_panel()
