"""Server against server: which servers could be switched off, and what each does of the others."""

import streamlit as st

from toolscope_core.merging.coverage import Coverage, ServerCoverage
from ui.shared import data_tables
from ui.shared.cards import server_advice_panel
from ui.shared.charts.chart_style import TableRow
from ui.shared.charts.pictures import downloads
from ui.shared.services import server_advice
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_selection


def server_overlap_panel(snapshot: Snapshot) -> None:
    """The advice, and a table of the pairs of servers with the share that one does of the other."""
    servers = server_advice.coverage(snapshot)
    if len(servers.servers) < 2:  # implied ones are no places where a tool can be switched off
        return
    with st.container(border=True):
        st.subheader("Server against server")
        server_advice_panel.advice(snapshot)
        pairs = sorted(servers.of_pairs(), key=lambda one: (-one.share, -one.tokens, one.server))
        if pairs:
            _table(snapshot, servers, pairs)


def _table(snapshot: Snapshot, servers: ServerCoverage, pairs: list[Coverage]) -> None:
    rows: list[TableRow] = [
        {
            "server": one.server,
            "tools": one.tools,
            "done by": ", ".join(one.others),
            "of these": len(one.served),
            "share": round(one.share, 3),
            "tokens": one.tokens,
            "not done": ", ".join(servers.catalog.by_id[tool].name for tool in one.lost_tools),
        }
        for one in pairs
    ]

    def open_row() -> None:
        st.session_state["go_to_servers"] = st.session_state["open_servers"]["row"]

    data_tables.draw(
        [
            {"open": ":material/compare_arrows: Open", **row, "select": tool_selection.SELECT_TOOLS}
            for row in rows
        ],
        "Pairs of servers and the share of the first one's tools that the second does",
        {
            "open": st.column_config.ButtonColumn(
                "", width=90, type="tertiary", key="open_servers", on_click=open_row
            ),
            "select": tool_selection.server_column(
                snapshot, [one.server for one in pairs], "select_served"
            ),
            "share": st.column_config.ProgressColumn(
                "share done", min_value=0.0, max_value=1.0, format="percent"
            ),
            "tokens": st.column_config.NumberColumn(format="localized"),
        },
        most=420,
        column_order=("open", "server", "select", *list(rows[0])[1:]),
    )
    with st.container(horizontal=True):
        downloads(rows, "servers")
    if (row := st.session_state.pop("go_to_servers", None)) is not None:
        server_advice_panel.show_pair(pairs[row].server, *pairs[row].others)
