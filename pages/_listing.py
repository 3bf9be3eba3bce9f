"""What a catalog holds, in tables: tools, servers, findings, records that could not be read."""

from __future__ import annotations

import streamlit as st

from pages import _ui
from toolscope_core.catalog.tokens import PROMPT_SHAPES
from toolscope_core.workspace.listing import rejects_csv


def listing_panel(catalog_id: int) -> None:
    """One tab a table; only the open one is made."""
    parts = {"Tools": _tools, "Servers": _servers, "Findings": _findings, "Not read": _unread}
    tabs = st.tabs(list(parts), key="part", bind="query-params", on_change="rerun")
    for tab, show in zip(tabs, parts.values(), strict=True):
        if tab.open:
            with tab:
                show(catalog_id)


def _tools(catalog_id: int) -> None:
    explore = _ui.workspace().explore
    bar = st.container(horizontal=True)
    find = bar.text_input("Find", type="search", key="find", bind="query-params")
    names = [row.name for row in explore.servers(catalog_id)]
    server = bar.selectbox(
        "Server", names, index=None, placeholder="all servers", key="on", bind="query-params"
    )
    shape = bar.selectbox("Tokens in", PROMPT_SHAPES, key="tokens_in")
    rows = explore.tools(catalog_id, find, server, shape)
    seen = explore.overview(catalog_id)
    st.caption(f"{len(rows):,} of {seen.tools:,} tools. Tokens in {shape}: {seen.counted}.")
    st.dataframe(
        rows,
        hide_index=True,
        height=480,
        column_order=("name", "server", "parameters", "tokens", "findings", "description"),
        column_config={
            "name": st.column_config.TextColumn("tool", width=220, pinned=True),
            "server": st.column_config.TextColumn(width=160),
            "parameters": st.column_config.NumberColumn(format="%d", width=85),
            "tokens": st.column_config.NumberColumn("tokens ≈", width=75),
            "description": st.column_config.TextColumn(width=600),
        },
        alt="All tools of the catalog",
    )
    st.download_button(
        "Download all as CSV",
        lambda: explore.tools_csv(catalog_id),
        "tools.csv",
        "text/csv",
        key="tools_csv",
        on_click="ignore",
    )


def _servers(catalog_id: int) -> None:
    explore = _ui.workspace().explore
    rows = explore.servers(catalog_id)
    if not rows:
        st.info("The tools of this catalog name no servers.", icon=":material/dns:")
        return
    st.caption(f"Tokens in {PROMPT_SHAPES[0]}: {explore.overview(catalog_id).counted}.")
    st.dataframe(rows, hide_index=True, column_config={"tokens": "tokens ≈"}, alt="Servers")


def _findings(catalog_id: int) -> None:
    rows = _ui.workspace().explore.findings(catalog_id)
    if not rows:
        st.success("Nothing suspicious in the text of these tools.", icon=":material/verified:")
        return
    st.caption("*block*: never canonical, never merged without a person. *warn*: look first.")
    st.dataframe(rows, hide_index=True, row_height=52, alt="Findings in the tools' texts")


def _unread(catalog_id: int) -> None:
    problems = _ui.workspace().explore.problems(catalog_id)
    if not problems:
        st.success("Every record of the files was read.", icon=":material/verified:")
        return
    st.caption(f"{len(problems):,} records could not be read; everything else was.")
    st.dataframe(problems, hide_index=True, alt="Records that could not be read")
    st.download_button(
        "Download as CSV", rejects_csv(problems), "not-read.csv", "text/csv", key="rejects"
    )
