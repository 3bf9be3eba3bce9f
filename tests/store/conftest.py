import pytest

from toolscope_core.model.catalog import Catalog
from toolscope_core.store import Store, save_catalog


@pytest.fixture
def store(store_url):
    """A store of two empty catalogs, 1 and 2."""
    store = Store(store_url)
    save_catalog(store, "one", Catalog(()))
    save_catalog(store, "two", Catalog(()))
    yield store
    store.close()
