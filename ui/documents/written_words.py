"""Words that a model has for a merged tool, beside those made offline; a person may take them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from toolscope_core.datamodel import Cluster
from toolscope_core.views.drafts import Draft
from toolscope_core.views.written_documents import Written
from ui.deciding import decision_buttons
from ui.frame import page_frame, safe_text
from ui.models import ask_panel


def words_panel(catalog_id: int, cluster: Cluster, draft: Draft) -> None:
    """What the model wrote for the cluster, and the way to ask it."""
    written = page_frame.workspace().judging.written(catalog_id, cluster)
    if written is not None:
        _offer(cluster, draft, written)
    box = st.expander(
        "Ask a model for words", key="ask_words", icon=":material/forum:", on_change="rerun"
    )
    if box.open:
        with box:
            st.caption(
                "It words the documents of merged tools anew. Nothing changes until somebody takes "
                "its words; exact copies need none."
            )
            ask_panel.asking_panel(
                catalog_id, "documents", "Ask for every document", one=(cluster.id,)
            )


def _offer(cluster: Cluster, draft: Draft, written: Written) -> None:
    """The difference, what speaks against it, and the button."""
    with st.container(border=True):
        st.markdown(f"**In the words of {safe_text.untrusted(written.judge)}**")
        if not written.changes:
            st.caption("The same as the document above.")
            return
        for change in written.changes:
            st.caption(safe_text.untrusted(change.place))
            st.html(safe_text.word_diff(change.before, change.after))
        for violation in written.violations:
            more = "" if violation.excerpt in violation.message else f": {violation.excerpt}"
            st.warning(safe_text.untrusted(f"{violation.message}{more}"), icon=":material/rule:")
        barred = any(violation.code == "invalid" for violation in written.violations)
        seen = f"{cluster.id}_{cluster.version[:8]}"
        if barred:
            st.caption("It could not be exported so; nobody can take it. Reword it above instead.")
        anyway = not written.violations or (
            not barred and st.checkbox("Take them in spite of this", key=f"anyway_{seen}")
        )
        st.button(
            "Use these words",
            key=f"take_{seen}",
            icon=":material/check:",
            disabled=not anyway,
            help="Stores them as an edit of yours, which can be taken back.",
            on_click=decision_buttons.save,
            args=(cluster, replace(draft, document=written.document)),
        )
