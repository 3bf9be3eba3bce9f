"""Pages measured in Chromium: an app that is served over a store, and when a page has ended."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import ROOT, process_environment, read_named
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.environment import Settings, read_environment
from ui.shared.services.workspace import Workspace

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
ENDED = '[data-testid="stApp"][data-test-script-state="notRunning"]'
LONG = 300_000
"""Milliseconds that are waited for what comes at some time."""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Chromium without a GPU."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def temporary_settings() -> Iterator[Settings]:
    """Settings of an empty store and an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        store, cache = f"sqlite:///{folder}/store.db", Path(folder) / "cache"
        yield replace(read_environment(), store_url=store, cache_dir=cache)


def add_analysed(work: Workspace, name: str, catalog: Catalog) -> int:
    """The id of a catalog that is in the store now, analysed."""
    record = work.catalogs.add(name, catalog)
    work.analyses.wait(work.analyses.start(record.id))
    return record.id


def analyse_named(settings: Settings, name: str) -> None:
    """Put a catalog of the benchmark data into the store, analysed, as *Whole*."""
    work = Workspace(settings)
    add_analysed(work, "Whole", read_named(name))
    work.close()


@contextlib.contextmanager
def serving(settings: Settings, source: str = "") -> Iterator[str]:
    """The address of the app over the measured store and cache, or of an app of this source."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "app.py"
        file.write_text(source)
        start = ["streamlit", "run", str(file)] if source else ["ui"]
        options = {"port": str(port), "fileWatcherType": "none", "headless": "true"}
        process = subprocess.Popen(
            [sys.executable, "-m", *start, *(f"--server.{key}={options[key]}" for key in options)],
            cwd=ROOT,
            env=process_environment(
                TOOLSCOPE_STORE_URL=settings.store_url, TOOLSCOPE_CACHE_DIR=str(settings.cache_dir)
            ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(120):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2)
                    break
                time.sleep(0.5)
            yield f"http://localhost:{port}"
        finally:
            process.terminate()
            process.wait(20)


def seconds_until_usable(page: Page, address: str, shown: str) -> float:
    """From the request until this is on the screen and the page's script has ended."""
    began = time.perf_counter()
    page.goto(address)
    page.locator(shown).first.wait_for(timeout=LONG)
    wait_for_end(page)
    return time.perf_counter() - began


def wait_for_end(page: Page) -> None:
    page.locator(ENDED).wait_for(timeout=LONG)
