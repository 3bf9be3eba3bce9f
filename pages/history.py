"""History: what people decided, and the runs of models, how they ended and what they cost."""

from __future__ import annotations

import streamlit as st

from ui.deciding import decision_buttons, decision_trail
from ui.deciding.import_panel import bringing_panel
from ui.frame import page_frame
from ui.models.runs_table import runs_panel

st.title("History")
st.subheader("Decisions", anchor=False)
catalog_id = page_frame.current().id
decision_buttons.notice()
decision_trail.trail(catalog_id)
bringing_panel(catalog_id)
st.subheader("Runs of models", anchor=False)
runs_panel()
