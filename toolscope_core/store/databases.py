"""What differs between the databases that can hold a store: all of it is asked for here."""

from datetime import datetime
from typing import Protocol

from sqlalchemy import Column, Connection, Engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from toolscope_core.model.errors import StoreError
from toolscope_core.store.postgres_server import SCHEMES, PostgresServer
from toolscope_core.store.sqlite_file import SqliteFile

_EXAMPLES = (
    "give one like sqlite:///store.db or postgresql://user@host/database in TOOLSCOPE_STORE_URL"
)


class Database(Protocol):
    """A database that can hold a store; ``SqliteFile`` and ``PostgresServer`` are two."""

    place: str
    """The name of the store in messages; never with a password."""
    repair: str
    """What a person does about a row that cannot be used, as the end of a sentence."""
    failures: tuple[type[Exception], ...]
    """The errors of the database that ``remedy`` puts into words."""

    def look(self) -> Engine:
        """An engine that leaves a store as it is, even one of another program."""

    def engine(self) -> Engine:
        """An engine for the store. Its transactions have the option ``writes``: those that write
        wait for their turn and are alone; those that read see one state.
        """

    def back_up(self, step: str) -> None:
        """Keep a copy of the store before the migration ``step``. Raises ``StoreError`` that says
        how to make one, where only a person can and has not said so.
        """

    def clock(self, connection: Connection) -> datetime:
        """The time, the same for all programs that use the store."""

    def count_on(self, connection: Connection, column: Column[int]) -> None:
        """Have the numbers that the database gives go on after the greatest in the column."""

    def remedy(self, error: Exception) -> str:
        """What went wrong and what a person does about it, as the end of a sentence."""


def database_of(url: str, wait: float, *, backed_up: bool = False) -> Database:
    """The database of a store's URL. It waits ``wait`` seconds for another writer; ``backed_up``
    says that a person keeps a copy. Raises ``StoreError`` for a URL that names no database.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        begin = url.partition(":")[0]  # what follows may hold a password
        raise StoreError(f"store URL {begin!r}… cannot be read; {_EXAMPLES}") from error
    if parsed.drivername in SCHEMES:
        return PostgresServer(parsed, wait, backed_up=backed_up)
    if parsed.drivername == "sqlite":
        return SqliteFile(parsed, wait)
    raise StoreError(f"store URL {parsed.drivername}://… names no file or server; {_EXAMPLES}")
