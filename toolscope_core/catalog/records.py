"""Where the records stand in a document: in lists, pages, answers, on servers, in operations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from toolscope_core.catalog.budget import Budget
from toolscope_core.catalog.configurations import REMEDY, configured_servers
from toolscope_core.catalog.flaws import Flaw, excerpt, find_flaw, writable
from toolscope_core.catalog.openapi import is_openapi, read_openapi
from toolscope_core.catalog.shapes import DECLARATIONS, SHAPES
from toolscope_core.catalog.values import Placed
from toolscope_core.datamodel import JsonObject, Problem, Server

TOOL_LISTS = ("tools", "functions", *DECLARATIONS)
OTHER_LISTS = ("servers", "apis", "items", "data", "records")
LEVELS = 4


@dataclass(frozen=True, slots=True)
class Record:
    """A record as found: its place in words, the server that the object around it names, and the
    key of the list that it stands in there.
    """

    value: Any
    position: str
    server: str = ""
    within: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A list of tools as ``tools/list`` answers it; ``cursor`` is where it goes on, else empty."""

    position: str
    server: str
    cursor: str


Found = Record | Server | Page | Problem


def document_kind(value: Any) -> str:
    """``openapi`` or ``mcp-client`` for a document that holds no records as such; else empty."""
    if is_openapi(value):
        return "openapi"
    return "mcp-client" if configured_servers(value) else ""


def find_records(placed: Placed, label: str, kind: str, budget: Budget) -> Iterator[Found]:
    """The records of a value in order, the servers it names, and the pages that they stand on.

    ``kind`` is what ``document_kind`` says, or a person: each operation of an OpenAPI document
    becomes an MCP record, each server of a client's configuration a server and a ``Problem``.
    """
    places = (placed.place,) if placed.place else ()
    around = Record(None, label)
    if kind == "mcp-client":
        yield from _configured(placed.value, _position(around, places))
    elif kind == "openapi":
        flaw = find_flaw(placed.value)
        document = Flaw(flaw) if flaw else _operations(placed.value, budget)
        yield from _find(document, places, around)
    else:
        yield from _find(placed.value, places, around)


def _operations(value: Any, budget: Budget) -> JsonObject | Flaw:
    if is_openapi(value):
        return read_openapi(value, budget)
    return Flaw("is no OpenAPI document; it has no `openapi` beside `paths`")


def _configured(value: Any, position: str) -> Iterator[Found]:
    names = configured_servers(value)
    if not names:
        reason = "is no client configuration; it has no `mcpServers` that name servers"
        yield Problem(position, reason, excerpt(""))
    for name in names:
        yield Server(name)
        yield Problem(f"{position}: server {name[:80]}", REMEDY)


def _find(value: Any, places: tuple[str, ...], around: Record) -> Iterator[Found]:
    key, entries = _entries(value) if len(places) < LEVELS else ("", None)
    if entries is None:
        yield replace(around, value=value, position=_position(around, places))
        return
    if isinstance(value, dict):
        server = Server("") if isinstance(value.get(key), dict) else _server(value)
        if value.get("type") == "namespace" and server.name and key == "tools":
            server = replace(server, raw=_beside_tools(value))
        yield from ([server] if server.name else [])
        yield from _listed_servers(value)
        around = replace(around, server=server.name or around.server, within=key)
        if key == "tools":
            yield Page(_position(around, places), around.server, _cursor(value))
    for number, entry in enumerate(entries, 1):
        yield from _find(entry, (*places, f"{_word(entry)} {number}"), around)


def _position(around: Record, places: tuple[str, ...]) -> str:
    return f"{around.position}: {', '.join(places)}" if places else around.position


def _entries(value: Any) -> tuple[str, list[Any] | None]:
    """The list that a value is or holds, if it is no record itself, and its key."""
    if isinstance(value, list):
        return "", value
    if not isinstance(value, dict):
        return "", None
    keys: tuple[str, ...] = TOOL_LISTS
    result = value.get("result")  # of a JSON-RPC answer
    if SHAPES["generic"].find(value, "name") is None:
        if isinstance(result, dict):
            return _entries(result)
        keys += OTHER_LISTS
    for key in keys:
        held = value.get(key)
        entries = held if isinstance(held, list) else _by_server(held)
        if entries is not None:
            return key, entries
    return "", None


def _by_server(held: Any) -> list[Any] | None:
    """The values of ``{server: {"tools": […]}}``, each naming its server."""
    if not isinstance(held, dict) or not held:
        return None
    if not all(
        isinstance(item, dict) and isinstance(item.get("tools"), list) for item in held.values()
    ):
        return None
    return [item if _server(item).name else {"server": name, **item} for name, item in held.items()]


def _cursor(page: JsonObject) -> str:
    """The ``nextCursor`` of a page or of the answer around it; empty on the last page."""
    result = page.get("result")
    cursor = page.get("nextCursor") or (isinstance(result, dict) and result.get("nextCursor"))
    return cursor if isinstance(cursor, str) else ""


def _word(entry: Any) -> str:
    key, entries = _entries(entry)
    if entries is None:
        return "tool"
    named = isinstance(entry, dict) and isinstance(entry.get(key), list) and _server(entry).name
    return "server" if named else "page"


def _server(holder: JsonObject) -> Server:
    """The server that an object with a list names; its name is empty if it names none."""
    info = holder.get("serverInfo")
    spelled = [holder.get("server"), holder.get("server_name"), info, holder.get("name")]
    names = [name.get("name") if isinstance(name, dict) else name for name in spelled]
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    description = holder.get("description")
    return Server(writable(name), writable(description) if isinstance(description, str) else "")


def _beside_tools(namespace: JsonObject) -> JsonObject:
    """What a namespace says besides its tools, as far as it can be kept exactly."""
    said = {key: value for key, value in namespace.items() if key != "tools"}
    return {key: value for key, value in said.items() if not find_flaw({key: value})}


def _listed_servers(holder: JsonObject) -> Iterator[Server]:
    """The servers that stand beside a list of tools, as in the neutral shape."""
    listed = holder.get("servers")
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, dict) and _entries(entry)[1] is None and _server(entry).name:
            yield _server(entry)
