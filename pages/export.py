"""Export: the cleaned toolset with everything needed to switch to it."""

import streamlit as st

from toolscope_core.catalog.formats.format_table import MATRIX
from toolscope_core.model.configuration import AcceptPolicy, PlanConfig
from ui.export.client_files_panel import client_files_panel
from ui.export.download_panel import download_panel, texts_panel
from ui.export.loading_panel import loading_panel
from ui.export.validity_panel import (
    figures_panel,
    limit_panel,
    merges_panel,
    shared_names_panel,
    validity_panel,
)
from ui.shared import page_frame
from ui.shared.services import exports, reviewed_variants
from ui.shared.services.exports import export_targets

POLICIES: dict[AcceptPolicy, str] = {
    "none": "Accepted merges only",
    "auto": "Accepted and safe merges",
    "all": "All proposals without hidden or hostile text",
}

st.title("Export")
snapshot = page_frame.analysed_snapshot()
record = snapshot.record
own = snapshot.plan.catalog.format
choices = {choice.label: choice for choice in export_targets(own)}
*_, as_loaded = choices
mine = [label for label, one in choices.items() if one.target.name in page_frame.chosen_clients()]
label = st.pills(
    "I use", list(choices), default=mine[0] if mine else as_loaded, required=True,
    key=f"target_{own}", persist_state="session",
)  # fmt: skip
choice = choices[label]

with st.container(horizontal=True, vertical_alignment="bottom"):
    accept = st.selectbox(
        "Merges to apply", list(POLICIES), format_func=POLICIES.__getitem__, key="accept",
        persist_state="session", width=260,
    )  # fmt: skip
    gateway = st.toggle(
        "Include merges that need a gateway",
        key="gateway",
        persist_state="session",
        help="One tool for the agent; `serve` forwards its calls to the servers.",
    )
    fix = st.toggle(
        "Apply suggested fixes",
        key="fix",
        help="relabel.json and arguments.json list new names; a toolset over the tool limit is "
        "split.",
    )
    leave_out = st.toggle(
        "Leave out refused tools",
        key="leave_out",
        help="Tools that your client or API would reject are left out; the other tools are "
        "exported.",
    )
    expanded = bool(reviewed_variants.accepted_variants(snapshot)) and st.toggle(
        "Expanded descriptions",
        key="expanded",
        help="Writes the accepted document variants (Documents, For search) as the descriptions of "
        "tools that nobody edited or merged. Agents then read these texts too, at a cost in "
        "tokens.",
    )
    by_search = st.toggle(
        "Defer tools to a search",
        key="by_search",
        help="For clients that keep a few tools in every prompt and let the model search for the "
        "rest.",
    )
config = PlanConfig(accept=accept, gateway=gateway, expanded=expanded, leave_out_refused=leave_out)
if by_search:
    config = loading_panel(snapshot, config, choice)
figures = exports.figures(snapshot, config, choice.format, fix)
download_panel(snapshot, config, choice, fix, figures)
figures_panel(figures, exports.edits_not_applied(snapshot, figures.plan))
shared_names_panel(figures, fix)
target = choice.target.name
if figures.refusals or target not in MATRIX:
    target = choice.format or own
rules = validity_panel(figures, target)
if parts := figures.toolsets(rules):
    limit_panel(parts, exports.ways(snapshot, gateway, rules), POLICIES)
merges_panel(figures)
client_files_panel(figures.plan)
texts_panel(snapshot, config)
