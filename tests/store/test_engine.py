import importlib
import multiprocessing
import os
import sqlite3
import sys
import threading
from contextlib import closing

import pytest
from sqlalchemy import text
from sqlmodel import select

from toolscope_core.datamodel import Catalog, Decision, Tool
from toolscope_core.errors import StoreError
from toolscope_core.store import (
    Store,
    append_decision,
    engine,
    list_catalogs,
    migrations,
    read_log,
    read_setting,
    save_catalog,
    write_setting,
)
from toolscope_core.store.tables import CatalogRow, DecisionRow, Row

CATALOG = Catalog(tools=(Tool(id="a", name="a"),))
DECISION = Decision("edit", ("f",), ("a",), "ann", detail={"name": "x"})


def url(path):
    return f"sqlite:///{path}"


def row():
    empty = dict.fromkeys(("version", "content", "at", "format"), "")
    return CatalogRow(name="n", number=1, tools=0, servers=0, body={}, **empty)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(path):
    store = Store(url(path))
    yield store
    store.close()


def tables_of(path):
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
            for (name,) in names
        }


def test_the_migrations_make_the_tables_that_the_row_classes_describe(store, path):
    made = tables_of(path)
    assert made.pop("migration") == {"name", "at"}
    described = Row.metadata.tables.items()
    assert made == {name: set(table.columns.keys()) for name, table in described}


def test_every_connection_has_the_pragmas(store):
    wanted = {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 15000, "synchronous": 2}
    with store.read() as one, store.read() as other, store.write() as writer:
        for session in (one, other, writer):
            for name, value in wanted.items():
                assert session.connection().execute(text(f"PRAGMA {name}")).scalar() == value


def test_a_pragma_that_does_not_take_is_an_error(path, monkeypatch):
    monkeypatch.setattr(engine, "_set_journal", lambda connection: None)
    with pytest.raises(StoreError, match="journal_mode is delete, not wal; put the store on a"):
        Store(url(path))


def test_an_exception_undoes_the_whole_write(store):
    with pytest.raises(RuntimeError), store.write() as session:
        session.add(row())
        session.flush()
        raise RuntimeError
    with store.read() as session:
        assert session.exec(select(CatalogRow)).all() == []


def test_a_reader_sees_one_state_while_others_write(store):
    record = save_catalog(store, "n", CATALOG)
    with store.read() as session:
        assert session.exec(select(DecisionRow)).all() == []
        append_decision(store, record.id, lambda log: DECISION)
        assert session.exec(select(DecisionRow)).all() == []
    assert len(read_log(store, record.id)) == 1


def test_a_broken_rule_stays_a_bug(store):
    with pytest.raises(Exception, match="FOREIGN KEY") as bug, store.write() as session:
        session.connection().execute(
            text("INSERT INTO tool (catalog_id, position, body) VALUES (9, 0, 'null')")
        )
    assert not isinstance(bug.value, StoreError)


def test_a_closed_store_opens_again_with_what_it_held(store, path):
    record = save_catalog(store, "n", CATALOG)
    store.close()
    assert list_catalogs(store) == (record,)
    again = Store(url(path))
    assert list_catalogs(again) == (record,)
    again.close()
    assert [item.name for item in path.parent.iterdir() if "before" in item.name] == []


# Files that cannot be used


@pytest.mark.parametrize(
    "bad", ["", "store.db", "sqlite://", "sqlite:///:memory:", "sqlite:///file:x?uri=true"]
)
def test_a_url_without_a_file_is_refused(bad):
    with pytest.raises(StoreError, match=r"sqlite:///store\.db in TOOLSCOPE_STORE_URL"):
        Store(bad)


def test_the_password_of_a_url_is_not_shown():
    with pytest.raises(StoreError, match="names no file") as refusal:
        Store("postgresql://user:secret@host/name")
    assert "secret" not in str(refusal.value)


def test_a_folder_or_a_missing_folder_is_refused(tmp_path):
    for place in (tmp_path, tmp_path / "missing" / "store.db"):
        with pytest.raises(StoreError, match="check that its folder exists") as refusal:
            Store(url(place))
        assert str(place) in str(refusal.value)


def test_a_file_that_is_no_database_is_refused_untouched(path):
    path.write_bytes(b"id,name\n" * 200)
    with pytest.raises(StoreError, match="no database; move it away"):
        Store(url(path))
    assert path.read_bytes() == b"id,name\n" * 200


def test_a_database_of_another_program_is_refused_untouched(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (body TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program; choose another file"):
        Store(url(path))
    assert path.read_bytes() == before


def test_a_damaged_database_is_named_so(store, path):
    save_catalog(store, "n", CATALOG)
    store.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(StoreError, match="damaged; put a backup in its place"):
        save_catalog(store, "n", CATALOG)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_refused(store, path):
    store.close()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    with pytest.raises(StoreError, match="write permission"):
        save_catalog(store, "n", CATALOG)
    path.parent.chmod(0o755)


def test_a_store_that_refuses_writing_says_so(store):
    with pytest.raises(StoreError, match="write permission"), store.write() as session:
        session.connection().execute(text("PRAGMA query_only=ON"))
        session.add(row())


def test_a_full_disk_is_one_clear_error_and_nothing_changes(store):
    record = save_catalog(store, "n", CATALOG)
    big = Catalog(tools=tuple(Tool(id=str(i), name="n", description="d" * 999) for i in range(99)))
    with store.read() as session:
        pages = session.connection().execute(text("PRAGMA page_count")).scalar()
    with store.write() as session:
        session.connection().execute(text(f"PRAGMA max_page_count={pages}"))
    with pytest.raises(StoreError, match="disk is full and nothing was changed"):
        save_catalog(store, "n", big)
    assert list_catalogs(store) == (record,)


def test_a_locked_store_is_an_error_after_the_wait(path, monkeypatch):
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.1)
    store = Store(url(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked; close that program or try again"):
            save_catalog(store, "n", CATALOG)
    assert save_catalog(store, "n", CATALOG).number == 1
    store.close()


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_opening_a_locked_new_file_waits_and_then_is_an_error(path, monkeypatch, lock):
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute(f"BEGIN {lock}")
        with monkeypatch.context() as patch, pytest.raises(StoreError, match="locked"):
            patch.setattr(engine, "BUSY_SECONDS", 0.1)
            Store(url(path))
        threading.Timer(0.3, other.rollback).start()
        Store(url(path)).close()


# Migrations


def m900_later(connection):
    connection.execute("CREATE TABLE later (x TEXT)")


def m901_broken(connection):
    connection.execute("CREATE TABLE half (x TEXT)")
    raise RuntimeError("cut off")


def test_an_older_file_is_backed_up_and_migrated(store, path, monkeypatch):
    record = save_catalog(store, "n", CATALOG)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m900_later))
    newer = Store(url(path))  # the first is still open: its rows are in the log beside the file
    assert read_log(newer, record.id) == ()
    newer.close()
    backup = path.with_name("store.db.before-m900_later")
    assert "later" in tables_of(path)
    assert "later" not in tables_of(backup)
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("SELECT count(*) FROM catalog").fetchone() == (1,)
    assert sorted(p.name for p in path.parent.glob("store.db.*.part")) == []


@pytest.mark.parametrize("prices", [{"tokens_in": 1.5, "tokens_out": 0.0}, None])
def test_the_price_of_an_endpoint_goes_into_the_price_table(path, monkeypatch, prices):
    before = migrations.MIGRATIONS.index(migrations.m008_price_table)
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:before])
        older = Store(url(path))
        write_setting(older, "endpoint", {"model": 'a "b"', "prices": prices, "deadline": 60.0})
        older.close()
    newer = Store(url(path))
    assert read_setting(newer, "endpoint") == {"model": 'a "b"', "deadline": 60.0}
    assert read_setting(newer, "prices") == (prices and {'a "b"': prices})
    newer.close()


def test_a_migration_that_fails_changes_nothing(store, path, monkeypatch):
    before = tables_of(path)
    steps = (*migrations.MIGRATIONS, m900_later, m901_broken)
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    with pytest.raises(RuntimeError, match="cut off"):
        Store(url(path))
    assert tables_of(path) == before


def test_a_newer_file_is_refused_untouched(store, path):
    store.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO migration VALUES ('m999_future', '')")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer ToolScope \(it has m999_future.*update"):
        Store(url(path))
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def open_and_save(address):
    store = Store(address)
    save_catalog(store, "n", CATALOG)
    store.close()


def test_programs_that_create_one_file_at_once_all_succeed(path):
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    crowd = [context.Process(target=open_and_save, args=(url(path),)) for _ in range(6)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join()
    assert [process.exitcode for process in crowd] == [0] * 6
    assert list(path.parent.glob("*.before-*")) == []


# Streamlit


def test_importing_twice_works(path):
    names = [name for name in sys.modules if name.startswith("toolscope_core.store")]
    first = {name: sys.modules.pop(name) for name in names}
    try:
        again = importlib.import_module("toolscope_core.store")
        assert again.Store is not first["toolscope_core.store"].Store
        store = again.Store(url(path))
        assert again.save_catalog(store, "n", CATALOG).number == 1
        store.close()
    finally:
        sys.modules.update(first)
        sys.modules["toolscope_core"].store = first["toolscope_core.store"]
