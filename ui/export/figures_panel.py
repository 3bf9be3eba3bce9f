"""What the exported toolset comes to: its figures, and what stays out of it or keeps its form."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.numbers import quantity
from ui.shared import page_frame, safe_text
from ui.shared.services.exports import Download, ExportFigures, Exports

NAMED = 4

PREVIEW_LINES = 60


def figures_panel(figures: ExportFigures) -> None:
    """Tools, tokens and merges, and a notice for each thing that somebody may not expect."""
    tokens = f"Tokens per prompt as {figures.tokens[0].shape} ({figures.counted})"
    for column, (label, before, after) in zip(
        st.columns(3),
        (
            ("Tools", figures.tools_before, figures.tools_after),
            (tokens, figures.tokens_before, figures.tokens_after),
            ("Merges", 0, len(figures.merges)),
        ),
        strict=True,
    ):
        value = f"{before:,} → {after:,}" if before else f"{after:,}"
        column.metric(label, value, after - before if before else None, delta_color="inverse")
    _left_out(figures)
    if figures.unreadable:
        rest = len(figures.unreadable) - NAMED
        more = f" And {rest:,} more, listed in README.md." if rest > 0 else ""
        shown = " ".join(map(safe_text.untrusted, figures.unreadable[:NAMED]))
        st.warning(f"{shown}{more}", icon=":material/visibility_off:")
    if figures.hostile:
        st.error(
            "The toolset includes tools that the scan blocks for hidden or hostile text: "
            f"{safe_text.first_few(figures.hostile, NAMED)}. Merge them in Review, or edit them or "
            "leave them out in Documents.",
            icon=":material/gpp_bad:",
        )


def merges_panel(figures: ExportFigures) -> None:
    """The merges, and the descriptions that mention a tool which is gone."""
    st.subheader("Merges", anchor=False)
    if not figures.merges:
        st.caption("None yet: the toolset is exported unchanged.")
    else:
        names = {"kept": "kept tool", "name": "exported name", "gone": "removed tools"}
        st.dataframe(
            figures.merges, hide_index=True, column_config=names, alt="Merges in the bundle"
        )
    if figures.dangling:
        title = "Descriptions that mention removed tools"
        st.subheader(title, anchor=False)
        names = {"tool_id": "tool", "now": "renamed to"}
        st.dataframe(figures.dangling, hide_index=True, column_config=names, alt=title)


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


def _left_out(figures: ExportFigures) -> None:
    """The merges and edits that are not exported, and why."""
    if figures.clusters.waiting:
        st.info(
            f"Not merged, as nobody has accepted them: {figures.clusters.waiting_in_words}. What "
            "waits is exported unchanged.",
            icon=":material/hourglass_empty:",
        )
    if figures.withheld:
        merges = quantity(figures.withheld, "merge")
        st.info(f"Not exported, as they need a gateway and routers are off: {merges}.")
    if figures.removed or figures.edited:
        st.caption(
            f"Left out: {quantity(len(figures.removed), 'tool')}. Edited single tools: "
            f"{figures.edited:,}."
        )
    if figures.held_back:
        st.info(
            "Edited, but exported in the original form: "
            f"{safe_text.first_few(figures.held_back, NAMED)}. A new name or new parameters need a "
            "gateway (*Include routers*), and a name must be unique."
        )


@st.cache_resource(max_entries=4, show_spinner="Preparing the bundle")
def _prepared(
    catalog_id: int, name: str, decisions: int, config: PlanConfig, shape: str | None, fix: bool
) -> Download:
    """The bundle; ``decisions`` is how many there are, so that a new one makes it anew."""
    return page_frame.service(Exports).download(catalog_id, name, config, shape, fix)
