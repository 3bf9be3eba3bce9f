"""A model's wording of a document beside the current one; a person may accept it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from toolscope_core.model.cluster import Cluster
from ui.documents.written_documents import Written, WrittenDocuments
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.cards.drafts import Draft
from ui.shared.models import ask_panel


def suggestion_panel(catalog_id: int, cluster: Cluster, draft: Draft) -> None:
    """The wording that the model suggests for the cluster, and the panel to ask for one."""
    written = page_frame.service(WrittenDocuments).of(catalog_id, cluster)
    if written is not None:
        _offer(cluster, draft, written)
    ask_panel.ask_box(
        catalog_id,
        "documents",
        "Suggest wording with a model",
        "Suggest for all documents",
        "A model rewrites the documents of merged tools. Nothing changes until somebody accepts a "
        "suggestion. Exact copies need none.",
        one=(cluster.id,),
    )


def _offer(cluster: Cluster, draft: Draft, written: Written) -> None:
    """The difference, the problems with it, and the button to accept it."""
    with st.container(border=True):
        st.markdown(f"**Suggested by {safe_text.untrusted(written.judge)}**")
        if not written.changes:
            st.caption("Identical to the document above.")
            return
        for change in written.changes:
            st.caption(safe_text.untrusted(change.place))
            st.html(safe_text.word_diff(change.before, change.after))
        for violation in written.violations:
            more = "" if violation.excerpt in violation.message else f": {violation.excerpt}"
            st.warning(safe_text.untrusted(f"{violation.message}{more}"), icon=":material/rule:")
        invalid = any(violation.code == "invalid" for violation in written.violations)
        suffix = f"{cluster.id}_{cluster.version[:8]}"
        if invalid:
            st.caption(
                "This wording cannot be exported, so it cannot be used. Edit the document above."
            )
        allowed = not written.violations or (
            not invalid and st.checkbox("Use it despite the warnings", key=f"anyway_{suffix}")
        )
        st.button(
            "Use this wording",
            key=f"take_{suffix}",
            icon=":material/check:",
            disabled=not allowed,
            help="Stores it as your edit, which can be undone.",
            on_click=decision_buttons.save,
            args=(cluster, replace(draft, document=written.document)),
        )
