"""Export: the cleaned toolset with everything needed to switch to it."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from toolscope_core.catalog.formats.format_table import OFFERED
from toolscope_core.model.configuration import AcceptPolicy, PlanConfig
from toolscope_core.model.numbers import quantity
from ui.export.validity_panel import limit_panel, validity_panel
from ui.shared import page_frame, safe_text
from ui.shared.cards.exports import Download

POLICIES: dict[AcceptPolicy, str] = {
    "none": "Accepted merges only",
    "auto": "Accepted and safe merges",
    "all": "All proposals without hidden or hostile text",
}

PREVIEW_LINES, NAMED = 60, 4

st.title("Export")
page_frame.analysis()
review, record = page_frame.workspace().review, page_frame.current()
own = review.plan(record.id).catalog.format


def listed(ids: Sequence[str]) -> str:
    """The first few ids, safe in markdown, and how many more there are."""
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(map(safe_text.untrusted, ids[:NAMED])) + more


@st.cache_resource(max_entries=4, show_spinner="Preparing the bundle")
def prepared(
    catalog_id: int, decisions: int, config: PlanConfig, shape: str | None, fix: bool
) -> Download:
    """The bundle; ``decisions`` is how many there are, so that a new one makes it anew."""
    return review.download(catalog_id, record.name, config, shape, fix)


with st.container(horizontal=True, vertical_alignment="bottom"):
    accept = st.selectbox(
        "Merges to apply", list(POLICIES), format_func=POLICIES.__getitem__, key="accept"
    )
    chosen = st.selectbox(
        "Format",
        [own, *(shape for shape in OFFERED if shape != own)],
        format_func=lambda shape: f"{shape} (default)" if shape == own else shape,
        key=f"shape_{own}",
    )
    routers = st.toggle("Include routers", key="routers", help="Merges that need a gateway.")
    fix = st.toggle(
        "Apply suggested fixes",
        key="fix",
        help="relabel.json and arguments.json list new names; a toolset over the tool limit is "
        "split.",
    )
    expanded = bool(page_frame.workspace().variants.accepted(record.id)) and st.toggle(
        "Expanded descriptions",
        key="expanded",
        help="Writes the accepted document variants (Documents, For search) as the descriptions of "
        "tools that nobody edited or merged. Agents then read them too, and they cost tokens.",
    )
shape = None if chosen == own else chosen
config = PlanConfig(accept=accept, routers=routers, expanded=expanded)
figures = review.figures(record.id, config, shape, fix)
for column, (label, before, after) in zip(
    st.columns(3),
    (
        ("Tools", figures.tools_before, figures.tools_after),
        (
            f"Tokens per prompt as {figures.tokens[0].shape} ({figures.counted})",
            figures.tokens_before,
            figures.tokens_after,
        ),
        ("Merges", 0, len(figures.merges)),
    ),
    strict=True,
):
    value = f"{before:,} → {after:,}" if before else f"{after:,}"
    column.metric(label, value, after - before if before else None, delta_color="inverse")

if figures.clusters.waiting:
    st.info(
        f"Not merged, as nobody has accepted them: {figures.clusters.waiting_in_words}. What waits "
        "is exported unchanged.",
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
        f"Edited, but exported in the original form: {listed(figures.held_back)}. A new name or "
        "new parameters need a gateway (*Include routers*), and a name must be unique."
    )

if figures.unreadable:
    rest = len(figures.unreadable) - NAMED
    more = f" And {rest:,} more, listed in README.md." if rest > 0 else ""
    shown = " ".join(map(safe_text.untrusted, figures.unreadable[:NAMED]))
    st.warning(f"{shown}{more}", icon=":material/visibility_off:")

if figures.hostile:
    st.error(
        "The toolset includes tools that the scan blocks for hidden or hostile text: "
        f"{listed(figures.hostile)}. Merge them in Review, or edit them or leave them out in "
        "Documents.",
        icon=":material/gpp_bad:",
    )

options = (record.id, len(review.log(record.id)), config, shape, fix)
refused = bool(figures.refusals)
label = f"Not valid for {chosen}, see below" if refused else "Prepare bundle"
if st.button(label, key="prepare", type="primary", icon=":material/package_2:", disabled=refused):
    st.session_state["prepared"] = options
if st.session_state.get("prepared") == options and not refused:
    bundle = prepared(*options)
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

rules = validity_panel(figures, chosen)
if rules in figures.toolsets:
    limit_panel(figures.toolsets[rules], review.ways(record.id, routers, rules), POLICIES)

st.subheader("Merges", anchor=False)
if not figures.merges:
    st.caption("None yet: the toolset is exported unchanged.")
else:
    names = {"kept": "kept tool", "name": "exported name", "gone": "removed tools"}
    st.dataframe(figures.merges, hide_index=True, column_config=names, alt="Merges in the bundle")
if figures.dangling:
    st.subheader("Descriptions that mention removed tools", anchor=False)
    names = {"tool_id": "tool", "now": "renamed to"}
    st.dataframe(
        figures.dangling,
        hide_index=True,
        column_config=names,
        alt="Descriptions that mention removed tools",
    )
