"""History: every decision with its effect and the way back, two states compared, model runs."""

from __future__ import annotations

import streamlit as st

from ui.deciding import decision_buttons
from ui.deciding.import_panel import import_panel
from ui.frame import page_frame
from ui.history.decision_list import decision_list
from ui.history.state_panel import state_panel
from ui.models.runs_table import runs_panel

st.title("History")
catalog_id = page_frame.current().id
decisions, states, runs = st.tabs(
    ["Decisions", "Compare", "Model runs"], key="part", bind="query-params", on_change="rerun"
)
if decisions.open:
    with decisions:
        decision_buttons.notice()
        decision_list(catalog_id)
        import_panel(catalog_id)
if states.open:
    with states:
        state_panel(catalog_id)
if runs.open:
    with runs:
        runs_panel()
