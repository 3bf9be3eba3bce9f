"""A whole catalog reviewed by keyboard alone: nothing is lost, nothing is decided twice."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError

from tests.browser.conftest import Watched, running
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import load_paths
from toolscope_core.model.environment import read_environment
from ui.shared.services import review
from ui.shared.services.workspace import Workspace

pytestmark = [
    pytest.mark.browser,
    pytest.mark.nightly,
    pytest.mark.shared_data,
    pytest.mark.timeout(1_800),
]
KEYS = "axafs"
"""Accept, reject, accept, as a family, skip, in turn: what is rejected may bring new proposals."""
DECIDES = {"a": ["accept"], "f": ["accept"], "x": ["keep_apart", "drop"]}
"""Newcomers to an accepted merge are dropped."""
ANSWERED = """url => (location.href !== url
        || document.body.innerText.includes('Nothing left to review'))
    && document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'"""
"""Whether another card stands there, and the run that draws it has ended."""


@pytest.mark.parametrize("name", ["livemcpbench", "bfcl-live"])
def test_all_clusters_are_decided_by_keyboard(name, tmp_path, chromium, monkeypatch, capsys):
    place = tmp_path / "app"
    place.mkdir()
    monkeypatch.setenv("TOOLSCOPE_STORE_URL", f"sqlite:///{place / 'store.db'}")
    monkeypatch.setenv("TOOLSCOPE_CACHE_DIR", str(place / "cache"))
    work = Workspace(read_environment())
    source = load_paths([Path(os.environ["TOOLSCOPE_DATA"]) / name])
    record = work.catalogs.add("Whole", read_isolated(source))
    work.analyses.wait(work.analyses.start(record.id))
    waiting = {cluster.members for cluster in review.queue(work.snapshot(record.id))}
    with running(place) as server:
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        seen = Watched(page, server.url)
        page.on("websocket", seen.connected)
        seen.open("review", catalog="Whole")
        page.locator("h1").click()
        pressed, times = [], []
        while not page.get_by_text("Nothing left to review").count():
            key = KEYS[len(pressed) % len(KEYS)]
            before, start = page.url, time.perf_counter()
            page.keyboard.press(key)
            with suppress(TimeoutError):  # the only card that is left may come again
                page.wait_for_function(ANSWERED, arg=before)
                times.append(time.perf_counter() - start)
            seen.settled()
            pressed.append(key)
        context.close()
    log = [one for one in work.snapshot(record.id).log if one.action != "profile"]
    decided = [key for key in pressed if key != "s"]
    assert len(log) == len(decided)
    for one, key in zip(log, decided, strict=True):
        assert one.action in DECIDES[key]
    ids = [tuple(sorted(one.ids)) for one in log]
    assert len(set(ids)) == len(ids), "none twice"
    assert review.queue(work.snapshot(record.id)) == ()
    # a pair may dissolve before its turn: one of it went elsewhere with a decision on others
    undecided = {tool for c in waiting for tool in c} - {tool for one in ids for tool in one}
    assert len(undecided) <= 2
    work.close()
    times.sort()
    with capsys.disabled():
        sys.stdout.write(
            f"\n{name}: {len(log)} decisions by {len(pressed)} keys, the next card after "
            f"{times[len(times) // 2]:.2f} s (median), {times[int(0.95 * len(times))]:.2f} s (p95)\n"
        )
