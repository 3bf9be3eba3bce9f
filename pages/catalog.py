"""Catalog: what the app is for, adding a catalog, what its tools cost, and what
to do about that.
"""

import streamlit as st

from ui.catalog.add_panel import add_panel, rename_delete_panel
from ui.catalog.findability_panel import findability_panel
from ui.catalog.graders_panel import graders_panel
from ui.catalog.listing_panel import findings_panel
from ui.catalog.machine_panel import machine_panel
from ui.catalog.overview_panel import overview_panel
from ui.catalog.query_sets_panel import query_sets_panel
from ui.catalog.servers_panel import servers_panel
from ui.catalog.tools_panel import tools_panel
from ui.catalog.usage_panel import usage_panel
from ui.shared import page_frame
from ui.shared.ask_panel import grades_panel
from ui.shared.snapshot import Snapshot


def more_panel(snapshot: Snapshot) -> None:
    """Draw the parts that few people need."""
    st.subheader("How well is each tool documented?", anchor=False)
    grades_panel(snapshot)
    graders_panel(snapshot)
    st.subheader("Rename or delete this catalog", anchor=False)
    rename_delete_panel(snapshot)


st.title("Catalog")
st.markdown(
    "ToolScope shows which of your AI agent's tools do the same job or get mixed up, what they "
    "cost in every prompt, and how to get by with fewer without losing a call."
)
snapshot = page_frame.snapshot()
machine_panel(snapshot)
add_panel(snapshot)
page_frame.draw_tabs(
    snapshot,
    {
        "Overview": overview_panel,
        "Tools": tools_panel,
        "Servers": servers_panel,
        "Query sets": query_sets_panel,
        "Cannot be found": findability_panel,
        "Findings": findings_panel,
        "Usage": usage_panel,
        "More": more_panel,
    },
    "part",
)
