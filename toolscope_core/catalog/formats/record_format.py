"""A format of tool records: where it keeps the parts of a tool, and how it writes them."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from toolscope_core.catalog.schema.declarations import RecordError, read_parameters, read_returns
from toolscope_core.catalog.schema.keywords import split_invalid
from toolscope_core.catalog.schema.pointers import ExpansionBudget
from toolscope_core.model.catalog import Server
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

Scope = Literal["toolset", "server", "none"]
Rule = Literal["count", "name", "unique", "description", "parameter", "schema"]
"""The rules that a toolset can break."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of an API, client or file format; a rule that is empty or ``None`` does not apply.

    ``name_rule`` and ``parameter_rule`` are regular expressions for a whole name.
    ``parameter_rule`` applies at every depth, or only at the top if ``top_parameters`` is true.
    ``longest_name`` counts characters, including the ``prefix`` before the name, in which
    ``{server}`` is the name of the server. ``unique`` says among which tools a name may occur only
    once. If ``dots_fold`` is true, names that differ only in dots and underscores count as equal.

    ``whole_object`` forbids ``anyOf`` and similar keywords at the top of the parameters, and
    ``typed_items`` forbids arrays that do not declare their items. ``declared_object`` requires
    ``properties`` at the top; they are written even if there are none. ``mcp_record`` requires a
    record that the MCP SDKs can read. ``strict_mode`` requires a schema that OpenAI's strict mode
    accepts if a record asks for that mode. ``most_tools`` also counts the client's ``own_tools``.
    ``longest_instructions`` counts the bytes of a server's text about itself.
    """

    name_rule: str = ""
    longest_name: int | None = None
    prefix: str = ""
    unique: Scope = "toolset"
    longest_description: int | None = None
    longest_instructions: int | None = None
    most_tools: int | None = None
    own_tools: int = 0
    parameter_rule: str = ""
    top_parameters: bool = False
    declared_object: bool = False
    whole_object: bool = False
    typed_items: bool = False
    mcp_record: bool = False
    strict_mode: bool = False
    dots_fold: bool = False

    @property
    def room(self) -> int | None:
        """The number of tools that fit beside the client's own; ``None`` if there is no limit."""
        return None if self.most_tools is None else self.most_tools - self.own_tools


LETTERS = r"[a-zA-Z0-9_-]+"
DOTTED = r"[A-Za-z0-9_.-]+"
ANY_NAMES = Rules(unique="none")


@dataclass(frozen=True, slots=True)
class Target:
    """A format or client: its name in commands and files, its title for people, and its rules.

    ``goes`` says in Markdown where the file belongs. ``writes`` says whether a toolset can be
    written in this format. ``source`` is the address from which the rules come, and ``as_of`` the
    month in which that source was read.
    """

    name: str
    title: str
    rules: Rules = Rules()
    goes: str = "It has the same form as the file you loaded and can replace it."
    source: str = ""
    as_of: str = ""
    writes: ClassVar[bool] = False

    @property
    def can_defer(self) -> bool:
        """Whether a file can leave tools to a search."""
        return False


KEPT = "built_in"
"""The key under which the neutral format keeps the record of a built-in tool."""
_OPENAI = re.compile(
    r"(?:web_search|file_search|code_interpreter|computer|computer_use|image_generation|mcp|"
    r"local_shell|shell|apply_patch|tool_search)(?:_preview)?(?:_20\d\d_\d\d_\d\d)?"
)
_ANTHROPIC = re.compile(r"[a-z0-9_]+_20\d{6}|mcp_toolset")
_SCHEMAS = ("parameters", "input_schema", "inputSchema", "function")
_GEMINI = frozenset(
    "googleSearch google_search googleSearchRetrieval google_search_retrieval codeExecution "
    "code_execution urlContext url_context googleMaps google_maps computerUse computer_use "
    "fileSearch file_search".split()
)


def built_in_record(record: Any) -> JsonObject | None:
    """The record of a built-in tool as its API accepts it; ``None`` for any other record."""
    if not isinstance(record, dict):
        return None
    original = record.get(KEPT)
    if isinstance(original, dict) and home_of(original):
        return original
    return record if home_of(record) else None


def home_of(record: JsonObject) -> str:
    """The format of the API that has this built-in tool; empty if the record is not a built-in
    tool.
    """
    kind = record.get("type")
    if not isinstance(kind, str):
        is_switch = len(record) == 1 and _GEMINI.issuperset(record)
        return "gemini" if is_switch and isinstance(next(iter(record.values())), dict) else ""
    if any(key in record for key in _SCHEMAS):
        return ""
    if _ANTHROPIC.fullmatch(kind):
        return "anthropic"
    is_free_text = kind == "custom" and ("format" in record or "custom" in record)
    is_own = "name" not in record and _OPENAI.fullmatch(kind)
    if is_free_text or (is_own and (kind != "mcp" or "server_label" in record)):
        return "openai-responses"
    return ""


def built_in_name(record: JsonObject) -> str:
    """The name of a built-in tool: its own, or else its kind with the server to which it
    connects.
    """
    own = record.get("name")
    if isinstance(own, str) and own.strip():
        return own
    kind = record.get("type") or next(iter(record), "")
    server = record.get("mcp_server_name") or record.get("server_label")
    return f"{kind}_{server}" if isinstance(server, str) and server else str(kind)


ToolPart = Literal["id", "server", "name", "description", "schema", "returns", "annotations"]
Path = tuple[str, ...]

HINTS = {
    "title": str,
    **dict.fromkeys(("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"), bool),
}


def places(**words: str) -> dict[Any, tuple[Path, ...]]:
    """The paths of each part, written as words: ``"function.name name"``."""
    return {
        part: tuple(tuple(path.split(".")) for path in paths.split())
        for part, paths in words.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFormat(Target):
    """One way to write a tool; a subclass overrides whatever it does differently.

    ``places`` lists the possible paths of each part, the usual path first; a part without paths
    cannot be written. ``marks`` recognises features that only this format has. ``template`` is the
    content of every record besides its parts, and ``list_key`` is the key of a whole list of
    records. ``offered`` is the format's rank among those that an export offers; 0 means that the
    format is written only if the input has it. ``in_prompts`` marks a format that an API or client
    puts in prompts, so that tokens are counted in it. ``needs_schema`` marks a format that requires
    a schema even for a tool without parameters. For an ``advised`` format, the first page lists
    what the format would refuse. A format that ``renews`` writes a changed schema at its usual
    place, and rewrites records of another dialect. ``strict_place`` is the place of the request for
    strict mode. ``tool_search`` is the record of the API's search if the API can defer tools;
    otherwise empty.
    """

    places: Mapping[ToolPart, tuple[Path, ...]]
    marks: Callable[[JsonObject], bool]
    template: JsonObject
    list_key: str = ""
    offered: int = 0
    in_prompts: bool = False
    needs_schema: bool = False
    advised: bool = False
    tool_search: JsonObject = field(default_factory=dict)
    strict_place: Path = ()
    writes: ClassVar[bool] = True
    renews: ClassVar[bool] = False

    @property
    def can_defer(self) -> bool:
        """Whether a file can leave tools to a search."""
        return bool(self.tool_search)

    def find(self, record: JsonObject, part: ToolPart) -> tuple[Path, Any] | None:
        """The first place where the part has a value other than null, with that value; ``None``
        if there is none.
        """
        return next(self.find_all(record, part), None)

    def find_all(self, record: JsonObject, part: ToolPart) -> Iterator[tuple[Path, Any]]:
        """Every place where the part has a value other than null, with that value."""
        for path in self.places.get(part, ()):
            value = value_at(record, path)
            if value is not None:
                yield path, value

    def get(self, record: JsonObject, part: ToolPart) -> Any:
        """The value that ``find`` finds, or ``None``."""
        entry = self.find(record, part)
        return entry[1] if entry else None

    def holds(self, server: Server) -> bool:
        """Whether a list of records in this format can name the server."""
        return "server" in self.places

    def suits(
        self, records: Sequence[JsonObject], lists: Set[str], servers: Sequence[Server]
    ) -> bool:
        """Whether records that all fit this format may actually be in it, judged by what surrounds
        them.

        ``lists`` are the keys of the lists that contain the records (empty for no key). ``servers``
        are those that the objects around these lists name.
        """
        return all(map(self.holds, servers))

    def takes(self, schema: JsonObject, parameters: JsonObject | None) -> bool:
        """Whether the API or client accepts a schema as a record has it.

        ``parameters`` is the same schema after it was read.
        """
        nullable = '"nullable":true'
        was_read = nullable in canonical_json(schema) and nullable not in canonical_json(parameters)
        return not was_read and split_invalid(schema) is schema

    def with_schema(self, record: JsonObject, path: Path, schema: JsonObject) -> JsonObject:
        """The record with its parameters in the dialect of the format."""
        return with_value(record, path, schema)

    def written_returns(self, schema: JsonObject) -> JsonObject:
        """The schema of the result in the dialect of the format."""
        return schema

    def sendable(self, record: JsonObject, is_new: bool) -> JsonObject:
        """The record as the API or client of the format accepts it."""
        return record

    def holder(self, server: Server) -> JsonObject:
        """The keys beside the tools of a server: its namespace or ``{"server",
        "description"?}``.
        """
        description = {"description": server.description} if server.description else {}
        if server.raw:
            return {**server.raw, "name": server.name, **description}
        return {**({"server": server.name} if server.name else {}), **description}

    def document(
        self, records: Sequence[JsonObject], tools: Sequence[MergedTool], servers: Sequence[Server]
    ) -> Any:
        """The records of the tools as a file: grouped by server if the format can do that, or
        else in one list.
        """
        owners = {item.tool.server: Server(item.tool.server) for item in tools if item.tool.server}
        owners |= {server.name: server for server in servers}
        if not any(map(self.holds, owners.values())):
            return {self.list_key: records} if self.list_key else records
        by_server: defaultdict[str, list[JsonObject]] = defaultdict(list)
        for record, item in zip(records, tools, strict=True):
            by_server[item.tool.server].append(record)
        rows: list[JsonObject] = []
        for name in sorted(by_server.keys() | owners.keys()):
            owner, own = owners.get(name, Server(name)), by_server[name]
            rows += [{**self.holder(owner), "tools": own}] if self.holds(owner) else own
        return rows


def read_record(
    record: JsonObject,
    format: RecordFormat,
    server: str = "",
    budget: ExpansionBudget | None = None,
) -> Tool:
    """The tool in one record; the id comes from this record alone.

    The id is the record's own ``id`` as text, or else ``server/name``, or else the name. ``budget``
    belongs to the record's document; ``None`` makes a new budget. Raises ``RecordError`` if a part
    is missing or cannot be understood.
    """
    built_in = built_in_record(record)
    name = built_in_name(built_in) if built_in else _text(format, record, "name")
    if not name.strip():
        keys = " or ".join(".".join(path) for path in format.places["name"])
        raise RecordError(f"has no name; add the name as a string under {keys}")
    own = record.get("id")
    own_id = own if isinstance(own, str) else "" if own is None else canonical_json(own)
    hints = format.get(record, "annotations")
    values = hints if isinstance(hints, dict) else {}
    tool = Tool(
        id=own_id if own_id.strip() else f"{server}/{name}" if server else name,
        name=name,
        description=_text(format, record, "description"),
        server=server,
        schema=read_parameters(format.get(record, "schema"), record.get("required"), budget),
        returns=read_returns(format.get(record, "returns"), budget),
        annotations={
            key: values[key] for key, kind in HINTS.items() if isinstance(values.get(key), kind)
        },
        raw=record,
    )
    return tool.declared_in(format.name)


def own_server(record: JsonObject, format: RecordFormat) -> str:
    """The server that the record itself names; empty if it names none."""
    server = format.get(record, "server")
    return server if isinstance(server, str) and server.strip() else ""


def value_at(record: Any, path: Path) -> Any:
    """The value at the path in a record; ``None`` if there is no such value."""
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def with_value(record: JsonObject, path: Path, value: Any) -> JsonObject:
    """A copy of the record with ``value`` at the path, or without the path if the value is
    ``None``.
    """
    key, rest = path[0], path[1:]
    if rest:
        value = with_value(record.get(key, {}), rest, value)
    if value is None:
        return {other: kept for other, kept in record.items() if other != key}
    return {**record, key: value}


def _text(format: RecordFormat, record: JsonObject, part: ToolPart) -> str:
    value = format.get(record, part)
    if value is not None and not isinstance(value, str):
        excerpt = canonical_json(value)[:60]
        raise RecordError(f"has the {part} {excerpt}, which is not a string; put it in quotes")
    return value or ""
