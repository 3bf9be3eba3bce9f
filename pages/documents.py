"""Documents: the name, description and parameters that agents see, edited by a person."""

import json
from dataclasses import replace

import streamlit as st

from toolscope_core.model.numbers import quantity
from ui.documents import (
    argument_editor,
    document_checks_panel,
    document_choice,
    document_form,
    siblings_panel,
    suggested_wording,
    try_it,
    variant_panel,
    versions_panel,
)
from ui.documents.tried_calls import signature
from ui.shared import page_frame, safe_text
from ui.shared.cards import argument_panel, cluster_card, decision_buttons
from ui.shared.cards.cards import sources_in_words
from ui.shared.tools import leave_out, tool_drawer, tool_selection

MERGES, VARIANTS, SIBLINGS = "Merges", "For search", "Tell apart"

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
cluster = (
    document_choice.chosen_merge(catalog_id, clusters)
    if mode == MERGES
    else document_choice.chosen_tool(catalog_id)
)
decision_buttons.notice()
if mode != MERGES:
    leave_out.leave_out_panel(catalog_id, cluster.members, "single")

draft, start = review.draft(catalog_id, cluster), review.synthesised(catalog_id, cluster)
left, effect = st.columns(2, gap="large")
form = document_form.Form(document_choice.field_key(catalog_id, cluster), draft)
typed = argument_editor.typed_maps(form.suffix, draft.maps)
with left:
    tools = page_frame.analysis().catalog.by_id
    edited, problems = form.show(sources_in_words(cluster, tools))
    edited = replace(edited, maps=dict(typed))
    card = review.preview(catalog_id, cluster, edited)
    if len(cluster.members) > 1 and edited.document.schema is not None:
        bare = replace(edited, maps={})
        generated = review.preview(catalog_id, cluster, bare) if typed else card
        with st.expander("Argument maps: what each old argument becomes"):
            arguments = generated.cluster.arguments
            problems += argument_editor.argument_editor(form.suffix, card, arguments, typed)
if typed != edited.maps:
    edited = replace(edited, maps=dict(typed))
    card = review.preview(catalog_id, cluster, edited)
problems += review.document_problems(catalog_id, cluster, edited.document)
changed = edited.document != cluster.document or edited.maps != draft.maps

with effect:
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
            disabled=start.document == cluster.document and not draft.maps,
            on_click=decision_buttons.reset,
            args=(cluster, start, form.discard),
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
