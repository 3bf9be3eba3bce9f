"""What every test gets: loopback only, its own store and cache, the benchmark data if present."""

import gc
import os
import socket
import sys
import threading
import zlib
from functools import cache
from itertools import count
from pathlib import Path

import pytest
import typer.testing
from hypothesis import HealthCheck, settings

from tests.support import postgres
from tests.support.model_server import ModelServer
from tests.support.properties import EXAMPLES
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.minilm import MODEL, MiniLmEmbedder

BUSY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
"""What a property says of its own time, which on a busy machine is somebody else's."""
settings.register_profile("same", max_examples=EXAMPLES, derandomize=True, **BUSY)
settings.register_profile("nightly", max_examples=10 * EXAMPLES, derandomize=False, **BUSY)
settings.load_profile("same")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["TOOLSCOPE_STORE_URL"] = "sqlite:////dev/null/a-test-names-its-own-store.db"

gc.disable()  # until all is collected, which lives to the end
TESTS = Path(__file__).parent
UNTRACED = [
    TESTS / place
    for place in (
        "browser",
        "pages",
        "catalog/test_nothing_vanishes.py",
        "catalog/test_round_trip.py",
        "catalog/test_scan_catalog.py",
        "catalog/test_writers.py",
        "store/test_damaged_rows.py",
        "architecture/test_architecture.py",
        "export/test_hidden_on_the_way_out.py",
        "merging/test_hostile_arguments.py",
        "llm/test_injection.py",
        "catalog/test_key_order.py",
    )
]
"""Tests that reach next to nothing that others do not: where Python is traced to measure coverage
they take two to four times as long, so they are not traced."""

LONG_LISTS = ("test_hostile_arguments.py", "test_damaged_rows.py", "test_injection.py")
"""Each has some hundred cases of one kind: by day an eighth of them, by their names."""
BY_DAY = 8

LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_connect = socket.socket.connect


def _loopback_only(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in LOOPBACK:
        raise RuntimeError(f"a test tried to reach {address!r}; tests may use loopback only")
    return _connect(self, address)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", _loopback_only)


@pytest.fixture(autouse=True)
def _own_main(monkeypatch):
    """Streamlit leaves its script as the main module, which a spawned process would run again."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(scope="session")
def vector_cache(tmp_path_factory) -> Path:
    """One cache for the whole run: no text is embedded twice."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def stores(tmp_path_factory):
    """Paths of stores that nobody has used, without end."""
    folder = tmp_path_factory.mktemp("stores")
    return (folder / f"{number}.db" for number in count())


@pytest.fixture(autouse=True)
def _own_places(stores, monkeypatch, vector_cache):
    monkeypatch.setenv("TOOLSCOPE_CACHE_DIR", str(vector_cache))
    monkeypatch.setenv("TOOLSCOPE_STORE_URL", f"sqlite:///{next(stores)}")


@pytest.fixture
def model_server(monkeypatch):
    """A model over real HTTP that the environment names; a test gives it its answers."""
    with ModelServer() as running:
        monkeypatch.setenv("TOOLSCOPE_BASE_URL", running.url)
        monkeypatch.setenv("TOOLSCOPE_MODEL", "m")
        yield running


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server of this process."""
    with postgres.running() as server:
        yield server


@pytest.fixture
def own_server():
    """A PostgreSQL server of one test, which may stop it."""
    with postgres.running() as server:
        yield server


@pytest.fixture(params=postgres.BOTH)
def store_url(request, tmp_path):
    """The URL of a new store, on one database and at night on the other."""
    return postgres.new_url(request, tmp_path)


@pytest.fixture(scope="session", autouse=True)
def _jobs_are_looked_at_often():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ui.shared.services.analyses.POLL_SECONDS", 0.005)
        yield


@pytest.fixture(scope="session", autouse=True)
def _commands_are_made_once():
    """Typer makes those of the whole program for each run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.testing._get_command))
        yield


@pytest.fixture(scope="session", autouse=True)
def _the_default_encoder_is_loaded_once():
    """A program does so too; its file is checked, and its tokenizer read, for each embedder."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_session", "_tokenizer"):
            load = getattr(MiniLmEmbedder, name).func
            patch.setattr(MiniLmEmbedder, name, property(_of_the_default(cache(load), load)))
        yield


def _of_the_default(shared, own):
    default = MiniLmEmbedder()
    return lambda embedder: shared(default) if embedder._file == MODEL else own(embedder)


def data_dir() -> Path:
    return Path(os.environ.get("TOOLSCOPE_DATA", "../shared/data")).resolve()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the benchmark data."""
    return data_dir()


@pytest.fixture(scope="session")
def benchmark_catalog(shared_data):
    """Reads a catalog of the benchmark data, each once: nothing writes into a catalog."""

    @cache
    def read(name):
        folder = shared_data / name
        path = next(folder.glob("tools.jsonl"), folder / "servers.json")
        return read_catalog(load_paths([path]))

    return read


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """What is ``UNTRACED`` runs without a trace function, its fixtures included."""
    if not any(item.path.is_relative_to(place) for place in UNTRACED):
        return (yield)
    trace, trace_of_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(trace)
        threading.settrace(trace_of_threads)


def pytest_collection_finish():
    """What is imported and collected lives to the end: the garbage collector need not look at it
    again and again.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


WITH_TORCH = ("tool2vec", "embedding", "retrieval", "cli")
"""Folders whose tests load torch, which takes a worker some seconds."""


def shared_out(config, items):
    """The tests in the order in which each worker begins with a share of its own: the first one with
    the browser, which waits most, the last one alone with torch.
    """
    workers = config.workerinput["workercount"] if hasattr(config, "workerinput") else 1
    browser, torch, others = [], [], []
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        (browser if folder == "browser" else torch if folder in WITH_TORCH else others).append(item)
    before = max(len(items) * (workers - 1) // workers - len(browser), 0)
    return [*browser, *others[:before], *torch, *others[before:]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    items[:] = shared_out(config, items)
    seen = set()
    for item in items:
        again = item.path.name in LONG_LISTS and item.function in seen
        if again and zlib.crc32(item.name.encode()) % BY_DAY:
            item.add_marker(pytest.mark.nightly)
        seen.add(getattr(item, "function", None))
    if data_dir().is_dir() or os.environ.get("CI") == "true":
        return
    missing = pytest.mark.skip(reason=f"no benchmark data at {data_dir()}; set TOOLSCOPE_DATA")
    for item in items:
        if "shared_data" in item.keywords:
            item.add_marker(missing)
