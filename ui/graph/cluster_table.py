"""The table of clusters; its selected rows are drawn."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st

from toolscope_core.model.numbers import quantity
from ui.graph.components import ClusterRow, MergeGraphs
from ui.shared import page_frame, safe_text
from ui.shared.tools import tool_selection

ORDER = (
    "name selected size state kind density weakest bridges intransitive servers tokens saved "
    "members reasons component"
).split()


def cluster_table(catalog_id: int, rows: Sequence[ClusterRow]) -> list[ClusterRow]:
    """The chosen rows, in this order of preference: that of the address, those chosen last, those
    that hold tools selected elsewhere, or the first; draws the table.
    """
    selection = tool_selection.selected(catalog_id)
    counts = [
        len(selection.tool_ids.intersection(row.tool_ids)) if selection else 0 for row in rows
    ]
    key, ids = f"clusters_{catalog_id}", [row.id for row in rows]
    start = [row.id for row, count in zip(rows, counts, strict=True) if count] or ids[:1]
    chosen = _chosen(catalog_id, ids, start)
    places = [ids.index(row) for row in chosen]
    st.session_state[key] = {"selection": {"rows": places, "columns": [], "cells": []}}

    def choose() -> None:
        st.session_state[_chosen_key(catalog_id)] = [
            ids[at] for at in st.session_state[key]["selection"]["rows"]
        ]
        for name in ("drawn", "edge"):
            st.query_params.pop(name, None)

    st.dataframe(
        safe_text.columns(rows, [name for name in ORDER if name != "selected"])
        | {"selected": [f"● {count:,}" if count else "" for count in counts]},
        key=key,
        on_select=choose,
        selection_mode="multi-row",
        hide_index=True,
        height=min(320, 38 + 35 * len(rows)),
        column_order=[name for name in ORDER if selection or name != "selected"],
        column_config={
            "name": st.column_config.TextColumn("cluster", width=170, pinned=True),
            "selected": st.column_config.TextColumn(width=75),
            "members": st.column_config.TextColumn(width=320),
            "size": st.column_config.NumberColumn(width=60),
            "tokens": st.column_config.NumberColumn("tokens ≈", width=75),
            "saved": st.column_config.NumberColumn("tokens saved ≈", width=110),
            "density": st.column_config.NumberColumn(
                format="percent",
                width=75,
                help="The share of its pairs of tools that the judge "
                "would merge, or for a family holds for one. Decisions of people do not count.",
            ),
            "weakest": st.column_config.ProgressColumn(
                "weakest pair", min_value=0.0, max_value=1.0, format="%.2f", width=130
            ),
            "reasons": st.column_config.TextColumn("why it needs review", width=420),
        },
        alt="Clusters, the largest first",
    )
    return [row for row in rows if row.id in chosen]


def only_selected(catalog_id: int, rows: Sequence[ClusterRow]) -> Sequence[ClusterRow]:
    """The rows that hold selected tools, if the rest is to be hidden; else all."""
    selection = tool_selection.selected(catalog_id)
    if selection is None or not tool_selection.only():
        return rows
    holders = [row for row in rows if not selection.tool_ids.isdisjoint(row.tool_ids)]
    st.caption(f"{len(holders):,} of {quantity(len(rows), 'cluster')} hold selected tools.")
    if not holders:
        st.stop()
    return holders


def choose_holders(tools: Collection[str]) -> None:
    """Choose the rows that hold any of these tools."""
    catalog_id = page_frame.current().id
    rows = page_frame.service(MergeGraphs).clusters(catalog_id)
    holders = [row.id for row in rows if not set(row.tool_ids).isdisjoint(tools)]
    st.session_state[_chosen_key(catalog_id)] = holders
    st.query_params.pop("drawn", None)


def _chosen(catalog_id: int, ids: Sequence[str], start: Sequence[str]) -> list[str]:
    linked, key = st.query_params.get("drawn"), _chosen_key(catalog_id)
    chosen = [row for row in st.session_state.setdefault(key, list(start)) if row in ids]
    if linked in ids and linked not in chosen:
        chosen = st.session_state[key] = [linked]
    return chosen


def _chosen_key(catalog_id: int) -> str:
    """The session key of the chosen rows, kept by id since a decision moves rows."""
    return f"drawn_{catalog_id}"
