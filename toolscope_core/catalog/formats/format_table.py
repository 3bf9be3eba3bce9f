"""The table of formats: every way to write tools that is read, written, counted or checked.

A new format is one row here, its reader, its writer and a file of it in ``tests/data``:

- A format of tool records is read and written by its ``Shape`` in ``catalog.shapes``; what its
  schemas say otherwise than JSON Schema stands in ``catalog.writers``.
- Another document is read in ``catalog.records``, as OpenAPI and configurations of clients are, or
  in ``catalog.values``, as CSV is.
- The file of a client is written in ``catalog.clients``.

All lists below, the choices of the command line and the screen, the shapes in which tokens are
counted and the targets that a toolset is checked against are read from the table.
``tests/catalog/test_formats.py`` says of a row what it still lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toolscope_core.model.errors import ExportError

Scope = Literal["toolset", "server", "none"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of an API, client or file format; one that is empty or ``None`` does not apply.

    ``name_rule`` and ``parameter_rule`` are regular expressions for a whole name, ``longest_name``
    counts characters with ``prefix`` before the name (``{server}`` in it is the server's).
    ``unique`` says among which tools a name stands once. ``whole_object`` forbids ``anyOf`` and its
    like at the top of the parameters, ``typed_items`` arrays that do not say what they hold.
    ``mcp_record`` asks for a record that the SDKs of MCP read.
    """

    name_rule: str = ""
    longest_name: int | None = None
    prefix: str = ""
    unique: Scope = "toolset"
    longest_description: int | None = None
    most_tools: int | None = None
    parameter_rule: str = ""
    whole_object: bool = False
    typed_items: bool = False
    mcp_record: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """One row: what the format is called and what it is used for.

    ``reads`` and ``writes`` say whether a catalog can come and a toolset leave in it. ``offered``
    is its place among the formats that an export offers, 0 for one that is written only where the
    input has it. ``in_prompts`` marks those that an API or a client takes, so that tokens are
    counted in them; ``needs_schema`` those that ask even a tool without parameters for a schema.
    ``is_client`` marks clients that read servers instead, so that a toolset is only checked against
    their ``rules``; the first page says what an ``advised`` one would refuse. ``client_file``
    is the file of a bundle that switches pruned tools off in a client or gateway.
    """

    name: str
    title: str
    reads: bool = False
    writes: bool = False
    offered: int = 0
    in_prompts: bool = False
    needs_schema: bool = False
    is_client: bool = False
    rules: Rules = Rules()
    advised: bool = False
    client_file: str = ""


_LETTERS = r"[a-zA-Z0-9_-]+"
_DOTTED = r"[A-Za-z0-9_.-]+"
_ANY_NAMES = Rules(unique="none")
_OPENAI = Rules(
    name_rule=_LETTERS,
    longest_name=64,
    longest_description=1024,
    most_tools=128,
    whole_object=True,
    typed_items=True,
)
_ANTHROPIC = Rules(
    name_rule=_LETTERS,
    longest_name=64,
    parameter_rule=r"[a-zA-Z0-9_.-]{1,64}",
    whole_object=True,
)
_GEMINI = Rules(
    name_rule=r"[A-Za-z_][A-Za-z0-9_.:-]*",
    longest_name=64,
    parameter_rule=r"[A-Za-z_][A-Za-z0-9_]{0,63}",
)
_MCP = Rules(name_rule=_DOTTED, longest_name=128, unique="server", mcp_record=True)
_CLAUDE_CODE = Rules(
    name_rule=_DOTTED,
    longest_name=64,
    prefix="mcp__{server}__",
    unique="server",
    mcp_record=True,
)
_CURSOR = Rules(unique="server", most_tools=40, mcp_record=True)
_VSCODE = Rules(unique="server", most_tools=128)


_TABLE = (
    # A record is read in the first format, from the top, that it fits.
    Format("neutral", "Neutral", reads=True, writes=True, offered=6, rules=_ANY_NAMES),
    Format(
        "openai-chat",
        "OpenAI chat",
        reads=True,
        writes=True,
        offered=1,
        in_prompts=True,
        rules=_OPENAI,
        advised=True,
    ),
    Format(
        "openai-responses",
        "OpenAI responses",
        reads=True,
        writes=True,
        offered=2,
        in_prompts=True,
        rules=_OPENAI,
    ),
    Format(
        "anthropic",
        "Anthropic",
        reads=True,
        writes=True,
        offered=3,
        in_prompts=True,
        needs_schema=True,
        rules=_ANTHROPIC,
        advised=True,
    ),
    Format(
        "gemini",
        "Gemini",
        reads=True,
        writes=True,
        offered=5,
        in_prompts=True,
        rules=_GEMINI,
        advised=True,
    ),
    Format("seal-tools", "seal-tools", reads=True, writes=True),
    Format("ultratool", "ultratool", reads=True, writes=True),
    Format("bfcl", "BFCL", reads=True, writes=True, rules=_ANY_NAMES),
    Format(
        "mcp",
        "MCP",
        reads=True,
        writes=True,
        offered=4,
        in_prompts=True,
        needs_schema=True,
        rules=_MCP,
    ),
    Format("generic", "Generic", reads=True, writes=True, rules=_ANY_NAMES),
    Format("openapi", "OpenAPI", reads=True),
    Format("csv", "CSV", reads=True),
    Format("mcp-client", "Configuration of an MCP client", reads=True),
    Format(
        "claude-code",
        "Claude Code",
        is_client=True,
        rules=_CLAUDE_CODE,
        client_file="clients/claude-code.json",
    ),
    Format("cursor", "Cursor", is_client=True, rules=_CURSOR, client_file="clients/cursor.json"),
    Format("vscode", "VS Code", is_client=True, rules=_VSCODE, client_file="clients/vscode.json"),
    Format("fastmcp", "FastMCP", client_file="clients/fastmcp.json"),
    Format("toolhive", "ToolHive", client_file="clients/toolhive.yaml"),
)

FORMATS: dict[str, Format] = {row.name: row for row in _TABLE}
_ON_OFFER = sorted((row for row in _TABLE if row.offered), key=lambda row: row.offered)

INPUTS = tuple(row.name for row in _TABLE if row.reads)
"""The formats that a source can be in: shapes of records, and other documents."""
OUTPUTS = tuple(row.name for row in _TABLE if row.writes)
"""The shapes of tool records, in the order in which they are tried."""
OFFERED = tuple(row.name for row in _ON_OFFER)
"""The formats that an export offers, in its order."""
PROMPT_SHAPES = tuple(row.name for row in _ON_OFFER if row.in_prompts)
"""The shapes in which tools stand in prompts; the first is the one that totals are given in."""
MATRIX = (*OFFERED, *(row.name for row in _TABLE if row.is_client))
"""The targets whose rules are shown side by side, in their order."""
ADVISED = tuple(row.name for row in _ON_OFFER if row.advised)
"""The targets of which the first page says what they would refuse."""
CLIENT_FILES = tuple(row.client_file for row in _TABLE if row.client_file)
"""The files that a bundle has for clients, in their order."""


def target_named(name: str) -> Format:
    """The row of a format or client that a toolset is checked against.

    Raises ``ExportError`` for a name that is neither.
    """
    row = FORMATS.get(name)
    if row is None or not (row.writes or row.is_client):
        raise ExportError(f"the format {name!r} is unknown; give one of {', '.join(OUTPUTS)}")
    return row
