"""Gemini's function declarations: a JSON Schema, or its own with types in capitals."""

from collections.abc import Sequence, Set
from typing import Any, ClassVar

from toolscope_core.catalog.formats.record_format import RecordFormat, places
from toolscope_core.catalog.formats.target import Rules
from toolscope_core.catalog.schema.walking import every_schema
from toolscope_core.model.catalog import Server
from toolscope_core.model.tool import JsonObject

DECLARATIONS = ("functionDeclarations", "function_declarations")
TYPE_WORDS = frozenset("object string integer number boolean array null".split())
_SCHEMAS = ("parametersJsonSchema", "parameters_json_schema")
_OF_DECLARATION = frozenset(
    (
        *(*_SCHEMAS, "name", "description", "behavior", "parameters"),
        *("response", "responseJsonSchema", "response_json_schema"),
    )
)


class _Gemini(RecordFormat):
    renews: ClassVar[bool] = True

    def suits(
        self, records: Sequence[JsonObject], lists: Set[str], servers: Sequence[Server]
    ) -> bool:
        is_declared = bool(lists & set(DECLARATIONS)) or any(map(_is_unlike_others, records))
        return is_declared and super().suits(records, lists, servers)

    def takes(self, schema: JsonObject, parameters: JsonObject | None) -> bool:
        """Whether the types are named as Gemini names them, at every depth: in capitals or not."""
        return all(map(_names_types, every_schema(schema)))

    def sendable(self, record: JsonObject, is_new: bool) -> JsonObject:
        """What the API knows of a declaration: it refuses one that has anything else."""
        return {key: part for key, part in record.items() if key in _OF_DECLARATION}


def _names_types(schema: JsonObject) -> bool:
    kind: Any = schema.get("type", "null")
    words = kind if isinstance(kind, list) else [kind]
    return all(isinstance(word, str) and word.lower() in TYPE_WORDS for word in words)


def _is_unlike_others(record: JsonObject) -> bool:
    """Whether the record says what no other format does: its own keys, or types in capitals."""
    parameters = record.get("parameters")
    kind = parameters.get("type") if isinstance(parameters, dict) else None
    return kind == "OBJECT" or any(key in record for key in _SCHEMAS)


GEMINI = _Gemini(
    name="gemini",
    title="Gemini",
    goes="Put it as one entry into the list `tools` of a call to `generateContent`.",
    rules=Rules(
        name_rule=r"[A-Za-z_][A-Za-z0-9_.:-]*",
        longest_name=64,
        parameter_rule=r"[A-Za-z_][A-Za-z0-9_]{0,63}",
    ),
    source="https://ai.google.dev/api/caching#FunctionDeclaration",
    as_of="2026-11",
    offered=5,
    in_prompts=True,
    advised=True,
    marks=lambda record: "name" in record and record.get("type") is None and "id" not in record,
    template={"name": "", "description": "", "parametersJsonSchema": {"type": "object"}},
    list_key=DECLARATIONS[0],
    places=places(
        name="name",
        description="description",
        schema="parametersJsonSchema parameters_json_schema parameters",
        returns="responseJsonSchema response_json_schema response",
    ),
)
