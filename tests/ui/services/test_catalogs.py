import pytest

from tests.ui.services.small_workspace import MAIL, catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import CatalogError, StoreError
from toolscope_core.store.engine import Store
from ui.shared.services.catalogs import Catalogs


@pytest.fixture
def catalogs():
    store = Store(read_environment().store_url)
    yield Catalogs(store)
    store.close()


def test_a_preview_stores_nothing(catalogs):
    seen = catalogs.preview([Source("a.json", b'[{"name": "one", "description": "One."}]')])
    assert [tool.name for tool in seen.tools] == ["one"]
    assert catalogs.newest() == ()
    with pytest.raises(CatalogError):
        catalogs.preview([Source("a.json", b"[]")], "no such format")


def test_a_catalog_is_opened_once(catalogs):
    record = catalogs.add("Desk", catalog(MAIL))
    assert catalogs.open(record.id) is catalogs.open(record.id)
    with pytest.raises(StoreError):
        catalogs.open(record.id + 1)
