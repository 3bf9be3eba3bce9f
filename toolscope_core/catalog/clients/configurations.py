"""Reads configurations of MCP clients, which name servers and how to start them, but no tools.

Nothing in them is started. Only the names are kept, because commands and headers contain keys.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolscope_core.catalog.flaws import writable
from toolscope_core.catalog.schema.walking import object_at
from toolscope_core.model.tool import JsonObject

USUAL = "mcpServers"
_DECISIVE_MAPS = ("mcp_servers", "context_servers", "amp.mcpServers")
_OTHER_MAPS = (*_DECISIVE_MAPS, "mcp", "extensions")
_VARIABLE_NAMES = ("env_vars", "env_keys")
"""Keys for lists of variable names without values: variables that Codex passes on, or that Goose
keeps in a keyring.
"""
_SPELLINGS = ("cmd", "uri", "envs", "environment", "http_headers", "env_http_headers")
_TOKENS = ("bearer_token_env_var", "authorization_token")
_OTHERS = frozenset((*_SPELLINGS, *_VARIABLE_NAMES, *_TOKENS, "requestOptions"))
_SOCKET = re.compile("wss?://", re.IGNORECASE)
_SOCKETS = frozenset({"ws", "wss", "websocket"})
_BUILT_IN = frozenset({"builtin", "platform", "frontend", "inline_python"})
"""The types of extensions in Goose that are not separate servers."""
_OF_OPENCODE = re.compile(r"(?<!\$)\{env:(\w+)\}")
_BARE = re.compile(r"((?:Bearer |Basic |Token |token )?)\$([A-Z_][A-Z0-9_]*)")
"""A variable in the form of the Gemini CLI. It must be the whole value, since other values may
contain a ``$``.
"""


def as_usual(value: Any) -> Any:
    """The document with servers under ``mcpServers``, in the form that most clients use.

    A value that has no servers in another form is returned unchanged.
    """
    if not isinstance(value, dict):
        return value
    for key in (USUAL, *_OTHER_MAPS):
        listing = value.get(key)
        if key == USUAL and isinstance(listing, dict):
            return value
        if entries := _entries(listing):
            return {**{name: part for name, part in value.items() if name != key}, USUAL: entries}
    server = value.get("server")
    own = server.get("mcp_config") if isinstance(server, dict) else None
    if isinstance(own, dict) and isinstance(value.get("name"), str):
        return {USUAL: {value["name"]: usual_entry(own)}}
    return value


def usual_entry(entry: JsonObject) -> dict[str, Any]:
    """An entry with command, arguments, address and headers under the keys that are most common."""
    command, args = entry.get("command", entry.get("cmd")), entry.get("args")
    env = next(
        (entry[k] for k in ("env", "environment", "envs") if isinstance(entry.get(k), dict)), None
    )
    if isinstance(command, dict):
        args, env = command.get("args", args), command.get("env", env)
        command = command.get("path")
    if isinstance(command, list) and command:
        command, args = command[0], [*command[1:], *(args if isinstance(args, list) else [])]
    if passed := {name: f"${{{name}}}" for name in _passed_variables(entry)}:
        env = {**passed, **(env if isinstance(env, dict) else {})}
    parts = {
        "command": command,
        "args": [_own_words(arg) for arg in args] if isinstance(args, list) else args,
        "env": _filled(env),
        "url": _own_words(entry.get("url", entry.get("uri"))),
        "headers": _filled(dict(_headers(entry))) or None,
    }
    others = {key: part for key, part in entry.items() if key not in _OTHERS and key not in parts}
    return {**others, **{key: part for key, part in parts.items() if part is not None}}


def _entries(listing: Any) -> dict[str, Any]:
    """The servers in a list or a map by name.

    Empty unless all items are entries and at least one of them can be started.
    """
    rows = listing.items() if isinstance(listing, dict) else _named(listing)
    pairs = [(name, entry) for name, entry in rows]
    if not pairs or not all(isinstance(entry, dict) for _, entry in pairs):
        return {}
    entries = {name: usual_entry(entry) for name, entry in pairs}
    startable = {
        name: entry
        for name, entry in entries.items()
        if any(isinstance(entry.get(key), str) for key in ("command", "url", "httpUrl"))
    }
    inner = any(isinstance(entry.get("type"), str) for entry in entries.values())
    return startable if len(startable) == len(entries) or inner else {}


def _named(listing: Any) -> Iterator[tuple[str, Any]]:
    for entry in listing if isinstance(listing, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield entry["name"], entry


def _passed_variables(entry: JsonObject) -> Iterator[str]:
    for key in _VARIABLE_NAMES:
        for one in entry[key] if isinstance(entry.get(key), list) else ():
            name = one.get("name") if isinstance(one, dict) else one
            if isinstance(name, str) and name.isidentifier():
                yield name


def _headers(entry: JsonObject) -> Iterator[tuple[str, Any]]:
    for keys in (("headers",), ("http_headers",), ("requestOptions", "headers")):
        yield from object_at(entry, *keys).items()
    for header, variable in object_at(entry, "env_http_headers").items():
        yield header, f"${{{variable}}}"
    token = entry.get("bearer_token_env_var")
    if isinstance(token, str):
        yield "Authorization", f"Bearer ${{{token}}}"
    token = entry.get("authorization_token")
    if isinstance(token, str):
        yield "Authorization", f"Bearer {token}"


def _filled(values: Any) -> Any:
    if not isinstance(values, Mapping):
        return values
    return {name: _bare_variable(_own_words(value)) for name, value in values.items()}


def _own_words(value: Any) -> Any:
    return _OF_OPENCODE.sub(r"${\1}", value) if isinstance(value, str) else value


def _bare_variable(value: Any) -> Any:
    match = _BARE.fullmatch(value) if isinstance(value, str) else None
    return f"{match[1]}${{{match[2]}}}" if match else value


SERVER_MAPS = ("mcpServers", "servers")
STARTS = ("command", "url", "serverUrl", "httpUrl")
REMEDY = (
    "is listed without its tools, and reading a file starts no server; run the command "
    "`connect`, use Add a catalog > MCP servers, or use a file with the server's tools/list "
    "answer (MCP Inspector shows it)"
)


def configured_servers(value: Any) -> tuple[str, ...]:
    """The names of the servers in a client's configuration, in order; empty for other documents.

    These forms are read: ``mcpServers`` as in Claude, Cursor and Windsurf, ``servers`` as in VS
    Code (also inside ``mcp``), and the forms in ``server_spellings``.
    """
    if not isinstance(value, dict) or "tools" in value:
        return ()
    return tuple(writable(name) for name in _servers_in(as_usual(value)))


@dataclass(frozen=True, slots=True)
class ServerEntries:
    """The servers of a configuration by name: entries that can be used, and why others cannot."""

    entries: Mapping[str, JsonObject] = field(default_factory=dict, repr=False)
    odd: Mapping[str, str] = field(default_factory=dict)


def server_entries(value: Any) -> dict[str, ServerEntries]:
    """The servers of a client's configuration in order, by the folder that they belong to.

    The folder is that of a Claude Code project, or empty. An odd entry does not hide other entries.
    """
    if not isinstance(value, dict):
        return {"": ServerEntries()}
    projects = object_at(value, "projects")
    folders = {writable(folder): project for folder, project in projects.items() if folder}
    return {folder: _sorted_out(_listing(one)) for folder, one in {"": value, **folders}.items()}


def _listing(value: Any) -> dict[str, Any]:
    """The servers of a configuration by name, unchanged; flat maps by name are included."""
    value = object_at(value)
    for key in (USUAL, *_DECISIVE_MAPS):
        if rows := _by_name(value.get(key)):
            return rows
    nested, server = object_at(value, "mcp"), object_at(value, "server")
    of_desktop = {str(value.get("name")): server.get("mcp_config")}
    flat = {name: entry for name, entry in value.items() if name != "$schema"}
    is_flat = all(isinstance(entry, dict) for entry in flat.values())
    places: tuple[Mapping[str, Any], ...] = (
        *(_by_name(holder.get(key)) for key in SERVER_MAPS for holder in (value, nested)),
        nested,
        _by_name(value.get("extensions")),
        of_desktop,
        flat if is_flat else {},
    )
    return dict(next((rows for rows in places if any(map(_starts, rows.values()))), {}))


def _by_name(listing: Any) -> dict[str, Any]:
    if isinstance(listing, dict):
        return listing
    rows = enumerate(listing if isinstance(listing, list) else (), 1)
    return {str(object_at(one).get("name") or f"entry {number}"): one for number, one in rows}


def _sorted_out(listing: Mapping[str, Any]) -> ServerEntries:
    reasons = {name: _oddity(entry) for name, entry in listing.items()}
    return ServerEntries(
        {writable(name): usual_entry(listing[name]) for name, why in reasons.items() if not why},
        {writable(name): why for name, why in reasons.items() if why},
    )


def _starts(entry: Any) -> bool:
    return isinstance(entry, dict) and starts_server(usual_entry(entry))


def _oddity(entry: Any) -> str:
    """Why this entry cannot start or reach a server; empty if it can."""
    if not isinstance(entry, dict):
        return "is not an object"
    usual = usual_entry(entry)
    kind = str(entry.get("type") or entry.get("transport") or "").lower()
    addresses = (usual.get(key) for key in STARTS[1:])
    is_socket = any(isinstance(one, str) and _SOCKET.match(one) for one in addresses)
    is_off = entry.get("disabled") is True or entry.get("enabled") is False
    reasons = {
        "uses WebSocket, which ToolScope does not support": is_socket or kind in _SOCKETS,
        "has args that are not a list": not isinstance(usual.get("args", []), list),
        "": starts_server(usual),
        "is started by an extension of the client, and only the extension has its command": (
            entry.get("source") == "extension" or "settings" in entry
        ),
        "is built into the client": kind in _BUILT_IN,
        "is switched off and has no command or address": is_off,
        "has no command or address": True,
    }
    return next(reason for reason, holds in reasons.items() if holds)


def _servers_in(value: JsonObject) -> dict[str, dict[str, Any]]:
    for key in SERVER_MAPS:
        for holder in (value, object_at(value, "mcp")):
            servers = holder.get(key)
            if isinstance(servers, dict) and servers and all(map(starts_server, servers.values())):
                return servers
    return {}


def starts_server(entry: Any) -> bool:
    """Whether an entry says how to start or reach a server."""
    return isinstance(entry, dict) and any(isinstance(entry.get(key), str) for key in STARTS)
