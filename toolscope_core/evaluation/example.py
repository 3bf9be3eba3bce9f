"""The bundled example catalog and its query set: fictional servers, our own writing."""

from datetime import date, timedelta
from pathlib import Path

from toolscope_core.evaluation.query_sets import Query, read_queries
from toolscope_core.files.folders import app_folder
from toolscope_core.files.json_lines import lines_of, read_rows

EXAMPLE_NAME = "Example"


def example_path() -> Path:
    """The file of the example."""
    return app_folder() / "examples" / "catalog.json"


def example_queries() -> Path:
    """Requests to the example with the tools that answer them."""
    return app_folder() / "examples" / "queries.jsonl"


def example_profiles() -> Path:
    """Decisions that give the example two profiles, each made from some of these requests."""
    return app_folder() / "examples" / "profiles.jsonl"


def example_requests() -> tuple[Query, ...]:
    """The queries of that file."""
    return read_queries(example_queries())


def example_calls(today: date) -> bytes:
    """A made-up log of *serve*: calls of the example's tools, on the 30 days before ``today`` and
    the 14 after it, so that a merge accepted today has both sides.
    """
    calls = []
    for _, row in read_rows(app_folder() / "examples" / "calls.jsonl"):
        tool = {"tool": row["tool"].partition("/")[2], "original": row["tool"]}
        for side, start, days in (("before", -30, 30), ("after", 1, 14)):
            for number in range(row[side]):
                day = today + timedelta(days=start + number * days // row[side])
                is_bad = number < row.get(f"bad_{side}", 0)
                outcome = row["outcome"] if is_bad else "ok"
                calls.append({**tool, "at": f"{day}T12:00:00Z", "outcome": outcome})
    return lines_of(calls)
