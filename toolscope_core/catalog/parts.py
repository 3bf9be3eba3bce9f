"""What each source holds: how it is written, its records and servers; no tools yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from toolscope_core.catalog.limits import MAX_RECORDS
from toolscope_core.catalog.naming import source_names
from toolscope_core.catalog.records import Record, document_kind, find_records
from toolscope_core.catalog.shapes import FORMATS, SHAPES, Shape, detect, own_server
from toolscope_core.catalog.sources import Source
from toolscope_core.catalog.values import read_values
from toolscope_core.datamodel import Problem, Server
from toolscope_core.errors import CatalogError

INPUTS = (*FORMATS, "openapi", "csv", "mcp-client")
"""What a source can be said to be: a shape of records, or another kind of document."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one source holds, before servers and ids are settled.

    ``name`` is the source's, ``kind`` (one of ``INPUTS``) how it is written.
    """

    name: str
    label: str
    kind: str
    shape: Shape
    items: tuple[Record | Problem, ...]
    servers: tuple[Server, ...]

    def server_of(self, record: Record) -> str:
        """The server that the source itself gives the record; empty if none."""
        own = own_server(record.value, self.shape) if isinstance(record.value, dict) else ""
        return own or record.server

    @property
    def server_names(self) -> set[str]:
        named = {self.server_of(item) for item in self.items if isinstance(item, Record)}
        listed = () if self.kind == "mcp-client" else self.servers
        return (named | {server.name for server in listed}) - {""}


def read_parts(sources: Sequence[Source], forced: str | None = None) -> list[Part]:
    """What each source holds.

    Raises ``CatalogError`` for an unknown format and for more than ``MAX_RECORDS``.
    """
    for format in {forced, *(source.format for source in sources)} - {None}:
        if format not in INPUTS:
            raise CatalogError(f"the format {format!r} is unknown; give one of {', '.join(INPUTS)}")
    parts = []
    count = 0
    for source, name in zip(sources, source_names(sources), strict=True):
        parts.append(_read_part(source, name, source.format or forced))
        count += len(parts[-1].items)
        if count > MAX_RECORDS:
            raise CatalogError(
                f"{source.label} brings the input to {count:,} records or more; at most "
                f"{MAX_RECORDS:,} are read, split it into several catalogs"
            )
    return parts


def _read_part(source: Source, name: str, forced: str | None) -> Part:
    values = read_values(source, forced)
    found: list[Record | Server | Problem] = []
    kinds: set[str] = set()
    for item in values.items:
        if isinstance(item, Problem):
            found.append(item)
            continue
        kind = document_kind(item.value) if forced is None else forced
        inside = find_records(item, source.label, kind)
        found += islice(inside, MAX_RECORDS + 1)  # one too many is enough to refuse
        kinds.add(kind)
    records = [item for item in found if isinstance(item, Record)]
    servers = tuple(item for item in found if isinstance(item, Server))
    if forced is None and values.syntax == "csv":
        forced = "csv"
    shape = SHAPES.get(forced or "") or _detect(records, servers, forced)
    other = kinds.pop() if len(kinds) == 1 else ""
    return Part(
        name=name,
        label=source.label,
        kind=forced or other or shape.name,
        shape=shape,
        items=tuple(item for item in found if not isinstance(item, Server)),
        servers=servers,
    )


def _detect(records: Sequence[Record], servers: Sequence[Server], forced: str | None) -> Shape:
    if forced == "csv":
        return SHAPES["generic"]
    objects = [record.value for record in records if isinstance(record.value, dict)]
    return detect(objects, frozenset(record.within for record in records), bool(servers))
