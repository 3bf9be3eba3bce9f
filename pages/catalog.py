"""Catalog: what is loaded, what merging would bring, and the way to add a file."""

from __future__ import annotations

import streamlit as st

from pages import _overview, _ui
from pages._catalog_care import care_panel
from pages._listing import listing_panel
from pages._upload import upload_panel
from pages._versions import changes_panel

st.title("Catalog")
places = _overview.known()
upload_panel()
care_panel()
changes_panel()
listing_panel(_ui.current().id)
_overview.found(places)
