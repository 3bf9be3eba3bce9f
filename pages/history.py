"""History: every decision with its effect and way back, states, learning, model runs."""

from __future__ import annotations

import streamlit as st

from ui.history.decision_list import decision_list
from ui.history.import_panel import import_panel
from ui.history.learning_panel import learning_panel
from ui.history.people_panel import people_panel
from ui.history.state_panel import state_panel
from ui.shared import page_frame
from ui.shared.cards import decision_buttons
from ui.shared.models.runs_table import runs_panel

st.title("History")
catalog_id = page_frame.current().id
decisions, states, people, learning, runs = st.tabs(
    ["Decisions", "Compare", "People", "Learning", "Model runs"],
    key="history_part",
    bind="query-params",
    on_change="rerun",
)
if decisions.open:
    with decisions:
        decision_buttons.notice()
        decision_list(catalog_id)
        import_panel(catalog_id)
if states.open:
    with states:
        state_panel(catalog_id)
if people.open:
    with people:
        people_panel(catalog_id)
if learning.open:
    with learning:
        decision_buttons.notice()
        learning_panel(catalog_id)
if runs.open:
    with runs:
        runs_panel()
