"""Settings: the model endpoint, its budget, and the prices of models."""

import streamlit as st

from ui.settings.endpoint_panel import embeddings_caption, endpoint_panel, prices_panel
from ui.shared import page_frame, safe_text

st.title("Settings")
snapshot = page_frame.snapshot()
for unused in page_frame.unused_settings():
    st.warning(safe_text.untrusted(unused), icon=":material/warning:")
endpoint_panel(snapshot)
embeddings_caption(snapshot)
prices_panel(snapshot)
