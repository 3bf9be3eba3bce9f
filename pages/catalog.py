"""Catalog: what is loaded, what merging would bring, and the way to add a file."""

from __future__ import annotations

import streamlit as st

from ui.catalog import overview_panel
from ui.catalog.changes_panel import changes_panel
from ui.catalog.listing_panel import listing_panel
from ui.catalog.rename_delete import care_panel
from ui.catalog.upload_panel import upload_panel
from ui.frame import page_frame

st.title("Catalog")
places = overview_panel.known()
upload_panel()
care_panel()
changes_panel()
listing_panel(page_frame.current().id)
overview_panel.found(places)
