"""Graph: the clusters as a table, and the components of the chosen ones as a picture."""

from __future__ import annotations

from dataclasses import asdict

import streamlit as st

from pages import _selection, _ui
from pages._picture import picture
from toolscope_core.catalog.tokens import PROMPT_SHAPES, tokenizer
from toolscope_core.figures import network, tables

ORDER = (
    "name selected size tokens saved weakest state kind servers bridges intransitive members "
    "reasons component"
).split()

st.title("Graph")
_ui.analysis()
record, explore = _ui.current(), _ui.workspace().explore
rows, picked = explore.clusters(record.id), _selection.selected(record.id)
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
inside = [len(picked.tool_ids.intersection(row.tool_ids)) if picked else 0 for row in rows]
if _selection.only():
    total, rows = len(rows), tuple(row for row, held in zip(rows, inside, strict=True) if held)
    inside = [held for held in inside if held]
    st.caption(f"{len(rows):,} of {total:,} clusters hold selected tools.")
    if not rows:
        st.stop()
key = f"clusters_{record.id}"
asked = st.query_params.get("cluster")
if key not in st.session_state:
    start = [at for at, row in enumerate(rows) if row.id == asked] or [0]
    st.session_state[key] = {"selection": {"rows": start}}
state = st.dataframe(
    [
        {**asdict(row), "selected": f"● {held:,}" if held else ""}
        for row, held in zip(rows, inside, strict=True)
    ],
    key=key,
    on_select="rerun",
    selection_mode="multi-row",
    hide_index=True,
    height=min(320, 38 + 35 * len(rows)),
    column_order=[name for name in ORDER if picked or name != "selected"],
    column_config={
        "name": st.column_config.TextColumn("cluster", width=170, pinned=True),
        "selected": st.column_config.TextColumn(width=75),
        "members": st.column_config.TextColumn(width=320),
        "size": st.column_config.NumberColumn(width=60),
        "tokens": st.column_config.NumberColumn("tokens ≈", width=75),
        "saved": st.column_config.NumberColumn("merging saves ≈", width=110),
        "weakest": st.column_config.ProgressColumn(
            "weakest pair", min_value=0.0, max_value=1.0, format="%.2f", width=130
        ),
        "reasons": st.column_config.TextColumn("why it waits for a person", width=420),
    },
    alt="Clusters, the largest first",
)
chosen = [rows[at] for at in state["selection"]["rows"] if at < len(rows)]
if not chosen:
    st.info("Choose one or more rows of the table to draw them.", icon=":material/hub:")
    st.stop()
members = [tool_id for row in chosen for tool_id in row.tool_ids]
_selection.select_button(record.id, members, "the merge graph", "members", "Select their tools")
if len(chosen) == 1:
    st.query_params["cluster"] = chosen[0].id
    if chosen[0].waiting:
        st.page_link(
            "pages/review.py",
            label="Review this cluster",
            icon=":material/arrow_forward:",
            query_params={"catalog": record.name, "cluster": chosen[0].id},
        )

part = explore.network(record.id, [row.id for row in chosen])
if part.left_out:
    st.caption(
        f"The {len(part.nodes):,} tools with the strongest edges; {part.left_out:,} are left out."
    )
picture(
    network.network(part),
    tables.network_rows(part),
    "network",
    "Merge graph of the chosen clusters",
)
