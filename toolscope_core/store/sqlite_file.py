"""A store in one SQLite file."""

import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Column, Connection, Engine, NullPool, create_engine, event
from sqlalchemy.exc import DatabaseError

from toolscope_core.model.errors import StoreError

REMEDIES = {
    "locked": "another program has locked it; close that program, or try again",
    "readonly": "it cannot be written; allow writing to the file and its folder",
    "unable to open": (
        "it cannot be opened; check that its folder exists and is writable, and that it is not a "
        "folder itself"
    ),
    "not a database": "it is not a database; move it away, or choose another file",
    "malformed": "it is damaged; restore a backup, or choose another file",
    "disk is full": "the disk is full and nothing was changed; free some space and try again",
    "decode": "a text in it is damaged; restore a backup, or choose another file",
}
_EXAMPLE = "set TOOLSCOPE_STORE_URL to one like sqlite:///store.db"


class SqliteFile:
    """A file in write-ahead mode, synchronised at each commit.

    ``place`` is the name of the store in messages; it never contains a password.
    """

    repair = "restore a backup of the file, or delete the row with an SQLite program"
    """What a person can do about an unusable row, as the end of a sentence."""
    failures: tuple[type[Exception], ...] = (
        DatabaseError,
        sqlite3.DatabaseError,
        UnicodeDecodeError,
    )
    """The errors of the database that ``remedy`` puts into words."""

    def __init__(self, url: URL, wait: float) -> None:
        self._url = url
        self._wait = wait
        self._path = _file_of(url)
        self.place = str(self._path)

    def look(self) -> Engine:
        """An engine that changes no store, not even one of another program. If the file is
        missing, the engine's database has no tables.
        """
        address = f"{self._path.absolute().as_uri()}?mode=rw"
        if not self._path.is_file():
            address = "file::memory:"
        return create_engine(
            "sqlite://",
            creator=lambda: sqlite3.connect(address, timeout=self._wait, uri=True),
            poolclass=NullPool,
        )

    def engine(self) -> Engine:
        """An engine for the store.

        Transactions with the option ``writes`` wait for their turn and run alone; readers see one
        state.
        """
        engine = create_engine(self._url, max_overflow=-1)
        event.listen(engine, "connect", self._prepare)
        event.listen(engine, "begin", _begin)
        return engine

    def back_up(self, step: str) -> None:
        """Back up the store before the migration ``step``: a complete copy of the last commit,
        called ``<name>.before-<step>``, or no copy at all.
        """
        copy = self._path.with_name(f"{self._path.name}.before-{step}")
        part = copy.with_name(f"{copy.name}.part")
        with closing(sqlite3.connect(self._path)) as source, closing(sqlite3.connect(part)) as to:
            source.backup(to)
        part.replace(copy)

    def clock(self, connection: Connection) -> datetime:
        """The time, which is the same for all programs that use the store: that of this machine,
        which holds the file.
        """
        return datetime.now(UTC)

    def count_on(self, connection: Connection, column: Column[int]) -> None:
        """Continue the database's automatic numbers after the largest number in the column. SQLite
        always does.
        """

    def remedy(self, error: Exception) -> str:
        """The end of a sentence that says what went wrong and what to do."""
        reason = str(getattr(error, "orig", error))
        return next((text for sign, text in REMEDIES.items() if sign in reason), reason)

    def _prepare(self, connection: sqlite3.Connection, record: Any) -> None:
        """Set the options of every connection, and check them."""
        connection.isolation_level = None  # transactions begin in _begin, nowhere else
        pragmas = {
            "busy_timeout": round(self._wait * 1000),
            "foreign_keys": 1,
            "synchronous": 2,
            "journal_mode": "wal",
        }
        for name, value in pragmas.items():
            if name == "journal_mode":
                _set_journal(connection, self._wait)
            else:
                connection.execute(f"PRAGMA {name}={value}")
            (actual,) = connection.execute(f"PRAGMA {name}").fetchone()
            if actual != value:
                raise StoreError(
                    f"{self.place}: {name} is {actual}, not {value}; move the store to a local disk"
                )


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options()["writes"]
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN DEFERRED")


def _set_journal(connection: sqlite3.Connection, wait: float) -> None:
    """Switch on write-ahead logging.

    SQLite does not wait if two programs do this at the same time.
    """
    deadline = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode=wal")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def _file_of(url: URL) -> Path:
    name = url.database or ""
    if name in ("", ":memory:") or name.startswith("file:"):
        raise StoreError(f"store URL {url.render_as_string()!r} names no file; {_EXAMPLE}")
    try:
        Path(name).is_file()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"the store {name!r} cannot be used: {reason}; {_EXAMPLE}") from error
    return Path(name)
