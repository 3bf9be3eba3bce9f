"""A catalog: its tools, servers and files, and the problems found while reading them."""

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
"""Codes of the scan's findings on text that addresses its reader."""


@dataclass(frozen=True, slots=True)
class Server:
    """An owner of tools: an MCP server, an agent or an OpenAI namespace.

    ``title`` is the display name that the server gives itself; it is empty if that equals ``name``.
    ``started`` says how a live server was started or reached, without secrets; ``version`` is its
    version then. Both are empty for tools that came from a file. ``raw`` is the namespace as it was
    read, without its tools; it is empty for any other server.
    """

    name: str
    description: str = ""
    raw: JsonObject = field(default_factory=dict, repr=False, hash=False)
    started: str = ""
    title: str = ""
    version: str = ""

    @property
    def fullness(self) -> tuple[int, str, int, str, str, str, str]:
        """Sort key for descriptions of one server in several files: the longest description sorts
        last.
        """
        raw = canonical_json(self.raw)
        texts = self.title, self.started, self.version
        return len(self.description), self.description, len(raw), raw, *texts


@dataclass(frozen=True, slots=True)
class ImpliedServer:
    """A vendor or product with its tools (ids, sorted), and the reason in words for assuming it."""

    name: str
    tools: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that could not be read: its position, the reason, and its text (cut to 500
    characters).
    """

    position: str
    reason: str
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A warning about a tool, or about a ``server`` (then ``tool_id`` is empty).

    ``field`` is the place in the definition (``description``, ``schema/properties/x``). ``excerpt``
    is the suspicious text, with invisible characters written visibly.
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
        """The tool's id, or the server in words."""
        return self.tool_id or f"server {self.server}"


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by severity, *block* first, then by tool."""
    return sorted(
        findings, key=lambda one: (SEVERITIES.index(one.severity), one.tool_id, one.field, one.code)
    )


def severity_counts(counts: Mapping[str, int]) -> str:
    """The findings counted by severity, such as ``1 block, 7 warn``; empty for none."""
    return ", ".join(f"{counts[one]} {one}" for one in SEVERITIES if counts.get(one))


@dataclass(frozen=True, slots=True)
class FormerName:
    """A name that agents used for a tool of a server, before or after an export.

    ``tool_id`` is the tool that the name means in this catalog; it is empty if that tool is gone.
    ``maps`` is a JSON list of the argument maps that a call by this name goes through in turn, or
    empty.
    """

    name: str
    server: str
    tool_id: str = ""
    maps: str = ""


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of an import: its format, and how many tools and problems it contains.

    ``server`` is the server name derived from the file's name for tools without one; otherwise
    empty.
    """

    label: str
    format: str
    tools: int
    problems: int
    server: str = ""
    version: str = ""


@dataclass(frozen=True)
class Catalog:
    """Tools and their servers, sorted by id and by name, with the records that could not be read.

    ``files`` describes each file that was just read; a stored catalog has none. ``format`` is the
    format in which the tools are written back. ``former_names`` came with a bundle. ``by_id`` maps
    each id to its tool.
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
        """The formats of the files that contained tools, sorted; if there are none, the catalog's
        own.
        """
        return sorted_ids(file.format for file in self.files if file.tools) or (self.format,)

    @property
    def blocked(self) -> frozenset[str]:
        """Ids of the tools with a *block* finding: never canonical, never auto-merged."""
        blocking = (item.tool_id for item in self.findings if item.severity == "block")
        return frozenset(blocking) - {""}

    @property
    def addressing(self) -> frozenset[str]:
        """Ids of the tools whose text contains instructions for the model that reads it."""
        serious = (one for one in self.findings if one.severity != "info")
        return frozenset(one.tool_id for one in serious if one.code in _ADDRESSING) - {""}
