"""Settings: which model is asked, where, and what it may cost."""

from __future__ import annotations

import streamlit as st

from ui.frame import page_frame
from ui.models.endpoint_panel import embeddings_caption, endpoint_panel
from ui.models.prices_panel import prices_panel

st.title("Settings")
page_frame.current()
endpoint_panel()
embeddings_caption()
prices_panel()
