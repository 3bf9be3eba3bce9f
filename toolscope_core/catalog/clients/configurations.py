"""Configurations of MCP clients: they name servers, and how to start them, but no tools.

Nothing of them is started, and nothing but the names is kept: commands and headers hold keys.
"""

from typing import Any

from toolscope_core.catalog.clients.server_spellings import as_usual, usual_entry
from toolscope_core.catalog.flaws import writable
from toolscope_core.catalog.schema.walking import object_at
from toolscope_core.model.tool import JsonObject

SERVER_MAPS = ("mcpServers", "servers")
STARTS = ("command", "url", "serverUrl", "httpUrl")
REMEDY = (
    "is named without its tools, and no server is started by reading a file; read it with the "
    "command connect or under Add a catalog, MCP servers, or save the server's tools/list answer "
    "(MCP Inspector shows it) and give that file"
)


def configured_servers(value: Any) -> tuple[str, ...]:
    """The names of the servers that a client's configuration lists, in its order; else none.

    ``mcpServers`` as Claude, Cursor and Windsurf write it, and what ``server_spellings`` knows;
    ``servers`` as VS Code does, also inside ``mcp``.
    """
    if not isinstance(value, dict) or "tools" in value:
        return ()
    return tuple(writable(name) for name in _listed(as_usual(value)))


def server_entries(value: Any) -> dict[str, dict[str, Any]]:
    """The entries of a client's configuration by server, in its order, with all that they hold.

    Claude Code also keeps servers below ``projects``, by folder; one whose name was taken gets
    its folder's name behind it.
    """
    if not isinstance(value, dict):
        return {}
    listed = _listed(as_usual(value))
    entries = {writable(name): usual_entry(entry) for name, entry in listed.items()}
    for folder, project in object_at(value, "projects").items():
        for name, entry in _listed(object_at(project)).items():
            taken = writable(name) in entries
            own_name = writable(f"{name} ({folder})" if taken else name)
            entries[own_name] = usual_entry(entry)
    return entries


def _listed(value: JsonObject) -> dict[str, dict[str, Any]]:
    for key in SERVER_MAPS:
        for holder in (value, object_at(value, "mcp")):
            listed = holder.get(key)
            if isinstance(listed, dict) and listed and all(map(starts_server, listed.values())):
                return listed
    return {}


def starts_server(entry: Any) -> bool:
    """Whether an entry says how a server is started or reached."""
    return isinstance(entry, dict) and any(isinstance(entry.get(key), str) for key in STARTS)
