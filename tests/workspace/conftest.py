"""The desk: a workspace of its own for each test that asks for it."""

import pytest

from tests.workspace import desk


@pytest.fixture
def work():
    work, _ = desk.open_desk()
    yield work
    work.close()


@pytest.fixture
def counts_folder(monkeypatch, tmp_path):
    """Where this test alone keeps what it counts."""
    monkeypatch.setenv("TOOLSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "counts"


@pytest.fixture
def opened(counts_folder, work, catalog_id):
    return work, catalog_id


@pytest.fixture
def catalog_id(work):
    return work.catalogs.newest()[0].id
