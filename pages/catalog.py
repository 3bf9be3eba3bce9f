"""Catalog: what is loaded, what merging would save, and the form to add a catalog."""

from __future__ import annotations

import streamlit as st

from ui.catalog import overview_panel
from ui.catalog.changes_panel import changes_panel
from ui.catalog.implied_panel import implied_panel
from ui.catalog.listing_panel import listing_panel
from ui.catalog.query_sets_panel import query_sets_panel
from ui.catalog.rename_delete import rename_delete_panel
from ui.catalog.servers_panel import servers_panel
from ui.catalog.upload_panel import upload_panel
from ui.catalog.usage_panel import usage_panel
from ui.shared import page_frame

st.title("Catalog")
first = st.container()
places = overview_panel.draw_catalog()
changes_panel(first)
upload_panel()
servers_panel()
catalog_id = page_frame.current().id
query_sets_panel(catalog_id)
usage_panel(catalog_id)
rename_delete_panel()
implied_panel(catalog_id)
listing_panel()
overview_panel.fill_in(places)
