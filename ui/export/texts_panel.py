"""Prompts, skills and rules that somebody gives, searched for names that the export takes away."""

import streamlit as st

from toolscope_core.model.configuration import PlanConfig
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.services.exports import Exports


def texts_panel(config: PlanConfig) -> None:
    """The files that are searched, and a row for each line that names a tool which is gone."""
    title = "Texts that name removed tools"
    with st.expander(title):
        given = st.file_uploader(
            "Prompts, skills, CLAUDE.md, rules",
            accept_multiple_files=True,
            key="text_files",
            help="Whole folders: `check --texts DIR`.",
        )
        if not given:
            return
        texts = {file.name: file.getvalue() for file in given}
        found = page_frame.service(Exports).text_search(page_frame.current().id, config, texts)
        for one in found.unread:
            st.warning(f"{safe_text.untrusted(one.file)} {one.why}", icon=":material/warning:")
        if not found.mentions:
            st.caption("No text that was read names a tool that is gone.")
            return
        names = {"name": "names", "now": "renamed to"}
        data_tables.draw(found.mentions, title, names)
