"""The changes of the schema as a list of steps, and how a store is brought up to date.

A new store gets the tables of the row classes at once; the steps are for one of an earlier program,
and in words that every database takes.
"""

from collections.abc import Callable

from sqlalchemy import Connection, inspect, text

from toolscope_core.model.errors import StoreError
from toolscope_core.store.databases import Database
from toolscope_core.store.tables import Row

RunStatement = Callable[..., object]
"""Runs a statement of a migration; ``:name`` in it is the value of the keyword of that name."""

Migration = Callable[[RunStatement], object]


def m001_tables(run: RunStatement) -> None:
    """The tables of the first release. A new store is made of today's, in ``tables``."""


MIGRATIONS: tuple[Migration, ...] = (m001_tables,)
"""In the order of their application. Append only: a released step never changes."""


def is_current(connection: Connection, place: str) -> bool:
    """Whether every step was applied to the store called ``place``; reads only.

    Raises ``StoreError`` for a store of another or of a newer program.
    """
    return not _pending(_applied(connection, place))


def migrate(connection: Connection, database: Database, at: str) -> None:
    """Make the tables of a new store; of an earlier one apply what is missing, after a backup.

    ``connection`` is in a transaction that writes: of several programs that open one store at once,
    one migrates it, and what fails changes nothing.
    """
    applied = _applied(connection, database.place)
    pending = _pending(applied)
    if applied and pending:
        database.back_up(pending[0].__name__)

    def run(statement: str, **values: object) -> object:
        return connection.execute(text(statement), values)

    run("CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, at TEXT NOT NULL)")
    if not applied:
        Row.metadata.create_all(connection)
    for step in pending:
        if applied:
            step(run)
        run("INSERT INTO migration VALUES (:name, :at)", name=step.__name__, at=at)


def _applied(connection: Connection, place: str) -> frozenset[str]:
    """The names of the applied steps, none for a database without tables."""
    tables = inspect(connection).get_table_names()
    if tables and "migration" not in tables:
        raise StoreError(
            f"{place} is a database of another program; choose another one with TOOLSCOPE_STORE_URL"
        )
    if not tables:
        return frozenset()
    applied = frozenset(connection.execute(text("SELECT name FROM migration")).scalars())
    unknown = sorted(applied - {step.__name__ for step in MIGRATIONS})
    if unknown:
        raise StoreError(
            f"{place} was written by a newer ToolScope (it has {', '.join(unknown)}) and was left "
            "as it is; update ToolScope, or choose another store with TOOLSCOPE_STORE_URL"
        )
    return applied


def _pending(applied: frozenset[str]) -> list[Migration]:
    return [step for step in MIGRATIONS if step.__name__ not in applied]
