"""Tools as benchmark sets have them: BFCL, Seal-Tools, UltraTool."""

from toolscope_core.catalog.formats.record_format import (
    ANY_NAMES,
    Path,
    RecordFormat,
    places,
    value_at,
    with_value,
)
from toolscope_core.catalog.schema.declarations import RecordError, read_parameters, rename_types
from toolscope_core.model.tool import JsonObject, canonical_json

_WORDS = {
    "object": "dict",
    "number": "float",
    "string": "str",
    "integer": "int",
    "boolean": "bool",
    "array": "list",
}


class _SealTools(RecordFormat):
    def with_schema(self, record: JsonObject, path: Path, schema: JsonObject) -> JsonObject:
        record = with_value(record, ("required",), None)
        flat = flat_parameters(schema)
        if flat is None:
            return with_value(record, path, schema)
        return {**with_value(record, path, flat), "required": schema.get("required", [])}

    def written_returns(self, schema: JsonObject) -> JsonObject:
        return schema if "required" in schema else flat_parameters(schema) or schema


def flat_parameters(schema: JsonObject) -> JsonObject | None:
    """The properties in the flat form, or ``None`` where that form would lose something."""
    flat = {
        name: rename_types(sub, _WORDS)
        for name, sub in schema.get("properties", {}).items()
        if isinstance(sub, dict)
    }
    try:
        again = read_parameters(flat, schema.get("required"))
    except RecordError:
        return None
    return flat if canonical_json(again) == canonical_json(schema) else None


SEAL_TOOLS = _SealTools(
    name="seal-tools",
    title="seal-tools",
    marks=lambda record: "api_name" in record,
    template={"api_name": "", "api_description": "", "parameters": {"type": "object"}},
    places=places(
        name="api_name", description="api_description", schema="parameters", returns="responses"
    ),
)


class _Bfcl(RecordFormat):
    def with_schema(self, record: JsonObject, path: Path, schema: JsonObject) -> JsonObject:
        words = {"object": "dict", "number": "float"}
        return with_value(record, path, rename_types(schema, words))


BFCL = _Bfcl(
    name="bfcl",
    title="BFCL",
    rules=ANY_NAMES,
    marks=lambda record: value_at(record, ("parameters", "type")) == "dict",
    template={"id": "", "name": "", "description": "", "parameters": {"type": "dict"}},
    places=places(
        id="id", name="name", description="description", schema="parameters", returns="response"
    ),
)


ULTRATOOL = RecordFormat(
    name="ultratool",
    title="ultratool",
    marks=lambda record: isinstance(record.get("arguments"), dict) and "results" in record,
    template={"name": "", "description": "", "arguments": {"type": "object"}, "results": {}},
    places=places(name="name", description="description", schema="arguments", returns="results"),
)
