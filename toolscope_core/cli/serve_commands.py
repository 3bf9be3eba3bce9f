"""The command that serves a merged toolset."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.cli.terminal import app, errors_as_sentences, fail_for, say, say_error
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.environment import read_environment
from toolscope_core.model.numbers import quantity

if TYPE_CHECKING:
    from toolscope_core.mcp.gateway.serve_check import ServerState


class OnChangeOption(StrEnum):
    """What becomes of a tool that changed."""

    hold = "hold"
    passed = "pass"


@app.command()
@errors_as_sentences
def serve(
    bundle: Annotated[
        Path,
        typer.Argument(help="The folder that merge wrote, or the zip of the Export page."),
    ],
    config: Annotated[
        list[str],
        typer.Option(
            "--config",
            metavar="CONFIG",
            help="A client's configuration with the original servers, or an address of one; "
            "again for more.",
        ),
    ],
    server: Annotated[
        list[str] | None,
        typer.Option(
            "--server",
            metavar="CATALOG=KEY",
            help="Which server of the configuration is which of the catalog, where their names "
            "differ; again for each.",
        ),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve streamable HTTP there, with a bearer token, in place of standard input and "
            "output.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name by which others call this address; needed beyond loopback."),
    ] = None,
    aliases: Annotated[
        bool, typer.Option("--aliases", help="Names of before the merge answer too, unlisted.")
    ] = False,
    search: Annotated[
        bool,
        typer.Option("--search", help="List only search_tools and call_tool; find the others."),
    ] = False,
    on_change: Annotated[
        OnChangeOption,
        typer.Option(help="What becomes of a tool that its server changed since the export."),
    ] = OnChangeOption.hold,
    log: Annotated[
        Path | None, typer.Option(help="Write a line of JSON for each call to this file.")
    ] = None,
    log_arguments: Annotated[
        bool, typer.Option("--log-arguments", help="With the arguments of each call.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Start and list every server, compare it with the bundle, end it; 1 where one "
            "failed or changed, or a tool is held back.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --check: as JSON.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds until a server is ready.")] = 60.0,
    call_timeout: Annotated[float, typer.Option(help="Seconds for each call.")] = 300.0,
) -> None:
    """Serve a merged toolset as one MCP server; calls go to the original servers."""
    from toolscope_core.cli.commands.serve_command import ServeRequest
    from toolscope_core.cli.commands.serve_command import check as check_now
    from toolscope_core.cli.commands.serve_command import serve as serve_now

    request = ServeRequest(
        bundle=bundle,
        configurations=tuple(config),
        servers=tuple(server or ()),
        limits=ConnectionLimits(start_seconds=timeout, answer_seconds=call_timeout),
        http=http,
        http_names=tuple(allow_host or ()),
        on_change=on_change.value,
        old_names=aliases,
        search=search,
        log=log,
        log_arguments=log_arguments,
    )
    settings = read_environment()
    if not check:
        serve_now(request, settings, say_error)
        return
    states = check_now(request, settings, say_error)
    if as_json:
        typer.echo(json.dumps([asdict(state) for state in states], indent=1))
    else:
        for state in states:
            for line in _shown(state):
                say(line)
    wrong = [state for state in states if not state.is_served_whole]
    servers = quantity(len(wrong), "server")
    fail_for(
        f"{servers} failed, changed since the export, or have a tool that is held back"
        if wrong
        else ""
    )


def _shown(state: ServerState) -> list[str]:
    lines = [
        f"failed  {state.failure}"
        if state.failure
        else f"{'as exported' if state.is_as_exported else 'changed'}  {state.name}: "
        f"{quantity(state.tools, 'tool')}"
    ]
    for what, names in (
        ("changed", state.changed),
        ("missing", state.missing),
        ("new, not in the toolset", state.new),
    ):
        if names:
            lines.append(f"    {what}: {', '.join(names)}")
    for what, sentences in (
        ("renamed", state.renamed),
        ("mended", state.mended),
        ("held back", state.withheld),
    ):
        lines += [f"    {what}: {sentence}" for sentence in sentences]
    return lines
