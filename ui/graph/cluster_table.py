"""The table of clusters of three or more tools; the selected one is drawn below it."""

from collections.abc import Sequence

import streamlit as st

from ui.shared import data_tables
from ui.shared.graph.components import ClusterRow
from ui.shared.snapshot import Snapshot

COLUMNS = (
    "name size state kind density weakest bridges intransitive servers members reasons"
).split()


def cluster_table(snapshot: Snapshot, rows: Sequence[ClusterRow]) -> None:
    """Draw the table; a selected row goes into the address, which says what is drawn."""
    key, ids = f"clusters_{snapshot.id}", [row.id for row in rows]
    drawn = st.query_params.get("drawn")
    data_tables.select_rows(key, [ids.index(drawn)] if drawn in ids else [])

    def choose() -> None:
        picked = st.session_state[key]["selection"]["rows"]
        st.query_params.pop("edge", None)
        st.query_params.pop("drawn", None)
        if picked:
            st.query_params["drawn"] = ids[picked[0]]

    data_tables.draw(
        data_tables.columns(rows, COLUMNS),
        "Clusters of three or more tools, the largest first",
        {
            "name": st.column_config.TextColumn("cluster", width=170, pinned=True),
            "members": 320,
            "size": ("tools", 60),
            "kind": 130,
            "density": st.column_config.NumberColumn(
                "linked",
                format="percent",
                width=75,
                help="The share of its pairs of tools that the judge links by themselves.",
            ),
            "weakest": st.column_config.ProgressColumn(
                "weakest pair", min_value=0.0, max_value=1.0, format="%.2f", width=130
            ),
            "bridges": st.column_config.NumberColumn(
                width=75, help="Links that alone hold two parts together: without one it splits."
            ),
            "intransitive": st.column_config.NumberColumn(
                "through a third", width=110, help="Pairs of tools that only a third tool joins."
            ),
            "reasons": ("why it needs review", 420),
        },
        most=320,
        key=key,
        on_select=choose,
        selection_mode="single-row",
    )
