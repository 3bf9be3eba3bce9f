"""ToolScope's own format: every part of a tool, with the members of merged tools."""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from toolscope_core.catalog.flaws import find_flaw
from toolscope_core.catalog.formats import record_format
from toolscope_core.catalog.formats.record_format import RecordFormat, ToolPart
from toolscope_core.catalog.sources import TOOLSET
from toolscope_core.model.catalog import FormerName, Server
from toolscope_core.model.cluster import grouped
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import JsonObject

_NAMES = "former_names"
"""Former names: by name, the servers whose tools agents called so, with the tool's id today and the
maps.
"""


def names_written(names: Sequence[FormerName]) -> JsonObject:
    """The former names as written beside the tools, in a form that does not look like a tool."""
    rows = grouped(names, lambda one: one.name)
    rows_by_name = {
        name: [[one.server, one.tool_id, one.maps] for one in own] for name, own in rows.items()
    }
    return {_NAMES: rows_by_name} if rows_by_name else {}


def former_names_in(document: Any) -> tuple[FormerName, ...]:
    """The former names in a document of this format; malformed ones are left out."""
    by_name = document.get(_NAMES) if isinstance(document, dict) else None
    return tuple(
        FormerName(name, *row)
        for name, rows in (by_name.items() if isinstance(by_name, dict) else ())
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, list) and len(row) == 3 and all(isinstance(text, str) for text in row)
    )


class _Neutral(RecordFormat):
    def document(
        self, records: Sequence[JsonObject], tools: Sequence[MergedTool], servers: Sequence[Server]
    ) -> Any:
        return {
            "version": TOOLSET,
            "servers": [
                {"name": server.name, "description": server.description} for server in servers
            ],
            "tools": [
                {**record, "members": list(item.members)}
                for record, item in zip(records, tools, strict=True)
            ],
        }


NEUTRAL = _Neutral(
    name="neutral",
    title="Neutral",
    goes="One JSON object for your own programs. ToolScope can read it back as a catalog.",
    rules=record_format.ANY_NAMES,
    offered=6,
    marks=lambda record: {"id", "server", "name", "parameters", "members"} <= record.keys(),
    template={
        **{"id": "", "server": "", "name": "", "description": "", "parameters": None},
        **{"returns": None, "annotations": {}},
    },
    places=record_format.places(
        id="id",
        server="server",
        name="name",
        description="description",
        schema="parameters",
        returns="returns",
        annotations="annotations",
    ),
)


_BY_NEED = ("required_parameters", "optional_parameters")
"""Where ToolBench lists parameters."""


_FRAMEWORKS: tuple[
    tuple[frozenset[str], Mapping[ToolPart, tuple[record_format.Path, ...]]], ...
] = (
    (frozenset(("command", "option")), record_format.places(name="command", schema="option")),
    (frozenset(("command", "options")), record_format.places(name="command", schema="options")),
    (
        frozenset(("component_type", "config", "provider")),
        record_format.places(name="config.name", description="config.description"),
    ),
)
"""Where records with all of these keys keep their parts: Azure's MCP servers and AutoGen."""
_SLUGS = ("slug", "qualified_name", "key")
"""Where records whose name is a title for people have the name that is called."""
_WRAPPED = (("inputSchema", "jsonSchema"), ("parameters", "jsonSchema"), ("inputSchema", "json"))
"""Where the AI SDK and Strands wrap a JSON Schema."""
_SAYS_NO_INPUT = re.compile(r"out|resp|result|return|example|config|meta|settings")
_KEPT_KEYS = 4_096
_OF_CREWAI = re.compile(r"Tool Name: [^\n]*\nTool Arguments: (\{[^\n]*\})\nTool Description: ")
"""How CrewAI writes a tool's arguments into its description."""
_INPUTS, _OUTPUT = "inputs", "output_type"
"""Where smolagents keeps parameters, and the other keys of its records."""


class _Generic(RecordFormat):
    def find_all(
        self, record: JsonObject, part: ToolPart
    ) -> Iterator[tuple[record_format.Path, Any]]:
        yield from _in_framework(record, part)
        yield from super().find_all(record, part)
        spellings = {_plain_key(key): key for key in record}
        for path in self.places.get(part, ()):
            key = spellings.get(_plain_key(path[0]), path[0])
            value = record_format.value_at(record, (key, *path[1:]))
            if key != path[0] and value is not None:
                yield (key, *path[1:]), value
        yield from _elsewhere(record) if part == "schema" else ()
        if part == "schema" and all(isinstance(record.get(key), list) for key in _BY_NEED):
            yield (
                (_BY_NEED[0],),
                [
                    {**entry, "required": key == _BY_NEED[0]} if isinstance(entry, dict) else entry
                    for key in _BY_NEED
                    for entry in record[key]
                ],
            )

    def with_schema(
        self, record: JsonObject, path: record_format.Path, schema: JsonObject
    ) -> JsonObject:
        """Required names listed beside flat parameters are removed together with them."""
        for key in ("required", *_BY_NEED):
            record = record_format.with_value(record, (key,), None)
        is_elsewhere = path[0] in (*_BY_NEED, "description")
        return record_format.with_value(record, ("parameters",) if is_elsewhere else path, schema)


def _in_framework(record: JsonObject, part: ToolPart) -> Iterator[tuple[record_format.Path, Any]]:
    """The places of a part that come before the usual ones."""
    for keys, part_places in _FRAMEWORKS:
        if keys <= record.keys():
            for path in part_places.get(part, ()):
                value = record_format.value_at(record, path)
                if isinstance(value, list if part == "schema" else str) and value:
                    yield path, value
    if part == "name" and (slug := _slug(record)):
        yield (slug,), record[slug]
    for path in _WRAPPED if part == "schema" else ():
        if _is_of_object(value := record_format.value_at(record, path)):
            yield path, value


@lru_cache(_KEPT_KEYS)
def _plain_key(key: str) -> str:
    """A key without case and underscores: ``inputSchema`` and ``input_schema`` are one."""
    return key.replace("_", "").lower()


def _slug(record: JsonObject) -> str:
    """The key of the name that is called, if the record's ``name`` is a title for people."""
    name = record.get("name")
    if not isinstance(name, str) or not re.search(r"\s", name.strip()):
        return ""
    slugs = (key for key in _SLUGS if isinstance(record.get(key), str))
    return next((key for key in slugs if re.fullmatch(r"\S+", record[key])), "")


def _is_of_object(value: Any) -> bool:
    """Whether a value is the JSON Schema of an object."""
    is_schema = isinstance(value, dict) and value.get("type") == "object"
    return is_schema and isinstance(value.get("properties"), dict)


def _elsewhere(record: JsonObject) -> Iterator[tuple[record_format.Path, Any]]:
    """Parameters in the places of frameworks, then under any key that is not about results."""
    inputs = _from_text(record.get(_INPUTS))
    if _OUTPUT in record and isinstance(inputs, dict):
        optional = {name for name, one in inputs.items() if _is_nullable(one)}
        required = [name for name in inputs if name not in optional]
        yield (_INPUTS,), {"type": "object", "properties": inputs, "required": required}
    if arguments := _arguments_in(record.get("description")):
        yield ("description",), arguments
    for key in record:
        if _SAYS_NO_INPUT.search(key.lower()) is None:
            value = _from_text(record[key])
            if _is_of_object(value):
                yield (key,), value


def _from_text(value: Any) -> Any:
    """The value of a JSON text; other values unchanged."""
    if not isinstance(value, str) or value[:1] != "{":
        return value
    try:
        inside = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return value if find_flaw(inside) else inside


def _arguments_in(description: Any) -> JsonObject:
    """The arguments in a CrewAI description; empty for any other."""
    text = _OF_CREWAI.match(description) if isinstance(description, str) else None
    if text is None:
        return {}
    try:
        arguments = ast.literal_eval(text[1])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        arguments = _from_text(text[1])
    rows = arguments if isinstance(arguments, dict) and not find_flaw(arguments) else {}
    if _is_of_object(rows):
        return rows
    if not all(isinstance(row, dict) for row in rows.values()):
        return {}
    return {name: {key: one for key, one in row.items() if one} for name, row in rows.items()}


def _is_nullable(parameter: Any) -> bool:
    return isinstance(parameter, dict) and parameter.get("nullable") is True


def _has_name(record: JsonObject) -> bool:
    return isinstance(GENERIC.get(record, "name"), str)


GENERIC = _Generic(
    name="generic",
    title="Generic",
    rules=record_format.ANY_NAMES,
    marks=_has_name,
    template={"id": "", "name": "", "description": ""},
    places=record_format.places(
        id="id",
        server="server server_name plugin_name toolkit.slug toolkit.name toolkit",
        name="name function.name api_name tool_name function_name toolSpec.name",
        description="description function.description desc api_description summary "
        "toolSpec.description",
        schema="parameters inputSchema input_schema function.parameters arguments args schema "
        "parametersJsonSchema parameters_json_schema args_schema input_parameters toolSchema "
        "parameter_definitions toolSpec.inputSchema.json input.parameters",
        returns="returns outputSchema output_schema results responses response "
        "responseJsonSchema response_json_schema output_parameters",
        annotations="annotations",
    ),
)
