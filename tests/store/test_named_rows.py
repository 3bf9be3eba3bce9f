"""Files of queries and generated queries in the store: what is there stays, and the set is what is kept."""

import pytest
from sqlalchemy import text

from toolscope_core.model.errors import StoreError
from toolscope_core.store import named_rows
from toolscope_core.store.catalog_rows import rename_catalog
from toolscope_core.store.named_rows import delete_query_file, keep_query_file, list_query_files

ONE = named_rows.GeneratedQuery("k1", ("a", "b"), "draft one", "text one")
TWO = named_rows.GeneratedQuery("k2", ("b", "c"), "draft two", "text two")
FAILED = named_rows.GeneratedQuery("k3", reason="no answer", tools=(), draft="", text="")


def as_file(queries):
    return "\n".join(one.text for one in queries).encode()


@pytest.fixture
def kept(store):
    assert named_rows.keep_generated(store, 1, "m", [ONE, TWO, FAILED]) == 3
    return store


def states(store):
    return [(one.key, one.state) for one in named_rows.list_generated(store, 1)]


def content(store, catalog_id=1):
    return [(file.name, file.content) for file in named_rows.list_query_files(store, catalog_id)]


def test_a_query_that_is_there_stays_as_it_is(kept):
    assert states(kept) == [("k1", "waiting"), ("k2", "waiting"), ("k3", "failed")]
    assert named_rows.list_generated(kept, 1)[0].source == "m"
    other = named_rows.GeneratedQuery("k1", ("x",), "other", "other")
    assert (
        named_rows.keep_generated(
            kept, 1, "n", [other, named_rows.GeneratedQuery("k0", (), "d", "t")]
        )
        == 1
    )
    texts = [one.text for one in named_rows.list_generated(kept, 1)]
    assert texts == ["text one", "text two", "", "t"]


def test_the_set_follows_each_decision(kept):
    one, two, failed = named_rows.list_generated(kept, 1)
    assert named_rows.decide_generated(kept, 1, [one, two, failed], "kept", as_file) == 2
    assert content(kept) == [(named_rows.SET_NAME, b"text one\ntext two")]
    named_rows.edit_generated(kept, 1, one, "text three", as_file)
    assert content(kept) == [(named_rows.SET_NAME, b"text three\ntext two")]
    with pytest.raises(StoreError, match="somebody else"):
        named_rows.edit_generated(kept, 1, one, "text four", as_file)
    assert named_rows.decide_generated(kept, 1, [one], "dropped", as_file) == 0, "it has changed"
    now = named_rows.list_generated(kept, 1)
    assert named_rows.decide_generated(kept, 1, now, "dropped", as_file) == 2
    assert content(kept) == []
    assert named_rows.clear_generated(kept, 1, ("dropped",)) == 2
    assert states(kept) == [("k3", "failed")]


def test_an_error_of_the_file_changes_no_state(kept):

    def broken(queries):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        named_rows.decide_generated(kept, 1, named_rows.list_generated(kept, 1), "kept", broken)
    assert {state for _, state in states(kept)} == {"waiting", "failed"}


def test_they_belong_to_the_name_and_all_its_versions(kept, save):
    """Files of queries too."""
    named_rows.keep_query_file(kept, 1, "q.jsonl", b"x")
    for rename in (False, True):
        if rename:
            rename_catalog(kept, "one", "three")
        for version in (1, save("three" if rename else "one", "b")):
            assert len(named_rows.list_generated(kept, version)) == 3
            assert content(kept, version) == [("q.jsonl", b"x")]


def test_a_state_that_nobody_knows_is_a_damaged_row(kept):
    with kept.write() as session:
        session.connection().execute(text("UPDATE generated_query SET state = 'odd'"))
    with pytest.raises(StoreError, match="generated_query"):
        named_rows.list_generated(kept, 1)


def files(store, catalog_id):
    return [(file.name, file.content) for file in list_query_files(store, catalog_id)]


def test_files_come_back_to_the_byte_and_a_new_one_takes_an_old_ones_place(store, save):
    one, other = save("one", "a"), save("other", "a")
    keep_query_file(store, one, "q.jsonl", b"\xff\x00 first")
    keep_query_file(store, one, "a \ud800.csv", b"")
    keep_query_file(store, one, "q.jsonl", b"second")
    assert files(store, one) == [("a \ud800.csv", b""), ("q.jsonl", b"second")]
    assert files(store, other) == []
    delete_query_file(store, one, "q.jsonl")
    delete_query_file(store, one, "q.jsonl")
    assert files(store, one) == [("a \ud800.csv", b"")]
