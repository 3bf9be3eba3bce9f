"""What the tools of this machine's servers cost, by server and by client, and three sentences on
what to do first.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from toolscope_core.catalog.clients.client_table import CLIENTS
from toolscope_core.catalog.tokens import tokenizer, tool_tokens
from toolscope_core.mcp.servers.configured_servers import ConfiguredServer
from toolscope_core.merging.server_choice import Advice
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
"""What is said where the tools themselves give less than three reasons."""
_LARGE_SHARE = 0.3
"""The share of all tokens from which on one server is worth a sentence."""


@dataclass(frozen=True, slots=True)
class MachineReport:
    """Tools and tokens by server, and by client of the servers that are on there; tokens are in
    order, the most first. ``sentences`` are the first three things to do.
    """

    tools_by_server: Mapping[str, int]
    tokens_by_server: Mapping[str, int]
    tools_by_client: Mapping[str, int]
    tokens_by_client: Mapping[str, int]
    counted: str
    findings: tuple[Finding, ...]
    sentences: tuple[str, ...]


def machine_report(
    servers: Sequence[ConfiguredServer], catalog: Catalog, advice: Advice | None
) -> MachineReport:
    """The report on a catalog of these servers; ``advice`` is on the same catalog."""
    tools = Counter(tool.server for tool in catalog.tools)
    tokens = Counter[str]()
    for tool in catalog.tools:
        tokens[tool.server] += tool_tokens(tool)
    tools_by_client, tokens_by_client = (_by_client(servers, one) for one in (tools, tokens))
    sentences = (
        *_of_findings(catalog.findings),
        *_of_advice(advice, servers),
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
    """Amounts of servers by client: each server that is on there counts once."""
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


def _of_advice(advice: Advice | None, servers: Sequence[ConfiguredServer]) -> Iterator[str]:
    """Of what other servers do, what those of the same clients do: who switches a server off must
    have the others.
    """
    if advice is None:
        return
    clients = {server.name: _clients_of(server) for server in servers}
    needless = (
        one.in_words
        for one in advice.switch_off
        if all(clients[one.server] <= clients[other] for other in one.others)
    )
    yield from islice(needless, 2)
    copies = (
        (client, [server for server in group if client in clients[server]])
        for group in advice.copies
        for client in sorted(set().union(*(clients[server] for server in group)))
    )
    for client, group in copies:
        if len(group) > 1:
            yield (
                f"{enumerated(group)} offer the same tools in {client}. Keep one of them, "
                "unless each is for its own account or folder."
            )
            return


def _clients_of(server: ConfiguredServer) -> set[str]:
    """The clients in which it is on."""
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
