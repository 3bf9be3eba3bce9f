"""ToolScope's own format, which has every part of a tool and the members of merged tools."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from toolscope_core.catalog.flaws import find_flaw
from toolscope_core.catalog.formats import record_format
from toolscope_core.catalog.formats.record_format import RecordFormat, ToolPart
from toolscope_core.catalog.schema.python_types import declared_in_source
from toolscope_core.catalog.sources import TOOLSET
from toolscope_core.catalog.tools_in_texts import composed_tool
from toolscope_core.model.catalog import FormerName, Server
from toolscope_core.model.cluster import grouped
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import JsonObject

_NAMES = "former_names"
"""The key for former names: for each name, the servers whose tools agents called by it, with the
current id of the tool and the maps.
"""


def names_written(names: Sequence[FormerName]) -> JsonObject:
    """The former names in the form that is written beside the tools, which does not look like a
    tool.
    """
    rows = grouped(names, lambda one: one.name)
    rows_by_name = {
        name: [[one.server, one.tool_id, one.maps] for one in own] for name, own in rows.items()
    }
    return {_NAMES: rows_by_name} if rows_by_name else {}


def former_names_in(document: Any) -> tuple[FormerName, ...]:
    """The former names in a document of this format; malformed entries are left out."""
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
"""The keys under which ToolBench lists parameters."""


_OPTIONS = frozenset(("option", "options"))
_COMMANDS = record_format.places(name="command", schema="option options")
_COMPONENTS = record_format.places(
    name="config.name", description="config.description", schema="config.json_schema"
)
"""The paths at which Azure's MCP server and AutoGen keep the parts of a tool."""
_SLUGS = ("slug", "qualified_name", "key")
"""The keys of the name that is called, in records whose ``name`` is a title for people."""
_MARKS = frozenset(("command", "component_type", *_SLUGS))
"""A record has at least one of these keys if its parts are in unusual places."""
_TITLE = re.compile(r".*\s.*|[A-Z][a-z]+", re.DOTALL)
_WRAPPED = (("inputSchema", "jsonSchema"), ("parameters", "jsonSchema"), ("inputSchema", "json"))
"""The paths at which the AI SDK, Strands and Mastra wrap a JSON Schema."""
_SOURCES = (("code",), ("source_code",), ("config", "source_code"))
"""The paths at which smolagents, Letta and AutoGen keep the source of a tool."""
_SAYS_NO_INPUT = re.compile(r"out|resp|result|return|example|config|meta|settings")
_KEPT_KEYS = 4_096
_INPUTS, _OUTPUT = "inputs", "output_type"
"""The key under which smolagents keeps parameters, and another key of its records."""


class _Generic(RecordFormat):
    def find_all(
        self, record: JsonObject, part: ToolPart
    ) -> Iterator[tuple[record_format.Path, Any]]:
        yield from _in_framework(record, part)
        yield from super().find_all(record, part)
        spellings = {_plain_key(key): key for key in record}
        for path in self.places.get(part, ()):
            key = spellings.get(_plain_key(path[0]), path[0])
            own = (key, *path[1:])
            if key != path[0] and (value := record_format.value_at(record, own)) is not None:
                yield own, value
        yield from _elsewhere(record) if part == "schema" else ()
        yield from _in_program(record, part)
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
        """The record with the schema; lists of required names beside flat parameters are
        removed.
        """
        for key in ("required", *_BY_NEED):
            record = record_format.with_value(record, (key,), None)
        is_elsewhere = path[0] in (*_BY_NEED, "description")
        return record_format.with_value(record, ("parameters",) if is_elsewhere else path, schema)


def _in_framework(record: JsonObject, part: ToolPart) -> Iterator[tuple[record_format.Path, Any]]:
    """The places of a part that are tried before the usual ones, with the values in them."""
    if not _MARKS.isdisjoint(record):
        yield from _in_marked(record, part)
    if part == "schema":
        for path in _WRAPPED:
            inside = {path[0]: _from_text(record.get(path[0]))}
            if _is_of_object(value := record_format.value_at(inside, path)):
                yield path, value
    is_composed = part == "description" or (part == "name" and _has_title(record))
    if is_composed and (composed := composed_tool(record.get("description"))):
        yield ("description",), composed[part]


def _in_marked(record: JsonObject, part: ToolPart) -> Iterator[tuple[record_format.Path, Any]]:
    """The value of a part in a command, a component, or a record whose name is a title."""
    is_component = record.get("component_type") == "tool"
    own = _COMPONENTS if is_component else {} if _OPTIONS.isdisjoint(record) else _COMMANDS
    for path in own.get(part, ()):
        value, usual = record_format.value_at(record, path), str(record.get(part))
        is_schema = isinstance(value, list) or _is_of_object(value)
        is_other = isinstance(value, str) and _plain_key(value) != _plain_key(usual)
        if is_schema if part == "schema" else is_other:
            yield path, value
    if part == "name" and (slug := _slug(record)):
        yield (slug,), record[slug]


def _in_program(record: JsonObject, part: ToolPart) -> Iterator[tuple[record_format.Path, Any]]:
    """The part as the tool's source code declares it; the code is read, but not run."""
    for path in _SOURCES if part in ("description", "schema") else ():
        if isinstance(source := record_format.value_at(record, path), str):
            declared = declared_in_source(source, str(GENERIC.get(record, "name")))
            if (value := GENERIC.get(declared, part)) is not None:
                yield path, value


@lru_cache(_KEPT_KEYS)
def _plain_key(key: str) -> str:
    """A key in lower case without underscores, so that ``inputSchema`` and ``input_schema`` are
    equal.
    """
    return key.replace("_", "").replace(" ", "").lower()


def _has_title(record: JsonObject) -> bool:
    """Whether the record's ``name`` looks like a title for people."""
    name = record.get("name")
    return isinstance(name, str) and _TITLE.fullmatch(name.strip()) is not None


def _slug(record: JsonObject) -> str:
    """The key of the name that is called, if the ``name`` of the record is a title for people.

    If the title is a single word, the name that is called must contain it.
    """
    title = str(record.get("name", "")).strip().lower()
    is_word = re.search(r"\s", title) is None
    slugs = (key for key in _SLUGS if isinstance(record.get(key), str) and _has_title(record))
    fitting = (key for key in slugs if not is_word or title in record[key].lower())
    return next((key for key in fitting if re.fullmatch(r"\S+", record[key])), "")


def _is_of_object(value: Any) -> bool:
    """Whether a value is the JSON Schema of an object."""
    is_schema = isinstance(value, dict) and value.get("type") == "object"
    return is_schema and isinstance(value.get("properties"), dict)


def _elsewhere(record: JsonObject) -> Iterator[tuple[record_format.Path, Any]]:
    """Parameters in the places of frameworks, then under any key that does not concern results."""
    inputs = _from_text(record.get(_INPUTS))
    if _OUTPUT in record and isinstance(inputs, dict):
        optional = {name for name, one in inputs.items() if _is_nullable(one)}
        required = [name for name in inputs if name not in optional]
        yield (_INPUTS,), {"type": "object", "properties": inputs, "required": required}
    if composed := composed_tool(record.get("description")):
        yield ("description",), composed["arguments"]
    for key in record:
        if _SAYS_NO_INPUT.search(key.lower()) is None:
            value = _from_text(record[key])
            if _is_of_object(value):
                yield (key,), value
            elif isinstance(value, dict) and value.get("name") == record.get("name"):
                yield from (((key, *path), one) for path, one in GENERIC.find_all(value, "schema"))


def _from_text(value: Any) -> Any:
    """The value in a JSON text; any other value is returned unchanged."""
    if not isinstance(value, str) or value[:1] != "{":
        return value
    try:
        inside = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return value if find_flaw(inside) else inside


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
        server="server server_name plugin_name toolkit.slug toolkit.name toolkit app_name "
        "server_label mcp_server_name tool_origin.mcp_server_name tool_namespace",
        name="name function.name api_name tool_name function_name toolSpec.name",
        description="description function.description desc api_description summary "
        "toolSpec.description",
        schema="parameters inputSchema input_schema function.parameters arguments args schema "
        "parametersJsonSchema parameters_json_schema args_schema input_parameters toolSchema "
        "parameter_definitions toolSpec.inputSchema.json input.parameters configurable_props",
        returns="returns outputSchema output_schema results responses response "
        "responseJsonSchema response_json_schema output_parameters return_schema "
        "output_json_schema return_parameter.schema_data output.value_schema",
        annotations="annotations",
    ),
)
