"""Decisions of another log: a file is read, what it would add is shown, then it is added."""

from __future__ import annotations

import streamlit as st

from toolscope_core.errors import ToolScopeError
from toolscope_core.imported_decisions import ImportPreview
from toolscope_core.numbers import quantity
from ui.deciding import decision_buttons
from ui.frame import page_frame, safe_text

SHOWN = 20


def bringing_panel(catalog_id: int) -> None:
    """The field for the file, and a look at what it would add."""
    turn = st.session_state.setdefault("bring_turn", 0)
    with st.expander("Bring decisions from a file", icon=":material/upload_file:"):
        file = st.file_uploader(
            "The decisions.jsonl of a bundle, or lines that somebody wrote. What it says of tools "
            "that this catalog does not have is passed over.",
            type=["jsonl"],
            key=f"bring_{turn}",
        )
        if file is None:
            return
        try:
            brought = page_frame.workspace().review.brought(catalog_id, file.getvalue(), file.name)
        except ToolScopeError as error:
            safe_text.show_error(error)
            return
        st.write(in_words(brought))
        for refused in brought.refused[:SHOWN]:
            st.markdown(f"- {safe_text.untrusted(refused)}")
        st.button(
            f"Add {quantity(len(brought.new), 'decision')}",
            key=f"bring_them_{turn}",
            type="primary",
            disabled=not brought.new,
            on_click=_bring,
            args=(catalog_id, brought),
        )


def in_words(brought: ImportPreview) -> str:
    """What the file would add, in one sentence."""
    parts = [f"{quantity(len(brought.new), 'decision')} to add"]
    parts += [f"{brought.repeated:,} known already"] if brought.repeated else []
    parts += [f"{brought.of_others:,} of tools that are not here"] if brought.of_others else []
    parts += [f"{len(brought.refused):,} refused:"] if brought.refused else []
    return ", ".join(parts)


def _bring(catalog_id: int, brought: ImportPreview) -> None:
    review, seqs = page_frame.workspace().review, list[int]()
    if decision_buttons.attempt(
        lambda: seqs.extend(one.seq for one in review.bring(catalog_id, brought)),
        f"Added {quantity(len(brought.new), 'decision')}",
    ):
        st.session_state["batch"] = tuple(seqs)
        st.session_state["bring_turn"] += 1
