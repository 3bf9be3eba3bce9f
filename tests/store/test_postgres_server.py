"""What only a server has. Some of it runs where a server is installed, the rest at night."""

import threading
from contextlib import closing

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from tests.store.test_engine import CATALOG, DECISION, m900_later
from toolscope_core.model.errors import StoreError
from toolscope_core.store import engine, migrations, postgres_server
from toolscope_core.store.catalog_rows import list_catalogs, load_catalog, save_catalog
from toolscope_core.store.databases import database_of
from toolscope_core.store.decision_rows import append_decision, read_log
from toolscope_core.store.engine import Store
from toolscope_core.store.named_rows import get_selection
from toolscope_core.store.runs import get_run


@pytest.fixture
def url(postgres_server):
    return postgres_server.new()


@pytest.fixture
def store(url):
    store = Store(url)
    yield store
    store.close()


def test_a_store_on_a_server_keeps_catalogs_and_decisions(store, url):
    record = save_catalog(store, "n \x00 \ud800", CATALOG)
    append_decision(store, record.id, lambda log: DECISION)
    with closing(Store(url)) as other:
        assert list_catalogs(other) == (record,)
        assert load_catalog(other, record.id) == CATALOG
        assert [row.seq for row in read_log(other, record.id)] == [1]


def test_the_password_is_in_no_message_and_no_representation(store, postgres_server):
    with pytest.raises(StoreError) as refusal:
        load_catalog(store, 9)
    shown = f"{refusal.value} {store.place} {store._engine!r}"
    assert "owner@" in shown and "p@ss" not in shown and "p%40ss" not in shown


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"password": "wrong"}, "the password"),
        ({"database": "none"}, "no such database"),
        ({"options": "-csearch_path%3Dnone"}, "search path"),
        ({"port": "1"}, "no connection"),
    ],
)
def test_a_server_that_cannot_be_used_is_named_in_words(postgres_server, changed, words):
    with pytest.raises(StoreError, match=words) as refusal:
        Store(postgres_server.url(**changed))
    assert "p@ss" not in str(refusal.value) and "wrong" not in str(refusal.value)


def test_a_name_that_no_index_holds_is_refused_in_words(store):
    long = "".join(chr(0x4E00 + i * 7919 % 20000) for i in range(4_000))
    with pytest.raises(StoreError, match="too long"):
        save_catalog(store, long, CATALOG)
    assert save_catalog(store, "n", CATALOG).id == 1
    with pytest.raises(StoreError, match="NUL"):
        get_run(store, "\x00")
    assert get_selection(store, 1, "\x00") is None


def test_a_connection_lost_in_the_middle_is_told_and_the_next_one_works(store, postgres_server):
    record = save_catalog(store, "n", CATALOG)
    with pytest.raises(StoreError, match=r"connection .*lost"), store.write() as one:
        pid = one.connection().execute(text("SELECT pg_backend_pid()")).scalar()
        postgres_server.sql(f"SELECT pg_terminate_backend({pid})")
        one.connection().execute(text("DELETE FROM catalog"))
    assert list_catalogs(store) == (record,)


def test_an_older_store_waits_for_a_person_who_has_a_backup(store, url, monkeypatch):
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m900_later))
    with pytest.raises(StoreError, match=r"pg_dump .*m900_later") as why:
        Store(url)
    assert store.place in str(why.value) and "upgrade-store" in str(why.value)
    Store(url, backed_up=True).close()
    Store(url).close()


class ServerError(Exception):
    """An error as the driver raises it."""

    def __init__(self, state):
        super().__init__("FATAL:  words\n  of p@ss/w:rd")
        self.sqlstate = state


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("53100", "the server's disk"),
        ("53300", "the server has no free"),
        ("57P01", "the connection to the server was lost; the last change may not be saved"),
        ("XX001", "the server's data is damaged (FATAL: words of …); restore a backup"),
        ("25006", "the server is read-only"),
        ("42501", "the user lacks a permission (FATAL: words of …)"),
        ("99999", "FATAL: words of …"),
        (None, "no connection (FATAL: words of …); check the address"),
    ],
)
def test_what_a_server_reports_is_said_in_words_without_the_password(state, words):
    database = database_of("postgresql://ann:p%40ss%2Fw%3Ard@db/x", 1.0)
    error = OperationalError("SELECT 1", {}, ServerError(state))
    assert database.remedy(error).startswith(words)


# At night


@pytest.mark.nightly
def test_a_user_without_rights_is_told_which(postgres_server):
    postgres_server.sql("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    url = postgres_server.new()
    schema = url.rpartition("%3D")[2]
    theirs = postgres_server.url(
        user="guest", password="guest", options=f"-csearch_path%3D{schema}"
    )
    with pytest.raises(StoreError, match=r"schema|right"):
        Store(theirs)
    Store(url).close()
    postgres_server.sql(f"GRANT USAGE ON SCHEMA {schema} TO guest")
    with pytest.raises(StoreError, match=r"right .*denied"):
        Store(theirs)
    postgres_server.sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO guest")
    reader = Store(theirs)
    assert list_catalogs(reader) == ()
    with pytest.raises(StoreError, match="lacks"):
        save_catalog(reader, "n", CATALOG)
    reader.close()


@pytest.mark.nightly
def test_a_standby_is_named_so(url, store):
    with closing(Store(f"{url}%20-cdefault_transaction_read_only%3Don")) as only_read:
        assert list_catalogs(only_read) == ()
        with pytest.raises(StoreError, match="standby"):
            save_catalog(only_read, "n", CATALOG)


@pytest.mark.nightly
def test_commits_reach_the_disk_whatever_the_role_says(url, store):
    with closing(Store(f"{url}%20-csynchronous_commit%3Doff")) as hasty, hasty.write() as session:
        assert session.connection().execute(text("SHOW synchronous_commit")).scalar() == "on"


@pytest.mark.nightly
def test_more_threads_than_connections_wait_for_one_and_then_say_so(url, monkeypatch):
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.2)
    monkeypatch.setattr(postgres_server, "MOST_CONNECTIONS", 6)
    store = Store(url)
    held, go = threading.Barrier(7), threading.Event()

    def read():
        with store.read():
            held.wait()
            go.wait()

    readers = [threading.Thread(target=read) for _ in range(6)]
    for reader in readers:
        reader.start()
    held.wait()
    with pytest.raises(StoreError, match="6 connections"):
        list_catalogs(store)
    go.set()
    for reader in readers:
        reader.join()
    assert list_catalogs(store) == ()
    store.close()
