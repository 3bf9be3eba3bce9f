"""The bundled example catalog and its query set: fictional servers, our own writing."""

from __future__ import annotations

from pathlib import Path

from toolscope_core.evaluation.query_sets import Query, read_queries

EXAMPLE_NAME = "Example"


_FOLDER = Path(__file__).resolve().parents[2] / "examples"


def example_path() -> Path:
    """The file of the example, beside the package in a checkout."""
    return _FOLDER / "catalog.json"


def example_queries() -> Path:
    """Requests to the example with the tools that answer them."""
    return _FOLDER / "queries.jsonl"


def example_requests() -> tuple[Query, ...]:
    """The queries of that file; none where the package stands without it."""
    path = example_queries()
    return read_queries(path) if path.is_file() else ()
