"""ToolScope's own format: every part of a tool, with the tools that a merged one stands for."""

from collections.abc import Iterator, Sequence
from typing import Any

from toolscope_core.catalog.formats import record_format
from toolscope_core.catalog.formats.record_format import RecordFormat, ToolPart
from toolscope_core.catalog.sources import TOOLSET
from toolscope_core.model.catalog import FormerName, Server
from toolscope_core.model.cluster import grouped
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import JsonObject

_NAMES = "former_names"
"""By name the servers whose tools agents called so: with the id of the tool now, and the maps."""


def names_written(names: Sequence[FormerName]) -> JsonObject:
    """The names as they stand beside the tools. Nothing in it looks like a tool."""
    rows = grouped(names, lambda one: one.name)
    rows_by_name = {
        name: [[one.server, one.tool_id, one.maps] for one in own] for name, own in rows.items()
    }
    return {_NAMES: rows_by_name} if rows_by_name else {}


def former_names_in(document: Any) -> tuple[FormerName, ...]:
    """The names in a document in this format; what is of another is left out."""
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
    goes="One JSON object for programs of your own; ToolScope reads it again as a catalog.",
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


class _Generic(RecordFormat):
    def find_all(
        self, record: JsonObject, part: ToolPart
    ) -> Iterator[tuple[record_format.Path, Any]]:
        yield from super().find_all(record, part)
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
        """A list of required names beside flat parameters goes with them."""
        for key in ("required", *_BY_NEED):
            record = record_format.with_value(record, (key,), None)
        return record_format.with_value(
            record, ("parameters",) if path[0] in _BY_NEED else path, schema
        )


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
