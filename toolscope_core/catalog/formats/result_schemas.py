"""What a tool says of its results (``outputSchema``) in a form that every SDK's client compiles.

A client checks each result against it, so a form may take more results than was said, never
fewer. The SDK for TypeScript 1.x compiles it as draft 7, with regular expressions of JavaScript.
"""

import re
from typing import Any

from toolscope_core.catalog.schema.declarations import RecordError, read_returns
from toolscope_core.catalog.schema.keywords import INVALID, split_invalid
from toolscope_core.catalog.schema.negations import drop_narrowed
from toolscope_core.catalog.schema.references import settle_references
from toolscope_core.catalog.schema.walking import every_schema, map_schemas
from toolscope_core.model.tool import JsonObject, canonical_json

NOT_COMPILED = (
    "Its outputSchema is not what all clients compile: it has no type, a reference that leads "
    "nowhere, an id, an older dialect, or a pattern that JavaScript does not read."
)
_DIALECTS = re.compile(
    r"https?://json-schema\.org/(draft-0[67]/schema|draft/(2019-09|2020-12)/schema)#?"
)
_IDLE = {"id", "$id", "$anchor", "nullable", INVALID}
"""Keywords that say nothing of a value once references are pointers, and that not all compile."""
_ESCAPE = r"\\(?:[dDwWsSbtnrfv^$\\.*+?()\[\]{}|/]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})"
_RANGE_OF_CLASS = r"\\[dDwWsS]-[^\]]|(?<![\[^])-\\[dDwWsS]"
_CLASS = rf"\[\^?(?!\])(?:(?!{_RANGE_OF_CLASS})(?:[^\\\]]|{_ESCAPE}|\\-))+\]"
_ATOM = rf"(?:[^\\\[\](){{}}*+?|^$]|(?!\\b){_ESCAPE}|\\[1-9](?!\d)|{_CLASS})"
_REPEAT = r"(?:(?:[*+?]|\{\d+(?:,\d*)?\})\??)?"
_ANY_TIMES = re.compile(rf"(?:{_ATOM}{_REPEAT}|\){_REPEAT}|\((?:\?:)?|\\[bB]|[|^$])*")
_LOOKING = re.compile(rf"(?:{_ATOM}{_REPEAT}|\)|\((?:\?(?::|<?[=!]))?|\\[bB]|[|^$])*")
"""Regular expressions that JavaScript (with the flag ``u``) reads if Python does; those that look
ahead or behind without repeated groups, since what looks cannot be repeated.
"""


def readable_results(schema: Any) -> tuple[JsonObject | None, str]:
    """The schema as every client compiles it, ``None`` where it has to be left out; and what is
    wrong with the one given, in a sentence, empty where nothing is.
    """
    if isinstance(schema, dict) and schema.get("type") == "object" and _compiles(schema):
        return schema, ""
    try:
        read = read_returns(schema) if isinstance(schema, dict) else None
    except RecordError:
        read = None
    if read is not None and "type" not in read and isinstance(read.get("properties"), dict):
        read = {**read, "type": "object"}
    if read is None or read.get("type") != "object":
        return None, "Its outputSchema declares no object; many clients take nothing else."
    portable = drop_narrowed(map_schemas(read, _portable))
    mended = map_schemas(portable, _without_idle)
    if not _DIALECTS.fullmatch(str(mended.get("$schema", ""))):
        mended.pop("$schema", None)
    return (mended if _compiles(mended) else None), NOT_COMPILED


def _compiles(schema: JsonObject) -> bool:
    """Whether every client compiles a schema (a root), and reads it as JSON Schema 2020-12 does."""
    dialect = schema.get("$schema")
    return (
        (dialect is None or _DIALECTS.fullmatch(str(dialect)) is not None)
        and split_invalid(schema) is schema
        and not any(_wrong(sub) or sub.keys() & _IDLE for sub in every_schema(schema))
        and f'"{INVALID}"' not in canonical_json(settle_references(schema))
    )


def _portable(schema: dict[str, Any]) -> JsonObject:
    """The schema with its keywords under ``INVALID`` that some client does not compile."""
    wrong = {key: schema.pop(key) for key in _wrong(schema)}
    return {**schema, INVALID: {**schema.get(INVALID, {}), **wrong}} if wrong else schema


def _wrong(schema: JsonObject) -> list[str]:
    """The keywords of a schema (not of those inside) that some client refuses or misreads."""
    keys = ["dependencies", "additionalItems"]  # schemas that only draft 7 looks into
    if not _is_read(str(schema.get("pattern", ""))):
        keys.append("pattern")
    if not all(map(_is_read, schema.get("patternProperties", ()))):
        keys += ["patternProperties", "additionalProperties", "unevaluatedProperties"]
    if schema.get("enum") == []:
        keys.append("enum")
    if "prefixItems" in schema:  # draft 7 does not know them, and takes "items" for all
        keys.append("items")
    return [key for key in keys if key in schema]


def _is_read(pattern: str) -> bool:
    return any(kind.fullmatch(pattern) for kind in (_ANY_TIMES, _LOOKING))


def _without_idle(schema: JsonObject) -> JsonObject:
    return {key: sub for key, sub in schema.items() if key not in _IDLE}
