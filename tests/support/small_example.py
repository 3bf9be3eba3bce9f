"""Fixtures of two servers of the example, for what does not depend on how many there are."""

import pytest

from tests.support.json_files import read_json, read_lines, write_json, write_lines
from toolscope_core.evaluation.query_sets import example_path, example_queries

SERVERS = ("wayfare-travel", "wordsmith-text")
ASKED = ("e18", "e19", "e21", "e23", "e24")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The file of the catalog."""
    servers = [one for one in read_json(example_path()) if one["server"] in SERVERS]
    return write_json(tmp_path_factory.mktemp("small") / "catalog.json", servers)


@pytest.fixture(scope="session")
def small_queries(tmp_path_factory):
    """The file of five queries of the example that ask for those two servers alone."""
    rows = [row for row in read_lines(example_queries()) if row["id"] in ASKED]
    return write_lines(tmp_path_factory.mktemp("queries") / "queries.jsonl", *rows)
