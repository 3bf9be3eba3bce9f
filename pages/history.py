"""History: what people decided, and the runs of models, how they ended and what they cost."""

from __future__ import annotations

import streamlit as st

from pages import _decisions, _trail, _ui
from pages._bringing import bringing_panel
from pages._runs import runs_panel

st.title("History")
st.subheader("Decisions", anchor=False)
catalog_id = _ui.current().id
_decisions.notice()
_trail.trail(catalog_id)
bringing_panel(catalog_id)
st.subheader("Runs of models", anchor=False)
runs_panel()
