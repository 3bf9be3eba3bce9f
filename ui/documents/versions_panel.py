"""What people wrote of a document over time, each version with its differences and a button."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from toolscope_core.model.cluster import Cluster
from ui.documents.document_versions import DocumentVersions
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_words

NAMES = {
    "name": "name",
    "description": "description",
    "schema": "parameters",
    "maps": "argument maps",
}


def document_versions(catalog_id: int, cluster: Cluster, then: Callable[[], None]) -> None:
    """Draw the versions, newest first; ``then`` discards unsaved text after one is restored."""
    versions = page_frame.service(DocumentVersions).of(catalog_id, cluster)
    if not versions:
        return
    with st.expander(f"Earlier versions ({len(versions):,})", icon=":material/history:"):
        for version in versions:
            document, seq = version.draft.document, version.decision.seq
            changed = [name for key, name in NAMES.items() if key in version.decision.detail]
            with st.container(horizontal=True, vertical_alignment="center"):
                whom = decision_words.by_whom(version.decision)
                st.markdown(f"{', '.join(changed)} by {whom}", width="stretch")
                same = document == cluster.document
                st.button(
                    "Restore",
                    key=f"restore_{seq}_{cluster.version[:8]}",
                    disabled=same,
                    help="It is what stands." if same else None,
                    on_click=decision_buttons.save,
                    args=(cluster, version.draft, then, "Restored the document of"),
                )
            st.html(
                safe_text.word_diff(cluster.document.description, document.description, dim=True)
            )
