"""The servers that names imply: shown, renamed, split and dismissed."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.model.catalog import ImpliedServer
from toolscope_core.model.numbers import quantity
from ui.catalog.implied_servers import ImpliedServers
from ui.shared import data_tables, page_frame
from ui.shared.cards import decision_buttons


def implied_panel(catalog_id: int) -> None:
    """The implied servers of the catalog, and a form to change one; nothing where it has none."""
    servers = page_frame.service(ImpliedServers).of(catalog_id)
    if not servers:
        return
    st.subheader(f"Implied servers: {len(servers):,}", anchor=False)
    st.caption(
        "Which tools belong together though they name no server? Their names imply one. A merge "
        "across two of them is never accepted without review, and the heatmap can group by them. "
        "Ids, names and exports stay as they are."
    )
    data_tables.draw(
        {
            "implied server": [one.name for one in servers],
            "tools": [len(one.tools) for one in servers],
            "why": [one.reason.replace("`", "") for one in servers],
        },
        "Implied servers",
        width="stretch",
    )
    _change(catalog_id, servers)
    decision_buttons.notice()


def _change(catalog_id: int, servers: Sequence[ImpliedServer]) -> None:
    by_name = {one.name: one for one in servers}
    chosen = by_name[
        st.selectbox("Change", list(by_name), key="implied_server", help="An implied server")
    ]
    names = page_frame.workspace().catalogs.open(catalog_id).by_id
    some = st.multiselect(
        "Only some of its tools",
        chosen.tools,
        key=f"implied_tools_{chosen.name}_{len(chosen.tools)}",
        format_func=lambda tool_id: f"{names[tool_id].name} ({tool_id})",
        placeholder=f"all {len(chosen.tools):,}",
        help="Choose some to split them off; none chosen means all of them.",
    )
    tools = some or chosen.tools
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name", chosen.name, key=f"implied_name_{chosen.name}").strip()
        owners, count = page_frame.service(ImpliedServers), quantity(len(tools), "tool")
        decision_buttons.record_button(
            "Split" if len(tools) < len(chosen.tools) else "Rename",
            lambda: owners.change(catalog_id, tools, name, page_frame.reviewer()),
            f"{count}: {name}",
            key="implied_rename",
            disabled=not name or name == chosen.name,
        )
        decision_buttons.record_button(
            "No server",
            lambda: owners.change(catalog_id, tools, "", page_frame.reviewer()),
            f"{count}: no implied server",
            key="implied_dismiss",
            help="These tools belong to no implied server.",
        )
