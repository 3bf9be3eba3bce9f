"""The workspace: a workspace of its own for each test that asks for it, or one for a whole file."""

import time

import pytest

from tests.ui.services import small_workspace
from toolscope_core.embedding import projection
from toolscope_core.model.protocols import Step
from toolscope_core.store import subprocess_jobs
from ui.shared.services import analyses


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A workspace and its catalog, for tests that read, or add what no other test looks at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOLSCOPE_STORE_URL", f"sqlite:///{tmp_path_factory.mktemp('s')}/store.db")
        patch.setenv("TOOLSCOPE_CACHE_DIR", str(tmp_path_factory.mktemp("c")))
        work, catalog_id = small_workspace.open_workspace()
    yield work, catalog_id
    work.close()


@pytest.fixture(autouse=True)
def workspaces_are_closed():
    before = len(small_workspace.OPENED)
    yield
    while len(small_workspace.OPENED) > before:
        small_workspace.OPENED.pop().close()


@pytest.fixture
def own():
    """A workspace and its catalog, for one test."""
    return small_workspace.open_workspace()


@pytest.fixture
def work(own):
    return own[0]


@pytest.fixture
def counts_folder(monkeypatch, tmp_path):
    """Where this test alone keeps what it counts."""
    monkeypatch.setenv("TOOLSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "counts"


class EndlessMaps:
    """Maps that are never done, and the clock of who looks at them."""

    def __init__(self):
        self.now, self.steps = 0.0, 0

    sleep = staticmethod(time.sleep)

    def monotonic(self):
        return self.now

    def compute(self, task, vectors, counts=(), progress=None, on_sample=None):
        while True:
            progress(Step("layout", 1, 2))
            self.steps += 1
            time.sleep(0.005)

    def lives(self, work, job_id, after):
        """Whether the job goes on when so many seconds have passed."""
        self.now += after
        seen = self.steps + 2
        while self.steps < seen and work.analyses.watch(job_id).live:
            time.sleep(0.005)
        return work.analyses.watch(job_id).live


@pytest.fixture
def endless_maps(computed_aside, monkeypatch):
    maps = EndlessMaps()
    monkeypatch.setattr(subprocess_jobs, "compute", maps.compute)
    monkeypatch.setattr(analyses, "time", maps)
    return maps


@pytest.fixture
def computed_aside(monkeypatch):
    """What was computed aside; the computing itself is quick, and small catalogs have maps."""
    calls = []

    def compute(task, vectors, progress=None, on_sample=None):
        calls.append(task)
        if on_sample:
            on_sample(-projection.pca(vectors))
        return projection.pca(vectors) * (2 if task == "umap" else 3)

    monkeypatch.setattr(subprocess_jobs, "compute", compute)
    monkeypatch.setattr(projection, "LEAST_TOOLS", 4)
    return calls


@pytest.fixture
def catalog_id(own):
    return own[1]


@pytest.fixture
def opened(counts_folder, own):
    return own
