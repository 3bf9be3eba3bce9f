"""The one way to add a catalog: from files, from a pasted text, from servers."""

import streamlit as st

from ui.catalog.servers_panel import is_reading, servers_panel
from ui.catalog.upload_panel import TURN, files_panel, paste_panel
from ui.shared import kept_failure
from ui.shared.snapshot import Snapshot

SOURCES = {"Files": files_panel, "Pasted text": paste_panel, "MCP servers": servers_panel}


def add_panel(snapshot: Snapshot) -> None:
    """A closed form; it closes again once a catalog is added."""
    for key in ("upload_error", "servers_error"):
        kept_failure.show(key)
    with st.expander(
        "Add a catalog: files, pasted text or MCP servers",
        expanded=is_reading(snapshot),
        icon=":material/add:",
        key=f"add_catalog_{st.session_state.get(TURN, 0)}",
    ):
        source = st.segmented_control(
            "Add a catalog from",
            list(SOURCES),
            default="Files",
            required=True,
            key="add_from",
            bind="query-params",
            label_visibility="collapsed",
        )
        SOURCES[source](snapshot)
