"""What belongs to all versions of a catalog: query sets, usage logs, variants, and its servers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from sqlalchemy import delete
from sqlmodel import select

from toolscope_core.model.tool import Augmentation, JsonObject
from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store, now
from toolscope_core.store.rebuilding import of_row
from toolscope_core.store.tables import QueryFileRow, ServerSourceRow, UsageLogRow, VariantRow

NamedRow = TypeVar("NamedRow", QueryFileRow, UsageLogRow, VariantRow)


@dataclass(frozen=True, slots=True)
class QueryFile:
    """A query set by the name of its file, as it was uploaded, and when."""

    name: str
    at: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class UsageLog:
    """The figures of one log by the hash of its content, the name of its file, and when it was
    added.
    """

    key: str
    label: str
    at: str
    value: JsonObject = field(repr=False)


@dataclass(frozen=True, slots=True)
class OfferedVariant:
    """A document variant, and the file that brought it."""

    variant: Augmentation
    source: str


@dataclass(frozen=True, slots=True)
class ServerSource:
    """The servers of a catalog, without any of their values, and when they were last read."""

    at: str
    value: JsonObject


def keep_query_file(store: Store, catalog_id: int, name: str, content: bytes) -> None:
    """Keep a query set, in place of an earlier one of this name."""
    _keep(store, catalog_id, QueryFileRow, [{"file": name, "at": now(), "content": content}])


def list_query_files(store: Store, catalog_id: int) -> tuple[QueryFile, ...]:
    """The query sets of a catalog, by name."""
    rows = _rows(store, catalog_id, QueryFileRow)
    files = (QueryFile(row.file, row.at, row.content) for row in rows)
    return tuple(sorted(files, key=lambda file: file.name))


def delete_query_file(store: Store, catalog_id: int, name: str) -> None:
    """Delete a query set; one that is not there is no error."""
    _delete(store, catalog_id, QueryFileRow, "file", name)


def keep_usage_log(store: Store, catalog_id: int, key: str, label: str, value: JsonObject) -> None:
    """Keep the figures of a log, in place of those of the same content."""
    row = {"key": key, "label": label, "at": now(), "value": dict(value)}
    _keep(store, catalog_id, UsageLogRow, [row])


def list_usage_logs(store: Store, catalog_id: int) -> tuple[UsageLog, ...]:
    """The logs of a catalog, in the order in which they were added."""
    logs = (of_row(UsageLog, row) for row in _rows(store, catalog_id, UsageLogRow))
    return tuple(sorted(logs, key=lambda log: (log.at, log.key)))


def usage_log_keys(store: Store, catalog_id: int) -> tuple[tuple[str, str], ...]:
    """Key and time of each log of a catalog, sorted, without its figures."""
    with store.read() as session:
        name = catalog_row(session, store, catalog_id).name
        named = select(UsageLogRow.key, UsageLogRow.at).where(UsageLogRow.name == name)
        return tuple(sorted((key, at) for key, at in session.exec(named)))


def delete_usage_log(store: Store, catalog_id: int, key: str) -> None:
    """Delete the figures of a log; one that is not there is no error."""
    _delete(store, catalog_id, UsageLogRow, "key", key)


def keep_variants(
    store: Store, catalog_id: int, source: str, variants: Mapping[str, Augmentation]
) -> None:
    """Keep variants by fingerprint, in place of earlier ones of the same tools."""
    rows = [
        {"fingerprint": one, "source": source, **asdict(own), "questions": list(own.questions)}
        for one, own in variants.items()
    ]
    _keep(store, catalog_id, VariantRow, rows)


def list_variants(store: Store, catalog_id: int) -> dict[str, OfferedVariant]:
    """The variants on offer for a catalog, by fingerprint."""
    return {
        row.fingerprint: OfferedVariant(of_row(Augmentation, row), row.source)
        for row in _rows(store, catalog_id, VariantRow)
    }


def keep_server_source(store: Store, name: str, value: JsonObject) -> None:
    """Keep the servers of the catalogs called ``name``, in place of earlier ones."""
    with store.write() as session:
        session.merge(ServerSourceRow(name=name, at=now(), value=dict(value)))


def read_server_source(store: Store, name: str) -> ServerSource | None:
    """The servers of the catalogs called ``name``; ``None`` where they were read from files."""
    with store.read() as session:
        row = session.get(ServerSourceRow, name)
        return None if row is None else of_row(ServerSource, row)


def _keep(
    store: Store, catalog_id: int, table: type[NamedRow], rows: Iterable[Mapping[str, Any]]
) -> None:
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        for cells in rows:
            session.merge(table(name=name, **cells))


def _rows(store: Store, catalog_id: int, table: type[NamedRow]) -> Sequence[NamedRow]:
    with store.read() as session:
        name = catalog_row(session, store, catalog_id).name
        return session.exec(select(table).where(table.name == name)).all()


def _delete(store: Store, catalog_id: int, table: type[NamedRow], column: str, value: str) -> None:
    with store.write() as session:
        own = {"name": catalog_row(session, store, catalog_id).name, column: value}
        session.connection().execute(delete(table).filter_by(**own))
