"""A tool's record as every client of MCP can read it: mended where nothing is lost by that.

The TypeScript SDK (1.x) reads a list of tools whole and compiles every ``outputSchema`` in it, so
one odd record hides the tools of all servers; that of Python refuses to send such a list.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from toolscope_core.catalog.formats.record_format import HINTS
from toolscope_core.catalog.formats.result_schemas import readable_results
from toolscope_core.catalog.schema.walking import map_objects, properties_of, subschemas
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

HEADER = "x-mcp-header"
LEFT_OUT = "left out"
AS_BEFORE = "a schema that takes every result that it took before"
UNCHANGED = f"{LEFT_OUT}; the results stay as they are"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_TYPES = ("string", "integer", "boolean")


@dataclass(frozen=True, slots=True)
class RecordFault:
    """What clients cannot read: where it stands, and in a sentence what is wrong. ``fix`` is what
    stands there instead; empty where nothing could without loss.
    """

    value: str
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class ReadableRecord:
    """A record with every fix applied, and what was at fault; no client should be given one with
    an ``obstacle``.
    """

    record: JsonObject
    faults: tuple[RecordFault, ...] = ()

    @property
    def obstacle(self) -> str:
        """What cannot be mended, in a sentence; empty where all can."""
        return next((fault.message for fault in self.faults if not fault.fix), "")


def readable_record(record: JsonObject) -> ReadableRecord:
    """The record of a tool (MCP) as the SDKs for TypeScript and Python read it.

    Parameters that take the same calls stand in place of ``true`` and ``false``. What it says of
    its results takes every result that it took before, or is left out. What else no client reads is
    left out. An ``x-mcp-header`` that is not valid stays: clients have to leave out such a tool.
    """
    mended, faults = dict(record), list[RecordFault]()
    for key, is_read in _BESIDE.items():
        if key in record and not is_read(record[key]):
            mended[key] = _without_wrong_hints(record[key]) if key == "annotations" else None
            if not mended[key]:
                del mended[key]
            faults.append(
                RecordFault(
                    key, f"The SDKs of MCP do not read {_shown(key, record[key])}.", LEFT_OUT
                )
            )
    parameters = record.get("inputSchema")
    if isinstance(parameters, dict):
        mended["inputSchema"], found = _with_objects(parameters, "parameter")
        faults += [*found, *_header_faults(parameters)]
    if "outputSchema" in record:
        results, message = readable_results(record["outputSchema"])
        if message:
            fix = UNCHANGED if results is None else AS_BEFORE
            faults.append(RecordFault("outputSchema", message, fix))
        del mended["outputSchema"]
        if results is not None:
            mended["outputSchema"], found = _with_objects(results, "result")
            faults += found
    return ReadableRecord(mended if faults else record, tuple(faults))


def may_be_odd(tool: Tool) -> bool:
    """Whether the record of a tool may have a fault: a quick look that spares writing it."""
    return (
        tool.returns is not None
        or "outputSchema" in tool.raw
        or any(isinstance(sub, bool) for sub in properties_of(tool.schema or {}).values())
        or f'"{HEADER}"' in canonical_json(tool.schema)
        or not all(is_read(tool.raw[key]) for key, is_read in _BESIDE.items() if key in tool.raw)
    )


def without_nulls(record: JsonObject) -> JsonObject:
    """The record of a tool without what is null beside its schemas: that says nothing, and not
    every client reads it.
    """
    kept = _filled(record)
    beside = {key: kept[key] for key in _BESIDE if key in kept and key != "_meta"}
    return {**kept, **map_objects(beside, _filled)}


def _filled(value: JsonObject) -> JsonObject:
    return {key: item for key, item in value.items() if item is not None}


def _with_objects(schema: JsonObject, what: str) -> tuple[JsonObject, list[RecordFault]]:
    """The schema with objects for what it declares as ``true`` or ``false`` at the top."""
    declared = properties_of(schema)
    names = [name for name, sub in declared.items() if isinstance(sub, bool)]
    if not names:
        return schema, []
    objects: JsonObject = {name: {} if declared[name] else {"not": {}} for name in names}
    faults = [
        RecordFault(
            name,
            f"The {what} {name!r} is declared as {canonical_json(declared[name])}; clients with "
            "the TypeScript SDK then read no tool of any server.",
            canonical_json(objects[name]),
        )
        for name in names
    ]
    return {**schema, "properties": {**declared, **objects}}, faults


def _header_faults(parameters: JsonObject) -> Iterator[RecordFault]:
    """The first thing wrong with the HTTP headers in which parameters are to be sent."""
    names: set[str] = set()
    for schema, is_property in _positions(parameters, is_property=False):
        if HEADER not in schema:
            continue
        header, kind = schema[HEADER], schema.get("type")
        why = ""
        if not is_property:
            why = "stands where no parameter is"
        elif not isinstance(header, str) or not _TOKEN.fullmatch(header):
            why = "is no name of a header"
        elif kind not in _HEADER_TYPES:
            why = "belongs to a parameter that is no text, integer or boolean"
        elif header.lower() in names:
            why = "is given twice"
        if why:
            shown = f"The {_shown(HEADER, header)}"
            yield RecordFault(HEADER, f"{shown} {why}; clients have to leave out such a tool.")
            return
        names.add(header.lower())


def _positions(
    schema: JsonObject, is_property: bool, is_chain: bool = True
) -> Iterator[tuple[JsonObject, bool]]:
    """Every schema inside, and whether it is a parameter, at any depth of ``properties``."""
    yield schema, is_property
    for sub in properties_of(schema).values():
        if isinstance(sub, dict):
            yield from _positions(sub, is_chain, is_chain)
    others = {key: sub for key, sub in schema.items() if key != "properties"}
    for sub in subschemas(others):
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
"""What a record may have beside its schemas, and whether the SDKs read such a value."""
