"""Prompts, skills and rules that somebody gives, searched for names that the export takes away."""

import streamlit as st

from toolscope_core.model.configuration import PlanConfig
from ui.shared import data_tables, safe_text
from ui.shared.services import exports
from ui.shared.snapshot import Snapshot


def texts_panel(snapshot: Snapshot, config: PlanConfig) -> None:
    """The files that are searched, and a row for each line that names a tool which is gone."""
    title = "Texts that name removed tools"
    with st.expander(title):
        files = st.file_uploader(
            "Prompts, skills, CLAUDE.md, rules",
            accept_multiple_files=True,
            key="text_files",
            help="Whole folders: `check --texts DIR`.",
        )
        if not files:
            return
        texts = {file.name: file.getvalue() for file in files}
        matches = exports.text_search(snapshot, config, texts)
        for one in matches.unread:
            st.warning(f"{safe_text.untrusted(one.file)} {one.why}", icon=":material/warning:")
        if not matches.mentions:
            st.caption("No text that was read names a tool that is gone.")
            return
        names = {"name": "names", "now": "renamed to"}
        data_tables.draw(matches.mentions, title, names)
