"""The app: page registry and the frame around every page."""

import sys
from pathlib import Path

import streamlit as st

WORDMARK = Path(__file__).parent / "pages" / "wordmark.svg"

# An icon of our own, or the browser fetches that of the page from a font server.
st.set_page_config(page_title="ToolScope", page_icon="🧰", layout="wide")
st.logo(str(WORDMARK), size="large")

PAGES = [
    st.Page("pages/catalog.py", title="Catalog", icon=":material/inventory_2:", default=True),
    st.Page("pages/overlap.py", title="Overlap", icon=":material/join_inner:", url_path="overlap"),
    st.Page("pages/graph.py", title="Graph", icon=":material/hub:", url_path="graph"),
    st.Page("pages/review.py", title="Review", icon=":material/rule:", url_path="review"),
    st.Page(
        "pages/documents.py", title="Documents", icon=":material/edit_note:", url_path="documents"
    ),
    st.Page("pages/export.py", title="Export", icon=":material/ios_share:", url_path="export"),
    st.Page("pages/history.py", title="History", icon=":material/history:", url_path="history"),
    st.Page("pages/settings.py", title="Settings", icon=":material/settings:", url_path="settings"),
]

# Off in config.toml, as Streamlit would list every file of pages/ until the first run ends; but
# what is off hides this menu too.
st.set_option("client.showSidebarNavigation", True)
page = st.navigation(PAGES)
st.set_option("client.showSidebarNavigation", False)
starting = st.empty()
if "pages._ui" not in sys.modules:  # the first visit of a process that `python -m pages` not began
    starting.info("ToolScope is starting. This takes some seconds, once.", icon=":material/timer:")

# Last, as they take seconds: name and menu stand before.
from pages import _drawer, _selection, _ui  # noqa: E402
from toolscope_core.errors import ToolScopeError  # noqa: E402

starting.empty()
try:
    _ui.frame(page.title)
    _selection.carry()
    _selection.chip()
    _drawer.drawer()
    page.run()
except ToolScopeError as error:
    _ui.show_error(error)
