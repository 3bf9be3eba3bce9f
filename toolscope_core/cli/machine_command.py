"""``toolscope`` alone, and ``inspect`` without files: the clients and servers of this machine.

The cost of the servers is shown once somebody has allowed them to be started.
"""

import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.catalog.schema.walking import object_at
from toolscope_core.cli.terminal import command, progress, say, say_error, say_json
from toolscope_core.mcp.servers.client_places import CLIENT_PATHS, Machine
from toolscope_core.mcp.servers.configured_servers import ConfiguredServer
from toolscope_core.mcp.servers.machine_servers import (
    CATALOG,
    MachineServers,
    keep_records,
    kept_records,
    machine_servers,
)
from toolscope_core.mcp.servers.server_definitions import ServerDefinition
from toolscope_core.model.catalog import severity_counts, worst_first
from toolscope_core.model.configuration import ready_within
from toolscope_core.model.environment import user_cache
from toolscope_core.model.numbers import enumerated, quantity
from toolscope_core.model.protocols import LOCAL
from toolscope_core.model.tool import JsonObject

if TYPE_CHECKING:  # what the first call prints does not need these imports
    from toolscope_core.cli.machine_report import MachineReport

_MOST_FINDINGS, _MOST_ROWS = 5, 12
"""The most findings and servers that are shown."""
_INSTALL = "pip install 'toolscope-workbench[gateway]'"


@dataclass(frozen=True, slots=True)
class MachineOptions:
    """The choice of what to ask and show about this machine; each field is an option."""

    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Start the servers without asking. Outside a terminal this covers only servers "
            "from your own files, not those that a project configures.",
        ),
    ] = False
    no_start: Annotated[
        bool, typer.Option("--no-start", help="Start no server and ask nothing.")
    ] = False
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="List the tools again, even of servers that were listed before."
        ),
    ] = False


ASKS = MachineOptions()
"""The default: a person is asked what may be started."""


@command
def overview(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as JSON; asks nothing.")
    ] = False,
    options: MachineOptions = ASKS,
) -> None:
    """Show the MCP clients of this machine, their servers, and the cost of those.

    Example: toolscope overview --no-start --json
    """
    show_machine(options, as_json)


def show_machine(options: MachineOptions, as_json: bool) -> None:
    """Show the clients and servers, ask once, and then list the tools of the allowed servers."""
    setup, cache = machine_servers(Machine()), user_cache()
    records = kept_records(cache, setup.servers)
    servers_to_list = [
        server
        for server in setup.servers
        if not server.definition.disabled and (options.fresh or server.name not in records)
    ]
    if not as_json:
        _tell_setup(setup, servers_to_list)
    failures: tuple[str, ...] = ()
    if servers := _servers_to_start(servers_to_list, options, asks=not as_json):
        new_records, failures = _records_of(setup, servers)
        records |= new_records
    report = _report(setup, records, cache) if records else None
    if as_json:
        say_json(setup_json(setup, records, failures, report))
        return
    _tell_list("Not listed:", failures)
    if report:
        _tell_report(report, records, cache / CATALOG)
    elif not setup.servers:
        say("Give a file: toolscope inspect tools.json. Other commands: toolscope --help")


def is_terminal() -> bool:
    """Whether a person can see a question and answer it."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _tell_setup(setup: MachineServers, servers_to_list: Sequence[ConfiguredServer]) -> None:
    say(setup.headline)
    if not setup.clients:
        say(f"Looked for {', '.join(one.client for one in CLIENT_PATHS)}.")
    nothing = "no server that can be started"
    clients = {client: ", ".join(_names_in(setup, client)) or nothing for client in setup.clients}
    clients |= dict.fromkeys(setup.clients_without, "no server")
    _tell_table("", clients)
    shared = {server.name: server.places_in_words for server in setup.shared}
    _tell_table("One server, configured in several places:", shared)
    _tell_list("Similar entries, but different servers:", [alike.in_words for alike in setup.alike])
    _tell_list("Not usable:", setup.problems)
    launches = {server.name: _launch(server.definition) for server in servers_to_list}
    _tell_table(
        "Tools not listed yet. Each server would be started or contacted like this:", launches
    )


def _tell_list(heading: str, lines: Sequence[str]) -> None:
    if lines:
        say("")
        if heading:
            say(heading)
    for line in lines:
        say(f"  {line}")


def _tell_table(heading: str, rows: Mapping[str, str]) -> None:
    width = max(map(len, rows), default=0)
    _tell_list(heading, [f"{name:{width}}  {text}" for name, text in rows.items()])


def _names_in(setup: MachineServers, client: str) -> Iterator[str]:
    """The servers of a client, each with the project, plugin or profile that it belongs to."""
    for server in setup.servers:
        uses = [use for use in server.uses if use.origin.client == client]
        if uses:
            parts = [use.origin.part for use in uses if use.origin.part]
            about = [*dict.fromkeys(parts), *["off"] * all(use.disabled for use in uses)]
            yield f"{server.name}{f' [{enumerated(about)}]' if about else ''}"


def _launch(server: ServerDefinition) -> str:
    """How a server is started or reached, on one line; *** replaces secrets."""
    about = [f"in {server.cwd}"] if server.cwd else []
    about += [f"variables of the file {server.env_file}"] if server.env_file else []
    about += [f"{one.name} from {one.source}" for one in (*server.variables, *server.headers)]
    start = server.command_line or server.url
    return f"{start}  ({'; '.join(about)})" if about else start


def _servers_to_start(
    servers: Sequence[ConfiguredServer], options: MachineOptions, asks: bool
) -> Sequence[ConfiguredServer]:
    """The servers that somebody allows to be started. The question is asked once, and only in a
    terminal.
    """
    if options.no_start or not servers:
        return ()
    if find_spec("mcp") is None:
        say_error(f"to list their tools, run {_INSTALL}")
        return ()
    if options.yes:
        own = [one for one in servers if is_terminal() or not one.of_project_only]
        if others := [one.name for one in servers if one not in own]:
            say_error(
                "not started outside a terminal, because a project configures them: "
                f"{', '.join(others)}"
            )
        return own
    return _answer(servers) if asks else ()


def _answer(servers: Sequence[ConfiguredServer]) -> Sequence[ConfiguredServer]:
    """The servers that the person at the terminal chooses; none if nobody is there."""
    say("")
    if not is_terminal():
        say("Nothing was started. In a terminal, you are asked first; --yes skips that.")
        return ()
    what = "this one to list its" if len(servers) == 1 else f"these {len(servers)} to list their"
    answer = typer.prompt(f"Start {what} tools? [y / N / choose]", "N", show_default=False)
    if answer.strip().lower() in ("c", "choose"):
        return [one for one in servers if typer.confirm(f"  {for_terminal(one.name)}?")]
    return servers if answer.strip().lower() in ("y", "yes") else ()


def _records_of(
    setup: MachineServers, servers: Sequence[ConfiguredServer]
) -> tuple[dict[str, JsonObject], tuple[str, ...]]:
    """The records of the servers that could be read, by name, and the reasons why the others
    failed.
    """
    from toolscope_core.mcp.servers.offers import catalog_document, read_offers

    definitions = [server.definition for server in servers]
    limits = ready_within(60.0)
    offers = read_offers(definitions, setup.configuration, os.environ, limits, progress())
    at = datetime.now(UTC).isoformat(timespec="seconds")
    document = catalog_document(offers, {one.name: one for one in definitions}, at)
    records = {record["name"]: record for record in document["servers"]}
    return records, tuple(offer.failure for offer in offers if offer.failure)


def _report(
    setup: MachineServers, records: Mapping[str, JsonObject], cache: Path
) -> "MachineReport":
    """A report on the records, which are also stored as the catalog of this machine."""
    from toolscope_core.catalog.isolation import read_files
    from toolscope_core.cli.advising import coverage_on
    from toolscope_core.cli.machine_report import machine_report

    catalog = read_files([keep_records(cache, setup.servers, records)])
    return machine_report(setup.servers, catalog, coverage_on(catalog, LOCAL))


def _tell_report(report: "MachineReport", records: Mapping[str, JsonObject], catalog: Path) -> None:
    say("")
    say(f"Tools listed {_age(records)}.")
    for heading, tools, tokens in (
        ("server", report.tools_by_server, report.tokens_by_server),
        ("client", report.tools_by_client, report.tokens_by_client),
    ):
        rows = {
            name: f"{own:7,} tokens  {quantity(tools[name], 'tool')}"
            for name, own in list(tokens.items())[:_MOST_ROWS]
        }
        if more := len(tokens) - len(rows):
            rows[f"and {more} more"] = "--json has all"
        _tell_table(f"By {heading}, in every prompt ({report.counted}):", rows)
    place = shlex.quote(str(catalog))
    findings = [
        f"{one.severity:5}  {one.subject}, {one.field}: {one.message}"
        for one in worst_first(report.findings)
    ]
    shown = findings[:_MOST_FINDINGS]
    if more := len(findings) - len(shown):
        shown.append(f"and {more:,} more; all of them: toolscope inspect {place}")
    counts = severity_counts(Counter(one.severity for one in report.findings))
    _tell_list(f"Findings: {counts or 'none'}", shown)
    _tell_list("Advice:", report.sentences)
    _tell_list("Next:", [f"toolscope merge {place} --out merged"])


def _age(records: Mapping[str, JsonObject]) -> str:
    """The age of the oldest list of tools, in words."""
    times = (str(object_at(record, "source").get("at", "")) for record in records.values())
    seconds = (datetime.now(UTC) - min(map(datetime.fromisoformat, times))).total_seconds()
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return f"{quantity(int(seconds // size), unit)} ago (--fresh lists them again)"
    return "now"


def setup_json(
    setup: MachineServers,
    records: Mapping[str, JsonObject],
    failures: Sequence[str],
    report: "MachineReport | None",
) -> JsonObject:
    """Everything that is known about this machine, as JSON values without secrets."""
    return {
        "clients": [
            {
                "client": client,
                "files": [
                    {"path": part.origin.path, "part": part.origin.part, "problem": part.problem}
                    for part in setup.parts
                    if part.origin.client == client and (part.is_telling or not part.origin.part)
                ],
            }
            for client in dict.fromkeys(part.origin.client for part in setup.parts)
        ],
        "servers": [
            {
                **server.definition.as_json(),
                "in": [
                    {**asdict(use.origin), "name": use.name, "disabled": use.disabled}
                    for use in server.uses
                ],
                "listed": object_at(records.get(server.name), "source").get("at"),
            }
            for server in setup.servers
        ],
        "alike": [asdict(one) for one in setup.alike],
        "problems": list(setup.problems),
        "failures": list(failures),
        "report": asdict(report) if report else None,
    }
