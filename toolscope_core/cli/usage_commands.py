"""The command that says how tools are used."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.cli.terminal import app, errors_as_sentences, say
from toolscope_core.model.numbers import quantity

SHOWN = 20


@app.command()
@errors_as_sentences
def usage(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG...",
            help="Logs of serve, messages of OpenAI or Anthropic, or OpenTelemetry spans, as JSON "
            "or JSON Lines.",
        ),
    ],
    catalog: Annotated[
        list[Path],
        typer.Option("--catalog", help="The catalog of the tools; again for more files."),
    ],
    unused_days: Annotated[
        float, typer.Option(help="List tools that nobody called in so many days.")
    ] = 30.0,
    queries: Annotated[
        Path | None,
        typer.Option(
            help="Write the requests of people in the traces as a query set; they may hold "
            "personal text."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="All figures, as JSON.")] = False,
) -> None:
    """Count calls, errors and the last use of each tool, from logs or traces of agents."""
    from toolscope_core.cli.commands.usage_command import tool_usage
    from toolscope_core.usage.usage_words import figures_line, usage_line

    report = tool_usage(logs, catalog, unused_days, queries)
    figures = report.figures
    if as_json:
        typer.echo(json.dumps({**asdict(figures), "unused": report.unused}, indent=1))
        return
    say(figures_line(figures))
    most = sorted(figures.by_id.items(), key=lambda one: (-one[1].calls, one[0]))
    for tool_id, one in most[:SHOWN]:
        say(f"  {tool_id}: {usage_line(one)}")
    if len(most) > SHOWN:
        say(f"  … and {len(most) - SHOWN} more; --json lists all")
    if report.unused:
        say(f"{quantity(len(report.unused), 'tool')} unused for {unused_days:g} days:")
        for tool_id in report.unused:
            say(f"  {tool_id}")
    elif figures.days < unused_days:
        say(f"the logs cover {figures.days:.1f} days, too few to say what is unused")
    if queries is not None:
        say(f"{quantity(report.queries, 'query')} written: {queries}")
