"""The drawer, which shows any tool in full. Every view opens it by ``tool`` in the address."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from toolscope_core.decisions.log import active
from toolscope_core.model.catalog import Finding, Severity
from toolscope_core.model.cluster import Cluster, kind_name
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import tool_key
from toolscope_core.model.tool import Tool
from ui.shared import page_frame, safe_text
from ui.shared.ask_panel import grade_of
from ui.shared.cards import cluster_card, decision_trail
from ui.shared.cards.queue import cluster_with
from ui.shared.pairs.pair_view import Neighbour, neighbours
from ui.shared.services import judging
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts, tool_selection

_TEXT_SHOWN = 4_000

_COLORS: dict[Severity, cluster_card.Color] = {"block": "red", "warn": "orange", "info": "gray"}

_NEAR = 8


@dataclass(frozen=True, slots=True)
class ToolView:
    """Everything known about a tool.

    ``cluster`` is the cluster that the tool is in or would join. ``decisions`` are the active
    decisions on the tool, newest first. Before the analysis is done, there is no cluster and there
    are no neighbours.
    """

    tool: Tool
    findings: tuple[Finding, ...]
    neighbours: tuple[Neighbour, ...]
    cluster: Cluster | None
    decisions: tuple[Decision, ...]


def tool_view(snapshot: Snapshot, key: str) -> ToolView | None:
    """The tool that a link names; ``None`` if the catalog does not have it."""
    tool_id = snapshot.named(key)
    if tool_id is None:
        return None
    catalog, analysis = snapshot.catalog, snapshot.analysed
    tool, log = catalog.by_id[tool_id], snapshot.log
    return ToolView(
        tool=tool,
        findings=tuple(finding for finding in catalog.findings if finding.tool_id == tool_id),
        neighbours=neighbours(analysis, tool, _NEAR) if analysis else (),
        cluster=cluster_with(snapshot.plan, (tool_id,)) if analysis else None,
        decisions=tuple(one for one in active(log)[::-1] if tool.fingerprint in one.fingerprints),
    )


def is_open() -> bool:
    """Whether the drawer is open. The keyboard shortcuts of the page then do nothing."""
    return "tool" in st.query_params


def _close() -> None:
    """Close the drawer. Call this in a widget's callback."""
    st.query_params.pop("tool", None)


def drawer(snapshot: Snapshot) -> None:
    """Draw the drawer if the address names a tool."""
    if not is_open():
        return
    view = tool_view(snapshot, st.query_params["tool"])
    if view is None:
        _close()
        st.toast("The link names a tool that is not in this catalog.")
        return
    title, icon = safe_text.untrusted(view.tool.name), ":material/build:"
    panel = st.dialog(title, position="right", width="medium", icon=icon, on_dismiss=_close)
    panel(_content)(snapshot, view)


def _content(snapshot: Snapshot, view: ToolView) -> None:
    tool = view.tool
    with st.container(horizontal=True):
        tool_parts.owner_badge(tool)
        selection = tool_selection.selected(snapshot)
        if selection is not None and tool.id in selection.tool_ids:
            st.badge("Selected", color="blue", icon=":material/check:")
    for finding in view.findings:
        label = safe_text.untrusted(f"{finding.severity}: {finding.message}")
        st.badge(label, color=_COLORS[finding.severity], icon=":material/shield:")
    tool_parts.declared_line(tool)
    tool_parts.usage_caption(snapshot, tool)
    st.text(tool.description[:_TEXT_SHOWN] or "No description.")
    if grade := judging.grades(snapshot).get(tool.id):
        grade_of(grade)
    _cluster_link(view.cluster)
    if snapshot.analysed:
        with st.container(horizontal=True, vertical_alignment="center"):
            page_frame.page_link(
                "documents", "Edit document", texts=tool_parts.SINGLE, single=tool_key(tool.id)
            )
            tool_parts.leave_out_panel(snapshot, (tool.id,), "drawer")
    _nearest(snapshot, tool, view.neighbours)
    if view.decisions:
        st.markdown("**Decisions**")
    for decision in view.decisions:
        names = safe_text.untrusted(", ".join(decision.ids))
        who = decision_trail.by_whom(decision)
        st.markdown(f"- {decision_trail.in_words(decision)}: {names} :gray[({who})]")
    st.markdown("**Original definition**")
    st.json(json.dumps(tool.raw), expanded=2)


def _cluster_link(cluster: Cluster | None) -> None:
    if cluster is None:
        st.caption("Not in a cluster.")
        return
    name = safe_text.untrusted(cluster.document.name)
    text = f"{quantity(len(cluster.members), 'tool')}, {kind_name(cluster)}, {cluster.state}"
    page_frame.page_link("review", f"In **{name}**: {text}", cluster=cluster.id)


def _nearest(snapshot: Snapshot, tool: Tool, neighbours: Sequence[Neighbour]) -> None:
    if not neighbours:
        return
    st.markdown("**Most similar tools** (select one to compare)")
    for near in neighbours:
        name = safe_text.untrusted(f"{near.tool} · {near.server}" if near.server else near.tool)
        page_frame.page_link(
            "overlap",
            f"**{name}**, similarity {near.similarity:.2f}: {cluster_card.short(near.verdict)}",
            icon="compare_arrows",
            pair=near.key,
        )
    st.button(
        "Select these", key="select_near", icon=":material/select_all:", on_click=_select,
        args=(
            snapshot,
            [tool.id, *(near.id for near in neighbours)],
            f"the tools most similar to {tool.name}",
        ),
        help="Selects the tool and the tools most similar to it in every view.",
    )  # fmt: skip


def _select(snapshot: Snapshot, ids: Sequence[str], source: str) -> None:
    tool_selection.select(snapshot, ids, source)
    _close()
