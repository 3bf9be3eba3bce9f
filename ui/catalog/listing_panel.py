"""What a catalog holds, in tables: tools, servers, findings, records that could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.model.numbers import quantity
from ui.catalog.overview import Overview
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.models.grades_panel import BANDS, grades_panel
from ui.shared.services.judging import Judging
from ui.shared.tools import leave_out, tool_parts, tool_selection
from ui.shared.tools.catalog_tables import (
    CatalogTables,
    FindingRow,
    ToolRow,
    finding_kinds,
    finding_rows,
    rejects_csv,
)
from ui.shared.tools.tool_selection import Selections

MAX_ROWS = 5_000
"""At most so many tools are sent to the browser: 40,000 are 10 MB and take two more seconds."""

SIGNS = {"block": "✕ block", "warn": "⚠ warn", "info": "ℹ info"}
SHOWN = (
    "name", "operation", "server", "parameters", "tokens", "findings", "documentation",
    "description",
)  # fmt: skip
TABLE = "the table of tools"
ICONS = {"block": ":red[:material/block:]", "warn": ":orange[:material/warning:]"}


def listing_panel() -> None:
    """One tab per table."""
    parts = {
        "Tools": _tools,
        "Servers": _servers,
        "Findings": _findings,
        "Documentation": grades_panel,
        "Not read": _unread,
    }
    page_frame.draw_tabs(parts, "part")


def _tools(catalog_id: int) -> None:
    tables = page_frame.service(CatalogTables)
    bar = st.container(horizontal=True)
    find = bar.text_input("Search", type="search", key="catalog_find", bind="query-params")
    names = [row.name for row in tables.servers(catalog_id)]
    server = bar.selectbox(
        "Server", names, index=None, placeholder="all servers", key="on", bind="query-params"
    )
    shape = bar.selectbox("Token format", PROMPT_SHAPES, key="tokens_in")
    bands = {
        key: grade.band for key, grade in page_frame.service(Judging).grades(catalog_id).items()
    }
    wanted = _band(bar, bands) if bands else None
    matching = tables.tools(catalog_id, find, server, shape)
    overview = page_frame.service(Overview).figures(catalog_id)
    rows = _selected_first(
        catalog_id, [row for row in matching if wanted is None or bands.get(row.id) == wanted]
    )
    cut = (
        f" Showing the first {MAX_ROWS:,}; use the search for others."
        if len(rows) > MAX_ROWS
        else ""
    )
    st.caption(
        f"{len(rows):,} of {overview.tools:,} tools.{cut} Tick rows to select tools in every view. "
        f"Token counts ({shape}): {overview.counted}."
    )
    rows = rows[:MAX_ROWS]
    ids, key = [row.id for row in rows], f"tools_{catalog_id}"
    left_out = page_frame.workspace().toolsets.left_out(catalog_id)
    reasons = {tool_id: str(one.detail["reason"]) for tool_id, one in left_out.items()}
    chosen = tool_selection.selected(catalog_id)
    ticked = [at for at, tool_id in enumerate(ids) if chosen and tool_id in chosen.tool_ids]
    st.session_state[key] = {"selection": {"rows": ticked, "columns": [], "cells": []}}
    empty = {"documentation": not bands, "operation": not any(row.operation for row in rows)}
    st.dataframe(
        {name: [getattr(row, name) for row in rows] for name in ToolRow.__slots__}
        | {"open": [tool_parts.LABEL] * len(rows)}
        | ({"documentation": [bands.get(row.id, "") for row in rows]} if bands else {})
        | ({"left out": [reasons.get(row.id, "") for row in rows]} if left_out else {}),
        key=key,
        on_select=lambda: tool_selection.ticked(catalog_id, ids, key, TABLE),
        selection_mode="multi-row",
        hide_index=True,
        height=480,
        column_order=(
            "name",
            "open",
            *(["left out"] if left_out else []),
            *(n for n in SHOWN[1:] if not empty.get(n)),
        ),
        column_config=_column_config(ids),
        alt="All tools of the catalog",
    )
    decision_buttons.notice()
    if chosen:
        leave_out.leave_out_panel(catalog_id, sorted(chosen.tool_ids), "table")
    st.download_button(
        "Download all as CSV",
        lambda: tables.csv(catalog_id),
        "tools.csv",
        "text/csv",
        key="tools_csv",
        on_click="ignore",
    )


def _column_config(ids: Sequence[str]) -> dict[str, Any]:
    """How each column is named and drawn; ``ids`` are the tools of the rows."""
    return {
        "name": st.column_config.TextColumn("tool", width=220, pinned=True),
        "open": tool_parts.open_column(ids, "open_row", width=90),
        "operation": st.column_config.TextColumn(
            width=260, help="operationId and summary of the OpenAPI document"
        ),
        "server": st.column_config.TextColumn(width=160),
        "parameters": st.column_config.NumberColumn(format="%d", width=85),
        "tokens": st.column_config.NumberColumn("tokens ≈", width=75),
        "documentation": st.column_config.TextColumn(width=110),
        "description": st.column_config.TextColumn(width=600),
    }


def _band(bar: DeltaGenerator, bands: Mapping[str, str]) -> str | None:
    """The documentation grade to show, ``None`` for all."""
    counts = Counter(bands.values())
    return bar.selectbox(
        "Documentation",
        BANDS,
        index=None,
        placeholder="any",
        format_func=lambda band: f"{band} ({counts[band]:,})",
        key="band",
        bind="query-params",
    )


def _selected_first(catalog_id: int, rows: Sequence[ToolRow]) -> Sequence[ToolRow]:
    """The rows, those that another view selected first. What is ticked here stays in its place."""
    chosen, first = tool_selection.selected(catalog_id), f"first_{catalog_id}"
    if chosen is None or chosen.source != TABLE:
        st.session_state[first] = chosen and chosen.key
    if chosen and tool_selection.only():
        rows = [row for row in rows if row.id in chosen.tool_ids]
    key = st.session_state.get(first)
    selection = page_frame.service(Selections).get(catalog_id, key) if key else None
    return sorted(rows, key=lambda row: row.id not in selection.tool_ids) if selection else rows


def _servers(catalog_id: int) -> None:
    tables = page_frame.service(CatalogTables)
    rows = tables.servers(catalog_id)
    if not rows:
        st.info("The tools of this catalog name no servers.", icon=":material/dns:")
        return
    st.caption(f"Token counts ({PROMPT_SHAPES[0]}): {tokenizer().label}.")
    st.dataframe(
        safe_text.columns(rows, ["name", "tools", "tokens", "description"])
        | {"select": [tool_selection.SELECT_TOOLS] * len(rows)},
        hide_index=True,
        column_order=("name", "select", "tools", "tokens", "description"),
        column_config={
            "name": st.column_config.TextColumn("server", width=220, pinned=True),
            "tokens": "tokens ≈",
            "select": tool_selection.server_column(
                catalog_id, [row.name for row in rows], "select_server"
            ),
        },
        alt="Servers",
    )


def _findings(catalog_id: int) -> None:
    rows = finding_rows(page_frame.workspace().catalogs.open(catalog_id))
    if not rows:
        st.success("No suspicious text was found in these tools.", icon=":material/verified:")
        return
    kinds = {
        f"{severity}: {kind}": count for (severity, kind), count in finding_kinds(rows).items()
    }
    st.caption(
        "*block*: the tool is never canonical, and its merges are never accepted automatically. "
        "*warn* and *info* block nothing."
    )
    chosen = st.pills(
        "Kind of finding",
        list(kinds),
        key="kind",
        format_func=lambda key: _kind_label(key, kinds[key]),
    )
    shown = [row for row in rows if chosen is None or f"{row.severity}: {row.kind}" == chosen]
    st.caption(f"{len(shown):,} of {len(rows):,} findings. Select a row for details.")
    picked = st.dataframe(
        {
            "severity": [SIGNS[row.severity] for row in shown],
            **safe_text.columns(shown, ["kind", "tool", "place", "message", "excerpt"]),
        },
        hide_index=True,
        key=f"findings_{chosen}",
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "severity": st.column_config.TextColumn(width=80),
            "kind": st.column_config.TextColumn(width=210),
            "tool": st.column_config.TextColumn(width=190),
            "place": st.column_config.TextColumn(width=110),
            "message": st.column_config.TextColumn(width=420),
            "excerpt": st.column_config.TextColumn(width=320),
        },
        alt="Findings in the tools' texts",
    )
    chosen_rows = picked["selection"]["rows"]
    if chosen_rows and chosen_rows[0] < len(shown):
        _one_finding(catalog_id, shown[chosen_rows[0]])


def _kind_label(key: str, count: int) -> str:
    return f"{ICONS.get(key.partition(':')[0], ':material/info:')} {key} ({count:,})"


def _one_finding(catalog_id: int, row: FindingRow) -> None:
    """The finding in full, and a button that shows its tool."""
    with st.container(border=True):
        st.markdown(f"**{SIGNS[row.severity]}** · {safe_text.untrusted(row.tool)}")
        st.text(row.message)
        st.code(row.excerpt, language=None, wrap_lines=True)
        st.button(
            "Show tool in table",
            icon=":material/table_rows:",
            key="show_tool",
            on_click=_go_to,
            args=(catalog_id, row.tool),
        )


def _go_to(catalog_id: int, tool_id: str) -> None:
    """Open the Tools tab with only this tool's server and name."""
    tool = page_frame.workspace().catalogs.open(catalog_id).by_id[tool_id]
    st.session_state["part"] = "Tools"
    st.session_state["catalog_find"] = tool.name
    st.session_state["on"] = tool.server or None


def _unread(catalog_id: int) -> None:
    problems = page_frame.workspace().catalogs.open(catalog_id).problems
    if not problems:
        st.success("All records were read.", icon=":material/verified:")
        return
    st.caption(f"{quantity(len(problems), 'record')} could not be read; everything else was.")
    st.dataframe(problems, hide_index=True, alt="Records that could not be read")
    st.download_button(
        "Download as CSV", rejects_csv(problems), "not-read.csv", "text/csv", key="rejects"
    )
