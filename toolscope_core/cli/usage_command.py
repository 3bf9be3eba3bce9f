"""The command that shows how tools are used."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.isolation import read_files
from toolscope_core.cli.terminal import command, say, say_error, say_json
from toolscope_core.decisions.log import active
from toolscope_core.evaluation.calls_after_merges import (
    CallsAfterMerge,
    DatedMerge,
    calls_after_merges,
)
from toolscope_core.evaluation.query_sets import Query, queries_of, read_queries, with_ids
from toolscope_core.files.folders import read_named
from toolscope_core.files.json_lines import lines_of, write_rows
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool
from toolscope_core.usage import call_counts
from toolscope_core.usage.trace_formats import read_traces
from toolscope_core.usage.traced_calls import CallTrace

_SHOWN = 20


@command
def usage(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG...",
            help="Logs of serve, agents' messages, sessions and replies, spans or runs, as JSON "
            "or JSON Lines.",
        ),
    ],
    catalog: Annotated[
        list[Path], typer.Option("--catalog", help="The catalog of the tools; repeatable.")
    ],
    unused_days: Annotated[
        float, typer.Option(help="List tools that nobody has called for this many days.")
    ] = 30.0,
    decisions: Annotated[
        Path | None,
        typer.Option(
            help="Show calls before and after each merge that this decisions.jsonl accepts, for "
            "example one from a bundle."
        ),
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            help="Write people's requests from the traces as a query set; they may contain "
            "personal text."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    """Count calls, errors and the last use of each tool, from logs or traces of agents.

    Example: toolscope usage calls.jsonl --catalog tools.json
    """
    if not unused_days > 0:
        raise ConfigError(f"--unused-days is {unused_days:g}; use more than 0")
    loaded = read_files(catalog)
    tools = loaded.tools
    figures, trace = counted_calls(logs, tools)
    if queries is not None:
        rows = call_counts.query_rows(trace.requests, tools)
        write_rows(queries, rows)
    unused = figures.unused(tools, unused_days)
    merges = _calls_after(figures, loaded, decisions)
    if as_json:
        after = {key: {**asdict(one), "went_bad": one.went_bad} for key, one in merges.items()}
        problems = {"unread": trace.unread}
        say_json({**asdict(figures), **problems, "unused": unused, "merges": after})
        return
    _say_counts(figures)
    for key, calls in sorted(merges.items(), key=lambda one: (one[1].corrected_p, one[0])):
        say(f"{'went bad' if calls.went_bad else 'merged'}: {key}: {calls.in_words}")
    if unused:
        say(f"{quantity(len(unused), 'tool')} unused for {unused_days:g} days:")
        for tool_id in unused:
            say(f"  {tool_id}")
    elif figures.days < unused_days:
        say(f"the logs cover only {figures.days:.1f} days, too few to tell which tools are unused")
    if queries is not None:
        say(f"{quantity(len(rows), 'query')} written: {queries}")


def counted_calls(
    logs: Sequence[Path], tools: Sequence[Tool], with_results: bool = False
) -> tuple[call_counts.CatalogCallCounts, CallTrace]:
    """The calls to the tools in some logs, and the trace that ``read_traces`` made from the logs.

    Unread records are reported. Raises ``ConfigError`` for an unreadable log.
    """
    trace = read_traces({str(log): read_named(log, "use a log file") for log in logs}, with_results)
    if trace.unread:
        say_error(call_counts.unread_line(trace.unread))
    return call_counts.count_calls(trace, tools), trace


def recorded_requests(path: Path, tools: Sequence[Tool]) -> tuple[Query, ...]:
    """The requests in a query set, or people's requests in a log or trace, with ids of needed
    tools.

    A file without a row that is a query is read as a log. Raises ``ConfigError`` for a file that is
    neither, and for a log without a request that called one of the tools.
    """
    if queries_of(read_named(path, "use a log file"), str(path)).queries:
        return with_ids(read_queries(path), tools)
    return traced_requests(path, tools)


def traced_requests(log: Path, tools: Sequence[Tool]) -> tuple[Query, ...]:
    """People's requests in a log or trace, with the ids of the tools that were called for each.

    Raises ``ConfigError`` if there are no such requests.
    """
    _, trace = counted_calls([log], tools)
    rows = lines_of(call_counts.query_rows(trace.requests, tools))
    if queries := queries_of(rows, str(log)).queries:
        return queries
    raise ConfigError(
        f"{log} has no request that led to a call of the catalog's tools; use a query set "
        "(`query`, `gold`), or conversations with their calls"
    )


def _calls_after(
    figures: call_counts.CatalogCallCounts, catalog: Catalog, decisions: Path | None
) -> dict[str, CallsAfterMerge]:
    """The calls before and after each accepted merge, by the ids of its tools; empty if there is
    no decisions file.
    """
    if decisions is None:
        return {}
    from toolscope_core.decisions.decision_lines import read_decisions

    merges = {
        ", ".join(one.ids): DatedMerge(one.ids, "", one.at)
        for one in active(read_decisions(catalog, decisions))
        if one.action == "accept"
    }
    return calls_after_merges(figures, catalog.tools, merges)


def _say_counts(figures: call_counts.CatalogCallCounts) -> None:
    say(call_counts.catalog_count_line(figures))
    most = sorted(figures.by_id.items(), key=lambda one: (-one[1].calls, one[0]))
    for tool_id, one in most[:_SHOWN]:
        say(f"  {tool_id}: {call_counts.tool_count_line(one)}")
    if len(most) > _SHOWN:
        say(f"  … and {len(most) - _SHOWN} more; --json lists all")
