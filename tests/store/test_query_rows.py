import pytest

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import StoreError
from toolscope_core.model.tool import Tool
from toolscope_core.store import (
    Store,
    delete_catalog,
    delete_query_file,
    keep_query_file,
    list_query_files,
    rename_catalog,
    save_catalog,
)


@pytest.fixture
def store(store_url):
    store = Store(store_url)
    yield store
    store.close()


def saved(store, name, *tools):
    catalog = Catalog(tuple(Tool(tool, tool, schema=None) for tool in tools), (), "mcp")
    return save_catalog(store, name, catalog).id


def files(store, catalog_id):
    return [(file.name, file.content) for file in list_query_files(store, catalog_id)]


def test_files_come_back_to_the_byte_and_a_new_one_takes_an_old_ones_place(store):
    one, other = saved(store, "one", "a"), saved(store, "other", "a")
    keep_query_file(store, one, "q.jsonl", b"\xff\x00 first")
    keep_query_file(store, one, "a \ud800.csv", b"")
    keep_query_file(store, one, "q.jsonl", b"second")
    assert files(store, one) == [("a \ud800.csv", b""), ("q.jsonl", b"second")]
    assert files(store, other) == []
    delete_query_file(store, one, "q.jsonl")
    delete_query_file(store, one, "q.jsonl")
    assert files(store, one) == [("a \ud800.csv", b"")]


def test_they_stay_with_the_name_over_versions_and_go_with_it(store):
    first = saved(store, "one", "a")
    keep_query_file(store, first, "q.jsonl", b"x")
    second = saved(store, "one", "a", "b")
    assert second != first
    assert files(store, second) == [("q.jsonl", b"x")]
    rename_catalog(store, "one", "two")
    assert files(store, second) == [("q.jsonl", b"x")]
    delete_catalog(store, "two")
    assert files(store, saved(store, "two", "a")) == []


def test_an_unknown_catalog_is_refused(store):
    with pytest.raises(StoreError, match="has no catalog 99"):
        keep_query_file(store, 99, "q.jsonl", b"")
