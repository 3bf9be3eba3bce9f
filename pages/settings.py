"""Settings: which model is asked, where, and what it may cost."""

from __future__ import annotations

import streamlit as st

from pages._endpoint import endpoint_panel

st.title("Settings")
endpoint_panel()
