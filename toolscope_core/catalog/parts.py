"""The contents of each source: its format, records and servers; not yet read as tools."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from toolscope_core.catalog.bundle_versions import TOOLSET, why_unreadable
from toolscope_core.catalog.flaws import MAX_RECORDS, excerpt, find_flaw
from toolscope_core.catalog.formats.detection import detect
from toolscope_core.catalog.formats.format_table import INPUTS, RECORD_FORMATS
from toolscope_core.catalog.formats.neutral import GENERIC, names_in
from toolscope_core.catalog.formats.record_format import RecordFormat, own_server
from toolscope_core.catalog.naming import source_names
from toolscope_core.catalog.records import (
    DocumentReading,
    Entry,
    Record,
    ToolsPage,
    document_kind,
    find_records,
)
from toolscope_core.catalog.schema.pointers import ExpansionBudget
from toolscope_core.catalog.sources import Source
from toolscope_core.catalog.values import Placed, read_values
from toolscope_core.model.catalog import FormerName, Problem, Server
from toolscope_core.model.errors import CatalogError


@dataclass(frozen=True, slots=True)
class SourceContents:
    """The contents of one source, before servers and ids are settled; ``items`` are its records.

    ``name`` is the source's, ``kind`` its format (one of ``INPUTS``), ``budget`` what all readers
    of the source share; ``former_names`` are those of a toolset in the neutral shape.
    """

    name: str
    label: str
    kind: str
    shape: RecordFormat
    items: tuple[Record | Problem, ...]
    servers: tuple[Server, ...]
    pages: tuple[ToolsPage, ...]
    budget: ExpansionBudget
    former_names: tuple[FormerName, ...] = ()

    def server_of(self, record: Record) -> str:
        """The server that the source itself gives the record; empty if none."""
        own = own_server(record.value, self.shape) if isinstance(record.value, dict) else ""
        return own or record.server

    @property
    def server_names(self) -> set[str]:
        named = {self.server_of(item) for item in self.items if isinstance(item, Record)}
        listed = () if self.kind == "mcp-client" else self.servers
        return (named | {server.name for server in listed}) - {""}


def read_contents(
    sources: Sequence[Source], forced: str | None, report: Callable[[str], object]
) -> list[SourceContents]:
    """The contents of each source, with a ``Problem`` for each list of which pages are missing;
    ``report`` is called with the label of each source before it is read.

    Raises ``CatalogError`` for an unknown format and for more than ``MAX_RECORDS``.
    """
    for format in {forced, *(source.format for source in sources)} - {None}:
        if format not in INPUTS:
            raise CatalogError(f"the format {format!r} is unknown; give one of {', '.join(INPUTS)}")
    contents = []
    count = 0
    for source, name in zip(sources, source_names(sources), strict=True):
        report(source.label)
        contents.append(_read_source(source, name, source.format or forced))
        count += len(contents[-1].items)
        if count > MAX_RECORDS:
            raise CatalogError(
                f"{source.label} brings the input to {count:,} records or more; at most "
                f"{MAX_RECORDS:,} are read at once; split it (`merge --shards` reads any number)"
            )
    return _with_missing_pages(contents)


def _read_source(source: Source, name: str, forced: str | None) -> SourceContents:
    values = read_values(source, forced)
    budget = ExpansionBudget()
    entries: list[Entry] = []
    kinds: set[str] = set()
    document, files = PurePosixPath(source.label).name, _contents(source)
    for item in values.items:
        if isinstance(item, Problem):
            entries.append(item)
            continue
        kind = document_kind(item.value) if forced is None else forced
        found = find_records(item, source.label, kind, DocumentReading(budget, document, files))
        entries += _bounded(found)
        kinds.add(kind)
    records = [item for item in entries if isinstance(item, Record)]
    servers = tuple(item for item in entries if isinstance(item, Server))
    if forced is None and values.syntax == "csv":
        forced = "csv"
    shape = RECORD_FORMATS.get(forced or "") or _detect(records, servers, forced)
    other = kinds.pop() if len(kinds) == 1 else ""
    names: tuple[FormerName, ...] = ()
    if shape.name == "neutral" and any(_is_marked(record, shape) for record in records):
        _check_versions(source.label, values.items)
        names = tuple(
            one for item in values.items if isinstance(item, Placed) for one in names_in(item.value)
        )
    return SourceContents(
        name=name,
        label=source.label,
        kind=forced or other or shape.name,
        shape=shape,
        items=tuple(item for item in entries if isinstance(item, (Record, Problem))),
        servers=servers,
        pages=tuple(item for item in entries if isinstance(item, ToolsPage)),
        budget=budget,
        former_names=names,
    )


def _contents(source: Source) -> dict[str, Any]:
    """The value in each file of a source, without those that cannot be read whole."""
    contents = {}
    for path, data in source.files.items():
        items = read_values(Source(path, data)).items
        if len(items) == 1 and isinstance(items[0], Placed) and not find_flaw(items[0].value):
            contents[path] = items[0].value
    return contents


def _is_marked(record: Record, shape: RecordFormat) -> bool:
    return isinstance(record.value, dict) and shape.marks(record.value)


def _check_versions(label: str, items: Iterable[Placed | Problem]) -> None:
    """Raises ``CatalogError`` for a neutral toolset of another version."""
    for item in items:
        if isinstance(item, Placed) and isinstance(item.value, dict) and "tools" in item.value:
            refused = why_unreadable(label, item.value, TOOLSET)
            if refused:
                raise CatalogError(refused)


def _with_missing_pages(all_contents: Sequence[SourceContents]) -> list[SourceContents]:
    """The contents with a ``Problem`` where the last page given of a server's list is not its last.

    Pages of one source come in their order. Sources come in any, so the end of a list may stand
    in any of them that holds a last page of the same server, or of none if the list names none.
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
        f"goes on at nextCursor {excerpt(page.cursor)[:60]}, and that page is not given, so tools "
        "are missing; ask the server for it (tools/list with this cursor) and give all pages"
    )
    return Problem(page.position, reason)


def _bounded(inside: Iterable[Entry]) -> Iterator[Entry]:
    """The entries up to one record more than allowed: that is enough to refuse."""
    count = 0
    for item in inside:
        yield item
        count += isinstance(item, (Record, Problem))
        if count > MAX_RECORDS:
            return


def _detect(
    records: Sequence[Record], servers: Sequence[Server], forced: str | None
) -> RecordFormat:
    if forced == "csv":
        return GENERIC
    objects = [record.value for record in records if isinstance(record.value, dict)]
    return detect(objects, frozenset(record.within for record in records), servers)
