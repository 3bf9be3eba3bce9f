"""The servers that names imply: shown, renamed, split and dismissed."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.model.catalog import ImpliedServer
from toolscope_core.model.numbers import quantity
from ui.catalog import implied_servers
from ui.shared import data_tables, page_frame
from ui.shared.cards import decision_buttons
from ui.shared.snapshot import Snapshot


def implied_panel(snapshot: Snapshot) -> None:
    """The implied servers of the catalog, and a form to change one; nothing where it has none."""
    servers = implied_servers.of(snapshot)
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
    _change(snapshot, servers)
    decision_buttons.notice(snapshot)


def _change(snapshot: Snapshot, servers: Sequence[ImpliedServer]) -> None:
    by_name = {one.name: one for one in servers}
    chosen = by_name[
        st.selectbox("Change", list(by_name), key="implied_server", help="An implied server")
    ]
    names = snapshot.catalog.by_id
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
        count = quantity(len(tools), "tool")
        decision_buttons.record_button(
            "Split" if len(tools) < len(chosen.tools) else "Rename",
            lambda: implied_servers.change(snapshot, tools, name, page_frame.reviewer()),
            f"{count}: {name}",
            key="implied_rename",
            disabled=not name or name == chosen.name,
        )
        decision_buttons.record_button(
            "No server",
            lambda: implied_servers.change(snapshot, tools, "", page_frame.reviewer()),
            f"{count}: no implied server",
            key="implied_dismiss",
            help="These tools belong to no implied server.",
        )
