"""A toolset in any native shape; records that did not change come back exactly as they were."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from toolscope_core.catalog.bundle_versions import TOOLSET
from toolscope_core.catalog.formats.format_table import FORMATS, OUTPUTS
from toolscope_core.catalog.formats.mcp_records import readable_record, without_nulls
from toolscope_core.catalog.formats.shapes import (
    HINTS,
    SHAPES,
    Path,
    Shape,
    ToolPart,
    own_server,
    read_record,
)
from toolscope_core.catalog.naming import assign_ids
from toolscope_core.catalog.schema.declarations import (
    BFCL_WORDS,
    RecordError,
    flatten,
    map_subschemas,
    rename_types,
)
from toolscope_core.catalog.schema.keywords import INVALID, split_invalid
from toolscope_core.model.catalog import Server
from toolscope_core.model.errors import ExportError
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

NOTHING = Tool(id="", name="")
OVERLAID: tuple[ToolPart, ...] = ("name", "description", "schema", "returns", "annotations")
TYPE_WORDS = frozenset("object string integer number boolean array null".split())


def write_toolset(
    tools: Sequence[MergedTool], servers: Sequence[Server], format: str, sendable: bool = False
) -> Any:
    """The toolset as a JSON value, tools in the order given.

    A tool read from this shape comes back as its raw record, overlaid with what the record does not
    declare so; other tools are written anew. ``neutral`` is one object
    ``{"version", "servers", "tools"}``, ``mcp`` and ``generic`` a list of
    ``{"server", "description"?, "tools"}`` where there are servers (else ``{"tools": […]}`` and a
    list), ``gemini`` one ``{"functionDeclarations": […]}``, all other shapes a list of records,
    ``openai-responses`` with the tools of a namespace inside it. ``sendable`` asks for parameters
    that the API or client of the shape takes, where a raw record has none or declares them in
    another dialect.
    Raises ``ExportError`` for a format not in ``OUTPUTS``.
    """
    shape = _shape_named(format)
    written = [_write_record(item.tool, shape, sendable) for item in tools]
    records = _keep_ids(written, tools, shape)
    if format == "neutral":
        listed = [
            {**record, "members": list(item.members)}
            for record, item in zip(records, tools, strict=True)
        ]
        server_rows = [
            {"name": server.name, "description": server.description} for server in servers
        ]
        return {"version": TOOLSET, "servers": server_rows, "tools": listed}
    owners = {item.tool.server: Server(item.tool.server) for item in tools if item.tool.server}
    owners |= {server.name: server for server in servers}
    if any(map(shape.holds, owners.values())):
        return _by_server(records, tools, owners, shape)
    if format == "gemini":
        return {"functionDeclarations": records}
    return {"tools": records} if format == "mcp" else records


def write_record(tool: Tool, format: str, sendable: bool = False) -> JsonObject:
    """One tool as a record of the shape, without what may stand around it; ``sendable`` as in
    ``write_toolset``.

    Raises ``ExportError`` for a format not in ``OUTPUTS``.
    """
    return _write_record(tool, _shape_named(format), sendable)


def _shape_named(format: str) -> Shape:
    if format not in SHAPES:
        raise ExportError(f"the format {format!r} is unknown; give one of {', '.join(OUTPUTS)}")
    return SHAPES[format]


def _write_record(tool: Tool, shape: Shape, sendable: bool = False) -> JsonObject:
    """The tool's raw record where it has this shape, else a new one, with the parts of the tool."""
    original = _read_raw(tool, shape)
    foreign = original is not None and sendable and not _is_taken(original, shape)
    if foreign and shape.name == "gemini":
        original = None  # a plain record of another origin reads as one of Gemini's
    record = tool.raw if original else shape.template
    same = original is not None and original.content_hash == tool.content_hash
    for part in () if same else OVERLAID:
        value = getattr(tool, part)
        if not _is_same(value, getattr(original or NOTHING, part)):
            record = _set_part(record, shape, part, value)
    if original and foreign:
        record = _set_part(record, shape, "schema", tool.schema)
    if not original and "id" in shape.places:
        record = {**record, "id": tool.id}
    if sendable and shape.name == "mcp":
        record = without_nulls(record)
        record = record if original else readable_record(record).record
    named = own_server(record, shape)
    if named != tool.server and (named or shape.name == "neutral"):
        record = _put(record, _place(record, shape, "server"), tool.server)
    return record


def _is_taken(original: Tool, shape: Shape) -> bool:
    """Whether the parameters stand in the raw record as the API or client of the shape takes
    them; always so in a shape that is only a file's.
    """
    if not FORMATS[shape.name].in_prompts:
        return True
    entry = shape.find(original.raw, "schema")
    if entry is None:
        return not FORMATS[shape.name].needs_schema
    path, schema = entry
    if not isinstance(schema, dict) or path == ("arguments",):
        return False
    text = canonical_json(original.schema)
    if str(schema.get("type")).lower() != "object" or f'"{INVALID}"' in text:
        return False
    if shape.name == "gemini":
        return _speaks_gemini(schema)
    reads_null = '"nullable":true' in canonical_json(schema) and '"nullable":true' not in text
    return not reads_null and split_invalid(schema) is schema


def _speaks_gemini(schema: Any) -> bool:
    """Whether the types are named as Gemini names them, at every depth: in capitals or not."""
    if not isinstance(schema, dict):
        return True
    kind = schema.get("type", "null")
    words = kind if isinstance(kind, list) else [kind]
    checks = [isinstance(word, str) and word.lower() in TYPE_WORDS for word in words]
    map_subschemas(schema, lambda sub, _: checks.append(_speaks_gemini(sub)), "")
    return all(checks)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two parts are equal; ``1``, ``1.0`` and ``true`` are not."""
    if one is None or other is None or isinstance(one, str):
        return bool(one == other)
    return canonical_json(one) == canonical_json(other)


def _read_raw(tool: Tool, shape: Shape) -> Tool | None:
    """The tool as its raw record alone declares it; ``None`` where that has another shape."""
    try:
        return read_record(tool.raw, shape, tool.server) if shape.fits(tool.raw) else None
    except RecordError:
        return None


def _set_part(record: JsonObject, shape: Shape, part: ToolPart, value: Any) -> JsonObject:
    """The record with one part replaced where it stands; a part the shape lacks is left out."""
    if part not in shape.places:
        return record
    path = _place(record, shape, part)
    current = shape.get(record, part)
    if value is None:
        return _put(record, path, shape.template.get(path[0]) if len(path) == 1 else None)
    old_form = shape.name == "gemini" and part in ("schema", "returns")
    if old_form or (part == "schema" and isinstance(current, list)):
        record, path = _put(record, path, None), shape.places[part][0]
    if part == "schema":
        return _set_schema(record, shape, path, value)
    if part == "returns" and shape.name == "seal-tools" and "required" not in value:
        value = flatten(value) or value
    if part == "annotations" and isinstance(current, dict):
        value = {**{key: hint for key, hint in current.items() if key not in HINTS}, **value}
    return _put(record, path, value)


def _set_schema(record: JsonObject, shape: Shape, path: Path, schema: JsonObject) -> JsonObject:
    """The record with its parameters in the shape's dialect.

    A list of required names beside flat parameters goes, or is written anew with them.
    """
    if shape.name in ("seal-tools", "generic"):
        record = _put(record, ("required",), None)
    flat = flatten(schema) if shape.name == "seal-tools" else None
    if flat is not None:
        return {**_put(record, path, flat), "required": schema.get("required", [])}
    flag = (*path[:-1], "strict")
    if _at(record, flag) is True and not _is_strict(schema):
        record = _put(record, flag, False)
    return _put(record, path, rename_types(schema, BFCL_WORDS) if shape.name == "bfcl" else schema)


def _is_strict(node: Any) -> bool:
    """Whether OpenAI takes a schema in strict mode: in every object, at any depth, all that is
    declared is required and nothing else allowed.
    """
    if isinstance(node, list):
        return all(map(_is_strict, node))
    if not isinstance(node, dict):
        return True
    names = node.get("properties")
    closed = node.get("additionalProperties") is False
    if isinstance(names, dict) and not (closed and names.keys() <= {*node.get("required", ())}):
        return False
    return all(map(_is_strict, node.values()))


def _at(record: Any, path: Path) -> Any:
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def _place(record: JsonObject, shape: Shape, part: ToolPart) -> Path:
    """The path at which the part stands in the record, else its usual one."""
    entry = shape.find(record, part)
    return entry[0] if entry else shape.places[part][0]


def _put(record: JsonObject, path: Path, value: Any) -> JsonObject:
    """A copy of the record with ``value`` at the path, or without it for ``None``."""
    key, rest = path[0], path[1:]
    if rest:
        value = _put(record.get(key, {}), rest, value)
    if value is None:
        return {other: kept for other, kept in record.items() if other != key}
    return {**record, key: value}


def _keep_ids(
    records: list[JsonObject], tools: Sequence[MergedTool], shape: Shape
) -> list[JsonObject]:
    """The records with their ids written, where reading them again would give others."""
    if "id" not in shape.places or all(
        record.get("id") == item.tool.id and item.tool.name.strip()
        for record, item in zip(records, tools, strict=True)
    ):
        return records
    servers = [item.tool.server if "server" in shape.places else "" for item in tools]
    again = [
        _read_again(record, shape, server) for record, server in zip(records, servers, strict=True)
    ]
    given = {(tool.id, tool.content_hash) for tool in assign_ids(again)}
    if given == {(item.tool.id, item.tool.content_hash) for item in tools}:
        return records
    return [
        record if alone.id == item.tool.id else {**record, "id": item.tool.id}
        for record, alone, item in zip(records, again, tools, strict=True)
    ]


def _read_again(record: JsonObject, shape: Shape, server: str) -> Tool:
    try:
        return read_record(record, shape, server)
    except RecordError as error:
        raise ExportError(f"the tool {record['id']!r} {error}") from error


def _by_server(
    records: Sequence[JsonObject],
    tools: Sequence[MergedTool],
    owners: Mapping[str, Server],
    shape: Shape,
) -> list[JsonObject]:
    """The records of each server by name, inside what declares it if the shape has such a thing."""
    held: defaultdict[str, list[JsonObject]] = defaultdict(list)
    for record, item in zip(records, tools, strict=True):
        held[item.tool.server].append(record)
    written: list[JsonObject] = []
    for name in sorted(held.keys() | owners.keys()):
        owner = owners.get(name, Server(name))
        alone = not shape.holds(owner)
        written += held[name] if alone else [{**_holder(owner, shape), "tools": held[name]}]
    return written


def _holder(server: Server, shape: Shape) -> JsonObject:
    """The keys beside a server's tools: its namespace, else ``{"server", "description"?}``."""
    description = {"description": server.description} if server.description else {}
    if server.raw and shape.name != "mcp":
        return {**server.raw, "name": server.name, **description}
    return {**({"server": server.name} if server.name else {}), **description}
