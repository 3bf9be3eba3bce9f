"""A catalog: its tools, servers and files, and what was wrong with what was read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from toolscope_core.model.tool import JsonObject, Tool, canonical_json, digest, sorted_ids

Severity = Literal["block", "warn", "info"]
SEVERITIES: tuple[Severity, ...] = ("block", "warn", "info")
_ADDRESSING = frozenset(
    "instruction-like insists ordering-claim asks-context cites-tool redefines-tool "
    "steals-secret".split()
)
"""Codes of findings of the scan on text that addresses its reader."""


@dataclass(frozen=True, slots=True)
class Server:
    """An owner of tools: an MCP server, an agent or an OpenAI namespace.

    ``title`` is what it calls itself, empty where that is its name. ``started`` is how a live
    server was started or reached, without secrets; empty where its tools came from a file. ``raw``
    is the namespace as it was read, without its tools; empty for any
    other server.
    """

    name: str
    description: str = ""
    raw: JsonObject = field(default_factory=dict, repr=False, hash=False)
    started: str = ""
    title: str = ""

    @property
    def fullness(self) -> tuple[int, str, int, str, str]:
        """Orders what several files say of one server: who describes it at most length is last."""
        raw = canonical_json(self.raw)
        return len(self.description), self.description, len(raw), raw, self.title


@dataclass(frozen=True, slots=True)
class ImpliedServer:
    """A vendor or product with its tools (ids, sorted), and why it is held for one, in words."""

    name: str
    tools: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that could not be read: where it stands, why, and its text (cut to 500)."""

    position: str
    reason: str
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to know about a tool before trusting it, or about a ``server``, without a tool's id
    then.

    ``field`` is the place in the definition (``description``, ``schema/properties/x``);
    ``excerpt`` is the suspicious text with invisible characters written visibly.
    """

    tool_id: str
    severity: Severity
    code: str
    field: str
    message: str
    excerpt: str = ""
    server: str = ""

    @property
    def subject(self) -> str:
        """The id of the tool, or the server in words."""
        return self.tool_id or f"server {self.server}"


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by severity, *block* first, then by tool."""
    return sorted(
        findings, key=lambda one: (SEVERITIES.index(one.severity), one.tool_id, one.field, one.code)
    )


def severity_counts(counts: Mapping[str, int]) -> str:
    """``1 block, 7 warn``; empty for none."""
    return ", ".join(f"{counts[one]} {one}" for one in SEVERITIES if counts.get(one))


@dataclass(frozen=True, slots=True)
class FormerName:
    """A name by which agents called a tool of a server, after an export or before the first.

    ``tool_id`` is the tool that it means in this catalog, empty where that is gone; ``maps`` are
    the argument maps that a call of that name goes through in turn, a list in JSON, or empty.
    """

    name: str
    server: str
    tool_id: str = ""
    maps: str = ""


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of an import: its format, and how many of its records are tools and problems.

    ``server`` is the one made up from its name for tools of which it names none; else empty.
    ``version`` is the one that it names of itself.
    """

    label: str
    format: str
    tools: int
    problems: int
    server: str = ""
    version: str = ""


@dataclass(frozen=True)
class Catalog:
    """Tools and their servers, sorted by id and by name, with what could not be read.

    ``files`` describes each file that was just read; a stored catalog has none. ``format`` is the
    format in which its tools are written again.
    ``former_names`` came with a bundle. ``by_id`` has the tools by their ids.
    """

    tools: tuple[Tool, ...]
    servers: tuple[Server, ...] = ()
    format: str = "neutral"
    problems: tuple[Problem, ...] = ()
    findings: tuple[Finding, ...] = ()
    files: tuple[InputFile, ...] = field(default=(), compare=False)
    former_names: tuple[FormerName, ...] = ()
    by_id: Mapping[str, Tool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_id", {tool.id: tool for tool in self.tools})

    @property
    def version(self) -> str:
        """Hash (64 hex digits) of the ids and fingerprints: equal for equal tools in any order."""
        return digest(sorted((tool.id, tool.fingerprint) for tool in self.tools))

    @property
    def read_from(self) -> tuple[str, ...]:
        """The formats of the files that brought tools, sorted; where none is known, its own."""
        return sorted_ids(file.format for file in self.files if file.tools) or (self.format,)

    @property
    def blocked(self) -> frozenset[str]:
        """Ids of the tools with a *block* finding: never canonical, never auto-merged."""
        blocking = (item.tool_id for item in self.findings if item.severity == "block")
        return frozenset(blocking) - {""}

    @property
    def addressing(self) -> frozenset[str]:
        """Ids of the tools whose text speaks to the model that reads it."""
        serious = (one for one in self.findings if one.severity != "info")
        return frozenset(one.tool_id for one in serious if one.code in _ADDRESSING) - {""}
