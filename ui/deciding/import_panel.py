"""Importing decisions from a file: what it would add is shown first, then it is added."""

from __future__ import annotations

import streamlit as st

from toolscope_core.errors import ToolScopeError
from toolscope_core.imported_decisions import ImportPreview
from toolscope_core.numbers import quantity
from ui.deciding import decision_buttons
from ui.frame import page_frame, safe_text

SHOWN = 20


def import_panel(catalog_id: int) -> None:
    """The file field, and a preview of what the file would add."""
    turn = st.session_state.setdefault("import_turn", 0)
    with st.expander("Import decisions", icon=":material/upload_file:"):
        file = st.file_uploader(
            "A decisions.jsonl from a bundle, or one written by hand. Decisions about tools that "
            "this catalog does not have are skipped.",
            type=["jsonl"],
            key=f"import_{turn}",
        )
        if file is None:
            return
        try:
            imported = page_frame.workspace().review.preview_import(
                catalog_id, file.getvalue(), file.name
            )
        except ToolScopeError as error:
            safe_text.show_error(error)
            return
        st.write(summary(imported))
        for refused in imported.refused[:SHOWN]:
            st.markdown(f"- {safe_text.untrusted(refused)}")
        st.button(
            f"Add {quantity(len(imported.new), 'decision')}",
            key=f"import_button_{turn}",
            type="primary",
            disabled=not imported.new,
            on_click=_import,
            args=(catalog_id, imported),
        )


def summary(imported: ImportPreview) -> str:
    """What the file would add, in one sentence."""
    parts = [f"{quantity(len(imported.new), 'decision')} to add"]
    parts += [f"{imported.repeated:,} already recorded"] if imported.repeated else []
    parts += (
        [f"{imported.of_others:,} about tools not in this catalog"] if imported.of_others else []
    )
    parts += [f"{len(imported.refused):,} refused:"] if imported.refused else []
    return ", ".join(parts)


def _import(catalog_id: int, imported: ImportPreview) -> None:
    review, seqs = page_frame.workspace().review, list[int]()
    if decision_buttons.attempt(
        lambda: seqs.extend(one.seq for one in review.import_decisions(catalog_id, imported)),
        f"Added {quantity(len(imported.new), 'decision')}",
    ):
        st.session_state["batch"] = tuple(seqs)
        st.session_state["import_turn"] += 1
