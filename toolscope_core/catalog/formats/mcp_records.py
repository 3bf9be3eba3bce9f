"""Repairs the record of a tool so that every MCP client can read it, if nothing is lost.

The TypeScript SDK (1.x) reads a list of tools as a whole and compiles every ``outputSchema``, so
one odd record hides the tools of all servers. The Python SDK refuses to send such a list.
"""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from toolscope_core.catalog.formats.record_format import DOTTED, HINTS, RecordFormat, Rules, places
from toolscope_core.catalog.schema import walking
from toolscope_core.catalog.schema.declarations import UNDECLARED, RecordError, read_returns
from toolscope_core.catalog.schema.keywords import INVALID, set_aside, split_invalid
from toolscope_core.catalog.schema.references import drop_narrowed, settle_references
from toolscope_core.model.catalog import Server
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

NOT_COMPILED = (
    "Not every client can compile its outputSchema: it has no type, a broken reference, an id, "
    "an older dialect, or a pattern that JavaScript cannot read."
)
_DIALECTS = re.compile(
    r"https?://json-schema\.org/(draft-0[67]/schema|draft/(2019-09|2020-12)/schema)#?"
)
_IDLE = {"id", "$id", "$anchor", "nullable", INVALID}
"""Keywords that not all clients compile, and that have no effect once references are pointers."""
_ESCAPE = r"\\(?:[dDwWsSbtnrfv^$\\.*+?()\[\]{}|/]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})"
_RANGE_OF_CLASS = r"\\[dDwWsS]-[^\]]|(?<![\[^])-\\[dDwWsS]"
_CLASS = rf"\[\^?(?!\])(?:(?!{_RANGE_OF_CLASS})(?:[^\\\]]|{_ESCAPE}|\\-))+\]"
_ATOM = rf"(?:[^\\\[\](){{}}*+?|^$]|(?!\\b){_ESCAPE}|\\[1-9](?!\d)|{_CLASS})"
_REPEAT = r"(?:(?:[*+?]|\{\d+(?:,\d*)?\})\??)?"
_ANY_TIMES = re.compile(rf"(?:{_ATOM}{_REPEAT}|\){_REPEAT}|\((?:\?:)?|\\[bB]|[|^$])*")
_LOOKING = re.compile(rf"(?:{_ATOM}{_REPEAT}|\)|\((?:\?(?::|<?[=!]))?|\\[bB]|[|^$])*")
"""Regular expressions that JavaScript (with the flag ``u``) reads if Python does. Those that
look ahead or behind may not repeat groups, since a lookaround cannot be repeated.
"""


def readable_results(schema: Any) -> tuple[JsonObject | None, str]:
    """The schema in a form that every client can compile, and a sentence on its fault (empty for
    none).

    The schema is ``None`` if it must be left out.
    """
    if isinstance(schema, dict) and schema.get("type") == "object" and _compiles(schema):
        return schema, ""
    try:
        result = read_returns(schema) if isinstance(schema, dict) else None
    except RecordError:
        result = None
    if result is not None and "type" not in result and isinstance(result.get("properties"), dict):
        result = {**result, "type": "object"}
    if result is None or result.get("type") != "object":
        return None, "Its outputSchema is not an object; many clients accept nothing else."
    portable = drop_narrowed(walking.map_schemas(result, lambda sub: set_aside(sub, _wrong(sub))))
    readable = walking.map_schemas(portable, _without_idle)
    if not _DIALECTS.fullmatch(str(readable.get("$schema", ""))):
        readable.pop("$schema", None)
    return (readable if _compiles(readable) else None), NOT_COMPILED


def _compiles(schema: JsonObject) -> bool:
    """Whether every client can compile a root schema and reads it as JSON Schema 2020-12."""
    dialect = schema.get("$schema")
    return (
        (dialect is None or _DIALECTS.fullmatch(str(dialect)) is not None)
        and split_invalid(schema) is schema
        and not any(_wrong(sub) or sub.keys() & _IDLE for sub in walking.every_schema(schema))
        and f'"{INVALID}"' not in canonical_json(settle_references(schema))
    )


def _wrong(schema: JsonObject) -> list[str]:
    """The keywords at the top of a schema that some client refuses or misreads."""
    keys = ["dependencies", "additionalItems"]  # contain schemas that only draft 7 reads
    if not _is_read(str(schema.get("pattern", ""))):
        keys.append("pattern")
    if not all(map(_is_read, schema.get("patternProperties", ()))):
        keys += ["patternProperties", "additionalProperties", "unevaluatedProperties"]
    if schema.get("enum") == []:
        keys.append("enum")
    if "prefixItems" in schema:  # draft 7 does not know it, and applies "items" to all
        keys.append("items")
    return [key for key in keys if key in schema]


def _is_read(pattern: str) -> bool:
    return any(kind.fullmatch(pattern) for kind in (_ANY_TIMES, _LOOKING))


def _without_idle(schema: JsonObject) -> JsonObject:
    return {key: sub for key, sub in schema.items() if key not in _IDLE}


HEADER = "x-mcp-header"
LEFT_OUT = "left out"
AS_BEFORE = "a schema that accepts every result it accepted before"
UNCHANGED = f"{LEFT_OUT}; the results stay the same"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_TYPES = ("string", "integer", "boolean")


@dataclass(frozen=True, slots=True)
class RecordFault:
    """A part that clients cannot read, and a sentence on what is wrong.

    ``fix`` is the replacement; empty if every replacement would lose something.
    """

    value: str
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class ReadableRecord:
    """A record with every fix applied, and the faults of the original.

    A record with an ``obstacle`` cannot be used.
    """

    record: JsonObject
    faults: tuple[RecordFault, ...] = ()

    @property
    def obstacle(self) -> str:
        """A sentence on the fault that cannot be fixed; empty if there is none."""
        return next((fault.message for fault in self.faults if not fault.fix), "")


def readable_record(record: JsonObject) -> ReadableRecord:
    """The MCP record of a tool in a form that the TypeScript and Python SDKs can read.

    Schemas of parameters that are ``true`` or ``false`` are replaced by objects that accept the
    same calls. The result schema is widened or left out, so no result becomes invalid. Other parts
    that some client cannot read are left out. An invalid ``x-mcp-header`` stays: clients must leave
    out such a tool.
    """
    result, faults = dict(record), list[RecordFault]()
    for key, is_read in _BESIDE.items():
        if key in record and not is_read(record[key]):
            result[key] = _without_wrong_hints(record[key]) if key == "annotations" else None
            if not result[key]:
                del result[key]
            faults.append(
                RecordFault(key, f"The MCP SDKs do not read {_shown(key, record[key])}.", LEFT_OUT)
            )
    parameters = record.get("inputSchema")
    if isinstance(parameters, dict):
        result["inputSchema"], more = _with_objects(parameters, "parameter")
        faults += [*more, *_header_faults(parameters)]
    if "outputSchema" in record:
        results, message = readable_results(record["outputSchema"])
        if message:
            fix = UNCHANGED if results is None else AS_BEFORE
            faults.append(RecordFault("outputSchema", message, fix))
        del result["outputSchema"]
        if results is not None:
            result["outputSchema"], more = _with_objects(results, "result")
            faults += more
    return ReadableRecord(result if faults else record, tuple(faults))


def may_be_odd(tool: Tool) -> bool:
    """Whether the record of a tool may have a fault; this quick check avoids building the
    record.
    """
    return (
        tool.returns is not None
        or "outputSchema" in tool.raw
        or any(isinstance(sub, bool) for sub in walking.properties_of(tool.schema or {}).values())
        or f'"{HEADER}"' in canonical_json(tool.schema)
        or not all(is_read(tool.raw[key]) for key, is_read in _BESIDE.items() if key in tool.raw)
    )


_FLAT_PAGES = ("ui/resourceUri", "openai/outputTemplate")


def with_pages(meta: JsonObject, name: Callable[[str], str]) -> dict[str, Any]:
    """The ``_meta`` of a tool in which the pages (MCP Apps, OpenAI Apps) have new names."""
    own = dict(meta)
    own |= {key: name(one) for key in _FLAT_PAGES if isinstance(one := meta.get(key), str)}
    ui = meta.get("ui")
    if isinstance(ui, dict) and isinstance(ui.get("resourceUri"), str):
        own["ui"] = {**ui, "resourceUri": name(ui["resourceUri"])}
    return own


def pages_of(record: JsonObject) -> tuple[str, ...]:
    """The addresses of the pages that a server shows beside the results of the tool."""
    pages: dict[str, None] = {}
    meta = record.get("_meta")
    if isinstance(meta, dict):
        with_pages(meta, lambda address: pages.setdefault(address) or address)
    return tuple(pages)


def without_nulls(record: JsonObject) -> JsonObject:
    """The record of a tool without nulls outside its schemas.

    Such nulls mean nothing, but some clients fail on them.
    """
    filled = _filled(record)
    parts = {key: filled[key] for key in _BESIDE if key in filled and key != "_meta"}
    return {**filled, **walking.map_objects(parts, _filled)}


def _filled(value: JsonObject) -> JsonObject:
    return {key: item for key, item in value.items() if item is not None}


def _with_objects(schema: JsonObject, what: str) -> tuple[JsonObject, list[RecordFault]]:
    """The schema with objects instead of ``true`` or ``false`` in its top-level declarations."""
    properties = walking.properties_of(schema)
    names = [name for name, sub in properties.items() if isinstance(sub, bool)]
    if not names:
        return schema, []
    objects: JsonObject = {name: {} if properties[name] else {"not": {}} for name in names}
    faults = [
        RecordFault(
            name,
            f"The {what} {name!r} is declared as {canonical_json(properties[name])}; because of "
            "it, clients that use the TypeScript SDK read no tool of any server.",
            canonical_json(objects[name]),
        )
        for name in names
    ]
    return {**schema, "properties": {**properties, **objects}}, faults


def _header_faults(parameters: JsonObject) -> Iterator[RecordFault]:
    """The first fault in the HTTP headers that carry parameters."""
    names: set[str] = set()
    for schema, is_property in _positions(parameters, is_property=False):
        if HEADER not in schema:
            continue
        header, kind = schema[HEADER], schema.get("type")
        why = ""
        if not is_property:
            why = "is at a place that is not a parameter"
        elif not isinstance(header, str) or not _TOKEN.fullmatch(header):
            why = "is not a valid header name"
        elif kind not in _HEADER_TYPES:
            why = "is set for a parameter that is not a string, integer or boolean"
        elif header.lower() in names:
            why = "is given twice"
        if why:
            subject = f"The {_shown(HEADER, header)}"
            yield RecordFault(HEADER, f"{subject} {why}; clients must leave such a tool out.")
            return
        names.add(header.lower())


def _positions(
    schema: JsonObject, is_property: bool, is_chain: bool = True
) -> Iterator[tuple[JsonObject, bool]]:
    """Every schema inside, and whether it is a parameter (at any depth of ``properties``)."""
    yield schema, is_property
    for sub in walking.properties_of(schema).values():
        if isinstance(sub, dict):
            yield from _positions(sub, is_chain, is_chain)
    others = {key: sub for key, sub in schema.items() if key != "properties"}
    for sub in walking.subschemas(others):
        if isinstance(sub, dict):
            yield from _positions(sub, False, False)


def _shown(key: str, value: Any) -> str:
    text = canonical_json(value)
    return f"{key} {text if len(text) <= 60 else f'{text[:60]}…'}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _without_wrong_hints(value: Any) -> Any:
    if not isinstance(value, dict):
        return None
    return {key: hint for key, hint in value.items() if isinstance(hint, HINTS.get(key, object))}


def _is_icon(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _is_text(value.get("src"))
        and _is_text(value.get("mimeType", ""))
        and isinstance(value.get("sizes", []), list)
        and all(map(_is_text, value.get("sizes", [])))
        and value.get("theme", "light") in ("light", "dark")
    )


_BESIDE: dict[str, Callable[[Any], bool]] = {
    "title": _is_text,
    "description": _is_text,
    "annotations": lambda value: isinstance(value, dict) and _without_wrong_hints(value) == value,
    "icons": lambda value: isinstance(value, list) and all(map(_is_icon, value)),
    "execution": lambda value: (
        isinstance(value, dict)
        and value.get("taskSupport", "optional") in ("required", "optional", "forbidden")
    ),
    "_meta": lambda value: isinstance(value, dict),
}
"""The keys that a record may have besides its schemas, with a test of whether the SDKs accept a
value.
"""


class _Mcp(RecordFormat):
    def suits(
        self, records: Sequence[JsonObject], lists: Set[str], servers: Sequence[Server]
    ) -> bool:
        """Whether the records may be MCP tools; under ``tools``, so may a record without
        parameters.
        """
        in_lists = "" not in lists or any({"inputSchema", "arguments"} & r.keys() for r in records)
        return in_lists and not any(server.raw for server in servers)

    def sendable(self, record: JsonObject, is_new: bool) -> JsonObject:
        record = without_nulls(record)
        return readable_record(record).record if is_new else record

    def holder(self, server: Server) -> JsonObject:
        return super().holder(replace(server, raw={}))


MCP = _Mcp(
    name="mcp",
    title="MCP",
    goes="The answer of each server to `tools/list`, for a server or gateway of your own.",
    rules=Rules(name_rule=DOTTED, longest_name=128, unique="server", mcp_record=True),
    source="https://modelcontextprotocol.io/specification/2025-11-25/server/tools",
    as_of="2026-11",
    offered=4,
    in_prompts=True,
    needs_schema=True,
    marks=lambda record: (
        "name" in record and isinstance(record.get("arguments"), (list, type(None)))
    ),
    template={"name": "", "description": "", "inputSchema": UNDECLARED},
    list_key="tools",
    places=places(
        server="server server_name",
        name="name",
        description="description",
        schema="inputSchema arguments",
        returns="outputSchema",
        annotations="annotations",
    ),
)
