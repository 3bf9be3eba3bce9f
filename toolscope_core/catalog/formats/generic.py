"""Any list of objects with a name: every place in which some format keeps a part of a tool."""

from collections.abc import Iterator
from typing import Any

from toolscope_core.catalog.formats.record_format import (
    Path,
    RecordFormat,
    ToolPart,
    places,
    with_value,
)
from toolscope_core.catalog.formats.target import ANY_NAMES
from toolscope_core.model.tool import JsonObject

_BY_NEED = ("required_parameters", "optional_parameters")
"""Where ToolBench lists parameters."""


class _Generic(RecordFormat):
    def find_all(self, record: JsonObject, part: ToolPart) -> Iterator[tuple[Path, Any]]:
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

    def with_schema(self, record: JsonObject, path: Path, schema: JsonObject) -> JsonObject:
        """A list of required names beside flat parameters goes with them."""
        for key in ("required", *_BY_NEED):
            record = with_value(record, (key,), None)
        return with_value(record, ("parameters",) if path[0] in _BY_NEED else path, schema)


def _has_name(record: JsonObject) -> bool:
    return isinstance(GENERIC.get(record, "name"), str)


GENERIC = _Generic(
    name="generic",
    title="Generic",
    rules=ANY_NAMES,
    marks=_has_name,
    template={"id": "", "name": "", "description": ""},
    places=places(
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
