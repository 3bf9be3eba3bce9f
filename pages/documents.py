"""Documents: what agents will read of a merged tool, edited by a person."""

import json

import streamlit as st

from pages import _card, _decisions, _form, _selection, _ui, _words
from toolscope_core.datamodel import Cluster
from toolscope_core.numbers import quantity

st.title("Documents")
_ui.analysis()
review, catalog_id = _ui.workspace().review, _ui.current().id
clusters = {cluster.id: cluster for cluster in review.plan(catalog_id).clusters}
if not clusters:
    st.info("No tools do the same job here, so there is no document to edit.")
    st.stop()


total, picked = len(clusters), _selection.selected(catalog_id)
if picked and _selection.only():
    clusters = {
        key: cluster
        for key, cluster in clusters.items()
        if not picked.tool_ids.isdisjoint(_card.everybody(cluster))
    }
    st.caption(f"{len(clusters):,} of {total:,} clusters hold selected tools.")
    if not clusters:
        st.stop()


def field_key(cluster: Cluster) -> str:
    return f"{catalog_id}_{cluster.id}_{cluster.version[:8]}"


def label(cluster_id: str) -> str:
    cluster = clusters[cluster_id]
    what = "family of " if _card.kind_of(cluster) == "family" else ""
    state = f"{cluster.state}, not saved" if cluster_id in unsaved else cluster.state
    return f"{cluster.document.name} ({what}{quantity(len(cluster.members), 'tool')}, {state})"


def pick() -> None:
    st.query_params["cluster"] = st.session_state["merge"]


unsaved = {key for key, one in clusters.items() if _form.waits(field_key(one))}
if st.query_params.get("cluster") in clusters:
    st.session_state["merge"] = st.query_params["cluster"]
elif st.session_state.get("merge") not in clusters:
    last = st.session_state.get("document")  # Streamlit forgets the field of a page that is left
    st.session_state["merge"] = last if last in clusters else next(iter(clusters))
cluster = clusters[
    st.selectbox("Merge", list(clusters), format_func=label, key="merge", on_change=pick)
]
st.query_params["cluster"] = st.session_state["document"] = cluster.id
_decisions.notice()

draft, made = review.draft(catalog_id, cluster), review.synthesised(catalog_id, cluster)
left, effect = st.columns(2, gap="large")
form = _form.Form(field_key(cluster), draft)
with left:
    edited, problems = form.show()
problems += review.document_problems(catalog_id, cluster, edited.document)
changed = edited.document != cluster.document

with effect:
    card = review.preview(catalog_id, cluster, edited)
    _card.effect(card, cluster)
    for problem in problems:
        st.error(_ui.untrusted(problem), icon=":material/error:")
    with st.container(horizontal=True):
        st.button(
            "Save",
            key=f"save_{form.seen}",
            type="primary",
            disabled=bool(problems) or not changed,
            on_click=_decisions.save,
            args=(cluster, edited, form.discard),
        )
        st.button(
            "Discard changes",
            key=f"discard_{form.seen}",
            disabled=not form.is_unsaved,
            help="What was typed and not saved; it waits here while you visit other pages.",
            on_click=form.discard,
        )
        st.button(
            "Reset to the synthesised document",
            key=f"reset_{form.seen}",
            disabled=made.document == cluster.document,
            on_click=_decisions.reset,
            args=(cluster, made, form.discard),
        )
        st.page_link("pages/review.py", label="Review it", query_params={"cluster": cluster.id})
    st.markdown("**Compared with the canonical tool's own description**")
    st.html(_ui.word_diff(card.canonical.description, edited.document.description))
    _card.arguments(card)
_words.words_panel(catalog_id, cluster, draft)
with st.expander("JSON Schema that agents will get"):
    st.code(json.dumps(edited.document.schema, indent=2, ensure_ascii=False), language="json")
