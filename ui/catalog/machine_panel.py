"""The MCP clients on this machine and their servers.

The panel has the button that lists the servers' tools and, once they are listed, shows the cost for
each client.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.catalog.sources import Source
from toolscope_core.catalog.tokens import tokenizer, tool_tokens
from toolscope_core.mcp.servers.client_places import Machine
from toolscope_core.mcp.servers.configured_servers import ConfiguredServer
from toolscope_core.mcp.servers.machine_servers import (
    CATALOG,
    MachineServers,
    kept_records,
    machine_servers,
)
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.environment import user_cache
from toolscope_core.model.numbers import quantity
from ui.shared import data_tables, page_frame, safe_text, sign_in
from ui.shared.data_tables import Column, Columns
from ui.shared.services import live_servers
from ui.shared.snapshot import Snapshot

SOURCES = FILE, HERE = "A file, text or address", "This machine"
"""The sources that the form offers for servers."""
FROM = "servers_from"
"""Session key for the chosen source."""
_CHOSEN = "machine_chosen"
_SECONDS = 20
"""How long the clients' files are cached before they are read again, in seconds."""


@st.cache_resource(ttl=_SECONDS, show_spinner=False)
def setup() -> MachineServers:
    """The servers on this machine. Nothing is started, and the configured values stay in memory."""
    return machine_servers(Machine())


def machine_panel(snapshot: Snapshot) -> None:
    """Draw a collapsed list of the servers.

    Nothing is drawn if other people can reach the app, or if no client is found.
    """
    if live_servers.why_off(snapshot.work.settings, sign_in.is_shared()) or not setup().clients:
        return
    machine = setup()
    with st.expander(machine.headline, icon=":material/computer:", key="this_machine"):
        columns: Columns[ConfiguredServer] = [
            Column("server", lambda server: server.name, width=200),
            Column("configured in", lambda server: server.places_in_words, width=320),
            Column("command or address", _start),
        ]
        if machine.servers:
            data_tables.draw(machine.servers, columns, "Servers on this machine")
        _listed(snapshot, machine)
        st.button(
            f"List the tools of {quantity(len(machine.servers), 'server')}…",
            key="list_this_machine",
            icon=":material/play_arrow:",
            disabled=not machine.servers,
            on_click=_choose,
            help="You choose the servers. Nothing is started before that.",
        )
        _lines("Similar entries, but different servers", [one.in_words for one in machine.alike])
        _lines("Not usable", machine.problems)


@dataclass(frozen=True, slots=True)
class _ClientCost:
    """What the listed servers cost in one client, counting only those enabled in that client."""

    client: str
    servers: int
    tools: int
    tokens: int


def servers_by_client() -> Mapping[str, frozenset[str]]:
    """The names of the enabled servers for each client on this machine.

    Empty if other people can reach the app.
    """
    names: defaultdict[str, set[str]] = defaultdict(set)
    for server in () if sign_in.is_shared() else setup().servers:
        for use in server.uses:
            if not use.disabled:
                names[use.origin.client].add(server.name)
    return {client: frozenset(own) for client, own in names.items()}


def _listed(snapshot: Snapshot, machine: MachineServers) -> None:
    """Show what the listed servers cost in each client, and a button to add their tools.

    The tools are added as they were listed; nothing is started.
    """
    records = kept_records(user_cache(), machine.servers)
    if not records:
        return
    text = json.dumps({"servers": list(records.values())}, ensure_ascii=False)
    source = Source(CATALOG, text.encode("utf-8", "backslashreplace"))
    catalog = snapshot.work.catalogs.preview([source])
    columns: Columns[_ClientCost] = [
        Column("client", width=200),
        Column("servers", title="servers listed", width=110),
        Column("tools", width=80),
        Column("tokens", format="localized", title="tokens ≈", width=100),
    ]
    st.markdown(f"**What the servers cost in every prompt, by client** ({tokenizer().label})")
    data_tables.draw(_costs(catalog), columns, "What the listed servers cost by client")

    def add() -> None:
        page_frame.show(snapshot.work.add("This machine", [source]).name)

    st.button(
        f"Add the tools of {quantity(len(records), 'server')} as they were listed",
        key="add_listed",
        icon=":material/add:",
        on_click=add,
        help="Adds what the command line or this app listed earlier. Nothing is started.",
    )


def _costs(catalog: Catalog) -> list[_ClientCost]:
    """The cost in each client, highest first."""
    tools = {
        client: [tool for tool in catalog.tools if tool.server in names]
        for client, names in servers_by_client().items()
    }
    rows = [
        _ClientCost(
            client, len({tool.server for tool in own}), len(own), sum(map(tool_tokens, own))
        )
        for client, own in tools.items()
    ]
    return sorted(rows, key=lambda row: (-row.tokens, row.client))


def times_chosen() -> int:
    """How often the server form was told to show this machine's servers since the last catalog was
    added.
    """
    count: int = st.session_state.get(_CHOSEN, 0)
    return count


def forget() -> None:
    """Reset the server form."""
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
    """Make the server form show this machine's servers."""
    st.session_state["add_from"] = "MCP servers"
    st.session_state[FROM] = HERE
    st.session_state[_CHOSEN] = times_chosen() + 1
