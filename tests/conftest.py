"""What every test gets: loopback only, its own store and cache, the benchmark data if present."""

import os
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("toolscope", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("toolscope")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"

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


@pytest.fixture(autouse=True)
def _own_places(tmp_path, monkeypatch, vector_cache):
    monkeypatch.setenv("TOOLSCOPE_CACHE_DIR", str(vector_cache))
    monkeypatch.setenv("TOOLSCOPE_STORE_URL", f"sqlite:///{tmp_path / 'store.db'}")


def data_dir() -> Path:
    return Path(os.environ.get("TOOLSCOPE_DATA", "../shared/data")).resolve()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the benchmark data."""
    return data_dir()


def pytest_collection_modifyitems(config, items):
    if data_dir().is_dir() or os.environ.get("CI") == "true":
        return
    missing = pytest.mark.skip(reason=f"no benchmark data at {data_dir()}; set TOOLSCOPE_DATA")
    for item in items:
        if "shared_data" in item.keywords:
            item.add_marker(missing)
