"""Computes the cost of this machine's tools by server and client, and three sentences on what to
do first.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from toolscope_core.catalog.clients.client_table import CLIENTS
from toolscope_core.catalog.tokens import tokenizer, tool_tokens
from toolscope_core.mcp.servers.configured_servers import ConfiguredServer
from toolscope_core.merging.coverage import Coverage, ServerCoverage
from toolscope_core.merging.server_choice import advise
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.numbers import enumerated, quantity

_SENTENCES = 3
_ALWAYS_TRUE = (
    "Merge tools that do the same job; the next command proposes which.",
    (
        "Switch a server off in its client while you do not need it; until then its tools are in "
        "every prompt."
    ),
    "Use --fresh to list the tools again after a server has changed.",
)
"""Sentences that are used if the tools give fewer than three reasons of their own."""
_LARGE_SHARE = 0.3
"""The share of all tokens that makes a single server worth a sentence."""


@dataclass(frozen=True, slots=True)
class MachineReport:
    """The tools and tokens of each server, and of each client for the servers enabled in it.

    Tokens are sorted, the most first. ``sentences`` say what to do first, second and third.
    """

    tools_by_server: Mapping[str, int]
    tokens_by_server: Mapping[str, int]
    tools_by_client: Mapping[str, int]
    tokens_by_client: Mapping[str, int]
    counted: str
    findings: tuple[Finding, ...]
    sentences: tuple[str, ...]


def machine_report(
    servers: Sequence[ConfiguredServer], catalog: Catalog, coverage: ServerCoverage | None
) -> MachineReport:
    """The report on a catalog of these servers; ``coverage`` must be that of the same catalog."""
    tools = Counter(tool.server for tool in catalog.tools)
    tokens = Counter[str]()
    for tool in catalog.tools:
        tokens[tool.server] += tool_tokens(tool)
    tools_by_client, tokens_by_client = (_by_client(servers, one) for one in (tools, tokens))
    sentences = (
        *_of_findings(catalog.findings),
        *_of_advice(coverage, servers),
        *_of_limits(tools_by_client),
        *_of_large_servers(tokens),
    )
    return MachineReport(
        dict(tools),
        _ranked(tokens),
        dict(tools_by_client),
        _ranked(tokens_by_client),
        tokenizer().label,
        catalog.findings,
        (*sentences, *_ALWAYS_TRUE)[:_SENTENCES],
    )


def _ranked(amounts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(amounts.items(), key=lambda item: (-item[1], item[0])))


def _by_client(servers: Sequence[ConfiguredServer], amounts: Mapping[str, int]) -> Counter[str]:
    """The amounts of the servers, summed by client; each server enabled in a client counts once."""
    sums = Counter[str]()
    for server in servers:
        for client in _clients_of(server):
            sums[client] += amounts.get(server.name, 0)
    return +sums


def _of_findings(findings: Sequence[Finding]) -> Iterator[str]:
    subjects = sorted({one.subject for one in findings if one.severity == "block"})
    if subjects:
        what = quantity(len(subjects), "tool")
        yield f"Read {what} before you use them: the scan blocks tools such as {subjects[0]}."


def _of_advice(
    coverage: ServerCoverage | None, servers: Sequence[ConfiguredServer]
) -> Iterator[str]:
    """Sentences on the servers of each client that the client's other servers make unnecessary.

    A server may only be switched off where the others are enabled. If the advice is the same for
    all clients that have the server, no client is named.
    """
    if coverage is None:
        return
    clients = {server.name: _clients_of(server) for server in servers}
    advice = {
        client: advise(coverage.among([name for name in clients if client in clients[name]]))
        for client in sorted(set().union(*clients.values()))
    }
    needless = [(client, one) for client, own in advice.items() for one in own.switch_off]
    alike: dict[Coverage, list[str]] = {}
    for client, one in sorted(needless, key=lambda row: (-row[1].tokens, row[1].server, row[0])):
        alike.setdefault(one, []).append(client)
    for one, where in islice(alike.items(), 2):
        in_all = set(where) == clients[one.server]
        yield one.in_words if in_all else f"In {enumerated(where)}: {one.in_words}"
    copies = ((client, group) for client, own in advice.items() for group in own.copies)
    for client, group in islice(copies, 1):
        yield (
            f"{enumerated(group)} offer the same tools in {client}. Keep one of them, "
            "unless each is for its own account or folder."
        )


def _clients_of(server: ConfiguredServer) -> set[str]:
    """The clients in which the server is enabled."""
    return {use.origin.client for use in server.uses if not use.disabled}


def _of_limits(tools_by_client: Mapping[str, int]) -> Iterator[str]:
    limits = {client.title: client.rules.room for client in CLIENTS}
    for client, tools in tools_by_client.items():
        most = limits.get(client)
        if most and tools > most:
            yield f"Switch tools off in {client}: it has {tools:,} and accepts {most} at a time."


def _of_large_servers(tokens: Counter[str]) -> Iterator[str]:
    total = tokens.total()
    for server, own in tokens.most_common(1 if len(tokens) > 2 else 0):
        if own > _LARGE_SHARE * total:
            yield (
                f"Look at {server} first: its tools take {own:,} of the {total:,} tokens "
                f"({own / total:.0%}). Switch off those you do not use."
            )
