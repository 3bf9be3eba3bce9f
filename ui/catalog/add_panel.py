"""The one way to add a catalog, by files, text or servers; and how one is renamed or deleted."""

import streamlit as st

from toolscope_core.model.numbers import quantity
from ui.catalog.servers_panel import is_reading, servers_panel
from ui.catalog.upload_panel import TURN, files_panel, paste_panel
from ui.shared import page_frame, safe_text
from ui.shared.services.catalogs import Catalogs
from ui.shared.snapshot import Snapshot

SOURCES = {"Files": files_panel, "Pasted text": paste_panel, "MCP servers": servers_panel}


def add_panel(snapshot: Snapshot) -> None:
    """A closed form; it closes again once a catalog is added."""
    for key in ("upload_error", "servers_error"):
        safe_text.show(key)
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


def rename_delete_panel(snapshot: Snapshot) -> None:
    """Rename the catalog, or delete it after a confirmation."""
    record = snapshot.record
    safe_text.show("rename_error")
    name = safe_text.untrusted(record.name)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    new = row.text_input("Catalog name", record.name, key=f"new_name_{record.id}", width=320)
    row.button(
        "Rename",
        key="rename_catalog",
        disabled=not new.strip() or new.strip() == record.name,
        on_click=_rename,
        args=(snapshot.work.catalogs, record.name, new.strip()),
    )
    with row.popover("Delete…", icon=":material/delete:"):
        decisions = len(snapshot.log)
        st.markdown(
            f"Delete **{name}**: {quantity(record.number, 'version')}, "
            f"{quantity(decisions, 'decision')}, its analysis, runs and selections? This "
            "cannot be undone; an exported bundle keeps the decisions."
        )
        st.button(
            "Delete permanently",
            key="delete_catalog",
            type="primary",
            on_click=_delete,
            args=(snapshot.work.catalogs, record.name),
        )


def _rename(catalogs: Catalogs, name: str, new: str) -> None:
    if safe_text.attempt("rename_error", lambda: catalogs.rename(name, new)):
        page_frame.show(new)


def _delete(catalogs: Catalogs, name: str) -> None:
    if safe_text.attempt("rename_error", lambda: catalogs.delete(name)):
        page_frame.show(catalogs.newest()[0].name)
