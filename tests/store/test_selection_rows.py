import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.postgres import BOTH, new_url
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import StoreError
from toolscope_core.model.tool import Tool
from toolscope_core.store import named_rows
from toolscope_core.store.catalog_rows import save_catalog
from toolscope_core.store.engine import Store
from toolscope_core.store.named_rows import get_selection, keep_selection


@pytest.fixture(scope="module", params=BOTH)
def store(request, tmp_path_factory):
    store = Store(new_url(request, tmp_path_factory.mktemp("store")))
    yield store
    store.close()


@pytest.fixture(scope="module")
def places(store):
    catalogs = (Catalog((Tool(name, name, schema=None),), (), "mcp") for name in "ab")
    return [save_catalog(store, catalog.tools[0].id, catalog).id for catalog in catalogs]


@given(st.sets(st.text(st.characters(codec=None)), max_size=8), st.text(max_size=8))
def test_what_is_kept_comes_back_under_its_key(store, places, ids, source):
    kept = keep_selection(store, places[0], source, ids)
    assert kept == get_selection(store, places[0], kept.key)
    assert (kept.source, kept.tool_ids) == (source, ids)


def test_the_key_is_that_of_the_content_whatever_the_order(store, places):
    one = keep_selection(store, places[0], "the map", ["x", "y", "x"])
    assert one.key == keep_selection(store, places[0], "the map", ["y", "x"]).key
    others = [
        keep_selection(store, places[1], "the map", ["x", "y"]),
        keep_selection(store, places[0], "the table", ["x", "y"]),
        keep_selection(store, places[0], "the map", ["x"]),
    ]
    assert len({one.key, *(other.key for other in others)}) == 4
    assert all(len(item.key) == 16 for item in (one, *others))


def test_a_catalog_keeps_its_newest_selections_and_only_loses_its_own(store, places, monkeypatch):
    monkeypatch.setattr(named_rows, "KEPT", 5)
    here, there = places
    other = keep_selection(store, there, "the map", ["stays"])
    used, forgotten = (keep_selection(store, here, "the map", [name]) for name in ("used", "old"))
    for number in range(4):
        keep_selection(store, here, "the map", [f"tool {number}"])
        keep_selection(store, here, "the map", ["used"])
    assert get_selection(store, here, used.key) == used
    assert get_selection(store, there, other.key) == other
    assert get_selection(store, here, forgotten.key) is None


def test_an_unknown_catalog_is_refused_and_an_unknown_key_is_nothing(store, places):
    with pytest.raises(StoreError, match="has no catalog 99"):
        keep_selection(store, 99, "the map", ["x"])
    assert get_selection(store, places[0], "0" * 16) is None
