"""What only a file has: pragmas, files that cannot be used, a copy before a migration."""

import sqlite3
import threading
from contextlib import closing

import pytest
from sqlalchemy import text

from tests.store.test_engine import CATALOG, m900_later, row
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import StoreError
from toolscope_core.model.tool import Tool
from toolscope_core.store import engine, migrations, sqlite_file
from toolscope_core.store.catalog_rows import list_catalogs, save_catalog
from toolscope_core.store.decision_rows import read_log
from toolscope_core.store.engine import Store


def url(path):
    return f"sqlite:///{path}"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(path):
    store = Store(url(path))
    yield store
    store.close()


@pytest.mark.case(5)
def test_every_connection_has_the_pragmas(store):
    wanted = {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 15000, "synchronous": 2}
    with store.read() as one, store.read() as other, store.write() as writer:
        for session in (one, other, writer):
            for name, value in wanted.items():
                assert session.connection().execute(text(f"PRAGMA {name}")).scalar() == value


def test_a_pragma_that_does_not_take_is_an_error(path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "_set_journal", lambda connection, wait: None)
    with pytest.raises(StoreError, match="delete, not wal"):
        Store(url(path))


# Files that cannot be used


def test_a_folder_or_a_missing_folder_is_refused(tmp_path):
    for place in (tmp_path, tmp_path / "missing" / "store.db"):
        with pytest.raises(StoreError, match="folder exists") as refusal:
            Store(url(place))
        assert str(place) in str(refusal.value)


def fill_with_rows(path):
    path.write_bytes(b"id,name\n" * 200)


def make_notes(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (body TEXT)")


@pytest.mark.parametrize(
    ("make", "words"), [(fill_with_rows, "not a database"), (make_notes, "another program")]
)
def test_a_file_that_is_no_store_of_ours_is_refused_untouched(path, make, words):
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=words):
        Store(url(path))
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_a_damaged_database_is_named_so(store, path):
    save_catalog(store, "n", CATALOG)
    store.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(StoreError, match="damaged"):
        save_catalog(store, "n", CATALOG)


def test_a_store_that_refuses_writing_says_so(store):
    with pytest.raises(StoreError, match="cannot be written"), store.write() as session:
        session.connection().execute(text("PRAGMA query_only=ON"))
        session.add(row())


@pytest.mark.case(3)
def test_a_full_disk_is_one_clear_error_and_nothing_changes(store):
    record = save_catalog(store, "n", CATALOG)
    big = Catalog(tools=tuple(Tool(id=str(i), name="n", description="d" * 999) for i in range(99)))
    with store.read() as session:
        pages = session.connection().execute(text("PRAGMA page_count")).scalar()
    with store.write() as session:
        session.connection().execute(text(f"PRAGMA max_page_count={pages}"))
    with pytest.raises(StoreError, match="disk is full"):
        save_catalog(store, "n", big)
    assert list_catalogs(store) == (record,)


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_opening_a_locked_new_file_waits_and_then_is_an_error(path, monkeypatch, lock):
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute(f"BEGIN {lock}")
        with monkeypatch.context() as patch, pytest.raises(StoreError, match="locked"):
            patch.setattr(engine, "BUSY_SECONDS", 0.1)
            Store(url(path))
        threading.Timer(0.3, other.rollback).start()
        Store(url(path)).close()


@pytest.mark.case(7)
def test_an_older_file_is_backed_up_first(store, path, monkeypatch):
    record = save_catalog(store, "n", CATALOG)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m900_later))
    newer = Store(url(path))  # the first is still open: its rows are in the log beside the file
    assert read_log(newer, record.id) == ()
    newer.close()
    backup = path.with_name("store.db.before-m900_later")
    later = "SELECT count(*) FROM sqlite_master WHERE name = 'later'"
    for place, count in ((path, 1), (backup, 0)):
        with closing(sqlite3.connect(place)) as connection:
            assert connection.execute(later).fetchone() == (count,)
            assert connection.execute("SELECT count(*) FROM catalog").fetchone() == (1,)
    assert sorted(p.name for p in path.parent.glob("store.db.*.part")) == []
