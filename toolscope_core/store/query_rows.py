"""The query sets of a catalog: files, kept as they were uploaded, for all of its versions."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import delete
from sqlmodel import col, select

from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store, now
from toolscope_core.store.tables import QueryFileRow


@dataclass(frozen=True, slots=True)
class QueryFile:
    """A query set by the name of its file, and when it was uploaded."""

    name: str
    at: str
    content: bytes = field(repr=False)


def keep_query_file(store: Store, catalog_id: int, name: str, content: bytes) -> None:
    """Keep a query set, in place of an earlier one of this name."""
    with store.write() as session:
        catalog = catalog_row(session, store, catalog_id).name
        session.merge(QueryFileRow(name=catalog, file=name, at=now(), content=content))


def list_query_files(store: Store, catalog_id: int) -> tuple[QueryFile, ...]:
    """The query sets of a catalog, by name."""
    with store.read() as session:
        catalog = catalog_row(session, store, catalog_id).name
        rows = session.exec(select(QueryFileRow).where(QueryFileRow.name == catalog))
        files = [QueryFile(row.file, row.at, row.content) for row in rows]
    return tuple(sorted(files, key=lambda file: file.name))


def delete_query_file(store: Store, catalog_id: int, name: str) -> None:
    """Delete a query set; one that is not there is no error."""
    with store.write() as session:
        catalog = catalog_row(session, store, catalog_id).name
        own = (col(QueryFileRow.name) == catalog, col(QueryFileRow.file) == name)
        session.connection().execute(delete(QueryFileRow).where(*own))
