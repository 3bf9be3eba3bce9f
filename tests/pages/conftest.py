from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, local_script_runner

from tests.pages.app_tab import AppTab
from tests.pages.screen import RUNNER, run_whole_app
from tests.support.fakes import WordEmbedder
from tests.ui.services.conftest import (  # noqa: F401
    computed_aside,
    endless_maps,
    own,
    shared,
    work,
    workspaces_are_closed,
)
from toolscope_core.mcp.servers.machine_servers import MachineServers
from ui.catalog import machine_panel
from ui.shared import page_frame, pictures


@pytest.fixture(scope="session", autouse=True)
def _packages_are_scanned_once():
    """For each AppTest Streamlit reads the metadata of every package that is installed."""
    with pytest.MonkeyPatch.context() as patch:
        scan = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


def wait_for_the_end(runner, timeout):
    """AppTest looks a thousand times a second whether a run has ended."""
    runner._script_thread.join(timeout)
    assert not runner._script_thread.is_alive(), f"a run hangs for {timeout} s"


@pytest.fixture(scope="session", autouse=True)
def _no_run_ends_in_an_exception():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait_for_the_end)
        run = AppTest._run

        def checked(app, *args, **kwargs):
            ran = run(app, *args, **kwargs)
            assert not ran.exception, ran.exception
            return ran

        patch.setattr(AppTest, "_run", checked)
        yield


@pytest.fixture(autouse=True)
def _a_machine_without_clients(monkeypatch):
    monkeypatch.setattr(machine_panel, "setup", lambda: MachineServers(()))


@pytest.fixture
def open_app(monkeypatch):
    """Tabs on their own store; the app's workspace is closed at the end."""
    monkeypatch.setattr("toolscope_core.llm.embedding.MiniLmEmbedder", WordEmbedder)
    page_frame.workspace.clear()
    yield AppTab
    page_frame.workspace().close()
    page_frame.workspace.clear()


@pytest.fixture(autouse=True)
def _tables_are_open(monkeypatch):
    """A closed table is not sent; here it always is."""
    monkeypatch.setattr(pictures, "OPEN", True)


@pytest.fixture
def through_the_app(monkeypatch):
    """Every run goes through app.py, as in a server; by itself AppTest runs a page alone from the
    second run on, because the pages lie in a folder of that name.
    """
    monkeypatch.setattr(RUNNER, run_whole_app)
