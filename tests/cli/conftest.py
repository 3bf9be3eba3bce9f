"""What several files of commands read: a small part of the example, and merges of both."""

import pytest

from tests.cli.test_cli import EXAMPLE, run
from tests.support.small_example import small, small_queries
from toolscope_core.model.errors import ModelError

__all__ = ["small", "small_queries"]


@pytest.fixture(scope="session")
def merged(tmp_path_factory, vector_cache):
    """Merges a catalog with every proposal: the folder of its bundle."""

    def merge(catalog):
        folder = tmp_path_factory.mktemp("merged") / "bundle"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TOOLSCOPE_CACHE_DIR", str(vector_cache))
            run("merge", catalog, "--out", folder, "--accept", "all")
        return folder

    return merge


@pytest.fixture(scope="session")
def bundle(merged):
    """The example merged."""
    return merged(EXAMPLE)


@pytest.fixture(scope="session")
def small_bundle(merged, small):
    """The small catalog merged."""
    return merged(small)


@pytest.fixture
def no_model_is_found(monkeypatch):
    """No model of a library can be loaded, and no such library is."""

    def refuse(source, device=""):
        raise ModelError(f"{source} cannot be loaded")

    for load in ("_load", "_load_cross_encoder"):
        monkeypatch.setattr(f"toolscope_core.embedding.encoders.{load}", refuse)
