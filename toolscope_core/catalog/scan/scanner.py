"""Findings on a catalog: hostile text in a tool or of a server, and tools that interfere with
others.

*block*: hidden characters, names in disguise, text that redefines another tool or takes a secret
behind the user's back, shadowing. *warn*:
wording that addresses the model, other tools by name, secrets, markup, over-long text. *info*:
what is good to know. The sentences of a finding say what, where and what to do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from toolscope_core.catalog.scan.citations import ToolNames, find_citations
from toolscope_core.catalog.scan.hidden import find_hidden
from toolscope_core.catalog.scan.lookalikes import find_lookalikes
from toolscope_core.catalog.scan.passages import Passage, passages, server_passages
from toolscope_core.catalog.scan.requested_secrets import find_requested_secrets
from toolscope_core.catalog.scan.shadowing import find_shadowing
from toolscope_core.catalog.scan.suspicious_wording import find_length, find_order, read_wording
from toolscope_core.catalog.tokens import estimate_tokens
from toolscope_core.model.catalog import Finding, Server
from toolscope_core.model.groups import grouped
from toolscope_core.model.tool import Tool

WINDOW = 256


def scan_catalog(tools: Sequence[Tool], servers: Sequence[Server] = ()) -> tuple[Finding, ...]:
    """All findings on the tools, in their order: those on each by itself (``scan_tool``),
    and what shows only beside the others (names in disguise, citations, secrets that no sibling
    asks for, shadowing). Then those on the words of the servers.
    """
    names = ToolNames.of(tools)
    texts = {tool.id: passages(tool) for tool in tools}
    clean: set[str] = set()
    findings = [item for tool in tools for item in _scan(tool, texts[tool.id], clean)]
    findings += find_lookalikes(tools)
    findings += find_requested_secrets(tools)
    findings += [one for tool in tools for one in find_citations(tool, texts[tool.id], names)]
    findings += find_shadowing(tools, findings)
    of_tool = grouped(findings, lambda finding: finding.tool_id)
    return (
        *(finding for tool in tools for finding in of_tool.get(tool.id, ())),
        *(finding for server in servers for finding in scan_server(server, names)),
    )


def scan_server(server: Server, names: ToolNames) -> tuple[Finding, ...]:
    """The findings on what a server says of itself, which agents read before any tool: as on a
    tool's texts, and *block* for orders, which stand there beside those of the agent's owner.
    """
    author = Tool("", "", server=server.name)
    texts = server_passages(server)
    findings = [finding for passage in texts for finding in _scan_text("", passage)]
    findings += filter(None, (find_order(passage) for passage in texts))
    findings += find_citations(author, texts, names)
    return tuple(replace(finding, server=server.name) for finding in findings)


def scan_words(tool: Tool, names: ToolNames) -> tuple[Finding, ...]:
    """The findings on the name and the description that somebody gave a tool, beside the others."""
    texts = [Passage("name", tool.name), Passage("description", tool.description)]
    findings = [finding for passage in texts for finding in _scan_text(tool.id, passage)]
    return (*findings, *find_citations(tool, texts, names))


def scan_tool(tool: Tool) -> tuple[Finding, ...]:
    """The findings on a tool by itself, keys and unknown fields of its record included: hidden
    characters, wording, length.

    ``field`` is the path of the text (``schema/properties/x/description``; what only the record
    holds is under ``raw``).
    """
    return tuple(_scan(tool, passages(tool), set()))


def _scan(tool: Tool, texts: Sequence[Passage], clean: set[str]) -> Iterator[Finding]:
    """The findings on each text but ``clean`` ones, to which those without any are added."""
    for passage in texts:
        # a name is held to another length
        if passage.text in clean and passage.path != "name":
            continue
        findings = [*_scan_text(tool.id, passage)]
        yield from findings
        if not findings:
            clean.add(passage.text)
    if len(tool.description) > WINDOW and estimate_tokens(tool.description) > WINDOW:
        yield _past_window(tool)


def _scan_text(tool_id: str, passage: Passage) -> Iterator[Finding]:
    hidden = find_hidden(tool_id, passage.path, passage.text)
    if hidden:
        yield hidden
    yield from read_wording(passage.text).findings(tool_id, passage.path)
    over = find_length(tool_id, passage)
    if over:
        yield over


def _past_window(tool: Tool) -> Finding:
    message = (
        f"The {{field}} has about {estimate_tokens(tool.description)} tokens; the embedding model "
        f"reads {WINDOW}, so overlap is judged by the beginning: put what matters first."
    )
    passage = Passage("description", tool.description)
    return passage.finding(tool.id, "info", "past-window", message)
