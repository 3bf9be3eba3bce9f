"""Documents: the name, description and parameters that agents see, edited by a person."""

import json
from dataclasses import replace

import streamlit as st

from toolscope_core.datamodel import Cluster
from toolscope_core.numbers import quantity
from toolscope_core.views.address_keys import tool_key
from toolscope_core.views.cards import sources_in_words
from toolscope_core.views.queue import kind_of
from toolscope_core.views.tried_calls import signature
from ui.deciding import argument_panel, cluster_card, decision_buttons
from ui.documents import (
    argument_editor,
    document_checks_panel,
    document_form,
    siblings_panel,
    suggested_wording,
    try_it,
    variant_panel,
    versions_panel,
)
from ui.frame import page_frame, safe_text, tool_selection
from ui.tools import leave_out, tool_drawer

MERGES, VARIANTS, SIBLINGS = "Merges", "For search", "Tell apart"
MAX_OPTIONS = 500

st.title("Documents")
page_frame.analysis()
review, catalog_id = page_frame.workspace().review, page_frame.current().id
clusters = {cluster.id: cluster for cluster in review.plan(catalog_id).clusters}
mode = st.segmented_control(
    "Documents of", [MERGES, tool_drawer.SINGLE, SIBLINGS, VARIANTS],
    default=MERGES if clusters else tool_drawer.SINGLE, required=True, key="texts",
    bind="query-params", label_visibility="collapsed",
)  # fmt: skip
if mode == VARIANTS:
    variant_panel.variant_panel(catalog_id)
    st.stop()
if mode == SIBLINGS:
    siblings_panel.siblings_panel(catalog_id)
    st.stop()
if mode == MERGES and not clusters:
    st.info("No tools do the same job here. You can still edit single tools.")
    st.stop()


total, picked = len(clusters), tool_selection.selected(catalog_id)
if mode == MERGES and picked and tool_selection.only():
    clusters = {
        key: cluster
        for key, cluster in clusters.items()
        if not picked.tool_ids.isdisjoint(cluster_card.all_members(cluster))
    }
    st.caption(f"{len(clusters):,} of {quantity(total, 'cluster')} hold selected tools.")
    if not clusters:
        st.stop()
if mode != MERGES:
    clusters = {}


def field_key(cluster: Cluster) -> str:
    return f"{catalog_id}_{cluster.id}_{cluster.version[:8]}"


def label(cluster_id: str) -> str:
    cluster = clusters[cluster_id]
    prefix = "family of " if kind_of(cluster) == "family" else ""
    state = f"{cluster.state}, not saved" if cluster_id in unsaved else cluster.state
    return f"{cluster.document.name} ({prefix}{quantity(len(cluster.members), 'tool')}, {state})"


def pick() -> None:
    st.query_params["cluster"] = st.session_state["merge"]


def pick_tool() -> None:
    st.query_params["single"] = tool_key(st.session_state["tool_to_edit"])


def chosen_merge() -> Cluster:
    if st.query_params.get("cluster") in clusters:
        st.session_state["merge"] = st.query_params["cluster"]
    elif st.session_state.get("merge") not in clusters:
        last = st.session_state.get("document")  # Streamlit forgets fields of a page that is left
        st.session_state["merge"] = last if last in clusters else next(iter(clusters))
    cluster = clusters[
        st.selectbox("Merged tool", list(clusters), format_func=label, key="merge", on_change=pick)
    ]
    st.query_params["cluster"] = st.session_state["document"] = cluster.id
    return cluster


def chosen_tool() -> Cluster:
    work, key = page_frame.workspace(), st.query_params.get("single", "")
    linked = work.catalogs.named(catalog_id, key)
    bar = st.container(horizontal=True)
    find = bar.text_input("Search", type="search", key="find_tool")
    ids = [row.id for row in work.explore.tools(catalog_id, find)][:MAX_OPTIONS]
    if linked and linked not in ids:
        ids.insert(0, linked)
    if not ids:
        st.info(f"No tool matches {safe_text.untrusted(find)}.")
        st.stop()
    if linked:
        st.session_state["tool_to_edit"] = linked
    chosen = bar.selectbox("Tool", ids, key="tool_to_edit", on_change=pick_tool)
    home = next((c for c in review.plan(catalog_id).applied if chosen in c.members), None)
    if home is not None:
        st.info(
            f"This tool is part of the accepted merge {safe_text.untrusted(home.document.name)}, "
            "whose document agents see. The one below is used if that merge is undone."
        )
    return review.alone(catalog_id, chosen)


unsaved = {key for key, one in clusters.items() if document_form.is_unsaved(field_key(one))}
cluster = chosen_merge() if mode == MERGES else chosen_tool()
decision_buttons.notice()
if mode != MERGES:
    leave_out.leave_out_panel(catalog_id, cluster.members, "single")

draft, generated = review.draft(catalog_id, cluster), review.synthesised(catalog_id, cluster)
left, effect = st.columns(2, gap="large")
form = document_form.Form(field_key(cluster), draft)
typed = argument_editor.typed_maps(form.suffix, draft.maps)
with left:
    edited, problems = form.show(sources_in_words(review.card(catalog_id, cluster)))
    found = review.preview(catalog_id, cluster, replace(edited, maps={}))
    mapped = review.preview(catalog_id, cluster, replace(edited, maps=typed))
    if len(cluster.members) > 1 and edited.document.schema is not None:
        with st.expander("Argument maps: what each old argument becomes"):
            arguments = found.cluster.arguments
            problems += argument_editor.argument_editor(form.suffix, mapped, arguments, typed)
edited = replace(edited, maps=dict(typed))
problems += review.document_problems(catalog_id, cluster, edited.document)
changed = edited.document != cluster.document or edited.maps != draft.maps

with effect:
    card = review.preview(catalog_id, cluster, edited)
    cluster_card.effect(card, cluster)
    document_checks_panel.checks(card)
    for problem in problems:
        st.error(safe_text.untrusted(problem), icon=":material/error:")
    with st.container(horizontal=True):
        st.button(
            "Save",
            key=f"save_{form.suffix}",
            type="primary",
            disabled=bool(problems) or not changed,
            on_click=decision_buttons.save,
            args=(cluster, edited, form.discard),
        )
        st.button(
            "Discard changes",
            key=f"discard_{form.suffix}",
            disabled=not (form.is_unsaved or edited.maps != draft.maps),
            help="Unsaved changes are kept while you visit other pages.",
            on_click=form.discard,
        )
        st.button(
            "Reset to generated document" if mode == MERGES else "Reset to original",
            key=f"reset_{form.suffix}",
            disabled=generated.document == cluster.document and not draft.maps,
            on_click=decision_buttons.reset,
            args=(cluster, generated, form.discard),
        )
        if mode == MERGES:
            st.page_link(
                "pages/review.py",
                label="Open in Review",
                icon=":material/rule:",
                query_params={"cluster": cluster.id},
            )
    document_checks_panel.differences(card, form.suffix)
    argument_panel.arguments(card)
    st.markdown("**As a call**")
    st.code(signature(edited.document), language=None, wrap_lines=True)
    try_it.try_it(card, form.suffix)
    versions_panel.document_versions(catalog_id, cluster, form.discard)
suggested_wording.suggestion_panel(catalog_id, cluster, draft)
with st.expander("JSON Schema as exported"):
    st.code(json.dumps(edited.document.schema, indent=2, ensure_ascii=False), language="json")
