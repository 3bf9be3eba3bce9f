"""What logs and traces say of the tools of a catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolscope_core.catalog import load_paths, read_isolated
from toolscope_core.files.json_lines import write_rows
from toolscope_core.files.whole_files import read_file
from toolscope_core.model.datamodel import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.usage.tool_usage import UsageFigures, query_rows, together, usage_of
from toolscope_core.usage.trace_formats import read_trace


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The figures of all logs together; ``unused`` the ids of tools that nobody called in the days
    asked for, ``queries`` how many requests were written.
    """

    catalog: Catalog
    figures: UsageFigures
    unused: tuple[str, ...]
    queries: int = 0


def tool_usage(
    logs: Sequence[Path], catalogs: Sequence[Path], days: float, queries: Path | None = None
) -> UsageReport:
    """What the logs say; their requests are written to ``queries`` only where it is given.

    Raises ``ConfigError`` for a file that is no log or trace, and for a number of days that is not
    positive.
    """
    if not days > 0:
        raise ConfigError(f"--unused-days is {days:g}; give more than 0")
    catalog = read_isolated(load_paths(catalogs))
    traces = [read_trace(_content(log), str(log)) for log in logs]
    figures = together(usage_of(trace, catalog.tools) for trace in traces)
    rows = query_rows((one for trace in traces for one in trace.requests), catalog.tools)
    if queries is not None:
        write_rows(queries, rows)
    return UsageReport(
        catalog, figures, figures.unused(catalog.tools, days), len(rows) if queries else 0
    )


def _content(path: Path) -> bytes:
    try:
        return read_file(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; give a log") from error
