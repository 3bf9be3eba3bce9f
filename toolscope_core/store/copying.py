"""Copies a whole store into an empty one, which may be in the other kind of database, and checks
the copy.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, insert, select
from sqlmodel import Session, col
from sqlmodel import select as select_rows

from toolscope_core.model.errors import StoreError
from toolscope_core.model.protocols import Progress, Step, silent
from toolscope_core.store.engine import Store
from toolscope_core.store.tables import JobRow, Json, StoredRow

_AT_ONCE = 1_000
"""The number of rows in memory at once."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table of both stores, with its number of rows and a hash (64 hex digits)
    of all its cells.
    """

    name: str
    rows: int
    digest: str


def copy_store(
    source: Store, target: Store, progress: Progress = silent
) -> tuple[CopiedTable, ...]:
    """Copy every row unchanged, all or none, and return the tables after both sides were compared.

    The source is read at one moment; what is written later is not in the copy. Raises
    ``StoreError`` if a job is running on the source, if the target already has rows, or if the
    target does not return what was written.
    """
    tables = [_as_stored(table) for table in StoredRow.metadata.sorted_tables]
    copied = []
    with source.read() as source_session, target.write() as target_session:
        _check_idle(source, source_session)
        _check_empty(target, target_session.connection(), tables)
        for done, table in enumerate(tables):
            progress(Step(f"copy {table.name}", done, len(tables)))
            for rows in _partitions(table, source_session.connection()):
                cells = [dict(row._mapping) for row in rows]
                target_session.connection().execute(insert(table), cells)
            copied.append(_summed(table, source_session.connection()))
            _check_same(target, copied[-1], _summed(table, target_session.connection()))
            (key, *others) = table.primary_key
            if not others and isinstance(key.type, Integer):
                target.count_on(target_session, key)
    return tuple(copied)


def contents(store: Store) -> tuple[CopiedTable, ...]:
    """The tables of a store, read at one moment."""
    tables = [_as_stored(table) for table in StoredRow.metadata.sorted_tables]
    with store.read() as session:
        return tuple(_summed(table, session.connection()) for table in tables)


def _as_stored(table: Table) -> Table:
    """The table, with text cells wherever the row classes convert values."""
    columns = (
        Column(
            column.name,
            Text() if isinstance(column.type, Json) else column.type,
            primary_key=column.primary_key,
        )
        for column in table.columns
    )
    return Table(table.name, MetaData(), *columns)


def _summed(table: Table, connection: Connection) -> CopiedTable:
    count, hashed = 0, hashlib.sha256()
    for row in chain.from_iterable(_partitions(table, connection)):
        count += 1
        hashed.update(repr(tuple(row)).encode("utf-8", "backslashreplace"))
    return CopiedTable(table.name, count, hashed.hexdigest())


def _partitions(table: Table, connection: Connection) -> Iterator[Sequence[Any]]:
    """The rows in the order of their key, which is the same on both databases."""
    ordered = select(table).order_by(*table.primary_key)
    return connection.execute(ordered, execution_options={"yield_per": _AT_ONCE}).partitions()


def _check_idle(source: Store, session: Session) -> None:
    running = select_rows(JobRow.id).where(
        JobRow.state == "running", col(JobRow.lease_until) > source.time(session)
    )
    if session.exec(running).first():
        raise StoreError(
            f"a job is running on {source.place}; stop the programs that use it, then copy it again"
        )


def _check_empty(target: Store, connection: Connection, tables: Iterable[Table]) -> None:
    filled = [t.name for t in tables if connection.execute(select(t).limit(1)).first()]
    if filled:
        raise StoreError(
            f"the store {target.place} already has rows ({', '.join(filled)}) and was not changed; "
            "copy into a new store"
        )


def _check_same(target: Store, expected: CopiedTable, actual: CopiedTable) -> None:
    if expected != actual:
        raise StoreError(
            f"the table {expected.name} was not copied correctly ({expected.rows:,} rows read, "
            f"{actual.rows:,} found in {target.place}); the whole copy was undone"
        )
