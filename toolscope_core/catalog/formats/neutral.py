"""ToolScope's own format: every part of a tool, with the members of merged tools."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
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
    (
        frozenset(("slug", "input_parameters")),
        record_format.places(name="slug", server="toolkit.slug toolkit"),
    ),
    (frozenset(("plugin_name", "parameters")), record_format.places(server="plugin_name")),
    (frozenset(("command", "option")), record_format.places(name="command", schema="option")),
    (
        frozenset(("component_type", "config", "provider")),
        record_format.places(name="config.name", description="config.description"),
    ),
)
"""Where records with all of these keys keep their parts: Composio, Semantic Kernel, Azure's MCP
servers and AutoGen.
"""
_OF_CREWAI = re.compile(r"Tool Name: [^\n]*\nTool Arguments: (\{[^\n]*\})\nTool Description: ")
"""How CrewAI writes a tool's arguments into its description."""
_INPUTS, _OUTPUT = "inputs", "output_type"
"""Where smolagents keeps parameters, and the other keys of its records."""


class _Generic(RecordFormat):
    def find_all(
        self, record: JsonObject, part: ToolPart
    ) -> Iterator[tuple[record_format.Path, Any]]:
        for keys, part_places in _FRAMEWORKS:
            if keys <= record.keys():
                for path in part_places.get(part, ()):
                    value = record_format.value_at(record, path)
                    if isinstance(value, list if part == "schema" else str) and value:
                        yield path, value
        yield from super().find_all(record, part)
        if part == "schema" and _OUTPUT in record and isinstance(record.get(_INPUTS), dict):
            inputs: JsonObject = record[_INPUTS]
            optional = {name for name, one in inputs.items() if _is_nullable(one)}
            required = [name for name in inputs if name not in optional]
            yield (_INPUTS,), {"type": "object", "properties": inputs, "required": required}
        if part == "schema" and (arguments := _arguments_in(record.get("description"))):
            yield ("description",), arguments
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


def _arguments_in(description: Any) -> JsonObject:
    """The arguments in a CrewAI description; empty for any other."""
    text = _OF_CREWAI.match(description) if isinstance(description, str) else None
    try:
        arguments = ast.literal_eval(text[1]) if text else {}
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {}
    rows = arguments if isinstance(arguments, dict) else {}
    if not all(isinstance(row, dict) for row in rows.values()) or find_flaw(rows):
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
        server="server server_name",
        name="name function.name api_name tool_name function_name toolSpec.name",
        description="description function.description desc api_description summary "
        "toolSpec.description",
        schema="parameters inputSchema input_schema function.parameters arguments args schema "
        "parametersJsonSchema parameters_json_schema args_schema input_parameters toolSchema "
        "parameter_definitions toolSpec.inputSchema.json",
        returns="returns outputSchema output_schema results responses response "
        "responseJsonSchema response_json_schema output_parameters",
        annotations="annotations",
    ),
)
