"""The schema changes as a list of steps, and how a store is migrated.

A new store gets today's tables at once. The steps migrate a store that an earlier program wrote, in
SQL that every database accepts.
"""

from collections.abc import Callable

from sqlalchemy import Connection, Inspector, inspect, text
from sqlalchemy.engine.interfaces import ReflectedColumn

from toolscope_core.model.errors import StoreError
from toolscope_core.model.numbers import listed
from toolscope_core.store.databases import Database
from toolscope_core.store.tables import CatalogRow, StoredRow

RunStatement = Callable[..., object]
"""Runs a statement of a migration. ``:name`` in the statement is the value of the
keyword ``name``.
"""

Migration = Callable[[RunStatement], object]


def m001_tables(run: RunStatement) -> None:
    """The tables of the first release. A new store gets today's tables from ``tables``."""


MIGRATIONS: tuple[Migration, ...] = (m001_tables,)
"""The steps, in order. Only append to them: a released step never changes."""


def is_current(connection: Connection, place: str) -> bool:
    """Whether every step was applied to the store called ``place``; the check only reads.

    Raises ``StoreError`` if another or a newer program wrote the store, or if it is in an earlier
    state that no migration covers.
    """
    pending = _pending(_applied(connection, place))
    if not pending:
        _check_tables(connection, place)
    return not pending


def migrate(connection: Connection, database: Database, at: str) -> None:
    """Create the tables of a new store, or apply the missing steps after a backup.

    ``connection`` is in a write transaction: if several programs open a store at once, one of them
    migrates it, and a failure changes nothing.
    """
    applied = _applied(connection, database.place)
    pending = _pending(applied)
    if applied and pending:
        database.back_up(pending[0].__name__)

    def run(statement: str, **values: object) -> object:
        return connection.execute(text(statement), values)

    run("CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, at TEXT NOT NULL)")
    if not applied:
        StoredRow.metadata.create_all(connection)
    for step in pending:
        if applied:
            step(run)
        run("INSERT INTO migration VALUES (:name, :at)", name=step.__name__, at=at)


def _applied(connection: Connection, place: str) -> frozenset[str]:
    """The names of the steps that were applied; empty for a database without tables."""
    schema = inspect(connection)
    tables = schema.get_table_names()
    if not tables:
        return frozenset()
    is_ours = {"migration", CatalogRow.__tablename__} <= {*tables}
    if not is_ours or "name" not in _columns(schema, "migration"):
        raise StoreError(
            f"{place} is a database of another program; choose another one with TOOLSCOPE_STORE_URL"
        )
    applied = frozenset(connection.execute(text("SELECT name FROM migration")).scalars())
    steps = [step.__name__ for step in MIGRATIONS]
    ours, newer = [name for name in steps if name in applied], sorted(applied - {*steps})
    if not ours or ours != steps[: len(ours)] or (newer and ours != steps):
        raise _earlier(place, f"its steps are {listed(sorted(applied), 3) or 'none'}")
    if newer:
        raise StoreError(
            f"{place} was written by a newer ToolScope (it has {', '.join(newer)}) and was not "
            "changed; update ToolScope, or choose another store with TOOLSCOPE_STORE_URL"
        )
    return applied


def _check_tables(connection: Connection, place: str) -> None:
    """Raises ``StoreError`` if a table lacks columns that its rows have today."""
    schema = inspect(connection)
    tables = {*schema.get_table_names()}
    for name, table in StoredRow.metadata.tables.items():
        columns = _columns(schema, name) if name in tables else {}
        lacking = table.columns.keys() - columns.keys()
        extra = (about for key, about in columns.items() if key not in table.columns)
        if lacking or any(not about["nullable"] and about["default"] is None for about in extra):
            raise _earlier(place, f"{name} has the columns {listed(sorted(columns), 3)}")


def _columns(schema: Inspector, table: str) -> dict[str, ReflectedColumn]:
    return {column["name"]: column for column in schema.get_columns(table)}


def _earlier(place: str, sign: str) -> StoreError:
    return StoreError(
        f"{place} was written by an early development version of ToolScope ({sign}) that "
        "cannot be upgraded, and was not changed; move it away, or choose another store with "
        "TOOLSCOPE_STORE_URL. To keep its decisions, open it with the version that wrote it "
        "and download decisions.jsonl on the History page"
    )


def _pending(applied: frozenset[str]) -> list[Migration]:
    return [step for step in MIGRATIONS if step.__name__ not in applied]
