import runpy

import pytest

from tests.pages.app_tab import AppTab
from tests.support.fakes import WordEmbedder
from tests.ui.services.conftest import (  # noqa: F401
    one_store,
    own,
    shared,
    stores_apart,
    work,
)
from ui.shared import page_frame
from ui.shared.charts import pictures


@pytest.fixture
def open_app(monkeypatch):
    """Tabs on their own store; the app's workspace is closed at the end."""
    monkeypatch.setattr("toolscope_core.llm.embedders.MiniLmEmbedder", WordEmbedder)
    page_frame.workspace.clear()
    made = []

    def make(*tools):
        made.append(AppTab(*tools))
        return made[-1]

    yield make
    page_frame.workspace().close()
    page_frame.workspace.clear()
    for item in made:
        item.work.close()


@pytest.fixture(autouse=True)
def _tables_are_open(monkeypatch):
    """A closed table is not sent; here it always is."""
    monkeypatch.setattr(pictures, "OPEN", True)


@pytest.fixture
def through_the_app(monkeypatch):
    """Every run goes through app.py, as in a server; by itself AppTest runs a page alone from the
    second run on, because the pages lie in a folder of that name.
    """
    runner = "streamlit.runtime.scriptrunner.script_runner._mpa_v1"
    monkeypatch.setattr(runner, lambda path: runpy.run_path(path, run_name="__main__"))
