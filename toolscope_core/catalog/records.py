"""Finds the records in a document: in lists, pages, answers, servers and operations."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolscope_core.catalog import places
from toolscope_core.catalog.clients.configurations import (
    REMEDY,
    SERVER_MAPS,
    as_usual,
    configured_servers,
    starts_server,
)
from toolscope_core.catalog.flaws import Flaw, find_flaw, value_excerpt, writable
from toolscope_core.catalog.formats.neutral import GENERIC
from toolscope_core.catalog.formats.openapi import fields_of, is_openapi, read_openapi
from toolscope_core.catalog.formats.unread_documents import what_it_is
from toolscope_core.catalog.schema.pointers import ExpansionBudget
from toolscope_core.catalog.schema.walking import list_at
from toolscope_core.catalog.sources import joined_files
from toolscope_core.catalog.tools_in_texts import values_of_text
from toolscope_core.catalog.values import Record
from toolscope_core.model.catalog import Problem, Server
from toolscope_core.model.tool import JsonObject

_LEVELS = 20
_NO_TOOLS = (
    "is text that is neither JSON, YAML nor a table, and no JSON in it declares a tool; use a file "
    "with the tools, for example a server's tools/list answer"
)


@dataclass(frozen=True, slots=True)
class ToolsPage:
    """A list of tools as returned by ``tools/list``; ``cursor`` points to the next page, if
    there is one.
    """

    position: str
    server: str
    cursor: str


SourceEntry = Record | Server | ToolsPage | Problem


def document_kind(value: Any) -> str:
    """``openapi`` or ``mcp-client`` for a document without tool records of its own, otherwise
    empty.
    """
    if is_openapi(value):
        return "openapi"
    return "mcp-client" if configured_servers(value) and not places.holds_tools(value) else ""


def find_records(record: Record, kind: str, reading: "DocumentReading") -> Iterator[SourceEntry]:
    """The records in a value, in order, with the servers that it names and its pages.

    ``kind`` comes from ``document_kind`` or from a person. Each operation of an OpenAPI document
    becomes an MCP record. Each server in a client's configuration becomes a server and a
    ``Problem``. Values that look like tools in unexpected places become a ``Problem``, so that
    nothing is left out.
    """
    if configured_servers(record.value):
        record = record.inner(as_usual(record.value))
    if kind == "mcp-client" and not configured_servers(record.value):
        yield record.problem("is not a client configuration: it has no `mcpServers` with servers")
    elif kind == "openapi" and not is_openapi(record.value):
        yield record.problem("is not an OpenAPI document: it has `paths` but no `openapi`")
    else:
        yield from reading.find(record)


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """The state while a document is read; all its readers share the budget.

    ``name`` is the name of the file. ``files`` are the contents of referenced files, by their paths
    relative to the file's folder.
    """

    budget: ExpansionBudget
    name: str = ""
    files: Mapping[str, Any] = field(default_factory=dict)

    def find(self, record: Record) -> Iterator[SourceEntry]:
        value = record.value
        lists = places.tool_places(value) if isinstance(value, dict) else {}
        if len(record.trail) > _LEVELS and (lists or isinstance(value, list)):
            yield record.problem(f"is nested more than {_LEVELS} lists deep; flatten it")
        elif isinstance(value, list):
            yield from self._each(enumerate(value, 1), record)
        elif is_openapi(value):
            yield from self._document(record)
        elif not places.is_tool(value) and (what := what_it_is(value)):
            yield record.problem(what)
        elif isinstance(value, dict):
            yield from self._object(record, lists)
        elif isinstance(value, str) and places.holds_tools(value):
            tools = filter(places.holds_tools, values_of_text(value))
            yield from self._each(enumerate(tools, 1), record)
        elif isinstance(value, str) and not record.trail:
            yield record.problem(_NO_TOOLS)
        else:
            yield record

    def _each(self, entries: Iterable[tuple[int, Any]], around: Record) -> Iterator[SourceEntry]:
        for number, entry in entries:
            yield from self.find(around.inner(entry, f"{_word(entry)} {number}"))

    def _document(self, record: Record) -> Iterator[SourceEntry]:
        """The operations of an OpenAPI document, and the tools beside them."""
        document: JsonObject = record.value
        flaw = find_flaw(document)
        whole = joined_files(document, self.name, self.files) if not flaw else document
        operations = Flaw(flaw) if flaw else read_openapi(whole, self.budget)
        if isinstance(operations, Flaw):
            yield record.problem(operations.reason)
            return
        fields = fields_of(document)
        yield from _unexpected(places.tools_beside_operations(document, fields), record)
        other_fields = {key: part for key, part in document.items() if key not in fields}
        lists = {"paths": operations["paths"], **places.tool_places(other_fields)}
        yield from self._object(record.inner({**other_fields, **operations}), lists)

    def _object(self, record: Record, lists: places.Places) -> Iterator[SourceEntry]:
        """The object as a record, unless it only contains records, followed by the records
        inside it.
        """
        value = record.value
        is_tool = places.is_tool(value)
        if is_tool or not lists:
            own = {key: part for key, part in value.items() if key not in lists} if lists else value
            yield record.inner(own)
            strays = places.unexpected_tools(_unread(value, is_tool), lists)
            tools = ((key, item) for key, item in strays if not isinstance(item, Flaw))
            yield from _unexpected(tools, record)  # flaws are reported with the record itself
        else:
            entries = (one for own in lists.values() for one in own if isinstance(one, dict))
            listed = {str(one.get("name")): one for one in entries}
            others = {} if "" in lists else value  # a map by name is read as a whole
            strays = places.unexpected_tools(others, lists)
            yield from _unexpected((one for one in strays if not _is_in(one[1], listed)), record)
        if lists:
            yield from self._entries(record, lists)

    def _entries(self, record: Record, lists: places.Places) -> Iterator[SourceEntry]:
        """The entries in an object's places; if there are several places, positions name the
        place.
        """
        value = record.value
        server = _owner(value, lists)
        yield from ([server] if server.name else [])
        yield from map(places.server_of, filter(_is_bare_server, list_at(value, "servers")))
        for key, entries in lists.items():
            inside = replace(record, server=server.name or record.server, within=key)
            inside = inside.inner(None, key) if len(lists) > 1 else inside
            if key == "tools":
                cursor = places.cursor_of(value).get("nextCursor", "")
                yield ToolsPage(inside.position, inside.server, cursor)
            if key in places.WRAPPERS:
                yield from self.find(inside.inner(entries[0], ""))
            elif key in SERVER_MAPS and places.names_servers(key, value[key]):
                yield from self._servers(dict(zip(value[key], entries, strict=True)), inside)
            else:
                is_listing = key == "servers" and not lists.keys().isdisjoint(places.TOOL_LISTS)
                rows = enumerate(entries, 1)
                own = [row for row in rows if not (is_listing and _is_bare_server(row[1]))]
                yield from self._each(own, inside)

    def _servers(self, entries: Mapping[str, Any], around: Record) -> Iterator[SourceEntry]:
        """The servers in a map by name, with their tools.

        If a client starts a server, only the server's name is kept, because commands contain keys.
        """
        for number, (name, entry) in enumerate(entries.items(), 1):
            if starts_server(entry):
                yield Server(writable(name))
                if lists := places.tool_places({**entry, "name": name}):
                    tools = {"server": name, **{key: entry[key] for key in lists}}
                    yield from self._each([(number, tools)], around)
                else:
                    yield Problem(f"{around.position}: server {writable(name)[:80]}", REMEDY)
                place = around.inner(entry, f"server {number}")
                yield from _unexpected(places.unexpected_tools(entry, lists), place)
            elif _is_bare_server(entry):
                yield places.server_of(entry)
            else:
                yield from self._each([(number, entry)], around)


def _unread(record: JsonObject, sure: bool) -> JsonObject:
    """The fields of a record that may contain more tools; unknown fields are part of a tool."""
    keys = {*places.TOOL_LISTS, "_meta"} if sure else record.keys() - {"function", "description"}
    inner = record.get("function")
    if isinstance(inner, dict) and record.get("name", inner.get("name")) != inner.get("name"):
        keys |= {"function"}
    return {key: part for key, part in record.items() if key in keys}


def _unexpected(
    strays: Iterable[tuple[str, JsonObject | Flaw]], around: Record
) -> Iterator[Problem]:
    for key, item in strays:
        reason = item.reason if isinstance(item, Flaw) else _where_none_is_read(item)
        yield around.inner(item, writable(key)[:80]).problem(reason)


def _where_none_is_read(tool: JsonObject) -> str:
    if is_openapi(tool):
        return "is an OpenAPI document inside another document; put it into a file of its own"
    name = value_excerpt(GENERIC.get(tool, "name"))[:80]
    return f"looks like the tool {name!r} outside a list of tools; move it into a list `tools`"


def _is_in(item: JsonObject | Flaw, listed: Mapping[str, JsonObject]) -> bool:
    """Whether an identical tool is already in the list."""
    return not isinstance(item, Flaw) and listed.get(str(item.get("name"))) == item


def _word(entry: Any) -> str:
    if isinstance(entry, list) or is_openapi(entry):
        return "page"
    tool_keys = (
        {} if not isinstance(entry, dict) or places.is_tool(entry) else places.tool_places(entry)
    )
    if not tool_keys:
        return "tool"
    has_server = (
        any(isinstance(entry.get(key), list) for key in tool_keys) and places.server_of(entry).name
    )
    return "server" if has_server else "page"


def _owner(value: JsonObject, lists: places.Places) -> Server:
    """The server to which an object's contents belong; it has no name if the object contains
    servers.
    """
    if all(places.names_servers(key, value.get(key)) for key in lists):
        return Server("")
    server = places.server_of(value)
    namespace = value.get("type") == "namespace" and server.name and "tools" in lists
    return replace(server, raw=_beside_tools(value, lists)) if namespace else server


def _beside_tools(namespace: JsonObject, lists: places.Places) -> JsonObject:
    """The keys of a namespace other than its tools, as far as they can be kept exactly."""
    others = {key: value for key, value in namespace.items() if key not in lists}
    return {key: value for key, value in others.items() if not find_flaw({key: value})}


def _is_bare_server(entry: Any) -> bool:
    """Whether an entry in a list of servers has no tools, as in the neutral format."""
    if not isinstance(entry, dict) or places.is_tool(entry) or not places.server_of(entry).name:
        return False
    return not places.tool_places(entry) and not any(places.tools_inside(entry))
