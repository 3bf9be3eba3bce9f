"""The desk: a workspace of its own for each test that asks for it."""

import pytest

from tests.workspace import desk


@pytest.fixture
def work():
    work, _ = desk.open_desk()
    yield work
    work.close()


@pytest.fixture
def catalog_id(work):
    return work.catalogs.newest()[0].id
