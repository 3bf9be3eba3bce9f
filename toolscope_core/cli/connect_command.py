"""The command that reads tools from servers."""

import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import Source
from toolscope_core.cli.options import AnswerYes
from toolscope_core.cli.terminal import command, fail_for, more, progress, say, say_error, say_json
from toolscope_core.files.json_lines import write_whole
from toolscope_core.mcp.servers.configured_servers import read_configurations
from toolscope_core.mcp.servers.offers import ServerOffer, catalog_document, read_offers
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration, ServerDefinition
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import ConnectionLimits, ready_within
from toolscope_core.model.errors import CatalogError, ConfigError
from toolscope_core.model.numbers import quantity


@command
def connect(
    configurations: Annotated[
        list[str],
        typer.Argument(
            metavar="CONFIG...",
            help="Configurations of MCP clients (with `mcpServers`, or `servers` as in VS Code), "
            "or addresses of servers.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="The catalog file to write; without it the servers are only shown."),
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option("--server", help="Start or contact this server without asking; repeatable."),
    ] = None,
    yes: AnswerYes = False,
    timeout: Annotated[
        float,
        typer.Option(help="Seconds to wait for a server to start, and for each of its answers."),
    ] = 60.0,
    parallel: Annotated[int, typer.Option(help="Number of servers to start at a time.")] = 24,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result for each server as JSON.")
    ] = (False),
) -> None:
    """Read tools from MCP servers: show how each is started, ask, list its tools, stop it.

    Example: toolscope connect mcp.json --out catalog.json --server github
    """
    limits = ready_within(timeout, parallel)
    configuration = read_configurations(configurations)
    names = list(server or ())
    if not names or out is None:
        names = confirmed_servers(configuration, yes, asks=out is not None)
    if out is None:
        return
    offers, catalog = _connect(configuration, names, out, limits)
    failed = [offer for offer in offers if offer.failure]
    if as_json:
        say_json([_as_json(offer) for offer in offers])
    else:
        _tell(offers, catalog, out)
    if failed:
        fail_for(f"{quantity(len(failed), 'server')} could not be read; {out} has the others")


def confirmed_servers(
    configuration: ClientConfiguration, yes: bool, asks: bool, option: str = "--server"
) -> list[str]:
    """The servers that somebody confirms after seeing each of them.

    Raises ``ConfigError`` outside a terminal, where ``option`` must name the servers instead.
    """
    on_terminal = is_terminal()
    names = []
    for name, why in configuration.odd.items():
        say_error(f"the server {name!r} {why}")
    for server in configuration.servers:
        for line in launch_lines(server):
            say(line)
        act = "Start it" if server.command else "Connect to it"
        if asks and on_terminal and (yes or typer.confirm(f"  {act}?", default=False)):
            names.append(server.name)
    if asks and not on_terminal:
        raise ConfigError(
            "nothing was started, because nobody can confirm it; name each server with "
            f"{option} NAME"
        )
    return names


def _connect(
    configuration: ClientConfiguration, names: Sequence[str], out: Path, limits: ConnectionLimits
) -> tuple[Sequence[ServerOffer], Catalog]:
    """The offer of each named server, in this order, and the catalog of the servers that answer.

    The catalog is written to ``out``. Raises ``CatalogError`` if no server answers; then nothing is
    written.
    """
    servers = configuration.chosen(names)
    if not out.resolve().parent.is_dir():
        raise ConfigError(f"{str(out.parent)!r} is not a folder; choose another file for --out")
    offers = read_offers(servers, configuration, os.environ, limits, progress())
    if all(offer.failure for offer in offers):
        reasons = "".join(f"\n  {offer.failure}" for offer in offers)
        raise CatalogError(f"no server could be read:{reasons}")
    by_name = {server.name: server for server in servers}
    document = catalog_document(offers, by_name, datetime.now(UTC).isoformat(timespec="seconds"))
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "backslashreplace")
    catalog = read_isolated([Source(out.name, data)])
    write_whole(out, data, "--out")
    return offers, catalog


def is_terminal() -> bool:
    return sys.stdin.isatty()


def launch_lines(server: ServerDefinition) -> list[str]:
    """How a server is started or reached, as several lines; *** replaces secrets."""
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


def _tell(offers: Sequence[ServerOffer], catalog: Catalog, out: Path) -> None:
    for offer in offers:
        say(f"failed  {offer.failure}" if offer.failure else f"read    {_offer_line(offer)}")
        for note in offer.notes:
            say(f"        {offer.name}: {note}")
    answers = sum(not offer.failure for offer in offers)
    say(
        f"{quantity(len(catalog.tools), 'tool')} of "
        f"{quantity(answers, 'server')}"
        f"{more(len(catalog.problems), 'records that cannot be used')}; catalog: {out}"
    )


def _offer_line(offer: ServerOffer) -> str:
    about = " ".join(filter(None, (offer.title, offer.version)))
    return (
        f"{offer.name}{f' ({about})' if about else ''}: {quantity(len(offer.tools), 'tool')} in "
        f"{offer.seconds:.1f} s{f'; also offers, not read: {offer.extras}' if offer.extras else ''}"
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
