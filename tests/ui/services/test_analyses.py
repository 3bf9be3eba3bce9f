import threading

import pytest

from tests.support.fakes import WordEmbedder
from tests.ui.services.small_workspace import MAIL, SUM, catalog, open_workspace
from toolscope_core.model.environment import read_environment
from ui.shared.services import analyses
from ui.shared.services.workspace import Workspace


@pytest.fixture
def opened():
    works = []

    def again(embedder=None):
        works.append(Workspace(read_environment(), embedder or WordEmbedder()))
        return works[-1]

    yield again
    for work in works:
        work.close()


def test_a_finished_analysis_is_kept_and_rebuilt_after_a_restart(opened):
    work, i = open_workspace()
    analysis = work.analyses.run(i)
    assert work.snapshot(i).analysed is analysis
    work.close()
    embedder = WordEmbedder()
    rebuilt = opened(embedder).snapshot(i).analysed
    assert embedder.asked == []
    assert rebuilt.catalog.version == analysis.catalog.version
    assert (rebuilt.vectors == analysis.vectors).all()


def test_a_big_catalog_is_not_rebuilt_while_a_page_waits(opened, monkeypatch):
    work, i = open_workspace()
    work.close()
    monkeypatch.setattr(analyses, "REBUILT_AT_ONCE", 3)
    assert opened().snapshot(i).analysed is None


def test_an_analysis_does_not_wait_for_a_map_or_a_run_with_a_model(opened):
    work, i = open_workspace()
    until = threading.Event()
    long_work = work.analyses.background(i, "map", lambda _: until.wait(60))
    try:
        other = work.catalogs.add("Other", catalog(MAIL, SUM)).id
        work.analyses.wait(work.analyses.start(other))
        assert work.analyses.watch(long_work).live
    finally:
        until.set()
        work.close()
