"""The tool formats of model APIs (OpenAI, Anthropic, Gemini) and of benchmarks (BFCL,
Seal-Tools, UltraTool).
"""

from collections.abc import Iterator, Sequence, Set
from typing import Any, ClassVar

from toolscope_core.catalog.formats import record_format
from toolscope_core.catalog.formats.record_format import RecordFormat, Rules
from toolscope_core.catalog.schema.declarations import (
    UNDECLARED,
    RecordError,
    read_parameters,
    rename_types,
)
from toolscope_core.catalog.schema.references import NOTES, without_unused
from toolscope_core.catalog.schema.walking import (
    every_schema,
    map_schemas,
    placed_subschemas,
    properties_of,
    required_of,
    resolve,
)
from toolscope_core.model.catalog import Server
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import JsonObject, canonical_json

_RULES = Rules(
    name_rule=record_format.LETTERS,
    longest_name=64,
    longest_description=1024,
    most_tools=128,
    declared_object=True,
    whole_object=True,
    typed_items=True,
    strict_mode=True,
)
_SOURCE = "https://platform.openai.com/docs/guides/function-calling"
_AS_OF = "2026-11"


STRICT_KEYWORDS = frozenset(
    "type enum const anyOf properties required additionalProperties items $ref $defs definitions "
    "title description pattern format minLength maxLength multipleOf minimum maximum "
    "exclusiveMinimum exclusiveMaximum minItems maxItems".split()
)
STRICT_FORMATS = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split())
"""The formats that strict mode accepts, according to the guide to structured outputs; the API
refuses all others.
"""
_OWN_TYPE = ("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref")


def says_strict(record: JsonObject) -> bool:
    """Whether the record of a tool asks for strict mode."""
    function = record.get("function")
    inner = function if isinstance(function, dict) else record
    return inner.get("strict") is True


def is_strict(schema: JsonObject) -> bool:
    """Whether strict mode accepts the schema."""
    return next(strict_faults(schema), None) is None


def as_strict(schema: JsonObject) -> JsonObject:
    """A schema with the same meaning, in a form that strict mode can accept.

    Two changes are made: the only member of ``allOf`` replaces the list, and a definition replaces
    a reference that has keywords beside it.
    """

    def with_definition(node: dict[str, Any]) -> JsonObject:
        own = resolve(plain, node["$ref"]) if _is_beside_reference(node) else None
        return _joined(node, "$ref", own)

    plain: JsonObject = map_schemas(schema, _with_only_member)
    return without_unused(map_schemas(plain, with_definition))


def _with_only_member(node: dict[str, Any]) -> JsonObject:
    """The schema with the only member of ``allOf`` in place of the list, and without a null
    default, which OpenAI's SDK drops too.
    """
    if node.get("default", 0) is None:
        del node["default"]
    members = node.get("allOf")
    if isinstance(members, list) and len(members) == 1:
        return _joined(node, "allOf", members[0])
    return node


def _joined(node: dict[str, Any], key: str, part: Any) -> JsonObject:
    """The schema with ``part`` in place of ``key``, unless both restrict the same thing."""
    others = {name: sub for name, sub in node.items() if name != key}
    if not isinstance(part, dict) or (others.keys() & part.keys()).difference(NOTES):
        return node
    return {**part, **others}


def _is_beside_reference(node: JsonObject) -> bool:
    return "$ref" in node and not node.keys() <= {"$ref", "$defs", "definitions"}


def strict_faults(schema: JsonObject) -> Iterator[tuple[str, str]]:
    """The faults that strict mode finds in a schema, each with its place and a description in
    words.

    Strict mode requires every declared property and a type for each, allows no other properties,
    and accepts only some keywords and formats.
    """
    stack: list[tuple[str, Any]] = [("", schema)]
    while stack:
        place, node = stack.pop()
        if not isinstance(node, dict):
            continue
        for name in properties_of(node).keys() - {*required_of(node)}:
            yield f"{place}/{name}".lstrip("/"), "is not required"
        kind = node.get("type")
        is_object = kind == "object" or (isinstance(kind, list) and "object" in kind)
        if (is_object or "properties" in node) and node.get("additionalProperties") is not False:
            yield place or "the parameters", "lacks `additionalProperties: false`"
        for keyword in sorted(node.keys() - STRICT_KEYWORDS):
            yield place or "the parameters", f"has `{keyword}`"
        if _is_beside_reference(node):
            yield place or "the parameters", "has keywords beside `$ref`"
        if node.get("format", "date") not in STRICT_FORMATS:
            yield place or "the parameters", f"has the format {node['format']!r}"
        if not any(keyword in node for keyword in _OWN_TYPE):
            yield place or "the parameters", "has no type"
        inner = [(one.removeprefix("/"), sub) for _, one, sub in placed_subschemas(node, "")]
        stack += [(_below(place, one), sub) for one, sub in reversed(inner)]


def _below(place: str, inner: str) -> str:
    """The place of a subschema; for a property, only its name is shown."""
    return "/".join(filter(None, (place, inner.removeprefix("properties/"))))


class _OpenAi(RecordFormat):
    def sendable(self, record: JsonObject, is_new: bool) -> JsonObject:
        """The record with declared parameters, even if there are none; nothing is lost."""
        path = self.places["schema"][0]
        schema = record_format.value_at(record, path)
        says_enough = "properties" in schema if isinstance(schema, dict) else not is_new
        if says_enough:
            return record
        plain = schema if isinstance(schema, dict) else {"type": "object"}
        return record_format.with_value(record, path, {**plain, "properties": {}})


class _Responses(_OpenAi):
    def holds(self, server: Server) -> bool:
        return bool(server.raw)


OPENAI_CHAT = _OpenAi(
    name="openai-chat",
    title="OpenAI chat",
    goes="Pass its list as `tools` to `chat.completions.create`.",
    rules=_RULES,
    source=_SOURCE,
    as_of=_AS_OF,
    offered=1,
    in_prompts=True,
    advised=True,
    strict_place=("function", "strict"),
    marks=lambda record: isinstance(record.get("function"), dict),
    template={"type": "function", "function": {}},
    places=record_format.places(
        name="function.name", description="function.description", schema="function.parameters"
    ),
)
OPENAI_RESPONSES = _Responses(
    name="openai-responses",
    title="OpenAI responses",
    goes="Pass its list as `tools` to `responses.create`.",
    rules=_RULES,
    source=_SOURCE,
    as_of=_AS_OF,
    offered=2,
    in_prompts=True,
    tool_search={"type": "tool_search"},
    strict_place=("strict",),
    marks=lambda record: record.get("type") == "function" and "name" in record,
    template={
        **{"type": "function", "name": "", "description": "", "parameters": None},
        "strict": False,
    },
    places=record_format.places(
        name="name", description="description", schema="parameters", returns="output_schema"
    ),
)


TOOL_SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}

ANTHROPIC = RecordFormat(
    name="anthropic",
    title="Anthropic",
    goes="Pass its list as `tools` to `messages.create`.",
    rules=Rules(
        name_rule=record_format.LETTERS,
        longest_name=64,
        parameter_rule=r"[a-zA-Z0-9_.-]{1,64}",
        top_parameters=True,
        whole_object=True,
    ),
    source="https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use",
    as_of="2026-11",
    offered=3,
    in_prompts=True,
    needs_schema=True,
    advised=True,
    tool_search=TOOL_SEARCH,
    marks=lambda record: "input_schema" in record and "name" in record,
    template={"name": "", "description": "", "input_schema": UNDECLARED},
    places=record_format.places(name="name", description="description", schema="input_schema"),
)


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
        """Whether the types at every depth have Gemini's names, in upper or lower case."""
        return all(map(_names_types, every_schema(schema)))

    def document(
        self, records: Sequence[JsonObject], tools: Sequence[MergedTool], servers: Sequence[Server]
    ) -> Any:
        """A single entry of ``tools``; tools that the API runs itself are placed beside the
        declarations.
        """
        built_in = [record for record in records if record_format.home_of(record)]
        declared = [record for record in records if not record_format.home_of(record)]
        switches = {key: part for record in built_in for key, part in record.items()}
        return {**({self.list_key: declared} if declared or not built_in else {}), **switches}

    def sendable(self, record: JsonObject, is_new: bool) -> JsonObject:
        """The declaration with the keys that the API knows, because the API refuses all others."""
        if record_format.home_of(record):
            return record
        return {key: part for key, part in record.items() if key in _OF_DECLARATION}


def _names_types(schema: JsonObject) -> bool:
    kind: Any = schema.get("type", "null")
    words = kind if isinstance(kind, list) else [kind]
    return all(isinstance(word, str) and word.lower() in TYPE_WORDS for word in words)


def _is_unlike_others(record: JsonObject) -> bool:
    """Whether the record has something that only this format has: its own keys, or types in
    capitals.
    """
    parameters = record.get("parameters")
    kind = parameters.get("type") if isinstance(parameters, dict) else None
    has_schema = any(key in record for key in _SCHEMAS) and record.keys() <= _OF_DECLARATION
    return kind == "OBJECT" or has_schema


GEMINI = _Gemini(
    name="gemini",
    title="Gemini",
    goes="Pass it as one entry of the list `tools` in a call to `generateContent`.",
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
    template={"name": "", "description": "", "parametersJsonSchema": UNDECLARED},
    list_key=DECLARATIONS[0],
    places=record_format.places(
        name="name",
        description="description",
        schema="parametersJsonSchema parameters_json_schema parameters",
        returns="responseJsonSchema response_json_schema response",
    ),
)


_WORDS = {
    "object": "dict",
    "number": "float",
    "string": "str",
    "integer": "int",
    "boolean": "bool",
    "array": "list",
}


class _SealTools(RecordFormat):
    def with_schema(
        self, record: JsonObject, path: record_format.Path, schema: JsonObject
    ) -> JsonObject:
        record = record_format.with_value(record, ("required",), None)
        flat = flat_parameters(schema)
        if flat is None:
            return record_format.with_value(record, path, schema)
        return {
            **record_format.with_value(record, path, flat),
            "required": schema.get("required", []),
        }

    def written_returns(self, schema: JsonObject) -> JsonObject:
        return schema if "required" in schema else flat_parameters(schema) or schema


def flat_parameters(schema: JsonObject) -> JsonObject | None:
    """The properties in the flat form; ``None`` if the flat form would lose something."""
    flat = {
        name: rename_types(sub, _WORDS)
        for name, sub in schema.get("properties", {}).items()
        if isinstance(sub, dict)
    }
    try:
        reread = read_parameters(flat, schema.get("required"))
    except RecordError:
        return None
    return flat if canonical_json(reread) == canonical_json(schema) else None


SEAL_TOOLS = _SealTools(
    name="seal-tools",
    title="seal-tools",
    marks=lambda record: "api_name" in record,
    template={"api_name": "", "api_description": "", "parameters": UNDECLARED},
    places=record_format.places(
        name="api_name", description="api_description", schema="parameters", returns="responses"
    ),
)


class _Bfcl(RecordFormat):
    def with_schema(
        self, record: JsonObject, path: record_format.Path, schema: JsonObject
    ) -> JsonObject:
        words = {"object": "dict", "number": "float"}
        return record_format.with_value(record, path, rename_types(schema, words))


BFCL = _Bfcl(
    name="bfcl",
    title="BFCL",
    rules=record_format.ANY_NAMES,
    marks=lambda record: record_format.value_at(record, ("parameters", "type")) == "dict",
    template={
        "id": "",
        "name": "",
        "description": "",
        "parameters": {**UNDECLARED, "type": "dict"},
    },
    places=record_format.places(
        id="id", name="name", description="description", schema="parameters", returns="response"
    ),
)


ULTRATOOL = RecordFormat(
    name="ultratool",
    title="ultratool",
    marks=lambda record: isinstance(record.get("arguments"), dict) and "results" in record,
    template={"name": "", "description": "", "arguments": UNDECLARED, "results": {}},
    places=record_format.places(
        name="name", description="description", schema="arguments", returns="results"
    ),
)
