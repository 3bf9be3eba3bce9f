"""Graph: the clusters as a table, and the components of the chosen ones as a picture."""

from __future__ import annotations

import streamlit as st

from pages import _decisions, _selection, _ui
from pages._network import network_panel
from toolscope_core.catalog.tokens import PROMPT_SHAPES, tokenizer

ORDER = (
    "name size state kind density weakest bridges intransitive servers tokens saved members "
    "reasons component"
).split()
DRAWN = ("Chosen clusters", "All")

st.title("Graph")
_ui.analysis()
record, explore = _ui.current(), _ui.workspace().explore
rows = explore.clusters(record.id)
if not rows:
    nearest = explore.closest(record.id)
    said = "No two tools are joined: the judge would merge none."
    if nearest is not None:
        names = " and ".join(_ui.untrusted(name) for name in (nearest.left, nearest.right))
        said += f" The closest are {names}, at a similarity of {nearest.similarity:.2f}."
    st.info(said, icon=":material/check_circle:")
    st.stop()

st.markdown(
    f"Tools that the judge would merge: **{len(rows):,}** clusters. Choose rows to draw them. "
    f"Tokens in {PROMPT_SHAPES[0]}: {_ui.untrusted(tokenizer().label)}."
)
selection = _selection.selected(record.id)
of_selection = explore.rows_of(record.id, selection.tool_ids) if selection else []
if _selection.only():
    rows = tuple(row for row in rows if row.id in of_selection)
    if not rows:
        st.info("None of the selected tools is in the merge graph.", icon=":material/filter_alt:")
        st.stop()
key, held = f"clusters_{record.id}", f"drawn_{record.id}"
ids = [row.id for row in rows]
asked = st.query_params.get("cluster")
start = of_selection or ids[:1]
drawn = [row for row in st.session_state.setdefault(held, start) if row in ids]
if asked in ids and asked not in drawn:
    drawn = st.session_state[held] = [asked]
here = [ids.index(row) for row in drawn]
st.session_state[key] = {"selection": {"rows": here, "columns": [], "cells": []}}


def choose() -> None:
    chosen = [ids[at] for at in st.session_state[key]["selection"]["rows"]]
    st.session_state[held] = chosen
    for name in ("cluster", "edge"):
        st.query_params.pop(name, None)


st.dataframe(
    rows,
    key=key,
    on_select=choose,
    selection_mode="multi-row",
    hide_index=True,
    height=min(320, 38 + 35 * len(rows)),
    column_order=ORDER,
    column_config={
        "name": st.column_config.TextColumn("cluster", width=170, pinned=True),
        "members": st.column_config.TextColumn(width=320),
        "size": st.column_config.NumberColumn(width=60),
        "tokens": st.column_config.NumberColumn("tokens ≈", width=75),
        "saved": st.column_config.NumberColumn("merging saves ≈", width=110),
        "density": st.column_config.NumberColumn(
            format="percent", width=75, help="The share of its pairs that are links."
        ),
        "weakest": st.column_config.ProgressColumn(
            "weakest pair", min_value=0.0, max_value=1.0, format="%.2f", width=130
        ),
        "reasons": st.column_config.TextColumn("why it waits for a person", width=420),
    },
    alt="Clusters, the largest first",
)
show = st.segmented_control(
    "Draw", DRAWN, default=DRAWN[0], required=True, key="draw", bind="query-params"
)
chosen = [row for row in rows if row.id in drawn]
if not chosen and show == DRAWN[0]:
    st.info("Choose one or more rows of the table to draw them.", icon=":material/hub:")
    st.stop()
if len(chosen) == 1:
    st.query_params["cluster"] = chosen[0].id
    if chosen[0].waiting and show == DRAWN[0]:
        st.page_link(
            "pages/review.py",
            label="Review this cluster",
            icon=":material/arrow_forward:",
            query_params={"catalog": record.name, "cluster": chosen[0].id},
        )

every = show == DRAWN[1] and not _selection.only()
part = explore.network(record.id, None if every else [row.id for row in chosen or rows])
if part.left_out:
    st.caption(
        f"Shown: {len(part.nodes):,} tools, the largest components first; {part.left_out:,} are "
        "left out."
    )
network_panel(record.id, part)
_decisions.trail(_ui.workspace().review.standing(record.id))
