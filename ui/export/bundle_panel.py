"""The bundle: made when its button is pressed, looked into, and downloaded."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from toolscope_core.model.configuration import PlanConfig
from ui.shared import page_frame
from ui.shared.services.exports import Download, Exports

PREVIEW_LINES = 60


def bundle_panel(config: PlanConfig, shape: str | None, fix: bool, refused_by: str) -> None:
    """The button that makes the bundle; once it is made, the download and its first file.
    ``refused_by`` is the client that would refuse it, empty where none does.
    """
    record, log = page_frame.current(), page_frame.workspace().review.log
    options = (record.id, record.name, len(log(record.id)), config, shape, fix)
    label = f"Not valid for {refused_by}, see below" if refused_by else "Prepare bundle"
    if st.button(
        label, key="prepare", type="primary", icon=":material/package_2:", disabled=bool(refused_by)
    ):
        st.session_state["prepared"] = options
    if st.session_state.get("prepared") != options or refused_by:
        return
    bundle = _prepared(*options)
    st.download_button(
        "Download bundle",
        bundle.archive,
        file_name=bundle.file_name,
        mime="application/zip",
        key="download",
        on_click="ignore",
        icon=":material/download:",
    )
    files, preview = st.columns([2, 3], gap="large")
    sizes = [f"{len(content):,}" for content in bundle.files.values()]
    files.dataframe(
        pd.DataFrame({"file": list(bundle.files), "bytes": sizes}),
        hide_index=True,
        alt="Files of the bundle",
    )
    name, content = next(iter(bundle.files.items()))
    lines = content.decode("utf-8").splitlines()
    preview.code("\n".join(lines[:PREVIEW_LINES]), language="json", height=400)
    preview.caption(f"{name}, lines 1 to {min(PREVIEW_LINES, len(lines))} of {len(lines):,}")


@st.cache_resource(max_entries=4, show_spinner="Preparing the bundle")
def _prepared(
    catalog_id: int, name: str, decisions: int, config: PlanConfig, shape: str | None, fix: bool
) -> Download:
    """The bundle; ``decisions`` is how many there are, so that a new one makes it anew."""
    return page_frame.service(Exports).download(catalog_id, name, config, shape, fix)
