"""A document: its fields, its effect, and the buttons that save or discard changes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from toolscope_core.llm.document_answers import ModelDocument
from toolscope_core.model.cluster import Cluster, Document, kind_name
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import tool_key
from ui.documents import argument_editor, document_form, edited_documents
from ui.documents.edited_documents import Draft
from ui.shared import ask_panel, page_frame, safe_text
from ui.shared.cards import argument_panel, cluster_card, decision_buttons, decision_trail
from ui.shared.cards.cards import Card, sources_in_words
from ui.shared.services import review
from ui.shared.snapshot import Snapshot
from ui.shared.tools import catalog_tables

_NAMES = {
    "name": "name",
    "description": "description",
    "schema": "parameters",
    "maps": "argument maps",
}


def document_panel(snapshot: Snapshot, cluster: Cluster, is_merge: bool) -> None:
    """Draw the document of a merge or of a single tool. A single tool is a cluster of one."""
    draft = edited_documents.draft_of(snapshot, cluster)
    form = document_form.DocumentForm(field_key(snapshot, cluster), draft)
    editor, effect = st.columns(2, gap="large")
    with editor:
        edited, card, problems = _fields(snapshot, cluster, form)
    with effect:
        cluster_card.effect(card, cluster)
        _checks(card)
        for problem in problems:
            st.error(safe_text.untrusted(problem), icon=":material/error:")
        _buttons(snapshot, cluster, form, edited, is_merge, bool(problems))
        differences(card, form.suffix)
        argument_panel.arguments(card)
        st.markdown("**As a call**")
        st.code(argument_editor.signature(edited.document), language=None, wrap_lines=True)
        argument_editor.try_it(card, form.suffix)
        argument_panel.try_new_call(card, form.suffix)
        document_versions(snapshot, cluster, form.discard)
    suggestion_panel(snapshot, cluster, draft)
    with st.expander("JSON Schema as exported"):
        st.code(json.dumps(edited.document.schema, indent=2, ensure_ascii=False), language="json")


def document_versions(snapshot: Snapshot, cluster: Cluster, then: Callable[[], None]) -> None:
    """Draw the versions, newest first. After one is restored, ``then`` discards the text that is
    not saved.
    """
    versions = edited_documents.versions(snapshot, cluster)
    if not versions:
        return
    with st.expander(f"Earlier versions ({len(versions):,})", icon=":material/history:"):
        for version in versions:
            document, seq = version.draft.document, version.decision.seq
            changes = [name for key, name in _NAMES.items() if key in version.decision.detail]
            with st.container(horizontal=True, vertical_alignment="center"):
                whom = decision_trail.by_whom(version.decision)
                st.markdown(f"{', '.join(changes)} by {whom}", width="stretch")
                is_current = document == cluster.document
                save_button(
                    snapshot,
                    cluster,
                    version.draft,
                    "Restore",
                    f"Restored the document of {document.name}",
                    then,
                    key=f"restore_{seq}_{cluster.version[:8]}",
                    disabled=is_current,
                    help="This is the current document." if is_current else None,
                )
            st.html(
                safe_text.word_diff(cluster.document.description, document.description, dim=True)
            )


def suggestion_panel(snapshot: Snapshot, cluster: Cluster, draft: Draft) -> None:
    """Draw the wording that the model suggests for the cluster, and the panel to ask for one."""
    suggestion = edited_documents.of(snapshot, cluster)
    if suggestion is not None:
        _offer(snapshot, cluster, draft, suggestion)
    ask_panel.ask_box(
        snapshot,
        "documents",
        "Suggest wording with a model",
        "Suggest for all documents",
        "A model rewrites the documents of merged tools. Nothing changes until somebody "
        "accepts a suggestion. Exact copies are skipped.",
        one=(cluster.id,),
    )


def _checks(card: Card) -> None:
    """Draw a line for each check. If a check fails, the line says what is wrong."""
    lines = []
    for check in document_form.document_checks(card.cluster, card.tools):
        if check.holds:
            lines.append(f":green[:material/check:] {check.what}")
        else:
            reason = safe_text.untrusted(check.reason)
            lines.append(f":orange[:material/warning:] {check.fails}: {reason}")
    st.markdown("  \n".join(lines))


def differences(card: Card, key: str) -> None:
    """Draw the description, compared word by word with the description of one of the old tools."""
    tools = {tool.id: tool for tool in card.tools}
    member = card.canonical.id
    if len(tools) > 1:
        member = st.selectbox(
            "Description compared with",
            list(tools),
            key=f"compared_{key}",
            format_func=lambda one: f"{tools[one].name} ({tools[one].server or one})",
        )
    else:
        st.markdown("**Changes from the original description**")
    text = card.cluster.document.description
    st.html(safe_text.word_diff(tools[member].description, text))


def save_button(
    snapshot: Snapshot,
    cluster: Cluster,
    draft: Draft,
    label: str,
    message: str,
    then: Callable[[], None] | None = None,
    **look: Any,
) -> None:
    """Draw a button that stores an edited document and confirms with ``message``.

    If that succeeds, ``then`` is called, which discards the text that is not saved. ``look`` is
    passed to ``st.button``.
    """
    decision_buttons.record_button(
        label,
        lambda: edited_documents.edit(snapshot, cluster, draft, page_frame.reviewer()),
        message,
        then,
        **look,
    )


def _fields(
    snapshot: Snapshot, cluster: Cluster, form: document_form.DocumentForm
) -> tuple[Draft, Card, Sequence[str]]:
    """Draw the fields. Returns the edited document, its card and its problems."""
    maps = argument_editor.typed_maps(form.suffix, form.draft.maps)
    tools = snapshot.analysis.catalog.by_id
    draft, problems = form.show(sources_in_words(cluster, tools))
    draft = replace(draft, maps=dict(maps))
    card = edited_documents.preview(snapshot, cluster, draft)
    if len(cluster.members) > 1 and draft.document.schema is not None:
        bare = replace(draft, maps={})
        generated = edited_documents.preview(snapshot, cluster, bare) if maps else card
        with st.expander("Argument maps: what each old argument becomes"):
            arguments = generated.cluster.arguments
            problems += argument_editor.argument_editor(form.suffix, card, arguments, maps)
    if maps != draft.maps:
        draft = replace(draft, maps=dict(maps))
        card = edited_documents.preview(snapshot, cluster, draft)
    problems += edited_documents.problems(snapshot, cluster, draft.document)
    return draft, card, problems


def _buttons(
    snapshot: Snapshot,
    cluster: Cluster,
    form: document_form.DocumentForm,
    draft: Draft,
    is_merge: bool,
    is_invalid: bool,
) -> None:
    start = edited_documents.synthesised(snapshot, cluster)
    has_new_maps = draft.maps != form.draft.maps
    with st.container(horizontal=True):
        save_button(
            snapshot,
            cluster,
            draft,
            "Save",
            f"Saved the document of {draft.document.name}",
            form.discard,
            key=f"save_{form.suffix}",
            type="primary",
            disabled=is_invalid or not (draft.document != cluster.document or has_new_maps),
        )
        st.button(
            "Discard changes",
            key=f"discard_{form.suffix}",
            disabled=not (form.is_unsaved or has_new_maps),
            help="Unsaved changes are kept while you visit other pages.",
            on_click=form.discard,
        )
        save_button(
            snapshot,
            cluster,
            start,
            "Reset to generated document" if is_merge else "Reset to original",
            _reset_in_words(cluster.document, start.document),
            form.discard,
            key=f"reset_{form.suffix}",
            disabled=start.document == cluster.document and not form.draft.maps,
        )
        if is_merge:
            page_frame.page_link("review", "Open in Review", cluster=cluster.id)


def _offer(snapshot: Snapshot, cluster: Cluster, draft: Draft, suggestion: ModelDocument) -> None:
    """Draw the differences that a suggestion makes, its problems, and the button to accept it."""
    with st.container(border=True):
        st.markdown(f"**Suggested by {safe_text.untrusted(suggestion.judge)}**")
        if not suggestion.changes:
            st.caption("The suggestion is the same as the document above.")
            return
        for change in suggestion.changes:
            st.caption(safe_text.untrusted(change.place))
            st.html(safe_text.word_diff(change.before, change.after))
        for violation in suggestion.violations:
            st.warning(safe_text.untrusted(violation.sentence), icon=":material/rule:")
        invalid = any(violation.code == "invalid" for violation in suggestion.violations)
        suffix = f"{cluster.id}_{cluster.version[:8]}"
        if invalid:
            st.caption("This wording cannot be exported or used. Edit the document above.")
        can_use = not suggestion.violations or (
            not invalid and st.checkbox("Use this despite the warnings", key=f"anyway_{suffix}")
        )
        save_button(
            snapshot,
            cluster,
            replace(draft, document=suggestion.document),
            "Use this wording",
            f"Saved the document of {suggestion.document.name}",
            key=f"take_{suffix}",
            icon=":material/check:",
            disabled=not can_use,
            help="Saves the wording as your edit, which can be undone.",
        )


def _reset_in_words(before: Document, after: Document) -> str:
    """The fields that change if the generated document is restored, as text."""
    parts = ((key, _NAMES[key]) for key in ("name", "description", "schema"))
    words = [word for key, word in parts if getattr(before, key) != getattr(after, key)]
    return f"Reset {before.name} to the generated document: {', '.join(words)}"


_MAX_OPTIONS = 500


def field_key(snapshot: Snapshot, cluster: Cluster) -> str:
    """The key under which the fields of a document are kept. It changes with the cluster."""
    return f"{snapshot.id}_{cluster.id}_{cluster.version[:8]}"


def chosen_merge(snapshot: Snapshot, clusters: Mapping[str, Cluster]) -> Cluster:
    """The merge named in the address or chosen in the box. ``clusters`` are the choices, by id."""
    unsaved = {
        key for key, one in clusters.items() if document_form.is_unsaved(field_key(snapshot, one))
    }

    def label(cluster_id: str) -> str:
        cluster = clusters[cluster_id]
        state = f"{cluster.state}, not saved" if cluster_id in unsaved else cluster.state
        tools = quantity(len(cluster.members), "tool")
        return f"{cluster.document.name} ({tools}, {kind_name(cluster)}, {state})"

    if st.query_params.get("merge") in clusters:
        st.session_state["merge"] = st.query_params["merge"]
    elif st.session_state.get("merge") not in clusters:
        last = st.session_state.get("document")  # Streamlit forgets fields of a page that is left
        st.session_state["merge"] = last if last in clusters else next(iter(clusters))
    cluster = clusters[
        st.selectbox("Merged tool", list(clusters), format_func=label, key="merge", on_change=_pick)
    ]
    st.query_params["merge"] = st.session_state["document"] = cluster.id
    return cluster


def chosen_tool(snapshot: Snapshot) -> Cluster:
    """The tool named in the address or chosen in the box, as a cluster of one.

    Stops the page if nothing matches the search.
    """
    linked = snapshot.named(st.query_params.get("single", ""))
    bar = st.container(horizontal=True)
    find = bar.text_input("Search", type="search", key="find_tool")
    ids = [row.id for row in catalog_tables.tools(snapshot, find)][:_MAX_OPTIONS]
    if linked and linked not in ids:
        ids.insert(0, linked)
    if not ids:
        st.info(f"No tool matches {safe_text.untrusted(find)}.")
        st.stop()
    if linked:
        st.session_state["tool_to_edit"] = linked
    tool_id = bar.selectbox("Tool", ids, key="tool_to_edit", on_change=_pick_tool)
    clusters = snapshot.plan.applied
    home = next((c for c in clusters if tool_id in c.members), None)
    if home is not None:
        st.info(
            f"This tool is part of the accepted merge {safe_text.untrusted(home.document.name)}, "
            "and agents see that merge's document. The one below applies if the merge is undone."
        )
    return review.tool_as_cluster(snapshot, tool_id)


def _pick() -> None:
    st.query_params["merge"] = st.session_state["merge"]


def _pick_tool() -> None:
    st.query_params["single"] = tool_key(st.session_state["tool_to_edit"])
