"""Reads native tool catalogs into one ``Catalog``; every record becomes a tool or a problem."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from toolscope_core.catalog.flaws import MAX_RECORDS, find_flaw, value_excerpt, writable
from toolscope_core.catalog.formats.format_table import INPUTS, RECORD_FORMATS, detect, find_unread
from toolscope_core.catalog.formats.neutral import GENERIC, former_names_in
from toolscope_core.catalog.formats.offered_names import names_among
from toolscope_core.catalog.formats.openapi import find_inferred
from toolscope_core.catalog.formats.record_format import (
    RecordFormat,
    ToolPart,
    own_server,
    read_record,
)
from toolscope_core.catalog.naming import assign_ids, find_folded, find_repeats, source_names
from toolscope_core.catalog.records import (
    DocumentReading,
    SourceEntry,
    ToolsPage,
    document_kind,
    find_records,
)
from toolscope_core.catalog.scan.scanner import Scanned, at_once, scan_catalog
from toolscope_core.catalog.schema.contradictions import find_contradictions
from toolscope_core.catalog.schema.declarations import RecordError
from toolscope_core.catalog.schema.keywords import find_invalid
from toolscope_core.catalog.schema.pointers import ExpansionBudget
from toolscope_core.catalog.schema.references import find_shortened
from toolscope_core.catalog.sources import TOOLSET, Source, load_paths, why_unreadable
from toolscope_core.catalog.tokens import find_unused
from toolscope_core.catalog.values import Record, read_values
from toolscope_core.model.catalog import Catalog, Finding, FormerName, InputFile, Problem, Server
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.tool import Tool, digest
from toolscope_core.model.unicode_forms import letters_and_digits

_LONGEST_VERSION = 100


@dataclass(frozen=True, slots=True)
class SourceContents:
    """The contents of one source before servers and ids are assigned; ``items`` are the records.

    ``name`` is the name of the source, ``folder`` the name of its folder, ``version`` the version
    that it declares, and ``kind`` its format (one of ``INPUTS``). All readers of the source share
    the ``budget``. ``former_names`` come from a toolset in the neutral format.
    """

    name: str
    label: str
    kind: str
    format: RecordFormat
    items: tuple[Record | Problem, ...]
    servers: tuple[Server, ...]
    pages: tuple[ToolsPage, ...]
    budget: ExpansionBudget
    former_names: tuple[FormerName, ...] = ()
    folder: str = ""
    version: str = ""

    @property
    def is_one_tool(self) -> bool:
        """Whether the source has a single tool and no server.

        The tool is the bare record, or in a list if the source is named after the tool.
        """
        records = [item for item in self.items if isinstance(item, Record)]
        if self.server_names or not len(self.items) == len(records) == 1:
            return False
        value = records[0].value
        name = self.format.get(value, "name") if isinstance(value, dict) else None
        is_named = isinstance(name, str) and letters_and_digits(name) == letters_and_digits(
            self.name
        )
        return is_named or not any(records[0].trail)

    def server_of(self, record: Record) -> str:
        """The server that the source assigns to the record; empty if there is none."""
        own = own_server(record.value, self.format) if isinstance(record.value, dict) else ""
        return own or record.server

    @property
    def server_names(self) -> set[str]:
        owners = {self.server_of(item) for item in self.items if isinstance(item, Record)}
        declared = () if self.kind == "mcp-client" else self.servers
        return (owners | {server.name for server in declared}) - {""}


def read_contents(
    sources: Sequence[Source], format_name: str | None, report: Callable[[str], object]
) -> list[SourceContents]:
    """The contents of each source, with a ``Problem`` for each list that lacks pages.

    ``report`` is called with the label of each source before the source is read. Raises
    ``CatalogError`` for an unknown format, and for more than ``MAX_RECORDS`` records.
    """
    for format in {format_name, *(source.format for source in sources)} - {None}:
        if format not in INPUTS:
            raise CatalogError(f"the format {format!r} is unknown; use one of {', '.join(INPUTS)}")
    contents = []
    count = 0
    for source, name in zip(sources, source_names(sources), strict=True):
        report(source.label)
        contents.append(_read_source(source, name, source.format or format_name))
        count += len(contents[-1].items)
        if count > MAX_RECORDS:
            raise CatalogError(
                f"with {source.label}, the input has at least {count:,} records, but at most "
                f"{MAX_RECORDS:,} can be read at once; split it (`merge --shards` reads any number)"
            )
    return _with_missing_pages(contents)


def _read_source(source: Source, name: str, format_name: str | None) -> SourceContents:
    values, is_table = read_values(source, format_name)
    budget = ExpansionBudget()
    reading = DocumentReading(budget, PurePosixPath(source.label).name, _contents(source))
    entries: list[SourceEntry] = []
    kinds: set[str] = set()
    for item in values:
        if isinstance(item, Problem):
            entries.append(item)
        else:
            kind = document_kind(item.value) if format_name is None else format_name
            entries += _bounded(find_records(item, kind, reading))
            kinds.add(kind)
    records = [item for item in entries if isinstance(item, Record)]
    servers = tuple(item for item in entries if isinstance(item, Server))
    objects = [record.value for record in records if isinstance(record.value, dict)]
    lists = frozenset(record.within for record in records)
    format_name = "csv" if format_name is None and is_table else format_name
    format = RECORD_FORMATS.get(format_name or "")
    if format is None:
        format = GENERIC if format_name == "csv" else detect(objects, lists, servers)
    other = kinds.pop() if len(kinds) == 1 else ""
    names: tuple[FormerName, ...] = ()
    if format.name == "neutral" and any(map(format.marks, objects)):
        documents = [item.value for item in values if isinstance(item, Record)]
        _check_versions(source.label, documents)
        names = tuple(chain.from_iterable(map(former_names_in, documents)))
    return SourceContents(
        name=name,
        label=source.label,
        kind=format_name or other or format.name,
        format=format,
        items=tuple(item for item in entries if isinstance(item, (Record, Problem))),
        servers=servers,
        pages=tuple(item for item in entries if isinstance(item, ToolsPage)),
        budget=budget,
        former_names=names,
        folder=source.folder,
        version=_version(values),
    )


def _version(values: Sequence[Record | Problem]) -> str:
    """The version that the only document declares for itself or its server; empty if it declares
    none.
    """
    document = values[0].value if len(values) == 1 and isinstance(values[0], Record) else None
    if not isinstance(document, dict):
        return ""
    places = (document, *map(document.get, ("info", "serverInfo", "server")))
    versions = (place.get("version") for place in places if isinstance(place, dict))
    return next((one for one in versions if isinstance(one, str)), "")[:_LONGEST_VERSION]


def _contents(source: Source) -> dict[str, Any]:
    """The values in the files of a source, by path, without files that cannot be read
    completely.
    """
    contents = {}
    for path, data in source.files.items():
        items, _ = read_values(Source(path, data))
        if len(items) == 1 and isinstance(items[0], Record) and not find_flaw(items[0].value):
            contents[path] = items[0].value
    return contents


def _check_versions(label: str, documents: Iterable[Any]) -> None:
    """Raises ``CatalogError`` for a neutral toolset of another version."""
    toolsets = (one for one in documents if isinstance(one, dict) and "tools" in one)
    if reason := next(filter(None, (why_unreadable(label, one, TOOLSET) for one in toolsets)), ""):
        raise CatalogError(reason)


def _with_missing_pages(all_contents: Sequence[SourceContents]) -> list[SourceContents]:
    """The contents, with a ``Problem`` for each server whose list lacks its last page.

    The pages of one source are in order. Sources may come in any order, so any of them may contain
    the last page for the same server, or for no server if the list names none.
    """
    ends: set[str] = set()
    open_at: dict[str, tuple[int, ToolsPage]] = {}
    for number, contents in enumerate(all_contents):
        for server, page in {page.server: page for page in contents.pages}.items():
            if page.cursor:
                open_at[server] = number, page
            elif contents.kind in ("mcp", "generic"):
                ends.add(server)
    missing = [at for server, at in open_at.items() if server not in ends]
    return [
        replace(
            contents,
            items=(*contents.items, *(_goes_on(page) for at, page in missing if at == number)),
        )
        for number, contents in enumerate(all_contents)
    ]


def _goes_on(page: ToolsPage) -> Problem:
    reason = (
        f"has the nextCursor {value_excerpt(page.cursor)[:60]}, but the next page and its tools "
        "are missing; request it from the server (tools/list with this cursor) and add all pages"
    )
    return Problem(page.position, reason)


def _bounded(inside: Iterable[SourceEntry]) -> Iterator[SourceEntry]:
    """The entries, up to one record more than allowed; that is enough to refuse the source."""
    count = 0
    for item in inside:
        yield item
        count += isinstance(item, (Record, Problem))
        if count > MAX_RECORDS:
            return


FINDERS = (
    find_invalid,
    find_contradictions,
    find_inferred,
    find_shortened,
    find_unread,
    find_unused,
)
"""Functions that find problems in a tool's definition, besides the scan of its texts."""
PARTS_OF_TOOLS: tuple[ToolPart, ...] = ("name", "description", "schema", "returns")


def read_catalog(
    sources: Sequence[Source | Path | str],
    format_name: str | None = None,
    report: Callable[[str], object] = lambda _: None,
    scanned: Scanned = at_once,
    clean: Set[str] = frozenset(),
) -> Catalog:
    """One catalog of all sources, with tools sorted by id and scanned, and servers sorted by name.

    A path is replaced by the sources from ``load_paths``. The format of a source is its ``format``,
    or else ``format_name`` (one of ``INPUTS``), or else it is detected. The catalog's format is the
    one that all sources share, or else ``generic``. If several sources contain tools, a server that
    two of them name is kept apart as ``name (source)``. Tools of a source without servers belong to
    a server named after the source, which is not part of their ids. Several one-tool sources in a
    folder form one server, named after the folder.

    A source without any record that looks like a tool, such as an evaluation set, is one problem,
    unless it is the only source. Otherwise, the number of tools and problems is the number of
    records. Servers in a client's configuration count as records that cannot be read; alone they
    make a catalog without tools. The missing pages of a list count as such records too. ``report``
    is called with the label of each source before the source is read. ``scanned`` may share out the
    search for problems in single tools. A tool whose ``clean_key`` is in ``clean`` had no finding
    when it was read before, and is searched only for what depends on other tools.

    Raises ``CatalogError`` if no tool can be read, for an unknown format, and if a limit is
    exceeded.

    Example: ``catalog = read_catalog(["mcp.json", "tools/"])``
    """
    sources = _all_sources(sources)
    all_contents, left_out = _without_toolless(read_contents(sources, format_name, report))
    uses = Counter(name for contents in all_contents for name in contents.server_names)
    common = {name for name, count in uses.items() if count > 1}
    folders = Counter(one.folder for one in all_contents if one.is_one_tool)
    shared_folders = {name for name, n in folders.items() if name and n > 1} - uses.keys()
    outcomes = []
    for contents in all_contents:
        report(contents.label)
        source_server = contents.name if len(all_contents) > 1 else ""
        if contents.is_one_tool and contents.folder in shared_folders:
            source_server = contents.folder
        outcomes.append(_read_tools(contents, common, source_server))
    flat = list(chain.from_iterable(outcomes))
    problems = (*(item for item in flat if isinstance(item, Problem)), *map(_toolless, left_out))
    tools = assign_ids(outcome for outcome in flat if isinstance(outcome, Tool))
    if not tools and not any(
        contents.kind == "mcp-client" and contents.servers for contents in all_contents
    ):
        raise CatalogError(_why_no_tools(sources, problems))
    files = (
        *(_file(contents, read) for contents, read in zip(all_contents, outcomes, strict=True)),
        *(InputFile(contents.label, contents.kind, 0, 1) for contents in left_out),
    )
    formats = {
        contents.format.name
        for contents, file in zip(all_contents, files, strict=False)
        if file.tools
    }
    servers = _all_servers(all_contents, common, tools)
    new = [tool for tool in tools if not clean or clean_key(tool) not in clean]
    return Catalog(
        tools=tools,
        servers=servers,
        format=formats.pop() if len(formats) == 1 else "generic",
        problems=problems,
        findings=(
            *scan_catalog(tools, servers, scanned, {tool.id for tool in new}),
            *scanned(_found_in_definitions, new),
            *find_repeats(tools),
            *find_folded(tools),
        ),
        files=files,
        former_names=_former_names(all_contents, tools),
    )


def clean_key(tool: Tool) -> str:
    """A hash of all that the search for problems in a single tool reads."""
    return digest(tool.fingerprint, tool.raw)


def _found_in_definitions(tools: Sequence[Tool]) -> list[Finding]:
    return [finding for tool in tools for find in FINDERS for finding in find(tool)]


def _former_names(
    all_contents: Sequence[SourceContents], tools: Sequence[Tool]
) -> tuple[FormerName, ...]:
    """The names that came with the sources, each with its meaning among the tools."""
    names = chain.from_iterable(contents.former_names for contents in all_contents)
    return names_among(tools, names)


def _all_sources(inputs: Sequence[Source | Path | str]) -> Sequence[Source]:
    """The inputs as sources; a path is replaced by the sources at the path."""
    paths = [Path(one) for one in inputs if not isinstance(one, Source)]
    sources = tuple(one for one in inputs if isinstance(one, Source))
    return (*sources, *load_paths(paths)) if paths else sources


def _without_toolless(
    all_contents: Sequence[SourceContents],
) -> tuple[Sequence[SourceContents], Sequence[SourceContents]]:
    """The sources to read, and the sources that are left out.

    A source is left out if only other sources have records that look like tools.
    """
    toolless = [contents for contents in all_contents if _is_toolless(contents)]
    if len(toolless) == len(all_contents):
        return all_contents, ()
    return [contents for contents in all_contents if contents not in toolless], toolless


def _is_toolless(contents: SourceContents) -> bool:
    return bool(contents.items) and all(
        isinstance(item, Record)
        and isinstance(item.value, dict)
        and not any(GENERIC.find(item.value, part) for part in PARTS_OF_TOOLS)
        for item in contents.items
    )


def _toolless(contents: SourceContents) -> Problem:
    reason = (
        f"has no tools: none of its {quantity(len(contents.items), 'record')} has a name, a "
        "description or parameters; the file is left out"
    )
    first = contents.items[0]
    return Problem(
        contents.label, reason, value_excerpt(first.value) if isinstance(first, Record) else ""
    )


def _file(contents: SourceContents, outcomes: Sequence[Tool | Problem]) -> InputFile:
    tools = sum(isinstance(outcome, Tool) for outcome in outcomes)
    owners = {item.server for item in outcomes if isinstance(item, Tool)} - contents.server_names
    server = next((name for name in (contents.name, contents.folder) if name in owners), "")
    problems = len(outcomes) - tools
    return InputFile(contents.label, contents.kind, tools, problems, server, contents.version)


def _read_tools(
    contents: SourceContents, common: set[str], source_server: str
) -> list[Tool | Problem]:
    """A tool or a problem for each record of a source, in order.

    ``common`` has the servers that other sources name too. Tools without a server get
    ``source_server``.
    """
    outcomes = (
        item if isinstance(item, Problem) else _read_tool(item, contents, common)
        for item in contents.items
    )
    return [
        replace(outcome, server=source_server).declared_in(outcome.raw_format)
        if source_server and isinstance(outcome, Tool) and not outcome.server
        else outcome
        for outcome in outcomes
    ]


def _read_tool(record: Record, contents: SourceContents, common: set[str]) -> Tool | Problem:
    value = record.value
    flaw = find_flaw(value)
    if not flaw and not isinstance(value, dict):
        flaw = f"is {value_excerpt(value)[:60]}, not an object; use an object with a name"
    if not flaw:
        try:
            server = _server_name(contents.server_of(record), contents, common)
            return read_record(value, contents.format, server, contents.budget)
        except RecordError as error:
            has_parts = any(GENERIC.find(value, part) for part in PARTS_OF_TOOLS)
            keys = listed((f"`{writable(key)[:40]}`" for key in value), 8) or "none"
            flaw = str(error) if has_parts else f"has no list of tools; its keys are {keys}"
    return record.problem(flaw)


def _server_name(server: str, contents: SourceContents, common: set[str]) -> str:
    return f"{server} ({contents.name})" if server in common else server


def _all_servers(
    all_contents: Sequence[SourceContents], common: set[str], tools: Sequence[Tool]
) -> tuple[Server, ...]:
    """The servers that sources name or that tools belong to, sorted by name.

    If several sources describe a server, the longest description is kept.
    """
    servers = {tool.server: Server(tool.server) for tool in tools if tool.server}
    for contents in all_contents:
        for server in contents.servers:
            name = _server_name(server.name, contents, common)
            alike = (servers.get(name, server), replace(server, name=name))
            servers[name] = max(alike, key=lambda one: one.fullness)
    return tuple(servers[name] for name in sorted(servers))


def _why_no_tools(sources: Sequence[Source], problems: Sequence[Problem]) -> str:
    labels = ", ".join(source.label for source in sources) or "no input"
    if problems:
        return f"no tools can be read: {problems[0].position} {problems[0].reason}"
    return f"no tools can be read from {labels}; use a list of objects that each have a name"
