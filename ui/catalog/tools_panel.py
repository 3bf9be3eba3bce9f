"""All tools in one table that is as wide as the page, with search, filters and ticks."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.catalog.tokens import tokenizer
from ui.catalog import overview
from ui.catalog.findability_panel import chosen_search, found_shares
from ui.shared import data_tables
from ui.shared.ask_panel import BANDS
from ui.shared.cards import decision_buttons
from ui.shared.data_tables import Column, Columns
from ui.shared.services import judging, toolsets
from ui.shared.services.findable_tools import title_of
from ui.shared.snapshot import Snapshot
from ui.shared.tools import catalog_tables, tool_parts, tool_selection

MAX_ROWS = 5_000
"""The maximum number of tools sent to the browser. For 40,000 tools, 10 MB are sent, which takes
two more seconds.
"""
_HEIGHT = 640
_TABLE = "the table of tools"


def tools_panel(snapshot: Snapshot) -> None:
    """Draw the search, the facets and the table."""
    grades = judging.grades(snapshot)
    bands = {tool_id: grade.band for tool_id, grade in grades.items()}
    matching = _matching(snapshot, bands)
    rows = _selected_first(snapshot, matching)
    cut = (
        f" Showing the first {MAX_ROWS:,}; use the search for other tools."
        if len(rows) > MAX_ROWS
        else ""
    )
    total = len(snapshot.catalog.tools)
    st.container(key="tool_count").caption(
        f"{len(rows):,} of {total:,} tools.{cut} Tick rows to select tools in every view. "
        f"Tokens: {tokenizer().label}."
    )
    rows = rows[:MAX_ROWS]
    _table(snapshot, rows, bands)
    decision_buttons.notice(snapshot)
    if selection := tool_selection.selected(snapshot):
        tool_parts.leave_out_panel(snapshot, sorted(selection.tool_ids), "table")
    st.download_button(
        "Download all as CSV",
        lambda: catalog_tables.csv(snapshot),
        "tools.csv",
        "text/csv",
        key="tools_csv",
        on_click="ignore",
    )


def _matching(snapshot: Snapshot, bands: Mapping[str, str]) -> Sequence[catalog_tables.ToolRow]:
    """The rows that match the search and the facets."""
    bar = st.container(horizontal=True, key="facets")
    find = bar.text_input("Search", type="search", key="catalog_find", bind="query-params")
    names = [row.name for row in catalog_tables.servers(snapshot)]
    server = bar.selectbox(
        "Server", names, index=None, placeholder="all servers", key="on", bind="query-params"
    )
    by_band: defaultdict[str, list[str]] = defaultdict(list)
    for tool_id, band in bands.items():
        by_band[band].append(tool_id)
    states = overview.tool_states(snapshot.plan) if snapshot.analysed else {}
    conditions = (
        _facet(bar, "State", "state", states),
        _facet(bar, "Finding", "finding", overview.findings(snapshot.catalog)),
        _facet(bar, "Documentation", "band", {band: by_band[band] for band in BANDS if bands}),
    )
    rows = catalog_tables.tools(snapshot, find, server)
    return [row for row in rows if all(ids is None or row.id in ids for ids in conditions)]


def _facet(
    bar: DeltaGenerator, label: str, key: str, facet: overview.Facet
) -> frozenset[str] | None:
    """Draw a facet. Returns the tools of the chosen value, or ``None`` for all tools.

    A facet without choices is not drawn.
    """
    if not facet:
        return None
    value = bar.selectbox(
        label, list(facet), index=None, placeholder="any", key=key, bind="query-params"
    )
    return None if value is None else frozenset(facet[value])


def _table(
    snapshot: Snapshot, rows: Sequence[catalog_tables.ToolRow], bands: Mapping[str, str]
) -> None:
    """Draw the rows. The selected tools are ticked."""
    ids, key = [row.id for row in rows], f"tools_{snapshot.id}"
    left_out, shares = toolsets.left_out(snapshot), found_shares(snapshot)
    reasons = {tool_id: str(one.detail["reason"]) for tool_id, one in left_out.items()}
    selection = tool_selection.selected(snapshot)
    numbers = [at for at, tool_id in enumerate(ids) if selection and tool_id in selection.tool_ids]
    data_tables.select_rows(key, numbers)
    columns: Columns[catalog_tables.ToolRow] = [
        Column("name", title="tool", width=220, pinned=True),
        tool_parts.open_tool_column(rows, lambda row: row.id, "open_row", width=90),
        Column("left out", lambda row: reasons.get(row.id, ""), visible=bool(left_out)),
        Column(
            "operation",
            width=260,
            help="operationId and summary of the OpenAPI document",
            visible=any(row.operation for row in rows),
        ),
        Column("server", width=160),
        Column("parameters", format="%d", width=85),
        Column("tokens", title="tokens ≈", format="localized", width=75),
        Column(
            "found",
            lambda row: data_tables.percent((shares or {}).get(row.id)),
            format="%d %%",
            width=75,
            help="Share of the tool's own requests for which it is among the first five results "
            f"of {title_of(chosen_search())}, the search chosen under *Cannot be found*.",
            visible=bool(shares),
        ),
        Column("findings", visible=any(row.findings for row in rows)),
        Column("documentation", lambda row: bands.get(row.id, ""), width=110, visible=bool(bands)),
        Column("description", width=600),
    ]
    data_tables.draw(
        rows,
        columns,
        "All tools of the catalog",
        key=key,
        on_select=lambda: tool_selection.select_ticked(snapshot, ids, key, _TABLE),
        selection_mode="multi-row",
        height=_HEIGHT,
    )


def _selected_first(
    snapshot: Snapshot, rows: Sequence[catalog_tables.ToolRow]
) -> Sequence[catalog_tables.ToolRow]:
    """The rows, with those selected in another view first. Rows ticked in this table keep their
    place.
    """
    chosen, first = tool_selection.selected(snapshot), f"first_{snapshot.id}"
    if chosen is None or chosen.source != _TABLE:
        st.session_state[first] = chosen and chosen.key
    if chosen and tool_selection.only(snapshot):
        rows = [row for row in rows if row.id in chosen.tool_ids]
    key = st.session_state.get(first)
    selection = tool_selection.get(snapshot, key) if key else None
    return sorted(rows, key=lambda row: row.id not in selection.tool_ids) if selection else rows
