"""The native shapes of a tool record: where each keeps a tool's parts, and a record as a tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from toolscope_core.catalog.formats.format_table import OUTPUTS
from toolscope_core.catalog.schema.budget import ExpansionBudget
from toolscope_core.catalog.schema.declarations import RecordError, read_parameters, read_returns
from toolscope_core.model.catalog import Server
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

ToolPart = Literal["id", "server", "name", "description", "schema", "returns", "annotations"]
Path = tuple[str, ...]

DECLARATIONS = ("functionDeclarations", "function_declarations")
GEMINI_SCHEMAS = ("parametersJsonSchema", "parameters_json_schema")

READ: tuple[ToolPart, ...] = ("server", "name", "description", "schema", "returns", "annotations")

HINTS = {
    "title": str,
    **dict.fromkeys(("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"), bool),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to write a tool.

    ``places`` lists for each part the paths where it may stand, the usual one first; a part
    without any cannot be carried. ``marks`` decides whether a record has what only this shape has;
    ``template`` is what every record has besides its parts.
    """

    name: str
    places: Mapping[ToolPart, tuple[Path, ...]]
    marks: Callable[[JsonObject], bool]
    template: JsonObject = field(default_factory=dict)

    def fits(self, record: JsonObject) -> bool:
        """Whether the record is written in this shape and says nothing that it would not read."""
        if not self.marks(record):
            return False
        for part in READ:
            entry = SHAPES["generic"].find(record, part)
            if entry and entry[0] not in self.places.get(part, ()):
                return False
        return True

    def holds(self, server: Server) -> bool:
        """Whether a list of records in this shape can say that they belong to the server."""
        return "server" in self.places or (self.name == "openai-responses" and bool(server.raw))

    def find(self, record: JsonObject, part: ToolPart) -> tuple[Path, Any] | None:
        """The first place of the part that holds a value other than null, and that value."""
        return next(self.find_all(record, part), None)

    def find_all(self, record: JsonObject, part: ToolPart) -> Iterator[tuple[Path, Any]]:
        """Every place of the part that holds a value other than null, with that value."""
        for path in self.places.get(part, ()):
            value = _at(record, path)
            if value is not None:
                yield path, value

    def get(self, record: JsonObject, part: ToolPart) -> Any:
        """The value that ``find`` gives, or ``None``."""
        entry = self.find(record, part)
        return entry[1] if entry else None


def read_record(
    record: JsonObject, shape: Shape, server: str = "", budget: ExpansionBudget | None = None
) -> Tool:
    """The tool of one record, with the id that the record alone gives it: its own ``id`` as text,
    else ``server/name``, else the name. ``budget`` is its document's; ``None`` makes a new one.

    Raises ``RecordError`` where a part is missing or cannot be understood.
    """
    name = _text(shape, record, "name")
    if not name.strip():
        keys = " or ".join(".".join(path) for path in shape.places["name"])
        raise RecordError(f"has no name; give a text under {keys}")
    own = record.get("id")
    own_id = own if isinstance(own, str) else "" if own is None else canonical_json(own)
    return Tool(
        id=own_id if own_id.strip() else f"{server}/{name}" if server else name,
        name=name,
        description=_text(shape, record, "description"),
        server=server,
        schema=read_parameters(shape.get(record, "schema"), record.get("required"), budget),
        returns=read_returns(shape.get(record, "returns"), budget),
        annotations=_hints(shape.get(record, "annotations")),
        raw=record,
    )


def unread(record: JsonObject) -> JsonObject:
    """The record without the parts of a tool, wherever its shape keeps them.

    Lists of required names beside flat parameters are parts, and so is the OpenAI shapes' type.
    """
    paths: list[Path] = [("required",)] if isinstance(record.get("required"), list) else []
    paths += [("type",)] if record.get("type") == "function" else []
    for part, places in SHAPES["generic"].places.items():
        read, value = SHAPES["generic"].find(record, part) or ((), None)
        if part == "annotations" and isinstance(value, dict):
            paths += [(*read, hint) for hint in HINTS]
        else:
            paths += [path for path in places if path == read or _at(record, path) is None]
    for path in paths:
        record = _without(record, path)
    return record


def own_server(record: JsonObject, shape: Shape) -> str:
    """The server that the record itself names; empty if none."""
    server = shape.get(record, "server")
    return server if isinstance(server, str) and server.strip() else ""


def detect(
    records: Sequence[JsonObject], lists: frozenset[str], servers: Sequence[Server]
) -> Shape:
    """The most specific shape that every record with a name is written in, else ``generic``.

    ``lists`` are the keys of the lists that the records stand in (empty for none): under ``tools``
    one that says nothing of its parameters still is an MCP tool, under ``functionDeclarations``
    one of Gemini. ``servers`` are those that the objects around these lists name.
    """
    generic = SHAPES["generic"]
    named = [record for record in records if generic.fits(record)]
    allowed = {
        "mcp": ("" not in lists or any({"inputSchema", "arguments"} & r.keys() for r in named))
        and not any(server.raw for server in servers),
        "gemini": bool(lists & set(DECLARATIONS)) or any(map(_tells_gemini, named)),
    }
    for shape in SHAPES.values():
        possible = allowed.get(shape.name, True) and all(map(shape.holds, servers))
        if possible and all(shape.fits(record) for record in named):
            return shape
    return generic


def _at(record: JsonObject, path: Path) -> Any:
    value: Any = record
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _without(value: JsonObject, path: Path) -> JsonObject:
    """A copy without what stands at the path, and without objects that this leaves empty."""
    key, rest = path[0], path[1:]
    inner = value.get(key)
    kept = _without(inner, rest) if rest and isinstance(inner, dict) else {}
    others = {name: item for name, item in value.items() if name != key}
    return {**others, key: kept} if kept else others


def _text(shape: Shape, record: JsonObject, part: ToolPart) -> str:
    value = shape.get(record, part)
    if value is not None and not isinstance(value, str):
        shown = canonical_json(value)[:60]
        raise RecordError(f"has the {part} {shown}, which is not text; write it in quotes")
    return value or ""


def _hints(value: object) -> JsonObject:
    given = value if isinstance(value, dict) else {}
    return {key: given[key] for key, kind in HINTS.items() if isinstance(given.get(key), kind)}


def _shape(
    shape: str,
    marks: Callable[[JsonObject], bool],
    template: JsonObject,
    **places: str,
) -> Shape:
    """A shape whose places are written as words: ``"function.name name"``."""
    paths: dict[Any, tuple[Path, ...]] = {
        part: tuple(tuple(word.split(".")) for word in words.split())
        for part, words in places.items()
    }
    return Shape(shape, paths, marks, template)


def _marks_mcp(record: JsonObject) -> bool:
    arguments = record.get("arguments")
    return "name" in record and (arguments is None or isinstance(arguments, list))


def _marks_bfcl(record: JsonObject) -> bool:
    parameters = record.get("parameters")
    return isinstance(parameters, dict) and parameters.get("type") == "dict"


def _marks_gemini(record: JsonObject) -> bool:
    kind = record.get("type")
    return "name" in record and kind is None and "id" not in record


def _tells_gemini(record: JsonObject) -> bool:
    """Whether the record says what no other shape does: its own keys, or types in capitals."""
    parameters = record.get("parameters")
    kind = parameters.get("type") if isinstance(parameters, dict) else None
    return kind == "OBJECT" or any(key in record for key in GEMINI_SCHEMAS)


_DEFINED = (
    _shape(
        "neutral",
        lambda record: {"id", "server", "name", "parameters", "members"} <= record.keys(),
        {
            **{"id": "", "server": "", "name": "", "description": "", "parameters": None},
            **{"returns": None, "annotations": {}},
        },
        id="id",
        server="server",
        name="name",
        description="description",
        schema="parameters",
        returns="returns",
        annotations="annotations",
    ),
    _shape(
        "openai-chat",
        lambda record: isinstance(record.get("function"), dict),
        {"type": "function", "function": {}},
        name="function.name",
        description="function.description",
        schema="function.parameters",
    ),
    _shape(
        "openai-responses",
        lambda record: record.get("type") == "function" and "name" in record,
        {"type": "function", "name": "", "description": "", "parameters": None, "strict": False},
        name="name",
        description="description",
        schema="parameters",
        returns="output_schema",
    ),
    _shape(
        "anthropic",
        lambda record: "input_schema" in record and "name" in record,
        {"name": "", "description": "", "input_schema": {"type": "object"}},
        name="name",
        description="description",
        schema="input_schema",
    ),
    _shape(
        "gemini",
        _marks_gemini,
        {"name": "", "description": "", "parametersJsonSchema": {"type": "object"}},
        name="name",
        description="description",
        schema="parametersJsonSchema parameters_json_schema parameters",
        returns="responseJsonSchema response_json_schema response",
    ),
    _shape(
        "seal-tools",
        lambda record: "api_name" in record,
        {"api_name": "", "api_description": "", "parameters": {"type": "object"}},
        name="api_name",
        description="api_description",
        schema="parameters",
        returns="responses",
    ),
    _shape(
        "ultratool",
        lambda record: isinstance(record.get("arguments"), dict) and "results" in record,
        {"name": "", "description": "", "arguments": {"type": "object"}, "results": {}},
        name="name",
        description="description",
        schema="arguments",
        returns="results",
    ),
    _shape(
        "bfcl",
        _marks_bfcl,
        {"id": "", "name": "", "description": "", "parameters": {"type": "dict"}},
        id="id",
        name="name",
        description="description",
        schema="parameters",
        returns="response",
    ),
    _shape(
        "mcp",
        _marks_mcp,
        {"name": "", "description": "", "inputSchema": {"type": "object"}},
        server="server server_name",
        name="name",
        description="description",
        schema="inputSchema arguments",
        returns="outputSchema",
        annotations="annotations",
    ),
    _shape(
        "generic",
        lambda record: isinstance(SHAPES["generic"].get(record, "name"), str),
        {"id": "", "name": "", "description": ""},
        id="id",
        server="server server_name",
        name="name function.name api_name tool_name function_name",
        description="description function.description desc api_description summary",
        schema="parameters inputSchema input_schema function.parameters arguments args schema "
        "parametersJsonSchema parameters_json_schema",
        returns="returns outputSchema output_schema results responses response "
        "responseJsonSchema response_json_schema",
        annotations="annotations",
    ),
)
_BY_NAME = {shape.name: shape for shape in _DEFINED}
SHAPES: dict[str, Shape] = {name: _BY_NAME[name] for name in OUTPUTS if name in _BY_NAME}
"""In the order in which they are tried."""
