"""The schema as a list of steps, and how a file is brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from toolscope_core.errors import StoreError

Migration = Callable[[sqlite3.Connection], object]


def m001_catalogs(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE catalog ("
        " id INTEGER PRIMARY KEY, name TEXT NOT NULL, number INTEGER NOT NULL,"
        " version TEXT NOT NULL, content TEXT NOT NULL, at TEXT NOT NULL,"
        " format TEXT NOT NULL, tools INTEGER NOT NULL, servers INTEGER NOT NULL,"
        " body TEXT NOT NULL, UNIQUE (name, number))"
    )
    connection.execute(
        "CREATE TABLE tool ("
        " catalog_id INTEGER NOT NULL REFERENCES catalog (id), position INTEGER NOT NULL,"
        " body TEXT NOT NULL, PRIMARY KEY (catalog_id, position)) WITHOUT ROWID"
    )


def m002_decisions(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE decision ("
        " name TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, action TEXT NOT NULL,"
        " reviewer TEXT NOT NULL, members TEXT NOT NULL, ids TEXT NOT NULL,"
        " detail TEXT NOT NULL, PRIMARY KEY (name, seq))"
    )


def m003_jobs(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE job ("
        " number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        " catalog_id INTEGER NOT NULL REFERENCES catalog (id), kind TEXT NOT NULL,"
        " state TEXT NOT NULL, stage TEXT NOT NULL, done INTEGER NOT NULL,"
        " total INTEGER NOT NULL, message TEXT NOT NULL, cancel BOOLEAN NOT NULL,"
        " started_at TEXT NOT NULL, updated_at TEXT NOT NULL, lease_until TEXT NOT NULL)"
    )
    connection.execute(
        "CREATE UNIQUE INDEX one_live_job ON job (catalog_id) WHERE state = 'running'"
    )


def m004_selections(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE selection ("
        " number INTEGER PRIMARY KEY,"
        " catalog_id INTEGER NOT NULL REFERENCES catalog (id), key TEXT NOT NULL,"
        " source TEXT NOT NULL, ids TEXT NOT NULL, UNIQUE (catalog_id, key))"
    )


def m005_ledger(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE answer ("
        " key TEXT PRIMARY KEY, task TEXT NOT NULL, version TEXT NOT NULL,"
        " subjects TEXT NOT NULL, model TEXT NOT NULL, origin TEXT NOT NULL,"
        " value TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL) WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE call ("
        " number INTEGER PRIMARY KEY, run TEXT NOT NULL, task TEXT NOT NULL,"
        " model TEXT NOT NULL, origin TEXT NOT NULL, questions INTEGER NOT NULL,"
        " tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, counted BOOLEAN NOT NULL,"
        " cost REAL, seconds REAL NOT NULL, finish TEXT NOT NULL, error TEXT NOT NULL,"
        " at TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX call_of_run ON call (run)")
    connection.execute(
        "CREATE TABLE run ("
        " number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        " catalog_id INTEGER NOT NULL REFERENCES catalog (id), kind TEXT NOT NULL,"
        " key TEXT NOT NULL, configuration TEXT NOT NULL, state TEXT NOT NULL,"
        " message TEXT NOT NULL, started_at TEXT NOT NULL, ended_at TEXT NOT NULL)"
    )


def m006_settings(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
    )


def m007_jobs_by_kind(connection: sqlite3.Connection) -> None:
    connection.execute("DROP INDEX one_live_job")
    connection.execute(
        "CREATE UNIQUE INDEX one_live_job ON job (catalog_id, kind) WHERE state = 'running'"
    )


def m008_price_table(connection: sqlite3.Connection) -> None:
    """Prices belong to a model by name, no longer to the one endpoint."""
    connection.execute(
        "INSERT INTO setting SELECT 'prices', "
        "json_object(json_extract(value, '$.model'), json_extract(value, '$.prices')) "
        "FROM setting WHERE name = 'endpoint' AND json_extract(value, '$.prices') IS NOT NULL"
    )
    connection.execute(
        "UPDATE setting SET value = json_remove(value, '$.prices') WHERE name = 'endpoint'"
    )


def m009_query_files(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE query_file ("
        " name TEXT NOT NULL, file TEXT NOT NULL, at TEXT NOT NULL, content BLOB NOT NULL,"
        " PRIMARY KEY (name, file))"
    )


def m010_experiments(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE experiment ("
        " number INTEGER PRIMARY KEY,"
        " catalog_id INTEGER NOT NULL REFERENCES catalog (id), key TEXT NOT NULL,"
        " kind TEXT NOT NULL, configuration TEXT NOT NULL, result TEXT NOT NULL,"
        " is_done BOOLEAN NOT NULL, seconds REAL NOT NULL, at TEXT NOT NULL)"
    )


def m011_variants(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE variant ("
        " name TEXT NOT NULL, fingerprint TEXT NOT NULL, source TEXT NOT NULL,"
        " expanded TEXT NOT NULL, questions TEXT NOT NULL, PRIMARY KEY (name, fingerprint))"
    )


def m012_generated_queries(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE generated_query ("
        " name TEXT NOT NULL, key TEXT NOT NULL, number INTEGER NOT NULL, source TEXT NOT NULL,"
        " tools TEXT NOT NULL, draft TEXT NOT NULL, text TEXT NOT NULL, reason TEXT NOT NULL,"
        " state TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (name, key))"
    )


def m013_server_sources(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE server_source ("
        " name TEXT NOT NULL PRIMARY KEY, at TEXT NOT NULL, value TEXT NOT NULL)"
    )


def m016_usage_logs(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE usage_log ("
        " name TEXT NOT NULL, key TEXT NOT NULL, label TEXT NOT NULL, at TEXT NOT NULL,"
        " value TEXT NOT NULL, PRIMARY KEY (name, key))"
    )


MIGRATIONS: tuple[Migration, ...] = (
    m001_catalogs,
    m002_decisions,
    m003_jobs,
    m004_selections,
    m005_ledger,
    m006_settings,
    m007_jobs_by_kind,
    m008_price_table,
    m009_query_files,
    m010_experiments,
    m011_variants,
    m012_generated_queries,
    m013_server_sources,
    m016_usage_logs,
)
"""In the order of their application. Append only: a released step never changes."""


def check_readable(path: Path, wait: float) -> None:
    """``StoreError`` if the file is not ours or is newer than this program; it stays untouched.

    ``wait`` is in seconds, for a file that another program has locked.
    """
    if not path.is_file():
        return
    address = f"{path.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(address, timeout=wait, uri=True)) as connection:
        _check(connection, path)


def migrate(connection: sqlite3.Connection, path: Path, at: str) -> None:
    """Apply what is missing, all or nothing, after copying a file that already holds data.

    The copy stands next to the file as ``<name>.before-<first step>``. ``connection`` is in
    autocommit mode; of several programs that open one file at once, one migrates it.
    """
    if not _pending(_check(connection, path)):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        applied = _check(connection, path)
        pending = _pending(applied)
        if applied and pending:
            _copy(path, path.with_name(f"{path.name}.before-{pending[0].__name__}"))
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, at TEXT NOT NULL)"
        )
        for step in pending:
            step(connection)
            connection.execute("INSERT INTO migration VALUES (?, ?)", (step.__name__, at))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _check(connection: sqlite3.Connection, path: Path) -> frozenset[str]:
    """The names of the applied steps, none for an empty file."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if tables and "migration" not in tables:
        raise StoreError(
            f"{path} is a database of another program; choose another file with TOOLSCOPE_STORE_URL"
        )
    if not tables:
        return frozenset()
    applied = frozenset(name for (name,) in connection.execute("SELECT name FROM migration"))
    unknown = sorted(applied - {step.__name__ for step in MIGRATIONS})
    if unknown:
        raise StoreError(
            f"{path} was written by a newer ToolScope (it has {', '.join(unknown)}) and was left "
            "as it is; update ToolScope, or choose another file with TOOLSCOPE_STORE_URL"
        )
    return applied


def _pending(applied: frozenset[str]) -> list[Migration]:
    return [step for step in MIGRATIONS if step.__name__ not in applied]


def _copy(path: Path, target: Path) -> None:
    """The file as last committed, complete or not at all."""
    part = target.with_name(f"{target.name}.part")
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(part)) as copy:
        source.backup(copy)
    part.replace(target)
