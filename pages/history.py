"""History: the runs of models, how they ended and what they cost."""

from __future__ import annotations

import streamlit as st

from pages._runs import runs_panel

st.title("History")
runs_panel()
