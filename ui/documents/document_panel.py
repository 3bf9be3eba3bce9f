"""A document with its fields, what it would do, and the buttons that keep or drop the changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from toolscope_core.model.cluster import Cluster
from ui.documents import (
    argument_editor,
    document_checks_panel,
    document_choice,
    suggested_wording,
    try_it,
    versions_panel,
)
from ui.documents.document_form import Form
from ui.documents.tried_calls import signature
from ui.shared import page_frame, safe_text
from ui.shared.cards import argument_panel, cluster_card, decision_buttons
from ui.shared.cards.cards import Card, sources_in_words
from ui.shared.cards.drafts import Draft


def document_panel(catalog_id: int, cluster: Cluster, is_merge: bool) -> None:
    """The document of a merge, or of a single tool (a cluster of one)."""
    draft = page_frame.workspace().review.draft(catalog_id, cluster)
    form = Form(document_choice.field_key(catalog_id, cluster), draft)
    left, effect = st.columns(2, gap="large")
    with left:
        edited, card, problems = _fields(catalog_id, cluster, form)
    with effect:
        cluster_card.effect(card, cluster)
        document_checks_panel.checks(card)
        for problem in problems:
            st.error(safe_text.untrusted(problem), icon=":material/error:")
        _buttons(catalog_id, cluster, form, edited, is_merge, bool(problems))
        document_checks_panel.differences(card, form.suffix)
        argument_panel.arguments(card)
        st.markdown("**As a call**")
        st.code(signature(edited.document), language=None, wrap_lines=True)
        try_it.try_it(card, form.suffix)
        versions_panel.document_versions(catalog_id, cluster, form.discard)
    suggested_wording.suggestion_panel(catalog_id, cluster, draft)
    with st.expander("JSON Schema as exported"):
        st.code(json.dumps(edited.document.schema, indent=2, ensure_ascii=False), language="json")


def _fields(catalog_id: int, cluster: Cluster, form: Form) -> tuple[Draft, Card, Sequence[str]]:
    """Draws the fields; the edited document, its card and its problems."""
    review = page_frame.workspace().review
    typed = argument_editor.typed_maps(form.suffix, form.draft.maps)
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
    return edited, card, problems


def _buttons(
    catalog_id: int, cluster: Cluster, form: Form, edited: Draft, is_merge: bool, is_invalid: bool
) -> None:
    start = page_frame.workspace().review.synthesised(catalog_id, cluster)
    has_new_maps = edited.maps != form.draft.maps
    with st.container(horizontal=True):
        st.button(
            "Save",
            key=f"save_{form.suffix}",
            type="primary",
            disabled=is_invalid or not (edited.document != cluster.document or has_new_maps),
            on_click=decision_buttons.save,
            args=(cluster, edited, form.discard),
        )
        st.button(
            "Discard changes",
            key=f"discard_{form.suffix}",
            disabled=not (form.is_unsaved or has_new_maps),
            help="Unsaved changes are kept while you visit other pages.",
            on_click=form.discard,
        )
        st.button(
            "Reset to generated document" if is_merge else "Reset to original",
            key=f"reset_{form.suffix}",
            disabled=start.document == cluster.document and not form.draft.maps,
            on_click=decision_buttons.reset,
            args=(cluster, start, form.discard),
        )
        if is_merge:
            st.page_link(
                "pages/review.py",
                label="Open in Review",
                icon=":material/rule:",
                query_params={"cluster": cluster.id},
            )
