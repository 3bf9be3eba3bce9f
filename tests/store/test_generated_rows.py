"""Generated queries in the store: what is there stays, and the set is what is kept."""

import pytest
from sqlalchemy import text

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import StoreError
from toolscope_core.model.tool import Tool
from toolscope_core.store import (
    SET_NAME,
    GeneratedQuery,
    clear_generated,
    decide_generated,
    delete_catalog,
    edit_generated,
    keep_generated,
    list_generated,
    list_query_files,
    rename_catalog,
    save_catalog,
)

ONE = GeneratedQuery("k1", ("a", "b"), "draft one", "text one")
TWO = GeneratedQuery("k2", ("b", "c"), "draft two", "text two")
FAILED = GeneratedQuery("k3", reason="no answer", tools=(), draft="", text="")


def as_file(queries):
    return "\n".join(one.text for one in queries).encode()


@pytest.fixture
def kept(store):
    record = save_catalog(store, "one", Catalog((Tool("a", "a"),)))
    assert keep_generated(store, record.id, "m", [ONE, TWO, FAILED]) == 3
    return store, record.id


def states(store, catalog_id):
    return [(one.key, one.state) for one in list_generated(store, catalog_id)]


def content(store, catalog_id):
    return [(file.name, file.content) for file in list_query_files(store, catalog_id)]


def test_a_query_that_is_there_stays_as_it_is(kept):
    store, catalog_id = kept
    assert states(store, catalog_id) == [("k1", "waiting"), ("k2", "waiting"), ("k3", "failed")]
    assert list_generated(store, catalog_id)[0].source == "m"
    other = GeneratedQuery("k1", ("x",), "other", "other")
    assert keep_generated(store, catalog_id, "n", [other, GeneratedQuery("k0", (), "d", "t")]) == 1
    assert [one.text for one in list_generated(store, catalog_id)] == [
        "text one",
        "text two",
        "",
        "t",
    ]


def test_the_set_follows_each_decision(kept):
    store, catalog_id = kept
    one, two, failed = list_generated(store, catalog_id)
    assert decide_generated(store, catalog_id, [one, two, failed], "kept", as_file) == 2
    assert content(store, catalog_id) == [(SET_NAME, b"text one\ntext two")]
    edit_generated(store, catalog_id, one, "text three", as_file)
    assert content(store, catalog_id) == [(SET_NAME, b"text three\ntext two")]
    with pytest.raises(StoreError, match="somebody else"):
        edit_generated(store, catalog_id, one, "text four", as_file)
    assert decide_generated(store, catalog_id, [one], "dropped", as_file) == 0, "it has changed"
    now = list_generated(store, catalog_id)
    assert decide_generated(store, catalog_id, now, "dropped", as_file) == 2
    assert content(store, catalog_id) == []
    assert clear_generated(store, catalog_id, ("dropped",)) == 2
    assert states(store, catalog_id) == [("k3", "failed")]


def test_an_error_of_the_file_changes_no_state(kept):
    store, catalog_id = kept

    def broken(queries):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        decide_generated(store, catalog_id, list_generated(store, catalog_id), "kept", broken)
    assert {state for _, state in states(store, catalog_id)} == {"waiting", "failed"}


def test_they_go_with_the_catalog_and_its_versions(kept):
    store, catalog_id = kept
    newer = save_catalog(store, "one", Catalog((Tool("b", "b"),)))
    assert len(list_generated(store, newer.id)) == 3
    rename_catalog(store, "one", "three")
    assert len(list_generated(store, catalog_id)) == 3
    delete_catalog(store, "three")
    with store.read() as session:
        rows = session.connection().execute(text("SELECT count(*) FROM generated_query")).scalar()
    assert rows == 0


def test_a_state_that_nobody_knows_is_a_damaged_row(kept):
    store, catalog_id = kept
    with store.write() as session:
        session.connection().execute(text("UPDATE generated_query SET state = 'odd'"))
    with pytest.raises(StoreError, match="generated_query row"):
        list_generated(store, catalog_id)
