"""The command that reads tools from servers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.cli.terminal import (
    app,
    errors_as_sentences,
    fail_for,
    more,
    progress,
    say,
)
from toolscope_core.model.configuration import ready_within
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity

if TYPE_CHECKING:
    from toolscope_core.cli.commands.connect_command import ConnectReport
    from toolscope_core.mcp.servers.offers import ServerOffer
    from toolscope_core.mcp.servers.server_definitions import ClientConfiguration, ServerDefinition


@app.command()
@errors_as_sentences
def connect(
    configurations: Annotated[
        list[str],
        typer.Argument(
            metavar="CONFIG...",
            help="Configurations of MCP clients (`mcpServers`, or `servers` of VS Code), or "
            "addresses of servers.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="The catalog to write; without it servers are only shown.")
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option("--server", help="Start or reach this server without asking; again for each."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Say yes for every server shown; on a terminal only.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="Seconds until a server is ready, and for each of its answers.")
    ] = 60.0,
    parallel: Annotated[int, typer.Option(help="Servers at a time.")] = 24,
    as_json: Annotated[bool, typer.Option("--json", help="What came of each server, as JSON.")] = (
        False
    ),
) -> None:
    """Read tools from MCP servers: show how each is started, ask, list its tools, end it."""
    from toolscope_core.cli.commands.connect_command import connect_servers, read_configurations

    limits = ready_within(timeout, parallel)
    configuration = read_configurations(configurations)
    names = list(server or ())
    if not names or out is None:
        names = _asked(configuration, yes, asks=out is not None)
    if out is None:
        return
    report = connect_servers(configuration, names, out, limits, progress())
    if as_json:
        typer.echo(json.dumps([_as_json(offer) for offer in report.offers], indent=1))
    else:
        _say_report(report, out)
    fail_for(
        f"{quantity(len(report.failed), 'server')} could not be read; {out} has the others"
        if report.failed
        else ""
    )


def _asked(configuration: ClientConfiguration, yes: bool, asks: bool) -> list[str]:
    """The servers to which somebody says yes, each shown before."""
    on_terminal = _is_terminal()
    names = []
    for server in configuration.servers:
        for line in _shown(server):
            say(line)
        if asks and on_terminal and (yes or typer.confirm(f"  {_act(server)}?", default=False)):
            names.append(server.name)
    if asks and not on_terminal:
        raise ConfigError(
            "nothing was started: without a terminal each server has to be named; give "
            "--server NAME"
        )
    return names


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _act(server: ServerDefinition) -> str:
    return "Start it" if server.command else "Connect to it"


def _shown(server: ServerDefinition) -> list[str]:
    """How a server is started or reached, in lines; *** stands for secrets."""
    lines = [f"{server.name}{' (disabled in its configuration)' if server.disabled else ''}"]
    if server.command:
        lines.append(f"  command: {server.command_line}")
        lines.append(f"  folder: {server.cwd or Path.cwd()}")
    else:
        lines.append(f"  address: {server.url} ({server.transport})")
    if server.env_file:
        lines.append(f"  variables of the file: {server.env_file}")
    for what, values in (("variable", server.variables), ("header", server.headers)):
        lines += [f"  {what}: {one.name} from {one.source}" for one in values]
    return lines


def _say_report(report: ConnectReport, out: Path) -> None:
    for offer in report.offers:
        say(f"failed  {offer.failure}" if offer.failure else f"read    {_offered(offer)}")
        for note in offer.notes:
            say(f"        {offer.name}: {note}")
    catalog = report.catalog
    say(
        f"{quantity(len(catalog.tools), 'tool')} of "
        f"{quantity(len(report.offers) - len(report.failed), 'server')}"
        f"{more(len(catalog.problems), 'records that cannot be used')}; catalog: {out}"
    )


def _offered(offer: ServerOffer) -> str:
    about = " ".join(filter(None, (offer.title, offer.version)))
    return (
        f"{offer.name}{f' ({about})' if about else ''}: {quantity(len(offer.tools), 'tool')} in "
        f"{offer.seconds:.1f} s{f'; also offers, not read: {offer.beside}' if offer.beside else ''}"
    )


def _as_json(offer: ServerOffer) -> dict[str, object]:
    return {
        "server": offer.name,
        "tools": len(offer.tools),
        "beside tools": dict(offer.others),
        "failure": offer.failure,
        "kind": offer.kind,
        "notes": list(offer.notes),
        "seconds": round(offer.seconds, 2),
    }
