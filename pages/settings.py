"""Settings: which model is asked, where, and what it may cost."""

from __future__ import annotations

import streamlit as st

from pages import _ui
from pages._endpoint import embeddings_caption, endpoint_panel
from pages._prices import prices_panel

st.title("Settings")
_ui.current()
endpoint_panel()
embeddings_caption()
prices_panel()
