"""Native tool catalogs as one ``Catalog``: every record becomes a tool or a problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolscope_core.catalog.naming import assign_ids, find_repeats, source_names
from toolscope_core.catalog.scan import scan_catalog
from toolscope_core.catalog.schemas import RecordError
from toolscope_core.catalog.shapes import FORMATS, SHAPES, Shape, detect, own_server, read_record
from toolscope_core.catalog.sources import Placed, Source, excerpt, find_flaw, read_values, writable
from toolscope_core.datamodel import Catalog, JsonObject, Problem, Server, Tool
from toolscope_core.errors import CatalogError

TOOL_LISTS = ("tools", "functions", "functionDeclarations")
OTHER_LISTS = ("servers", "apis", "items", "data", "records")
LEVELS = 4


@dataclass(frozen=True, slots=True)
class _Record:
    """A record as found: its place in words, and the server that the object around it names."""

    value: Any
    position: str
    server: str
    in_list: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """What one source holds, before servers and ids are settled; ``name`` is the source's."""

    name: str
    shape: Shape
    items: tuple[_Record | Problem, ...]
    servers: tuple[Server, ...]

    def server_of(self, record: _Record) -> str:
        """The server that the source itself gives the record; empty if none."""
        own = own_server(record.value, self.shape) if isinstance(record.value, Mapping) else ""
        return own or record.server

    @property
    def server_names(self) -> set[str]:
        named = {self.server_of(item) for item in self.items if isinstance(item, _Record)}
        return (named | {server.name for server in self.servers}) - {""}


def read_catalog(sources: Sequence[Source], forced: str | None = None) -> Catalog:
    """One catalog of all sources, tools sorted by id and scanned, servers by name.

    The format of each source is detected unless ``forced`` (one of ``FORMATS``); the catalog's is
    the one that all share, else ``generic``. With several sources, a server that two of them name
    is kept apart as ``name (source)``, and tools of a source that names none belong to a server
    named after the source, which does not enter their ids. The number of tools and problems is
    the number of records. Raises ``CatalogError`` where not one tool can be read, for an unknown
    format, and for a source that is too large.
    """
    if forced is not None and forced not in SHAPES:
        raise CatalogError(f"the format {forced!r} is unknown; give one of {', '.join(FORMATS)}")
    names = source_names(sources)
    parts = [_read_part(source, name, forced) for source, name in zip(sources, names, strict=True)]
    uses = Counter(name for part in parts for name in part.server_names)
    shared = {name for name, count in uses.items() if count > 1}
    outcomes = [_read_tools(part, shared, part.name if len(parts) > 1 else "") for part in parts]
    flat = [outcome for of_part in outcomes for outcome in of_part]
    problems = tuple(outcome for outcome in flat if isinstance(outcome, Problem))
    tools = assign_ids(outcome for outcome in flat if isinstance(outcome, Tool))
    if not tools:
        raise CatalogError(_why_no_tools(sources, problems))
    formats = {
        part.shape.name
        for part, of_part in zip(parts, outcomes, strict=True)
        if any(isinstance(outcome, Tool) for outcome in of_part)
    }
    return Catalog(
        tools=tools,
        servers=_all_servers(parts, shared, tools),
        format=formats.pop() if len(formats) == 1 else "generic",
        problems=problems,
        findings=(*scan_catalog(tools), *find_repeats(tools)),
    )


def _read_part(source: Source, name: str, forced: str | None) -> _Part:
    found = [item for value in read_values(source) for item in _walk(value, source)]
    records = [item for item in found if isinstance(item, _Record)]
    servers = tuple(item for item in found if isinstance(item, Server))
    objects = [record.value for record in records if isinstance(record.value, Mapping)]
    in_lists = all(record.in_list for record in records)
    return _Part(
        name=name,
        shape=SHAPES[forced] if forced else detect(objects, in_lists, bool(servers)),
        items=tuple(item for item in found if not isinstance(item, Server)),
        servers=servers,
    )


def _walk(value: Placed | Problem, source: Source) -> Iterator[_Record | Server | Problem]:
    if isinstance(value, Problem):
        yield value
    else:
        places = (value.place,) if value.place else ()
        nothing = _Record(None, source.label, "", in_list=False)
        yield from _find_records(value.value, places, nothing)


def _find_records(
    value: Any, places: tuple[str, ...], around: _Record
) -> Iterator[_Record | Server]:
    """The records inside a value, and the servers it names; ``around`` is what encloses it."""
    entries = _entries(value) if len(places) < LEVELS else None
    if entries is None:
        label = around.position
        position = f"{label}: {', '.join(places)}" if places else label
        yield replace(around, value=value, position=position)
        return
    if isinstance(value, Mapping):
        server = _server(value)
        yield from ([server] if server.name else [])
        yield from _listed_servers(value)
        around = replace(around, server=server.name or around.server, in_list=True)
    for number, entry in enumerate(entries, 1):
        yield from _find_records(entry, (*places, f"{_word(entry)} {number}"), around)


def _entries(value: Any) -> list[Any] | None:
    """The list that a value is or holds, if it is no record itself."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return None
    keys: tuple[str, ...] = TOOL_LISTS
    result = value.get("result")  # of a JSON-RPC answer
    if SHAPES["generic"].find(value, "name") is None:
        if isinstance(result, Mapping):
            return _entries(result)
        keys += OTHER_LISTS
    return next((value[key] for key in keys if isinstance(value.get(key), list)), None)


def _word(entry: Any) -> str:
    if _entries(entry) is None:
        return "tool"
    return "server" if isinstance(entry, Mapping) and _server(entry).name else "page"


def _server(holder: JsonObject) -> Server:
    """The server that an object with a list names; its name is empty if it names none."""
    info = holder.get("serverInfo")
    spelled = [holder.get("server"), holder.get("server_name"), info, holder.get("name")]
    names = [name.get("name") if isinstance(name, Mapping) else name for name in spelled]
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    description = holder.get("description")
    return Server(writable(name), writable(description) if isinstance(description, str) else "")


def _listed_servers(holder: JsonObject) -> Iterator[Server]:
    """The servers that stand beside a list of tools, as in the neutral shape."""
    listed = holder.get("servers")
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, Mapping) and _entries(entry) is None and _server(entry).name:
            yield _server(entry)


def _read_tools(part: _Part, shared: set[str], source_server: str) -> list[Tool | Problem]:
    """A tool or a problem for each record of a source, in its order.

    ``shared`` names the servers that other sources name as well; ``source_server`` is the server
    of tools for which the source names none.
    """
    outcomes: list[Tool | Problem] = []
    for item in part.items:
        outcome = item if isinstance(item, Problem) else _read_tool(item, part, shared)
        if isinstance(outcome, Tool) and source_server and not outcome.server:
            outcome = replace(outcome, server=source_server)
        outcomes.append(outcome)
    return outcomes


def _read_tool(record: _Record, part: _Part, shared: set[str]) -> Tool | Problem:
    value = record.value
    flaw = find_flaw(value)
    if not flaw and not isinstance(value, Mapping):
        flaw = f"is {excerpt(value)[:60]}, not an object; give an object with a name"
    if not flaw:
        try:
            return read_record(value, part.shape, _apart(part.server_of(record), part, shared))
        except RecordError as error:
            flaw = str(error)
    return Problem(record.position, excerpt(flaw), excerpt(value))


def _apart(server: str, part: _Part, shared: set[str]) -> str:
    return f"{server} ({part.name})" if server in shared else server


def _all_servers(
    parts: Sequence[_Part], shared: set[str], tools: Sequence[Tool]
) -> tuple[Server, ...]:
    """The servers that sources name or tools belong to, by name; the longest description wins."""
    servers = {tool.server: Server(tool.server) for tool in tools if tool.server}
    for part in parts:
        for server in part.servers:
            name = _apart(server.name, part, shared)
            texts = (servers.get(name, server).description, server.description)
            servers[name] = Server(name, max(texts, key=lambda text: (len(text), text)))
    return tuple(servers[name] for name in sorted(servers))


def _why_no_tools(sources: Sequence[Source], problems: Sequence[Problem]) -> str:
    labels = ", ".join(source.label for source in sources) or "no input"
    if problems:
        return f"no tool can be read: {problems[0].position} {problems[0].reason}"
    return f"no tool can be read from {labels}: give a list of objects with a name"
