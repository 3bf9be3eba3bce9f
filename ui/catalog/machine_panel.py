"""The MCP clients of this machine and their servers, and the way to list their tools."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.mcp.servers.client_places import Machine
from toolscope_core.mcp.servers.configured_servers import ConfiguredServer
from toolscope_core.mcp.servers.machine_servers import MachineServers, machine_servers
from toolscope_core.model.numbers import quantity
from ui.shared import data_tables, safe_text, sign_in
from ui.shared.data_tables import Column, Columns
from ui.shared.services import live_servers
from ui.shared.snapshot import Snapshot

SOURCES = FILE, HERE = "A file, text or an address", "This machine"
"""Where the form for servers has them from."""
FROM = "servers_from"
"""Session key of that choice."""
_CHOSEN = "machine_chosen"
_SECONDS = 20
"""So long the files of clients are not read again."""


@st.cache_resource(ttl=_SECONDS, show_spinner=False)
def setup() -> MachineServers:
    """The servers of this machine; nothing is started. Their values stay in memory."""
    return machine_servers(Machine())


def machine_panel(snapshot: Snapshot) -> None:
    """A closed list of the servers; nothing where others reach the app, or no client is found."""
    if live_servers.why_off(snapshot.work.settings, sign_in.is_shared()) or not setup().clients:
        return
    machine = setup()
    with st.expander(machine.headline, icon=":material/computer:", key="this_machine"):
        columns: Columns[ConfiguredServer] = [
            Column("server", lambda server: server.name, width=200),
            Column("configured in", lambda server: server.places_in_words, width=320),
            Column("started or reached", _start),
        ]
        if machine.servers:
            data_tables.draw(machine.servers, columns, "The servers of this machine")
        st.button(
            f"List the tools of {quantity(len(machine.servers), 'server')}…",
            key="list_this_machine",
            icon=":material/play_arrow:",
            disabled=not machine.servers,
            on_click=_choose,
            help="You choose which ones. Nothing is started before that.",
        )
        _lines("Similar entries, but different servers", [one.in_words for one in machine.alike])
        _lines("Not usable", machine.problems)


def times_chosen() -> int:
    """How often the form for servers was asked to show those of this machine, since the last time
    that a catalog was added from it.
    """
    count: int = st.session_state.get(_CHOSEN, 0)
    return count


def forget() -> None:
    """Let the form for servers show what it shows at first."""
    st.session_state.pop(_CHOSEN, None)
    st.session_state.pop(FROM, None)


def _start(server: ConfiguredServer) -> str:
    off = " (off)" if server.definition.disabled else ""
    return f"{for_terminal(server.definition.command_line or server.definition.url)}{off}"


def _lines(heading: str, lines: Sequence[str]) -> None:
    if lines:
        items = "\n".join(f"- {safe_text.untrusted(for_terminal(line))}" for line in lines)
        st.markdown(f"**{heading}**\n\n{items}")


def _choose() -> None:
    """Show the form for servers, with those of this machine."""
    st.session_state["add_from"] = "MCP servers"
    st.session_state[FROM] = HERE
    st.session_state[_CHOSEN] = times_chosen() + 1
