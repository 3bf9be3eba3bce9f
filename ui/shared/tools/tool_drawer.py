"""The drawer: any tool in full, opened from every view by ``tool`` in the address."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from toolscope_core.model.address_keys import tool_key
from toolscope_core.model.catalog import Finding, Severity
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool
from toolscope_core.usage.call_count_words import tool_count_line
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_words, outcome_badges
from ui.shared.cards.outcome_badges import Color
from ui.shared.models.grades_panel import grade_of
from ui.shared.pairs.pair_view import Neighbour
from ui.shared.services.tools import ToolView
from ui.shared.services.usage_evidence import UsageEvidence
from ui.shared.tools import leave_out, tool_selection
from ui.shared.tools.catalog_tables import operation_line

if TYPE_CHECKING:
    from streamlit.elements.lib.column_types import ButtonColumnResult

TEXT_SHOWN = 4_000
COLORS: dict[Severity, Color] = {"block": "red", "warn": "orange", "info": "gray"}
SINGLE = "Single tools"
"""The tab of the Documents page where any tool is edited, merged or not."""
LABEL = ":material/right_panel_open: Open"
"""On the button of a table's row."""


def open_tool(tool_id: str) -> None:
    """Open the drawer on a tool. Call it in a widget's callback."""
    st.query_params["tool"] = tool_key(tool_id)


def open_button(tool: Tool, place: str) -> None:
    """A button that opens the drawer; ``place`` keeps the widget keys of several views apart."""
    st.button(
        "Open", key=f"open_{place}_{tool_key(tool.id)}", type="tertiary",
        icon=":material/right_panel_open:", on_click=open_tool, args=(tool.id,),
        help="Shows its definition, similar tools, and decisions.",
    )  # fmt: skip


def open_column(ids: Sequence[str], key: str, width: int) -> ButtonColumnResult:
    """Config of a column of buttons, each of which opens the tool of its row, one of ``ids``."""
    return st.column_config.ButtonColumn(
        "",
        width=width,
        type="tertiary",
        key=key,
        on_click=lambda: open_tool(ids[st.session_state[key]["row"]]),
    )


def declared_line(tool: Tool) -> None:
    """How an OpenAPI document declares the tool, where that says more than its name."""
    if line := operation_line(tool):
        st.caption(f"OpenAPI: {safe_text.untrusted(line)}")


def usage_caption(tool: Tool) -> None:
    """How often the tool was called, where logs were added to the catalog."""
    figures = page_frame.service(UsageEvidence).figures(page_frame.current().id)
    if figures.calls:
        st.caption(f":material/call_made: {tool_count_line(figures.of(tool.id))}")


def is_open() -> bool:
    """Whether the drawer is open; the keyboard shortcuts of the page must do nothing then."""
    return "tool" in st.query_params


def close() -> None:
    """Close the drawer. Call it in a widget's callback."""
    st.query_params.pop("tool", None)


def drawer() -> None:
    """The drawer, where the address names a tool."""
    if not is_open():
        return
    catalog_id = page_frame.current().id
    view = page_frame.workspace().tools.view(catalog_id, st.query_params["tool"])
    if view is None:
        close()
        st.toast("The link names a tool that is not in this catalog.")
        return
    title, icon = safe_text.untrusted(view.tool.name), ":material/build:"
    panel = st.dialog(title, position="right", width="medium", icon=icon, on_dismiss=close)
    panel(_content)(catalog_id, view)


def _content(catalog_id: int, view: ToolView) -> None:
    tool = view.tool
    with st.container(horizontal=True):
        st.badge(
            safe_text.owner(tool.id, tool.name, tool.server), color="gray", icon=":material/dns:"
        )
        chosen = tool_selection.selected(catalog_id)
        if chosen is not None and tool.id in chosen.tool_ids:
            st.badge("Selected", color="blue", icon=":material/check:")
    _findings(view.findings)
    declared_line(tool)
    usage_caption(tool)
    st.text(tool.description[:TEXT_SHOWN] or "No description.")
    if grade := page_frame.workspace().judging.grades(catalog_id).get(tool.id):
        grade_of(grade)
    _cluster_link(view.cluster)
    if page_frame.workspace().analyses.get(catalog_id):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link(
                "pages/documents.py",
                label="Edit document",
                icon=":material/edit_note:",
                query_params={"texts": SINGLE, "single": tool_key(tool.id)},
            )
            leave_out.leave_out_panel(catalog_id, (tool.id,), "drawer")
    _nearest(catalog_id, tool, view.neighbours)
    _decisions(view.decisions)
    st.markdown("**Original definition**")
    st.json(json.dumps(tool.raw), expanded=2)


def _findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        label = safe_text.untrusted(f"{finding.severity}: {finding.message}")
        st.badge(label, color=COLORS[finding.severity], icon=":material/shield:")


def _cluster_link(cluster: Cluster | None) -> None:
    if cluster is None:
        st.caption("Not in a cluster.")
        return
    name = safe_text.untrusted(cluster.document.name)
    kind = "family" if cluster.relation == "parametric" else "cluster"
    tools = quantity(len(cluster.members), "tool")
    st.page_link(
        "pages/review.py",
        label=f"In the {kind} **{name}**: {tools}, {cluster.state}",
        icon=":material/rule:",
        query_params={"cluster": cluster.id},
    )


def _nearest(catalog_id: int, tool: Tool, neighbours: Sequence[Neighbour]) -> None:
    if not neighbours:
        return
    st.markdown("**Most similar tools** (select one to compare)")
    for near in neighbours:
        name = safe_text.untrusted(f"{near.tool} · {near.server}" if near.server else near.tool)
        st.page_link(
            "pages/overlap.py",
            label=f"**{name}**, similarity {near.similarity:.2f}: "
            f"{outcome_badges.short(near.verdict)}",
            icon=":material/compare_arrows:",
            query_params={"pair": near.key},
        )
    st.button(
        "Select these", key="select_near", icon=":material/select_all:", on_click=_select,
        args=(
            catalog_id,
            [tool.id, *(near.id for near in neighbours)],
            f"the tools most similar to {tool.name}",
        ),
        help="Selects the tool and those most similar to it in every view.",
    )  # fmt: skip


def _select(catalog_id: int, ids: Sequence[str], source: str) -> None:
    tool_selection.select(catalog_id, ids, source)
    close()


def _decisions(decisions: Sequence[Decision]) -> None:
    if decisions:
        st.markdown("**Decisions**")
    for decision in decisions:
        names = safe_text.untrusted(", ".join(decision.ids))
        who = decision_words.by_whom(decision)
        st.markdown(f"- {decision_words.in_words(decision)}: {names} :gray[({who})]")
