"""The schema as a list of steps, and how a store is brought up to date.

The steps are written in SQLite's words for the types of columns; ``Database.declared`` has those of
another database.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, inspect, text

from toolscope_core.model.errors import StoreError
from toolscope_core.store.databases import Database

RunStatement = Callable[..., object]
"""Runs a statement of a migration; ``:name`` in it is the value of the keyword of that name."""

Migration = Callable[[RunStatement], object]

TABLES = (
    "CREATE TABLE catalog ("
    " id INTEGER PRIMARY KEY, name TEXT NOT NULL, number INTEGER NOT NULL,"
    " version TEXT NOT NULL, content TEXT NOT NULL, at TEXT NOT NULL,"
    " format TEXT NOT NULL, tools INTEGER NOT NULL, servers INTEGER NOT NULL,"
    " body TEXT NOT NULL, renamed TEXT NOT NULL, UNIQUE (name, number))",
    "CREATE TABLE tool ("
    " catalog_id INTEGER NOT NULL REFERENCES catalog (id), position INTEGER NOT NULL,"
    " body TEXT NOT NULL, PRIMARY KEY (catalog_id, position)) WITHOUT ROWID",
    "CREATE TABLE decision ("
    " name TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, action TEXT NOT NULL,"
    " reviewer TEXT NOT NULL, members TEXT NOT NULL, ids TEXT NOT NULL,"
    " detail TEXT NOT NULL, PRIMARY KEY (name, seq))",
    "CREATE TABLE job ("
    " number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " catalog_id INTEGER NOT NULL REFERENCES catalog (id), kind TEXT NOT NULL,"
    " state TEXT NOT NULL, stage TEXT NOT NULL, done INTEGER NOT NULL,"
    " total INTEGER NOT NULL, message TEXT NOT NULL, cancel BOOLEAN NOT NULL,"
    " started_at TEXT NOT NULL, updated_at TEXT NOT NULL, lease_until TEXT NOT NULL)",
    "CREATE UNIQUE INDEX one_live_job ON job (catalog_id, kind) WHERE state = 'running'",
    "CREATE TABLE selection ("
    " number INTEGER PRIMARY KEY,"
    " catalog_id INTEGER NOT NULL REFERENCES catalog (id), key TEXT NOT NULL,"
    " source TEXT NOT NULL, ids TEXT NOT NULL, UNIQUE (catalog_id, key))",
    "CREATE TABLE answer ("
    " key TEXT PRIMARY KEY, task TEXT NOT NULL, version TEXT NOT NULL,"
    " subjects TEXT NOT NULL, model TEXT NOT NULL, origin TEXT NOT NULL,"
    " value TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE call ("
    " number INTEGER PRIMARY KEY, run TEXT NOT NULL, task TEXT NOT NULL,"
    " model TEXT NOT NULL, origin TEXT NOT NULL, questions INTEGER NOT NULL,"
    " tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, counted BOOLEAN NOT NULL,"
    " cost REAL, seconds REAL NOT NULL, finish TEXT NOT NULL, error TEXT NOT NULL,"
    " at TEXT NOT NULL)",
    "CREATE INDEX call_of_run ON call (run)",
    "CREATE TABLE run ("
    " number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " catalog_id INTEGER NOT NULL REFERENCES catalog (id), kind TEXT NOT NULL,"
    " key TEXT NOT NULL, configuration TEXT NOT NULL, state TEXT NOT NULL,"
    " message TEXT NOT NULL, started_at TEXT NOT NULL, ended_at TEXT NOT NULL)",
    "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE query_file ("
    " name TEXT NOT NULL, file TEXT NOT NULL, at TEXT NOT NULL, content BLOB NOT NULL,"
    " PRIMARY KEY (name, file))",
    "CREATE TABLE experiment ("
    " number INTEGER PRIMARY KEY,"
    " catalog_id INTEGER NOT NULL REFERENCES catalog (id), key TEXT NOT NULL,"
    " kind TEXT NOT NULL, configuration TEXT NOT NULL, result TEXT NOT NULL,"
    " is_done BOOLEAN NOT NULL, seconds REAL NOT NULL, at TEXT NOT NULL)",
    "CREATE TABLE variant ("
    " name TEXT NOT NULL, fingerprint TEXT NOT NULL, source TEXT NOT NULL,"
    " expanded TEXT NOT NULL, questions TEXT NOT NULL, PRIMARY KEY (name, fingerprint))",
    "CREATE TABLE generated_query ("
    " name TEXT NOT NULL, key TEXT NOT NULL, number INTEGER NOT NULL, source TEXT NOT NULL,"
    " tools TEXT NOT NULL, draft TEXT NOT NULL, text TEXT NOT NULL, reason TEXT NOT NULL,"
    " state TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (name, key))",
    "CREATE TABLE server_source ("
    " name TEXT NOT NULL PRIMARY KEY, at TEXT NOT NULL, value TEXT NOT NULL)",
    "CREATE TABLE usage_log ("
    " name TEXT NOT NULL, key TEXT NOT NULL, label TEXT NOT NULL, at TEXT NOT NULL,"
    " value TEXT NOT NULL, PRIMARY KEY (name, key))",
)
"""What the first step creates; a table comes after those that it refers to."""


def m001_tables(run: RunStatement) -> None:
    for statement in TABLES:
        run(statement)


MIGRATIONS: tuple[Migration, ...] = (m001_tables,)
"""In the order of their application. Append only: a released step never changes."""


def is_current(connection: Connection, place: str) -> bool:
    """Whether every step was applied to the store called ``place``; reads only.

    Raises ``StoreError`` for a store of another or of a newer program.
    """
    return not _pending(_applied(connection, place))


def migrate(connection: Connection, database: Database, at: str) -> None:
    """Apply what is missing, after a store that already holds data was backed up.

    ``connection`` is in a transaction that writes: of several programs that open one store at once,
    one migrates it, and what fails changes nothing.
    """
    applied = _applied(connection, database.place)
    pending = _pending(applied)
    if applied and pending:
        database.back_up(pending[0].__name__)

    def run(statement: str, **values: object) -> object:
        return connection.execute(text(database.declared(statement)), values)

    run("CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, at TEXT NOT NULL)")
    for step in pending:
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
