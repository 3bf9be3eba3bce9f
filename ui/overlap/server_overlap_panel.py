"""Overlap of servers: which servers offer the same tools."""

from __future__ import annotations

import streamlit as st

from ui.overlap.heatmaps import Heatmaps
from ui.overlap.server_overlap import ServerOverlap, ServerPair
from ui.shared import page_frame, safe_text
from ui.shared.charts.chart_style import TableRow
from ui.shared.charts.pictures import downloads
from ui.shared.tools import tool_selection

NAMED = 3


def server_overlap_panel(catalog_id: int) -> None:
    """Which servers overlap most, and how many of their tools have a duplicate elsewhere."""
    overlap = page_frame.service(Heatmaps).server_overlap(catalog_id)
    if not overlap.servers:  # implied ones are no places where a tool can be switched off
        return
    with st.container(border=True):
        st.subheader("Overlap by server")
        st.markdown("\n".join(f"- {line}" for line in _sentences(overlap)))
        st.caption(
            "A duplicate is an exact copy on another server, or a tool there that the judge would "
            "merge."
        )
        rows: list[TableRow] = [
            {
                "server": row.server,
                "tools": row.tools,
                "with a duplicate elsewhere": row.duplicates,
                "share": round(row.share, 3),
                "most on": row.most,
            }
            for row in overlap.servers
        ]
        st.dataframe(
            [{**row, "select": tool_selection.SELECT_TOOLS} for row in rows],
            hide_index=True,
            height=min(320, 38 + 35 * len(rows)),
            column_order=("server", "select", *list(rows[0])[1:]) if rows else None,
            column_config={
                "select": tool_selection.server_column(
                    catalog_id, [row.server for row in overlap.servers], "select_twins"
                ),
                "share": st.column_config.ProgressColumn(
                    min_value=0.0, max_value=1.0, format="percent"
                ),
            },
            alt="Servers and the share of their tools that have a duplicate on another server",
        )
        with st.container(horizontal=True):
            downloads(rows, "twins")


def _sentences(overlap: ServerOverlap) -> list[str]:
    tools = sum(row.tools for row in overlap.servers)
    duplicates = sum(row.duplicates for row in overlap.servers)
    if not duplicates:
        return [f"None of the {tools:,} tools has a duplicate on another server."]
    servers = sum(row.duplicates > 0 for row in overlap.servers)
    first = overlap.servers[0]
    lines = [
        f"**{duplicates:,}** of {tools:,} tools ({duplicates / tools:.0%}) have a duplicate on "
        f"another server; {servers:,} of {len(overlap.servers):,} servers are affected.",
        f"The server with the largest share of them is {safe_text.untrusted(first.server)}: "
        f"{first.duplicates:,} of its {first.tools:,} tools ({first.share:.0%}) have a duplicate "
        f"elsewhere, mostly on {safe_text.untrusted(first.most)}. Whether it can be switched off "
        "is for Review: a duplicate may need a gateway.",
    ]
    sizes = {row.server: row.tools for row in overlap.servers}
    return lines + [_overlap(pair, sizes) for pair in overlap.pairs[:NAMED]]


def _overlap(pair: ServerPair, sizes: dict[str, int]) -> str:
    one, other = safe_text.untrusted(pair.one), safe_text.untrusted(pair.other)
    return (
        f"**{one}** and **{other}** overlap: {pair.one_duplicates:,} of {sizes[pair.one]:,} tools "
        f"of the first have a duplicate on the second, {pair.other_duplicates:,} of "
        f"{sizes[pair.other]:,} of the second on the first."
    )
