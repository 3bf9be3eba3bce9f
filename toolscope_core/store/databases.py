"""The differences between the databases that can contain a store."""

from datetime import datetime
from typing import Protocol

from sqlalchemy import Column, Connection, Engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from toolscope_core.model.errors import StoreError
from toolscope_core.store.postgres_server import SCHEMES, PostgresServer
from toolscope_core.store.sqlite_file import SqliteFile

_EXAMPLES = (
    "set TOOLSCOPE_STORE_URL to one like sqlite:///store.db or postgresql://user@host/database"
)


class Database(Protocol):
    """A database that can contain a store: ``SqliteFile`` or ``PostgresServer``."""

    place: str
    """The name of the store in messages; it never contains a password."""
    repair: str
    """What a person can do about an unusable row, as the end of a sentence."""
    failures: tuple[type[Exception], ...]
    """The errors of the database that ``remedy`` puts into words."""

    def look(self) -> Engine:
        """An engine that changes no store, not even one of another program."""

    def engine(self) -> Engine:
        """An engine for the store.

        Transactions with the option ``writes`` wait for their turn and run alone; readers see one
        state.
        """

    def back_up(self, step: str) -> None:
        """Back up the store before the migration ``step``.

        If only a person can make the backup and has not confirmed it, raises ``StoreError`` with
        instructions.
        """

    def clock(self, connection: Connection) -> datetime:
        """The time, which is the same for all programs that use the store."""

    def count_on(self, connection: Connection, column: Column[int]) -> None:
        """Continue the database's automatic numbers after the largest number in the column."""

    def remedy(self, error: Exception) -> str:
        """The end of a sentence that says what went wrong and what to do."""


def database_of(url: str, wait: float, *, backed_up: bool = False) -> Database:
    """The database for a store's URL.

    The database waits up to ``wait`` seconds for another writer. ``backed_up`` says that a person
    has made a backup. Raises ``StoreError`` if the URL names no database.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        begin = url.partition(":")[0]  # the rest may contain a password
        raise StoreError(f"store URL {begin!r}… cannot be read; {_EXAMPLES}") from error
    if parsed.drivername in SCHEMES:
        return PostgresServer(parsed, wait, backed_up=backed_up)
    if parsed.drivername == "sqlite":
        return SqliteFile(parsed, wait)
    raise StoreError(f"store URL {parsed.drivername}://… names no file or server; {_EXAMPLES}")
