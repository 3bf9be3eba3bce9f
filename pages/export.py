"""Export: the cleaned toolset with everything needed to move over to it."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from toolscope_core.catalog.formats import OFFERED
from toolscope_core.config import PlanConfig
from toolscope_core.numbers import quantity
from toolscope_core.views.exports import Download
from ui.export.validity_panel import limit_panel, validity_panel
from ui.frame import page_frame, safe_text

POLICIES = {
    "none": "Only what people accepted",
    "auto": "Also the safe proposals",
    "all": "Every proposal, except with hidden or hostile text",
}
LINES, NAMED = 60, 4

st.title("Export")
page_frame.analysis()
review, record = page_frame.workspace().review, page_frame.current()
own = review.plan(record.id).catalog.format


def named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(map(safe_text.untrusted, ids[:NAMED])) + more


@st.cache_resource(max_entries=4, show_spinner="Preparing the bundle")
def prepared(
    catalog_id: int, decided: int, accept: str, routers: bool, shape: str | None, fix: bool
) -> Download:
    config = PlanConfig(accept=accept, routers=routers)
    return review.download(catalog_id, record.name, config, shape, fix)


with st.container(horizontal=True, vertical_alignment="bottom"):
    accept = st.selectbox("Merge", list(POLICIES), format_func=POLICIES.get, key="accept")
    chosen = st.selectbox(
        "Format",
        [own, *(shape for shape in OFFERED if shape != own)],
        format_func=lambda shape: f"{shape}, as it came in" if shape == own else shape,
        key=f"shape_{own}",
    )
    routers = st.toggle("Routers too", key="routers", help="Merges that need a gateway.")
    fix = st.toggle(
        "Apply the offered fixes",
        key="fix",
        help="New names show in relabel.json and arguments.json; a long list is split.",
    )
shape = None if chosen == own else chosen
found = review.figures(record.id, PlanConfig(accept=accept, routers=routers), shape, fix)
for column, (label, before, after) in zip(
    st.columns(3),
    (
        ("Tools", found.tools_before, found.tools_after),
        (f"Tokens in every prompt ({found.counted})", found.tokens_before, found.tokens_after),
        ("Merges", 0, len(found.merges)),
    ),
    strict=True,
):
    told = f"{before:,} → {after:,}" if before else f"{after:,}"
    column.metric(label, told, after - before if before else None, delta_color="inverse")

if found.pending:
    families = f" (families among them: {found.families:,})" if found.families else ""
    st.info(
        f"Not decided: {quantity(found.pending, 'proposed merge')}{families}. Their tools stay as "
        "they are.",
        icon=":material/hourglass_empty:",
    )
if found.withheld:
    merges = quantity(found.withheld, "accepted merge")
    st.info(f"Left out, as a gateway is needed and routers are off: {merges}.")

if found.removed or found.edited:
    st.caption(
        f"Left out by people: {quantity(len(found.removed), 'tool')}. Edited on their own: "
        f"{found.edited:,}."
    )
if found.held_back:
    st.info(
        f"Edited, and exported as it came in: {named(found.held_back)}. A new name or other "
        "parameters need a gateway (*Routers too*), and a name that two tools bear goes to none."
    )

if found.hostile:
    st.error(
        "The toolset holds what the scan blocks, with its hidden or hostile text: "
        f"{named(found.hostile)}. "
        "Merge it away in Review, or rewrite its text or leave it out in Documents.",
        icon=":material/gpp_bad:",
    )

now = (record.id, len(review.log(record.id)), accept, routers, shape, fix)
refused = bool(found.refusals)
label = f"Not valid as {chosen}: see below" if refused else "Prepare bundle"
if st.button(label, key="prepare", type="primary", icon=":material/package_2:", disabled=refused):
    st.session_state["prepared"] = now
if st.session_state.get("prepared") == now and not refused:
    bundle = prepared(*now)
    st.download_button(
        "Download the bundle",
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
    shown, content = next(iter(bundle.files.items()))
    first = content.decode("utf-8").splitlines()
    preview.code("\n".join(first[:LINES]), language="json", height=400)
    preview.caption(f"{shown}, lines 1 to {min(LINES, len(first))} of {len(first):,}")

rules = validity_panel(found, chosen)
if rules in found.toolsets:
    limit_panel(found.toolsets[rules], review.ways(record.id, routers, rules), POLICIES)

st.subheader("Merges", anchor=False)
if not found.merges:
    st.caption("None yet: the toolset goes out as it came in.")
else:
    names = {"kept": "agents keep", "name": "under the name", "gone": "no longer see"}
    st.dataframe(found.merges, hide_index=True, column_config=names, alt="Merges in the bundle")
if found.dangling:
    st.subheader("Descriptions that still cite a tool that is gone", anchor=False)
    names = {"tool_id": "tool", "now": "which is now"}
    st.dataframe(found.dangling, hide_index=True, column_config=names, alt="Dangling references")
