"""Renaming a catalog, and deleting it."""

import streamlit as st

from toolscope_core.model.numbers import quantity
from ui.shared import kept_failure, page_frame, safe_text
from ui.shared.services.catalogs import Catalogs
from ui.shared.snapshot import Snapshot


def rename_delete_panel(snapshot: Snapshot) -> None:
    """Rename the catalog, or delete it after a confirmation."""
    record = snapshot.record
    kept_failure.show("rename_error")
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
    if kept_failure.attempt("rename_error", lambda: catalogs.rename(name, new)):
        page_frame.show(new)


def _delete(catalogs: Catalogs, name: str) -> None:
    if kept_failure.attempt("rename_error", lambda: catalogs.delete(name)):
        page_frame.show(catalogs.newest()[0].name)
