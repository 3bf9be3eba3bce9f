"""Writes a toolset in any format; unchanged records are written exactly as they were read."""

from collections.abc import Collection, Sequence
from typing import Any

from toolscope_core.catalog.formats import record_format
from toolscope_core.catalog.formats.foreign_formats import is_strict, says_strict
from toolscope_core.catalog.formats.format_table import fits, format_named
from toolscope_core.catalog.formats.neutral import GENERIC
from toolscope_core.catalog.formats.record_format import Path, RecordFormat, ToolPart
from toolscope_core.catalog.naming import assign_ids
from toolscope_core.catalog.schema.declarations import RecordError, is_whole_schema
from toolscope_core.catalog.schema.keywords import INVALID
from toolscope_core.catalog.schema.references import leads_nowhere, without_unused
from toolscope_core.model.catalog import Server
from toolscope_core.model.errors import ExportError
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

_TOOL_SEARCH = "tool_search"
_NOTHING = Tool(id="", name="")
_SCHEMAS: tuple[ToolPart, ...] = ("schema", "returns")
OVERLAID: tuple[ToolPart, ...] = ("name", "description", "schema", "returns", "annotations")


def write_toolset(
    tools: Sequence[MergedTool],
    servers: Sequence[Server],
    format: str,
    sendable: bool = False,
    eager: Collection[str] | None = None,
) -> Any:
    """The toolset as a JSON value, with tools in the given order.

    A tool that was read from this format is written as its raw record. Parts that the record
    declares differently are replaced in it, and references that lead nowhere and unused definitions
    are removed. Other tools are written anew.

    ``neutral`` is one object ``{"version", "servers", "tools"}``. ``mcp`` and ``generic`` are a
    list of ``{"server", "description"?, "tools"}`` if there are servers; otherwise, ``mcp`` is
    ``{"tools": […]}`` and ``generic`` a list. ``gemini`` is one ``{"functionDeclarations": […]}``
    with built-in tools beside them. All others are a list of records; ``openai-responses`` has the
    tools of a namespace inside the namespace.

    ``sendable`` asks for parameters that the API or client of the format accepts, if a raw record
    has none or declares them in another dialect. ``eager`` are ids of tools: if the API of the
    format can defer tools, it defers all others and searches for them. Raises ``ExportError`` for a
    format not in ``OUTPUTS``.
    """
    output = format_named(format)
    records = [_written(item.tool, output, sendable) for item in tools]
    if eager is None or not output.can_defer:
        return output.document(_keep_ids(records, tools, output), tools, servers)
    deferred = [
        record
        if record_format.built_in_record(record)
        else _deferred(record, item.tool.id not in eager)
        for record, item in zip(records, tools, strict=True)
    ]
    has_search = any(str(record.get("type")).startswith(_TOOL_SEARCH) for record in records)
    search = [] if has_search else [dict(output.tool_search)]
    return [*search, *output.document(deferred, tools, servers)]


def write_record(tool: Tool, format: str, sendable: bool = False) -> JsonObject:
    """One tool as a record of the format, without anything that may surround a record.

    ``sendable`` is as in ``write_toolset``. Raises ``ExportError`` for a format not in ``OUTPUTS``.
    """
    return _written(tool, format_named(format), sendable)


def without_unused_definitions(record: JsonObject, format: RecordFormat = GENERIC) -> JsonObject:
    """A record of the format whose schemas have no unused definitions."""
    for part in _SCHEMAS:
        for path, value in format.find_all(record, part):
            is_root = isinstance(value, dict) and is_whole_schema(value)
            if is_root and (lean := without_unused(value)) is not value:
                record = record_format.with_value(record, path, lean)
    return record


def _written(tool: Tool, format: RecordFormat, sendable: bool) -> JsonObject:
    """The record of the tool; for a built-in tool in its own format or in *generic*, the record
    that its API accepts.
    """
    own = record_format.built_in_record(tool.raw)
    if own and format.name in (record_format.home_of(own), "generic"):
        return own
    record = _write_record(tool, format, sendable)
    return {**record, record_format.KEPT: own} if own and format.name == "neutral" else record


def _write_record(tool: Tool, format: RecordFormat, sendable: bool) -> JsonObject:
    """The tool's raw record if it has this format, or else a new one, with the parts of the
    tool.
    """
    original = _read_raw(tool, format)
    dead = original is not None and leads_nowhere(original.schema)
    foreign = dead or (original is not None and sendable and not _is_taken(original, format))
    if foreign and format.renews:
        original = None
    record = tool.raw if original else format.template
    is_same = original is not None and original.content_hash == tool.content_hash
    for part in () if is_same else OVERLAID:
        value = getattr(tool, part)
        if not _is_same(value, getattr(original or _NOTHING, part)):
            record = _set_part(record, format, part, value)
    if original and foreign:
        record = _set_part(record, format, "schema", tool.schema)
    if original and leads_nowhere(original.returns):
        record = _set_part(record, format, "returns", tool.returns)
    record = without_unused_definitions(record, format) if original else record
    if not original and format.strict_place and says_strict(tool.raw):
        is_kept = is_strict(tool.schema or {})
        record = record_format.with_value(record, format.strict_place, is_kept)
    if not original and "id" in format.places:
        record = {**record, "id": tool.id}
    if sendable:
        record = format.sendable(record, is_new=original is None)
    server = record_format.own_server(record, format)
    if server != tool.server and (server or "server" in format.template):
        record = record_format.with_value(record, _place(record, format, "server"), tool.server)
    return record


def _deferred(record: JsonObject, is_deferred: bool) -> JsonObject:
    """The record of a tool, marked as deferred or not.

    A deferred tool also loses its cache breakpoint, which is not allowed in it.
    """
    record = record_format.with_value(record, ("defer_loading",), is_deferred or None)
    return record_format.with_value(record, ("cache_control",), None) if is_deferred else record


def _is_taken(original: Tool, format: RecordFormat) -> bool:
    """Whether the API or client accepts the parameters in the form that the raw record has.

    Always true for a format that is only used in files.
    """
    if not format.in_prompts:
        return True
    entry = format.find(original.raw, "schema")
    if entry is None:
        return not format.needs_schema
    path, schema = entry
    if not isinstance(schema, dict) or path == ("arguments",):
        return False
    is_object = str(schema.get("type")).lower() == "object"
    is_valid = f'"{INVALID}"' not in canonical_json(original.schema)
    if says_strict(original.raw) and is_strict(original.schema or {}) and not is_strict(schema):
        return False
    return is_object and is_valid and format.takes(schema, original.schema)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two parts are equal; ``1``, ``1.0`` and ``true`` are all different."""
    if one is None or other is None or isinstance(one, str):
        return bool(one == other)
    return canonical_json(one) == canonical_json(other)


def _read_raw(tool: Tool, format: RecordFormat) -> Tool | None:
    """The tool as declared by its raw record alone; ``None`` if the record has another format.

    A record whose parts are in the places of a framework can be written unchanged, but not edited.
    """
    is_fit = fits(tool.raw, format)
    if is_fit and tool.raw_format == format.name:
        return tool
    if not (is_fit or (format is GENERIC and GENERIC.marks(tool.raw))):
        return None
    try:
        original = record_format.read_record(tool.raw, format, tool.server)
    except RecordError:
        return None
    return original if is_fit or original.content_hash == tool.content_hash else None


def _set_part(record: JsonObject, format: RecordFormat, part: ToolPart, value: Any) -> JsonObject:
    """The record with one part replaced in place; nothing changes if the format lacks the part."""
    if part not in format.places:
        return record
    path = _place(record, format, part)
    current = format.get(record, part)
    if value is None:
        return record_format.with_value(
            record, path, format.template.get(path[0]) if len(path) == 1 else None
        )
    renewed = format.renews and part in ("schema", "returns")
    if renewed or (part == "schema" and isinstance(current, list)):
        record, path = record_format.with_value(record, path, None), format.places[part][0]
    if part == "schema":
        flag = (*path[:-1], "strict")
        if record_format.value_at(record, flag) is True and not is_strict(value):
            record = record_format.with_value(record, flag, False)
        return format.with_schema(record, path, value)
    if part == "returns":
        value = format.written_returns(value)
    if part == "annotations" and isinstance(current, dict):
        value = {
            **{key: hint for key, hint in current.items() if key not in record_format.HINTS},
            **value,
        }
    return record_format.with_value(record, path, value)


def _place(record: JsonObject, format: RecordFormat, part: ToolPart) -> Path:
    """The path of the part in the record, or else the part's usual path."""
    entry = format.find(record, part)
    return entry[0] if entry else format.places[part][0]


def _keep_ids(
    records: list[JsonObject], tools: Sequence[MergedTool], format: RecordFormat
) -> list[JsonObject]:
    """The records, with explicit ids if reading them again would otherwise give other ids."""
    if "id" not in format.places or all(
        record.get("id") == item.tool.id and item.tool.name.strip()
        for record, item in zip(records, tools, strict=True)
    ):
        return records
    servers = [item.tool.server if "server" in format.places else "" for item in tools]
    reread = [
        _read_again(record, format, server) for record, server in zip(records, servers, strict=True)
    ]
    ids = {(tool.id, tool.content_hash) for tool in assign_ids(reread)}
    if ids == {(item.tool.id, item.tool.content_hash) for item in tools}:
        return records
    return [
        record if alone.id == item.tool.id else {**record, "id": item.tool.id}
        for record, alone, item in zip(records, reread, tools, strict=True)
    ]


def _read_again(record: JsonObject, format: RecordFormat, server: str) -> Tool:
    try:
        return record_format.read_record(record, format, server)
    except RecordError as error:
        raise ExportError(f"the tool {record['id']!r} {error}") from error
