"""BFCL, the Berkeley function calling leaderboard: schemas with Python's words for types."""

from toolscope_core.catalog.formats.record_format import (
    Path,
    RecordFormat,
    places,
    value_at,
    with_value,
)
from toolscope_core.catalog.formats.target import ANY_NAMES
from toolscope_core.catalog.schema.declarations import rename_types
from toolscope_core.model.tool import JsonObject


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
