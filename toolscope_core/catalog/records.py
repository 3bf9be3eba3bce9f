"""Finds the records in a document: in lists, pages, answers, on servers, in operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolscope_core.catalog.clients.configurations import (
    REMEDY,
    SERVER_MAPS,
    as_usual,
    configured_servers,
    starts_server,
)
from toolscope_core.catalog.flaws import Flaw, excerpt, find_flaw, writable
from toolscope_core.catalog.formats.neutral import GENERIC
from toolscope_core.catalog.formats.openapi import fields_of, is_openapi, read_openapi
from toolscope_core.catalog.formats.unread_documents import what_it_is
from toolscope_core.catalog.places import (
    TOOL_LISTS,
    WRAPPERS,
    Places,
    cursor_of,
    holds_tools,
    is_tool,
    names_servers,
    server_of,
    tool_places,
    tools_beside_operations,
    tools_inside,
    unexpected_tools,
)
from toolscope_core.catalog.schema.pointers import ExpansionBudget
from toolscope_core.catalog.schema.walking import list_at
from toolscope_core.catalog.sources import joined_files
from toolscope_core.catalog.values import Placed
from toolscope_core.model.catalog import Problem, Server
from toolscope_core.model.tool import JsonObject

LEVELS = 20


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it stands in its source: its place in words, the server that the object around it
    names, and the key of the list that it stands in there.
    """

    value: Any
    position: str
    server: str = ""
    within: str = ""


@dataclass(frozen=True, slots=True)
class ToolsPage:
    """A list of tools as ``tools/list`` answers it; ``cursor`` is where it goes on, else empty."""

    position: str
    server: str
    cursor: str


Entry = Record | Server | ToolsPage | Problem
Trail = tuple[str, ...]


def document_kind(value: Any) -> str:
    """``openapi`` or ``mcp-client`` for a document that holds no records as such; else empty."""
    if is_openapi(value):
        return "openapi"
    return "mcp-client" if configured_servers(value) and not holds_tools(value) else ""


def find_records(
    placed: Placed, label: str, kind: str, reading: DocumentReading
) -> Iterator[Entry]:
    """The records of a value in order, the servers it names, and the pages that they stand on.

    ``kind`` comes from ``document_kind`` or from a person. Each operation of an OpenAPI document
    becomes an MCP record, each server that a client's configuration starts a server and a
    ``Problem``. What looks like a tool where none is read is a ``Problem``, so nothing is left out.
    """
    value = as_usual(placed.value) if configured_servers(placed.value) else placed.value
    trail = (placed.place,) if placed.place else ()
    around = Record(None, label)
    if kind == "mcp-client" and not configured_servers(value):
        reason = "is no client configuration; it has no `mcpServers` that name servers"
        yield _refused(value, reason, trail, around)
    elif kind == "openapi" and not is_openapi(value):
        reason = "is no OpenAPI document; it has no `openapi` beside `paths`"
        yield _refused(value, reason, trail, around)
    else:
        yield from reading.find(value, trail, around)


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """The way through a document; its readers share the budget. ``name`` is that of its file, and
    ``files`` are the contents of those that it refers to, by their paths from its folder.
    """

    budget: ExpansionBudget
    name: str = ""
    files: Mapping[str, Any] = field(default_factory=dict)

    def find(self, value: Any, trail: Trail, around: Record) -> Iterator[Entry]:
        held = tool_places(value) if isinstance(value, dict) else {}
        if len(trail) > LEVELS and (held or isinstance(value, list)):
            yield _refused(
                value, f"stands in more than {LEVELS} lists of lists; flatten it", trail, around
            )
        elif isinstance(value, list):
            yield from self._each(enumerate(value, 1), trail, around)
        elif is_openapi(value):
            yield from self._document(value, trail, around)
        elif not is_tool(value) and (what := what_it_is(value)):
            yield _refused(value, what, trail, around)
        elif isinstance(value, dict):
            yield from self._object(value, held, trail, around)
        else:
            yield replace(around, value=value, position=_position(around, trail))

    def _each(
        self, entries: Iterable[tuple[int, Any]], trail: Trail, around: Record
    ) -> Iterator[Entry]:
        for number, entry in entries:
            yield from self.find(entry, (*trail, f"{_word(entry)} {number}"), around)

    def _document(self, value: JsonObject, trail: Trail, around: Record) -> Iterator[Entry]:
        """The operations of an OpenAPI document, and the tools that stand beside them."""
        flaw = find_flaw(value)
        whole = joined_files(value, self.name, self.files) if not flaw else value
        read = Flaw(flaw) if flaw else read_openapi(whole, self.budget)
        if isinstance(read, Flaw):
            yield _refused(value, read.reason, trail, around)
            return
        fields = fields_of(value)
        yield from _unexpected(tools_beside_operations(value, fields), trail, around)
        beside = {key: part for key, part in value.items() if key not in fields}
        held = {"paths": read["paths"], **tool_places(beside)}
        yield from self._object({**beside, **read}, held, trail, around)

    def _object(
        self, value: JsonObject, held: Places, trail: Trail, around: Record
    ) -> Iterator[Entry]:
        """The record that an object is, unless it only holds some, and what it holds."""
        sure = is_tool(value)
        if sure or not held:
            own = {key: part for key, part in value.items() if key not in held} if held else value
            yield replace(around, value=own, position=_position(around, trail))
            strays = unexpected_tools(_unread(value, sure), held)
            tools = ((key, item) for key, item in strays if not isinstance(item, Flaw))
            yield from _unexpected(tools, trail, around)  # flaws of the record are reported with it
        else:
            yield from _unexpected(unexpected_tools(value, held), trail, around)
        if held:
            yield from self._held(value, held, trail, around)

    def _held(
        self, value: JsonObject, held: Places, trail: Trail, around: Record
    ) -> Iterator[Entry]:
        """The entries at an object's places; a position names the place where there are several."""
        server = _owner(value, held)
        yield from ([server] if server.name else [])
        yield from _listed_servers(value)
        for key, entries in held.items():
            inside = replace(around, server=server.name or around.server, within=key)
            place = (*trail, key) if len(held) > 1 else trail
            if key == "tools":
                cursor = cursor_of(value).get("nextCursor", "")
                yield ToolsPage(_position(around, place), inside.server, cursor)
            if key in WRAPPERS:
                yield from self.find(entries[0], (*place, ""), inside)
            elif key in SERVER_MAPS and names_servers(key, value[key]):
                yield from self._servers(dict(zip(value[key], entries, strict=True)), place, inside)
            else:
                listed = key == "servers" and not held.keys().isdisjoint(TOOL_LISTS)
                rows = enumerate(entries, 1)
                own = [
                    (row, entry) for row, entry in rows if not (listed and _is_bare_server(entry))
                ]
                yield from self._each(own, place, inside)

    def _servers(self, listed: Mapping[str, Any], trail: Trail, around: Record) -> Iterator[Entry]:
        """The servers of a map by name, with their tools."""
        for number, (name, entry) in enumerate(listed.items(), 1):
            if starts_server(entry):
                yield from self._started(name, number, entry, (trail, around))
            elif _is_bare_server(entry):
                yield server_of(entry)
            else:
                yield from self._each([(number, entry)], trail, around)

    def _started(
        self, name: str, number: int, entry: JsonObject, at: tuple[Trail, Record]
    ) -> Iterator[Entry]:
        """A server that a client starts, with its tools if it has any: commands hold keys."""
        trail, around = at
        held = tool_places({**entry, "name": name})
        yield Server(writable(name))
        if held:
            tools = {"server": name, **{key: entry[key] for key in held}}
            yield from self._each([(number, tools)], trail, around)
        else:
            yield Problem(f"{_position(around, trail)}: server {writable(name)[:80]}", REMEDY)
        strays = unexpected_tools(entry, held)
        yield from _unexpected(strays, (*trail, f"server {number}"), around)


def _unread(record: JsonObject, sure: bool) -> JsonObject:
    """The fields of a record in which further tools may stand; unknown fields belong to a tool."""
    keys = {*TOOL_LISTS, "_meta"} if sure else record.keys() - {"function"}
    inner = record.get("function")
    if isinstance(inner, dict) and record.get("name", inner.get("name")) != inner.get("name"):
        keys |= {"function"}
    return {key: part for key, part in record.items() if key in keys}


def _unexpected(
    strays: Iterable[tuple[str, JsonObject | Flaw]], trail: Trail, around: Record
) -> Iterator[Problem]:
    for key, item in strays:
        reason = item.reason if isinstance(item, Flaw) else _where_none_is_read(item)
        raw = "" if isinstance(item, Flaw) else excerpt(item)
        position = _position(around, (*trail, writable(key)[:80]))
        yield Problem(position, excerpt(reason), raw)


def _where_none_is_read(tool: JsonObject) -> str:
    if is_openapi(tool):
        return "is an OpenAPI document where none is read; put it into a file of its own"
    name = excerpt(GENERIC.get(tool, "name"))[:80]
    return f"looks like the tool {name!r} where none is read; put it into a list `tools`"


def _refused(value: Any, reason: str, trail: Trail, around: Record) -> Problem:
    return Problem(_position(around, trail), excerpt(reason), excerpt(value))


def _position(around: Record, trail: Trail) -> str:
    words = ", ".join(filter(None, trail))
    return f"{around.position}: {words}" if words else around.position


def _word(entry: Any) -> str:
    if isinstance(entry, list) or is_openapi(entry):
        return "page"
    held = {} if not isinstance(entry, dict) or is_tool(entry) else tool_places(entry)
    if not held:
        return "tool"
    named = any(isinstance(entry[key], list) for key in held) and server_of(entry).name
    return "server" if named else "page"


def _owner(value: JsonObject, held: Places) -> Server:
    """The server that owns what an object holds; one without a name where servers stand in it."""
    if all(names_servers(key, value.get(key)) for key in held):
        return Server("")
    server = server_of(value)
    namespace = value.get("type") == "namespace" and server.name and "tools" in held
    return replace(server, raw=_beside_tools(value, held)) if namespace else server


def _beside_tools(namespace: JsonObject, held: Places) -> JsonObject:
    """The other keys of a namespace beside its tools, as far as they can be kept exactly."""
    others = {key: value for key, value in namespace.items() if key not in held}
    return {key: value for key, value in others.items() if not find_flaw({key: value})}


def _is_bare_server(entry: Any) -> bool:
    """Whether an entry of a list of servers is one without tools, as in the neutral shape."""
    if not isinstance(entry, dict) or is_tool(entry) or not server_of(entry).name:
        return False
    return not tool_places(entry) and not any(tools_inside(entry))


def _listed_servers(holder: JsonObject) -> Iterator[Server]:
    yield from map(server_of, filter(_is_bare_server, list_at(holder, "servers")))
