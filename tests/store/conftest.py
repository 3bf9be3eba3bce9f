import pytest

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import Tool
from toolscope_core.store.catalog_rows import save_catalog
from toolscope_core.store.engine import Store


@pytest.fixture
def store(store_url):
    """A store of two empty catalogs, 1 and 2."""
    store = Store(store_url)
    save_catalog(store, "one", Catalog(()))
    save_catalog(store, "two", Catalog(()))
    yield store
    store.close()


@pytest.fixture
def save(store):
    """Saves tools of these names as a version of a catalog; its id."""
    return lambda name, *tools: (
        save_catalog(store, name, Catalog(tuple(map(Tool, tools, tools)))).id
    )
