"""Renaming a catalog, and deleting it."""

import streamlit as st

from toolscope_core.model.numbers import quantity
from ui.shared import kept_failure, page_frame, safe_text


def rename_delete_panel() -> None:
    """Rename the catalog, or delete it after a confirmation."""
    record, work = page_frame.current(), page_frame.workspace()
    kept_failure.show("rename_error")
    name = safe_text.untrusted(record.name)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    new = row.text_input("Catalog name", record.name, key=f"new_name_{record.id}", width=320)
    row.button(
        "Rename",
        key="rename_catalog",
        disabled=not new.strip() or new.strip() == record.name,
        on_click=_rename,
        args=(record.name, new.strip()),
    )
    with row.popover("Delete…", icon=":material/delete:"):
        decisions = len(work.review.log(record.id))
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
            args=(record.name,),
        )


def _rename(name: str, new: str) -> None:
    catalogs = page_frame.workspace().catalogs
    if kept_failure.attempt("rename_error", lambda: catalogs.rename(name, new)):
        page_frame.show(new)


def _delete(name: str) -> None:
    catalogs = page_frame.workspace().catalogs
    if kept_failure.attempt("rename_error", lambda: catalogs.delete(name)):
        page_frame.show(catalogs.newest()[0].name)
