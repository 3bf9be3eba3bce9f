"""The table of formats: which are read, written, offered and counted, and how a format is detected.

To add a format of tool records, add a module here and its name to ``RECORD_FORMATS``. All lists
below follow from that. So do the choices on the command line and on the screen, the formats for
token counts, and the targets of checks (``target_table``).
"""

from collections.abc import Sequence, Set

from toolscope_core.catalog.clients.client_table import CLIENTS, FURTHER_CLIENTS
from toolscope_core.catalog.flaws import value_excerpt
from toolscope_core.catalog.formats import foreign_formats, record_format
from toolscope_core.catalog.formats.mcp_records import MCP
from toolscope_core.catalog.formats.neutral import GENERIC, NEUTRAL
from toolscope_core.catalog.formats.record_format import RecordFormat, Target, ToolPart
from toolscope_core.model.catalog import Finding, Server, Severity
from toolscope_core.model.errors import ExportError
from toolscope_core.model.tool import JsonObject, Tool

_IN_ORDER: tuple[RecordFormat, ...] = (
    NEUTRAL,
    foreign_formats.OPENAI_CHAT,
    foreign_formats.OPENAI_RESPONSES,
    foreign_formats.ANTHROPIC,
    foreign_formats.GEMINI,
    foreign_formats.SEAL_TOOLS,
    foreign_formats.ULTRATOOL,
    foreign_formats.BFCL,
    MCP,
    GENERIC,
)
RECORD_FORMATS = {format.name: format for format in _IN_ORDER}
"""The formats by name, in the order in which they are tried; the first that fits reads a record."""
_ON_OFFER = sorted(
    (format for format in _IN_ORDER if format.offered), key=lambda format: format.offered
)

OUTPUTS = tuple(RECORD_FORMATS)
"""The formats of tool records to which a toolset can be exported."""
INPUTS = (*OUTPUTS, "openapi", "csv", "mcp-client")
"""The possible formats of a source: formats of tool records, and formats of other documents."""
OFFERED = tuple(format.name for format in _ON_OFFER)
"""The formats that an export offers, in order."""
PROMPT_FORMATS = tuple(format.name for format in _ON_OFFER if format.in_prompts)
"""The formats of tools in prompts; the first one is used for totals."""
ADVISED = tuple(format.name for format in _ON_OFFER if format.advised)
"""The targets for which the first page lists what they would refuse."""


def format_named(name: str) -> RecordFormat:
    """The format of tool records with this name.

    Raises ``ExportError`` for a name that is not in ``OUTPUTS``.
    """
    if name not in RECORD_FORMATS:
        raise ExportError(f"the format {name!r} is unknown; use one of {', '.join(OUTPUTS)}")
    return RECORD_FORMATS[name]


_CHECKED_CLIENTS: dict[str, Target] = {
    client.name: client
    for client in (*(one for one in CLIENTS if one.is_checked), *FURTHER_CLIENTS)
}

MATRIX = (*OFFERED, *_CHECKED_CLIENTS)
"""The targets whose rules are shown side by side, in order."""


def target_named(name: str) -> Target:
    """The format or client with this name, against which a toolset can be checked.

    Raises ``ExportError`` for a name that is neither.
    """
    return _CHECKED_CLIENTS[name] if name in _CHECKED_CLIENTS else format_named(name)


_BESIDE = frozenset(
    "_meta meta metadata icons annotations execution tags labels category categories function "
    "cache_control input_examples examples allowed_callers members required_parameters "
    "optional_parameters toolkit return_parameter requirements".split()
) | {record_format.KEPT}
"""Keys of lists and maps that are known to contain no parameters."""
_NOT_READ = (
    "The record has {!r}, which is not read. If it contains the parameters, rename it to "
    "`parameters`."
)
READ: tuple[ToolPart, ...] = ("server", "name", "description", "schema", "returns", "annotations")


def fits(record: JsonObject, format: RecordFormat) -> bool:
    """Whether the record is in the format and has nothing that the format would leave unread."""
    if home := record_format.home_of(record):
        return format.name == home
    if not format.marks(record):
        return False
    entries = ((part, GENERIC.find(record, part)) for part in READ)
    return all(not entry or entry[0] in format.places.get(part, ()) for part, entry in entries)


def detect(
    records: Sequence[JsonObject], lists: Set[str], servers: Sequence[Server]
) -> RecordFormat:
    """The most specific format that fits every record with a name, or else ``generic``.

    ``lists`` are the keys of the lists that contain the records (empty for no key). ``servers`` are
    those that the objects around these lists name.
    """
    tools = [record for record in records if GENERIC.marks(record)]
    for format in RECORD_FORMATS.values():
        if format.suits(tools, lists, servers) and all(fits(record, format) for record in tools):
            return format
    return GENERIC


def unread(record: JsonObject) -> JsonObject:
    """The record without the parts of the tool, wherever the format keeps them.

    Lists of required names beside flat parameters count as parts, and so does OpenAI's type.
    """
    paths: list[record_format.Path] = (
        [("required",)] if isinstance(record.get("required"), list) else []
    )
    paths += [("type",)] if record.get("type") == "function" else []
    for part, part_places in GENERIC.places.items():
        place, value = GENERIC.find(record, part) or ((), None)
        if part == "annotations" and isinstance(value, dict):
            paths += [(*place, hint) for hint in record_format.HINTS]
        else:
            unused = (path for path in part_places if record_format.value_at(record, path) is None)
            paths += [*unused, *([place] if place else [])]
    for path in paths:
        record = _without(record, path)
    return record


def find_unread(tool: Tool) -> tuple[Finding, ...]:
    """A finding for each list or map in a tool's record that no format reads.

    It is *warn* if no parameters were read, since they may be in that list or map; otherwise
    *info*.
    """
    if record_format.built_in_record(tool.raw):
        return ()
    parts = {
        key: part
        for key, part in unread(tool.raw).items()
        if isinstance(part, (dict, list)) and part and key not in _BESIDE
    }
    if not parts:
        return ()
    entries = (GENERIC.find(tool.raw, part) for part in ("schema", "returns"))
    read_in_part = {entry[0][0] for entry in entries if entry}
    severity: Severity = "warn" if tool.schema is None else "info"
    return tuple(
        Finding(
            tool.id,
            severity,
            "unread-part",
            f"raw/{key}",
            _NOT_READ.format(key),
            value_excerpt(part),
        )
        for key, part in parts.items()
        if key not in read_in_part
    )


def _without(value: JsonObject, path: record_format.Path) -> JsonObject:
    """A copy without the value at the path, and without objects that become empty."""
    key, rest = path[0], path[1:]
    inner = value.get(key)
    part = _without(inner, rest) if rest and isinstance(inner, dict) else {}
    others = {name: item for name, item in value.items() if name != key}
    return {**others, key: part} if part else others
