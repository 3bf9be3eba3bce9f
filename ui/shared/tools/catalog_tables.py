"""What a catalog contains, row by row: tools, servers, findings and unread records."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.catalog.formats.spreadsheets import tools_csv
from toolscope_core.model.catalog import SEVERITIES, Catalog, Finding, severity_counts, worst_first
from toolscope_core.model.cluster import grouped
from toolscope_core.model.plan import MergedTool
from ui.shared.kept import kept
from ui.shared.snapshot import Snapshot
from ui.shared.tools.tool_parts import one_line, operation_line

KINDS: Mapping[str, str] = {
    "hidden-unicode": "Hidden characters",
    "shadowing": "Copies another tool and adds to it",
    "redefines-tool": "Redefines another tool",
    "gives-orders": "Server that gives the model orders",
    "steals-secret": "Takes a secret behind the user's back",
    "look-alike-name": "Name like another tool's",
    "instruction-like": "Addresses the model",
    "order-like": "May give orders, or do more than its job",
    "encoded-order": "Encoded instructions",
    "encoded-text": "Encoded text",
    "ordering-claim": "Claims to come before other tools",
    "insists": "Pushes the model to use it",
    "asks-context": "Asks for conversation or prompt",
    "asks-secret": "Asks for a secret",
    "secret-path": "Mentions where secrets are stored",
    "active-markup": "Image, link or script",
    "padding": "Text pushed out of view",
    "over-long": "Too long to have been read",
    "cites-tool": "Names another tool",
    "past-window": "Longer than the model reads",
    "html-tags": "HTML tags",
    "leading-bom": "Byte order mark",
    "stray-invisible": "Stray invisible character",
    "exact-repeat": "Exact copy",
    "one-name-in-a-client": "Same name in a client",
    "inferred-hint": "Hint guessed from the HTTP method",
    "ignored-parameter": "Parameter that OpenAPI ignores",
    "deprecated-operation": "Deprecated by its API",
    "cut-name": "Shortened name",
    "unread-part": "Part that was not read",
    "ghost-required": "Required but not declared",
    "impossible-enum": "Fixed value of a different type",
    "impossible-default": "Invalid default",
    "invalid-schema": "Invalid keyword in a schema",
    "shortened-schema": "Shortened schema",
    "unused-definitions": "Unused definitions",
}


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool in the table.

    ``parameters`` is ``None`` if the tool declares no parameters. ``tokens`` is an estimate.
    ``findings`` is a text such as ``1 block, 2 warn``. ``operation`` is the tool's declaration in
    an OpenAPI document, if it uses other words than the tool.
    """

    name: str
    server: str
    description: str
    parameters: int | None
    tokens: int
    findings: str
    operation: str
    id: str


@dataclass(frozen=True, slots=True)
class ServerRow:
    """A server, with the number of its tools and an estimate of their tokens."""

    name: str
    tools: int
    tokens: int
    description: str


def tools(snapshot: Snapshot, find: str = "", server: str | None = None) -> tuple[ToolRow, ...]:
    """The rows of the tools that contain every word of ``find``. If a ``server`` is given, only its
    tools.
    """
    return matching(_rows(snapshot), find, server)


@kept()
def _rows(snapshot: Snapshot) -> tuple[ToolRow, ...]:
    return tool_rows(snapshot.catalog, snapshot.tokens)


@kept()
def servers(snapshot: Snapshot) -> tuple[ServerRow, ...]:
    """The rows of the servers, largest first."""
    return server_rows(snapshot.catalog, snapshot.tokens)


def csv(snapshot: Snapshot) -> bytes:
    """All tools as CSV that is safe to open in a spreadsheet."""
    tools = snapshot.catalog.tools
    return tools_csv([MergedTool(tool, (tool.id,)) for tool in tools])


def tool_rows(catalog: Catalog, tokens: Mapping[str, int]) -> tuple[ToolRow, ...]:
    """A row for each tool, in the order of the ids. ``tokens`` are keyed by tool id."""
    counts: dict[str, Counter[str]] = {}
    for finding in catalog.findings:
        counts.setdefault(finding.tool_id, Counter())[finding.severity] += 1
    return tuple(
        ToolRow(
            name=tool.name,
            server=tool.server,
            description=one_line(tool.description),
            parameters=None if tool.schema is None else len(tool.parameters),
            tokens=tokens[tool.id],
            findings=severity_counts(counts.get(tool.id, {})),
            operation=operation_line(tool),
            id=tool.id,
        )
        for tool in catalog.tools
    )


def matching(rows: Sequence[ToolRow], find: str, server: str | None) -> tuple[ToolRow, ...]:
    """The rows that contain every word of ``find``, in any column. If a ``server`` is given, only
    its rows.
    """
    words = find.casefold().split()
    if not words and server is None:
        return tuple(rows)
    return tuple(
        row
        for row in rows
        if (server is None or row.server == server)
        and all(word in _searched(row) for word in words)
    )


def server_rows(catalog: Catalog, tokens: Mapping[str, int]) -> tuple[ServerRow, ...]:
    """A row for each server that has a name, those with the most tools first."""
    counts = Counter(tool.server for tool in catalog.tools)
    cost: Counter[str] = Counter()
    for tool in catalog.tools:
        cost[tool.server] += tokens[tool.id]
    descriptions = {server.name: one_line(server.description) for server in catalog.servers}
    names = sorted(
        (counts.keys() | descriptions.keys()) - {""}, key=lambda name: (-counts[name], name)
    )
    return tuple(
        ServerRow(name, counts[name], cost[name], descriptions.get(name, "")) for name in names
    )


def finding_kind(finding: Finding) -> str:
    """What the code of a finding means, in words."""
    return KINDS.get(finding.code, finding.code)


def findings_by_kind(catalog: Catalog) -> dict[str, list[Finding]]:
    """The findings grouped by severity and kind. The worst severity comes first, then the most
    frequent kind.
    """
    ranked = worst_first(catalog.findings)
    kinds = grouped(ranked, lambda one: f"{one.severity}: {finding_kind(one)}")
    order = {name: (SEVERITIES.index(own[0].severity), -len(own)) for name, own in kinds.items()}
    return {name: kinds[name] for name in sorted(kinds, key=lambda name: (order[name], name))}


def _searched(row: ToolRow) -> str:
    return f"{row.name} {row.operation} {row.server} {row.description}".casefold()
