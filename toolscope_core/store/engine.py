"""The database file: opening it, its short transactions, and its errors in words."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, String, create_engine, event, select, type_coerce
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError
from sqlmodel import Session

from toolscope_core.errors import StoreError
from toolscope_core.store.migrations import check_readable, migrate
from toolscope_core.store.tables import CellError

BUSY_SECONDS = 15.0
"""Seconds that a transaction waits for another writer."""

REMEDIES = {
    "locked": "another program keeps it locked; close that program or try again",
    "readonly": "it may not be written; give yourself write permission to the file and its folder",
    "unable to open": "it cannot be opened; check that its folder exists and may be written, and "
    "that it is no folder itself",
    "not a database": "it is no database; move it away or choose another file",
    "malformed": "it is damaged; put a backup in its place or choose another file",
    "disk is full": "the disk is full and nothing was changed; free some space and repeat",
}


def now(ahead: float = 0.0) -> str:
    """The time in ``ahead`` seconds: UTC, ISO 8601 with milliseconds, so that text order is time
    order.
    """
    moment = datetime.now(UTC) + timedelta(seconds=ahead)
    return moment.isoformat(timespec="milliseconds")


class Store:
    """An open store file, created or migrated as needed; safe to share between threads.

    Raises ``StoreError`` when the file cannot be used, here and in every transaction.
    """

    def __init__(self, url: str) -> None:
        self.path = _file_of(url)
        with _in_words(self.path):
            check_readable(self.path, BUSY_SECONDS)
            self._engine = create_engine(url, max_overflow=-1)
            event.listen(self._engine, "connect", self._prepare)
            event.listen(self._engine, "begin", _begin)
            with self._engine.connect() as connection:
                raw = connection.connection.driver_connection
                migrate(raw, self.path, now())  # type: ignore[arg-type]

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session that sees one state of the store."""
        with self._transaction("DEFERRED") as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session that alone may write; keep it short. An exception undoes everything."""
        with self._transaction("IMMEDIATE") as session:
            yield session

    def close(self) -> None:
        """Let go of the file; a later transaction opens it again."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, mode: str) -> Iterator[Session]:
        engine = self._engine.execution_options(mode=mode)
        with (
            _in_words(self.path),
            Session(engine, expire_on_commit=False) as session,
            session.begin(),
        ):
            session.connection()
            try:
                yield session
            except CellError as error:
                raise damaged_row(self.path, _row_of(session, error), str(error)) from error

    def _prepare(self, connection: sqlite3.Connection, record: Any) -> None:
        """Set what every connection needs and check that it took."""
        connection.isolation_level = None  # transactions begin in _begin, nowhere else
        wanted = {
            "busy_timeout": round(BUSY_SECONDS * 1000),
            "foreign_keys": 1,
            "synchronous": 2,
            "journal_mode": "wal",
        }
        for name, value in wanted.items():
            if name == "journal_mode":
                _set_journal(connection)
            else:
                connection.execute(f"PRAGMA {name}={value}")
            (actual,) = connection.execute(f"PRAGMA {name}").fetchone()
            if actual != value:
                raise StoreError(
                    f"{self.path}: {name} is {actual}, not {value}; put the store on a local disk"
                )


def damaged_row(path: Path, row: str, reason: str) -> StoreError:
    """The error for a row that another program changed; ``row`` names it, with its table."""
    return StoreError(
        f"the {row} of the store {path} cannot be used: {reason}; put a backup of the file in its "
        "place, or delete the row with a program for SQLite"
    )


@contextmanager
def row_named(store: Store, row: str) -> Iterator[None]:
    """A block in which an error of converting a row becomes a ``StoreError`` that names the row."""
    try:
        yield
    except (ValueError, LookupError, TypeError) as error:
        raise damaged_row(store.path, row, str(error)) from error


def _row_of(session: Session, error: CellError) -> str:
    """The row that holds a cell, named by its primary key as it is stored."""
    table = error.column.table
    keys = [type_coerce(key, String) for key in table.primary_key]
    same = type_coerce(error.column, String) == error.text
    values = session.connection().execute(select(*keys).where(same)).first()
    named = zip(table.primary_key.columns.keys(), values or (), strict=False)
    shown = (f"{name} {str(value)[:60]}" for name, value in named)
    return f"{table.name} row ({', '.join(shown)})"


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(f"BEGIN {connection.get_execution_options()['mode']}")


def _set_journal(connection: sqlite3.Connection) -> None:
    """Write-ahead logging; SQLite does not wait by itself where two programs switch it on."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=wal")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def _file_of(url: str) -> Path:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise StoreError(f"store URL {url!r} cannot be read; {_EXAMPLE}") from error
    name = parsed.database or ""
    if parsed.drivername != "sqlite" or name in ("", ":memory:") or name.startswith("file:"):
        raise StoreError(f"store URL {parsed.render_as_string()!r} names no file; {_EXAMPLE}")
    try:
        Path(name).is_file()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"the store {name!r} cannot be used: {reason}; {_EXAMPLE}") from error
    return Path(name)


_EXAMPLE = "give one like sqlite:///store.db in TOOLSCOPE_STORE_URL"


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    """Turn what the database reports into ``StoreError``; broken rules stay bugs."""
    try:
        yield
    except IntegrityError:
        raise
    except (sqlite3.DatabaseError, DatabaseError) as error:
        reason = str(getattr(error, "orig", error))
        remedy = next((text for sign, text in REMEDIES.items() if sign in reason), reason)
        raise StoreError(f"the store {path} cannot be used: {remedy}") from error
