"""Any list of objects with a name: every place in which some format keeps a part of a tool."""

from toolscope_core.catalog.formats.record_format import Path, RecordFormat, places, with_value
from toolscope_core.catalog.formats.target import ANY_NAMES
from toolscope_core.model.tool import JsonObject


class _Generic(RecordFormat):
    def with_schema(self, record: JsonObject, path: Path, schema: JsonObject) -> JsonObject:
        """A list of required names beside flat parameters goes with them."""
        return with_value(with_value(record, ("required",), None), path, schema)


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
        name="name function.name api_name tool_name function_name",
        description="description function.description desc api_description summary",
        schema="parameters inputSchema input_schema function.parameters arguments args schema "
        "parametersJsonSchema parameters_json_schema",
        returns="returns outputSchema output_schema results responses response "
        "responseJsonSchema response_json_schema",
        annotations="annotations",
    ),
)
