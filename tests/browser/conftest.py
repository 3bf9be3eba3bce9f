"""The app in a real browser: its own server, store and cache, and nothing but loopback."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
LOCAL = {"127.0.0.1", "localhost", "::1", ""}
GUARD = f"""
import os, socket
_connect = socket.socket.connect
def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in {LOCAL}:
        with open(os.environ["LEAKS_FILE"], "a") as leaks:
            leaks.write(str(address))
        raise OSError("the test allows loopback only")
    return _connect(self, address)
socket.socket.connect = connect
"""


STILL = """() => new Promise(done => {
    const app = document.querySelector('[data-testid="stApp"]')
    const ends = motion => motion.effect.getComputedTiming().endTime !== Infinity
    const moves = () => document.getAnimations().some(m => m.playState === 'running' && ends(m))
    const rests = () => app?.dataset.testScriptState === 'notRunning'
    let frames = 0, quiet = 0
    const all = {subtree: true, childList: true, attributes: true, characterData: true}
    new MutationObserver(() => { quiet = 0 }).observe(document.body, all)
    const frame = () => {
        quiet = rests() && !moves() ? quiet + 1 : 0
        if (++frames > 300) done(rests())
        else if (quiet < 8) requestAnimationFrame(frame)
        else requestIdleCallback(() => quiet < 8 ? requestAnimationFrame(frame) : done(true))
    }
    requestAnimationFrame(frame)
})"""
"""Whether the script has run to its end: said when nothing in the document has changed for eight
frames and the page has nothing to do, or after 300: a job reports its progress for as long as it
runs.
"""
GO = """address => {
    history.pushState({}, "", address)
    dispatchEvent(new PopStateEvent("popstate", { state: {} }))
}"""
"""Go to another address of the app as Back and Forward do."""
WINDOW = {"viewport": {"width": 1440, "height": 1000}, "accept_downloads": True}
LONG = 1_000
"""No word that a run has ended takes as many bytes."""
PATIENCE_MS = 180_000
"""Nothing is late, however busy the machine is; what never comes fails by then."""


def pytest_collection_modifyitems(items):
    """A test in which the browser itself dies is run once more, with another one."""
    again = pytest.mark.flaky(reruns=1, only_rerun=["TargetClosedError"])
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for mark in (pytest.mark.browser, pytest.mark.timeout(600), again):
                item.add_marker(mark)


@dataclass
class Server:
    """A running app: its address, and a file that names what it tried to reach outside."""

    url: str
    leaks: Path


@dataclass
class Watched:
    """A browser page with what happened on it."""

    page: object
    url: str
    requests: list = field(default_factory=list)
    trouble: list = field(default_factory=list)
    asked: int = 0
    unanswered: bool = False

    @property
    def outside(self):
        return [url for url in self.requests if urlsplit(url).hostname not in LOCAL | {None}]

    def open(self, path, **query):
        """Show a page of the app: the first one is loaded, the others are gone to."""
        told = "&".join(f"{key}={value}" for key, value in query.items())
        address = f"{self.url}/{path}?{told}"
        if self.asked:
            self.settled()
            self.asks(lambda: self.page.evaluate(GO, address))
        else:
            self.page.goto(address)
            self.page.locator("h1").first.wait_for()
        if path == "review" and "queue_view" not in query:  # keys come once they can be held back
            self.page.get_by_role("button", name="Help Shortcut H").wait_for()
        return self.settled()

    def upload(self, file):
        """Choose a file on the first page, and wait until it stands there with what it holds."""
        page = self.open("")
        page.get_by_text("Add a catalog: files").click()
        page.locator('input[type="file"]').first.set_input_files(file)
        page.get_by_role("button", name=re.compile("^Add (catalog|as version)")).wait_for()
        return self.settled()

    def settled(self):
        """Wait until what was clicked is answered, and nothing on the page moves: what is drawn
        late pushes a button away from under the mouse, or asks for another run.
        """
        answered = not self.unanswered
        while not (self.page.evaluate(STILL) and answered and not self.unanswered):
            answered = not self.unanswered  # the answer may be on its way to what was looked at
        return self.page

    def asks(self, act):
        """Do what asks the server for something, if only after a while."""
        before = self.asked
        act()
        while self.asked == before:
            self.page.wait_for_timeout(20)

    def answered(self, act):
        """Do what asks the server for something, and wait for the answer."""
        self.asks(act)
        return self.settled()

    def refused(self, message):
        """What the page was not allowed to load."""
        if "Content Security Policy" in message.text:
            self.trouble.append(message.text)

    def connected(self, socket):
        """Follow what the page asks the server, and what that has answered."""
        self.requests.append(socket.url)
        self.unanswered = False
        socket.on("framesent", self._asked)
        socket.on("framereceived", self._answered)

    def _asked(self, data):
        if BackMsg.FromString(data).WhichOneof("type") == "rerun_script":
            self.asked += 1
            self.unanswered = True

    def _answered(self, data):
        if len(data) < LONG and ForwardMsg.FromString(data).WhichOneof("type") == "script_finished":
            self.unanswered = False


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The app, its example analysed. Tests take back what they decide on it."""
    with running(tmp_path_factory.mktemp("app"), prepared=True) as server:
        yield server


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def running(place, *start, port=None, prepared=False):
    """A process of the app on a free port, with its store in ``place``: ``python -m ui``, or as
    ``start`` says; on a first start, or ``prepared`` as by ``make app``.
    """
    (place / "guard").mkdir()
    (place / "guard" / "sitecustomize.py").write_text(GUARD)
    port = port or free_port()
    options = {
        "server.port": port,
        "server.address": "127.0.0.1",
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
    }
    command = [sys.executable, "-m", *(start or ["ui"])]
    command += [f"--{name}={value}" for name, value in options.items()]
    environ = {
        **os.environ,
        "TOOLSCOPE_STORE_URL": f"sqlite:///{place / 'store.db'}",
        "TOOLSCOPE_CACHE_DIR": str(place / "cache"),
        "LEAKS_FILE": str(place / "leaks"),
        "PYTHONPATH": os.pathsep.join([str(place / "guard"), os.environ.get("PYTHONPATH", "")]),
    }
    with (place / "log").open("w") as log:
        if prepared:
            prepare = [sys.executable, "-m", "toolscope_core", "prepare"]
            subprocess.run(prepare, cwd=ROOT, env=environ, stdout=log, stderr=log, check=True)
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health", process, place / "log")
            yield Server(f"http://127.0.0.1:{port}", place / "leaks")
        finally:
            process.terminate()
            process.wait(120)


@pytest.fixture(scope="package")
def launched():
    """The browser in a list, and what starts another in its place. Playwright keeps an event loop
    running in its thread: to the end of this folder, so that others can run theirs.
    """
    if not CHROMIUM.exists() and os.environ.get("CI") != "true":
        pytest.skip(f"no browser at {CHROMIUM}; install Debian's chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:

        def launch(*flags):
            return playwright.chromium.launch(executable_path=str(CHROMIUM), args=[*FLAGS, *flags])

        browsers = [launch()]
        yield browsers, launch
        browsers[0].close()


@pytest.fixture
def chromium(launched):
    """The browser; another one where it has died, so that one death fails one test."""
    browsers, launch = launched
    if not browsers[0].is_connected():
        browsers[0] = launch()
    return browsers[0]


@pytest.fixture
def watched(server, chromium):
    """A fresh tab; at the end nothing went wrong on it and nothing left the machine."""
    context = chromium.contexts[0] if chromium.contexts else chromium.new_context(**WINDOW)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    seen = Watched(page, server.url)
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("websocket", seen.connected)
    page.on("pageerror", lambda error: seen.trouble.append(f"error: {error}"))
    page.on("console", seen.refused)
    page.on("dialog", lambda dialog: (seen.trouble.append(dialog.message), dialog.dismiss()))
    yield seen
    page.evaluate("localStorage.clear()")
    page.goto("about:blank")  # a tab that is closed while it loads may wait for ever
    page.close()
    assert seen.trouble == []
    assert seen.outside == []
    assert not server.leaks.exists(), server.leaks.read_text()


@contextmanager
def lone_tab(browser):
    """A tab in a window of its own."""
    with browser.new_context() as window:
        window.set_default_timeout(PATIENCE_MS)
        yield window.new_page()
        window.pages[0].goto("about:blank")  # as ``watched`` does


def _wait(url, process, log):
    while process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(url, timeout=60) as answer:
            if answer.status == 200:
                return
        time.sleep(0.1)
    raise RuntimeError(f"the app did not start: {log.read_text()[-2000:]}")
