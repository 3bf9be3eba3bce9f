"""Which document is edited: that of a merge, or of any single tool."""

from collections.abc import Mapping

import streamlit as st

from toolscope_core.model.cluster import Cluster, kind_name
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import tool_key
from ui.documents import document_form
from ui.shared import safe_text
from ui.shared.services import review
from ui.shared.snapshot import Snapshot
from ui.shared.tools import catalog_tables

MAX_OPTIONS = 500


def field_key(snapshot: Snapshot, cluster: Cluster) -> str:
    """What the fields of a document are kept under; it changes with the cluster."""
    return f"{snapshot.id}_{cluster.id}_{cluster.version[:8]}"


def chosen_merge(snapshot: Snapshot, clusters: Mapping[str, Cluster]) -> Cluster:
    """The merge that the address or the box names; ``clusters`` are those to choose from, by id."""
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
    """The tool that the address or the box names, as a cluster of one; stops the page where none
    matches the search.
    """
    linked = snapshot.named(st.query_params.get("single", ""))
    bar = st.container(horizontal=True)
    find = bar.text_input("Search", type="search", key="find_tool")
    ids = [row.id for row in catalog_tables.tools(snapshot, find)][:MAX_OPTIONS]
    if linked and linked not in ids:
        ids.insert(0, linked)
    if not ids:
        st.info(f"No tool matches {safe_text.untrusted(find)}.")
        st.stop()
    if linked:
        st.session_state["tool_to_edit"] = linked
    chosen = bar.selectbox("Tool", ids, key="tool_to_edit", on_change=_pick_tool)
    applied = snapshot.plan.applied
    home = next((c for c in applied if chosen in c.members), None)
    if home is not None:
        st.info(
            f"This tool is part of the accepted merge {safe_text.untrusted(home.document.name)}, "
            "whose document agents see. The one below is used if that merge is undone."
        )
    return review.alone(snapshot, chosen)


def _pick() -> None:
    st.query_params["merge"] = st.session_state["merge"]


def _pick_tool() -> None:
    st.query_params["single"] = tool_key(st.session_state["tool_to_edit"])
