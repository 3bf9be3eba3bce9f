"""Opening a store, its transactions and its migrations: the same on both databases."""

import importlib
import multiprocessing
import sys
from contextlib import closing

import pytest
from sqlalchemy import inspect, text
from sqlmodel import select

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import StoreError
from toolscope_core.model.tool import Tool
from toolscope_core.store import engine, migrations
from toolscope_core.store.catalog_rows import list_catalogs, save_catalog
from toolscope_core.store.decision_rows import append_decision, read_log
from toolscope_core.store.engine import Store
from toolscope_core.store.tables import CatalogRow, DecisionRow, StoredRow

CATALOG = Catalog(tools=(Tool(id="a", name="a"),))
DECISION = Decision("edit", ("f",), ("a",), "ann", detail={"name": "x"})


def row():
    empty = dict.fromkeys(("version", "content", "at", "format"), "")
    return CatalogRow(name="n", number=1, tools=0, servers=0, body={}, **empty)


@pytest.fixture
def store(store_url):
    store = Store(store_url)
    yield store
    store.close()


def tables_of(store):
    with store.read() as session:
        schema = inspect(session.connection())
        names = schema.get_table_names()
        return {name: {column["name"] for column in schema.get_columns(name)} for name in names}


def test_the_migrations_make_the_tables_that_the_row_classes_describe(store):
    made = tables_of(store)
    assert made.pop("migration") == {"name", "at"}
    described = StoredRow.metadata.tables.items()
    assert made == {name: set(table.columns.keys()) for name, table in described}


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
    with pytest.raises(Exception, match=r"(?i)foreign key") as bug, store.write() as session:
        session.connection().execute(
            text("INSERT INTO tool (catalog_id, position, body) VALUES (9, 0, 'null')")
        )
    assert not isinstance(bug.value, StoreError)


def test_a_closed_store_opens_again_with_what_it_held(store, store_url):
    record = save_catalog(store, "n", CATALOG)
    store.close()
    assert list_catalogs(store) == (record,)
    with closing(Store(store_url)) as again:
        assert list_catalogs(again) == (record,)


def test_a_writer_waits_for_another_and_then_says_so(store_url, monkeypatch):
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.1)
    with closing(Store(store_url)) as store, closing(Store(store_url)) as other:
        with other.write():
            with pytest.raises(StoreError, match="locked"):
                save_catalog(store, "n", CATALOG)
            assert list_catalogs(store) == (), "nobody waits to read"
        assert save_catalog(store, "n", CATALOG).number == 1


# Migrations


def m900_later(run):
    run("CREATE TABLE later (x TEXT)")


def m901_broken(run):
    run("CREATE TABLE half (x TEXT)")
    raise RuntimeError("cut off")


def test_an_older_store_is_migrated(store, store_url, monkeypatch):
    record = save_catalog(store, "n", CATALOG)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m900_later))
    newer = Store(store_url, backed_up=True)
    assert read_log(newer, record.id) == ()
    assert tables_of(newer)["later"] == {"x"}
    with newer.write() as session:
        session.connection().execute(text("ALTER TABLE job ADD COLUMN note TEXT"))
    newer.close()
    Store(store_url).close()  # no step is applied twice, and a column that is added does no harm


@pytest.mark.case(2)
def test_a_migration_that_fails_changes_nothing(store, store_url, monkeypatch):
    before = tables_of(store)
    steps = (*migrations.MIGRATIONS, m900_later, m901_broken)
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    with pytest.raises(RuntimeError, match="cut off"):
        Store(store_url, backed_up=True)
    assert tables_of(store) == before


@pytest.mark.case(7)
def test_a_newer_store_is_refused(store, store_url):
    with store.write() as session:
        session.connection().execute(text("INSERT INTO migration VALUES ('m999_future', '')"))
    with pytest.raises(StoreError, match=r"newer .*m999_future"):
        Store(store_url)


@pytest.mark.case(85)
@pytest.mark.parametrize(
    "statements",
    [
        ["DELETE FROM migration", "INSERT INTO migration VALUES ('m001_catalogs', '')"],
        ["DELETE FROM migration"],
        ["DROP TABLE setting"],
        ["ALTER TABLE job RENAME COLUMN kind TO sort"],
        ["DROP TABLE setting", "CREATE TABLE setting (name TEXT, value TEXT, of TEXT NOT NULL)"],
    ],
)
def test_a_store_of_an_earlier_state_is_called_so_and_left(store, store_url, statements):
    with store.write() as session:
        for statement in statements:
            session.connection().execute(text(statement))
        session.connection().execute(text("ALTER TABLE job ADD COLUMN note TEXT"))
    before = tables_of(store)
    with pytest.raises(StoreError, match=r"early .*\.jsonl"):
        Store(store_url)
    assert tables_of(store) == before


def test_the_tables_of_another_program_are_refused(store, store_url):
    for change in ("ALTER TABLE migration RENAME COLUMN name TO version", "DROP TABLE migration"):
        with store.write() as session:
            session.connection().execute(text(change))
        with pytest.raises(StoreError, match="another program"):
            Store(store_url)


def open_and_save(address):
    with closing(Store(address)) as store:
        save_catalog(store, "n", CATALOG)


def test_programs_that_create_one_store_at_once_all_succeed(store_url, tmp_path):
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    crowd = [context.Process(target=open_and_save, args=(store_url,)) for _ in range(6)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join()
    assert [process.exitcode for process in crowd] == [0] * 6
    assert list(tmp_path.glob("*.before-*")) == []


# URLs


@pytest.mark.parametrize(
    "bad",
    ["", "store.db", "sqlite://", "sqlite:///:memory:", "sqlite:///file:x?uri=true", "mysql://h/d"],
)
def test_a_url_that_names_no_database_is_refused(bad):
    with pytest.raises(StoreError, match="STORE_URL"):
        Store(bad)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:secret@host:port/name",
        "postgresql://ann:se@secret@host/name",
        "postgres//ann:secret@host/name",
        "postgresql://ann:secret@127.0.0.1:1/name",
        "postgresql://ann@127.0.0.1:1/name?password=secret",
        "postgresql://ann@127.0.0.1:1/name?sslmode=secret",
    ],
)
def test_the_password_of_a_url_is_never_shown(url):
    with pytest.raises(StoreError) as refusal:
        Store(url)
    shown = str(refusal.value)
    assert "secret" not in shown.replace('sslmode value: "secret"', "")
    assert "TOOLSCOPE_STORE_URL" in shown or "check the address" in shown


# Streamlit


def test_importing_twice_works(store_url):
    names = [name for name in sys.modules if name.startswith("toolscope_core.store")]
    first = {name: sys.modules.pop(name) for name in names}
    try:
        again = importlib.import_module("toolscope_core.store.engine")
        assert again.Store is not Store
        store = again.Store(store_url)
        rows = importlib.import_module("toolscope_core.store.catalog_rows")
        assert rows.save_catalog(store, "n", CATALOG).number == 1
        store.close()
    finally:
        sys.modules.update(first)
        sys.modules["toolscope_core"].store = first["toolscope_core.store"]
