"""The choice of servers: their configuration, and a tick for each server that may be started."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import streamlit as st

from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.mcp.servers.launches import likely_key
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration, ServerDefinition
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import digest
from ui.shared import safe_text, sign_in
from ui.shared.services import live_servers
from ui.shared.snapshot import Snapshot


def configuration(
    before: live_servers.ServersRead | None,
    key: str,
    purpose: str = "",
    keeps: Literal["page"] | None = None,
) -> ClientConfiguration | None:
    """Draw the fields for a file, text or address. Returns the servers found there or, if nothing
    is given, those of the last reading.

    The keys of the widgets begin with ``key``. ``purpose`` says what the servers are for. What is
    typed stays as long as ``keeps`` says, or else while the field is drawn.
    """
    file = st.file_uploader(
        "Configuration of an MCP client: `mcpServers` of Claude or Cursor, `servers` of VS Code. "
        "It is not stored, and uploading it starts no server.",
        type=["json", "jsonc", "toml", "yaml", "yml"],
        key=f"{key}_file",
    )
    text = ""
    if file is None:
        text = st.text_area(
            "Or paste a configuration, or the address of a server (https://…)",
            key=f"{key}_text",
            height=68,
            persist_state=keeps,
        ).strip()
    if file is None and not text:
        if before is None:
            return None
        st.markdown(
            f"Last read from {quantity(len(before.servers), 'server')} on "
            f"{safe_text.clock(before.at)} UTC. {purpose}"
        )
        return before.configuration
    label, data = (file.name, file.getvalue()) if file else ("The text", text.encode())
    return safe_text.value_or_error(lambda: live_servers.configuration(label, data))


def is_allowed(snapshot: Snapshot) -> bool:
    """Whether this visitor may start servers. If not, draws the reason or asks for the token."""
    if reason := live_servers.why_off(snapshot.work.settings, sign_in.is_shared()):
        st.info(reason, icon=":material/block:")
        return False
    return not sign_in.asks_for_token()


def ticked(snapshot: Snapshot, servers: Sequence[str], key: str) -> live_servers.TickedServers:
    """Draw the catalog's ``servers`` with their entries in the given configuration, each with a
    tick for its command.

    The keys of the widgets begin with ``key``. Returns the ticked servers.
    """
    before = live_servers.last_read(snapshot.work.store, snapshot.record.name)
    given = configuration(before, "servers", keeps="page")  # for all cards and panels of a page
    keys = dict[str, str]()
    by_name = {server.name: server for server in given.servers} if given else {}
    for name in servers if given else ():
        likely = likely_key(name, list(by_name))
        with st.container(border=True, gap="xsmall"):
            entry = st.selectbox(
                f"Server {safe_text.untrusted(name or 'of the catalog')}",
                list(by_name),
                list(by_name).index(likely) if likely else None,
                key=f"{key}_server_{digest(name, list(by_name))[:12]}",
                placeholder="Which entry of the configuration is it?",
                persist_state="page",
            )
            if given is not None and entry is not None:
                server = by_name[entry]
                # a tick applies only to the command that was shown, not to one that replaces it
                if tick(server, given, f"{key}_tick_{digest(name, server.as_json())}", ""):
                    keys[name] = entry
    return live_servers.TickedServers(tuple(servers), given, keys)


def start_button(
    ticked: live_servers.TickedServers,
    purpose: str,
    key: str,
    start: Callable[[], object],
    is_ready: bool = True,
) -> None:
    """Draw why the last start failed, and the button that starts the servers once all are ticked
    and everything else ``is_ready``.
    """

    def begin() -> None:
        safe_text.attempt(f"{key}_failed", start)

    safe_text.show(f"{key}_failed")
    st.button(
        f"Start {quantity(len(ticked.names), 'server')} and {purpose}",
        type="primary",
        icon=":material/play_arrow:",
        key=key,
        disabled=not (is_ready and ticked.is_complete),
        on_click=begin,
        help="Tick every server first. The servers are stopped at the end.",
    )


def tick(
    server: ServerDefinition, configuration: ClientConfiguration, key: str, others: str
) -> bool:
    """Draw one server without its secrets, and the ``others`` that it offered besides tools.

    Returns whether the server is ticked.
    """
    is_missing = server.needs_configuration and configuration.entries.get(server.name) is None
    off = " (disabled in its configuration)" if server.disabled else ""
    is_ticked = st.checkbox(
        f"**{safe_text.untrusted(server.name)}**{off}",
        key=key,
        value=False,
        disabled=is_missing,
        persist_state="page",
    )
    st.text(for_terminal(server.command_line or server.url))  # shows each character, even line ends
    about = [f"in the folder {server.cwd or Path.cwd()}"] if server.command else []
    about += [f"variables of the file {server.env_file}"] if server.env_file else []
    for kind, values in (("variable", server.variables), ("header", server.headers)):
        about += [f"{kind} {one.name} from {one.source}" for one in values]
    about += [f"also offers {others}, which were not read"] if others else []
    if about:
        st.caption(safe_text.untrusted(for_terminal("; ".join(about))))
    if is_missing:
        st.caption("The configuration contains values that were not stored; provide it again.")
    return is_ticked
