"""What several files of commands read: a small part of the example, and merges of both."""

import pytest

from tests.cli.test_cli import EXAMPLE, run
from tests.support.json_files import read_json, read_lines, write_json, write_lines
from toolscope_core.evaluation.example import example_path, example_queries
from toolscope_core.model.errors import ModelError

SMALL = ("wayfare-travel", "wordsmith-text")
ASKED = ("e18", "e19", "e21", "e23", "e24")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Two servers of the example, for what does not depend on how many there are."""
    servers = [one for one in read_json(example_path()) if one["server"] in SMALL]
    return write_json(tmp_path_factory.mktemp("small") / "catalog.json", servers)


@pytest.fixture(scope="session")
def small_queries(tmp_path_factory):
    """Five queries of the example that ask for those two servers alone."""
    rows = [row for row in read_lines(example_queries()) if row["id"] in ASKED]
    return write_lines(tmp_path_factory.mktemp("queries") / "queries.jsonl", *rows)


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
