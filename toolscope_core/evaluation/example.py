"""The bundled example catalog and its query set: fictional servers, our own writing."""

from __future__ import annotations

from pathlib import Path

from toolscope_core.evaluation.query_sets import Query, read_queries
from toolscope_core.files.app_folder import app_folder

EXAMPLE_NAME = "Example"


def example_path() -> Path:
    """The file of the example."""
    return app_folder() / "examples" / "catalog.json"


def example_queries() -> Path:
    """Requests to the example with the tools that answer them."""
    return app_folder() / "examples" / "queries.jsonl"


def example_requests() -> tuple[Query, ...]:
    """The queries of that file."""
    return read_queries(example_queries())
