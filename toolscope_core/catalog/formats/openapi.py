"""Converts an OpenAPI document (2.0 to 3.2) to an MCP ``tools/list`` page: each operation is a
tool.

Names follow FastMCP, which people already use. ``_meta`` says where an argument is placed in HTTP,
and which hints were inferred from the method.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from toolscope_core.catalog.flaws import Flaw
from toolscope_core.catalog.formats.api_descriptions import (
    DISCOVERY_FIELDS,
    as_openapi_3,
    discovered_api,
    is_discovery,
)
from toolscope_core.catalog.formats.operations import read_operations
from toolscope_core.catalog.operation_names import (
    NAME_LENGTH,
    OPENAPI_META,
    name_source,
    operation_of,
)
from toolscope_core.catalog.schema import walking
from toolscope_core.catalog.schema.declarations import RecordError, modernised
from toolscope_core.catalog.schema.definitions import Definitions
from toolscope_core.catalog.schema.pointers import ExpansionBudget
from toolscope_core.model.catalog import Finding
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

_HOLDERS = (("components", "schemas"), ("definitions",))
_CHOICES = ("oneOf", "anyOf")
_OF_PARENTS = (*_CHOICES, "discriminator")


def with_children(document: JsonObject, budget: ExpansionBudget) -> JsonObject:
    """The document in which each parent also has the properties of its children, none of them
    required.

    The parent's own part is kept beside it as ``…_fields``, and its children refer to that part. So
    no child declares another child's properties, and no cycle arises. Additions are charged to
    ``budget`` and stop when it is used up.
    """
    for path in _HOLDERS:
        holder = walking.object_at(document, *path)
        if any(map(_is_parent, holder.values())):
            schemas = _Family(document, f"#/{'/'.join(path)}/", holder).schemas(budget)
            nested = {**document["components"], path[-1]: schemas} if path[1:] else schemas
            document = {**document, path[0]: nested}
    return document


def _is_parent(schema: Any) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("discriminator"), (dict, str))


class _Family:
    """The named schemas of a document, and which of them are parents and children of others."""

    def __init__(self, document: JsonObject, place: str, named: JsonObject) -> None:
        self._document, self._place, self._named = document, place, named
        self._parents = {name for name, schema in named.items() if _is_parent(schema)}
        self._children: defaultdict[str, list[str]] = defaultdict(list)
        for name, schema in named.items():
            for part in _parts(schema):
                parent = self._parent(part)
                if parent and parent != name:
                    self._children[parent].append(name)

    def schemas(self, budget: ExpansionBudget) -> JsonObject:
        """The named schemas; a parent with children also has its own part beside it."""
        by_name = {name: self._apart(schema) for name, schema in self._named.items()}
        for name in self._children:
            own = by_name[name]
            by_name[self._own_name(name)] = {k: v for k, v in own.items() if k not in _OF_PARENTS}
            if not own.keys() & set(_CHOICES):
                inherited = self._added(name, budget)
                by_name[name] = {**own, "properties": {**inherited, **walking.properties_of(own)}}
        return by_name

    def _parent(self, part: Any) -> str:
        """The parent to which an entry of ``allOf`` refers; empty if it refers to no parent."""
        reference = part.get("$ref") if isinstance(part, dict) else None
        name = reference.removeprefix(self._place) if isinstance(reference, str) else ""
        return name if name in self._parents else ""

    def _own_name(self, parent: str) -> str:
        name = f"{parent}_fields"
        while name in self._named:
            name += "_"
        return name

    def _apart(self, schema: Any) -> Any:
        """The schema in which ``allOf`` refers to the parents' own parts."""
        if not any(map(self._parent, _parts(schema))):
            return schema
        parts = [
            {**part, "$ref": f"{self._place}{self._own_name(parent)}"}
            if (parent := self._parent(part))
            else part
            for part in _parts(schema)
        ]
        return {**schema, "allOf": parts}

    def _added(self, parent: str, budget: ExpansionBudget) -> JsonObject:
        """The properties that descendants declare, with all declarations of each property."""
        added: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for child in self._descendants(parent):
            for name, sub in self._declared(self._named[child]):
                if budget.take(1):
                    added[name].setdefault(canonical_json(sub), sub)
        return {
            name: next(iter(subs.values())) if len(subs) == 1 else {"anyOf": [*subs.values()]}
            for name, subs in added.items()
        }

    def _descendants(self, parent: str) -> list[str]:
        descendants = dict.fromkeys(self._children[parent])
        stack = list(descendants)
        while stack:
            further = [one for one in self._children.get(stack.pop(), []) if one != parent]
            stack += [one for one in further if one not in descendants]
            descendants |= dict.fromkeys(further)
        return list(descendants)

    def _declared(self, schema: Any) -> Iterator[tuple[str, Any]]:
        """The properties of a schema and of its parts, but not those of its parents."""
        stack, seen = [schema], set[int]()
        while stack:
            part = stack.pop()
            if isinstance(part, dict) and id(part) not in seen:
                seen.add(id(part))
                yield from walking.properties_of(part).items()
                further = [one for one in _parts(part) if not self._parent(one)]
                stack += [
                    *further,
                    *(walking.resolve(self._document, r.get("$ref")) for r in further),
                ]


def _parts(schema: Any) -> list[Any]:
    return [part for part in walking.list_at(schema, "allOf") if isinstance(part, dict)]


FIELDS = frozenset(
    "openapi swagger $self info servers paths webhooks components security tags externalDocs "
    "jsonSchemaDialect host basePath schemes consumes produces definitions parameters responses "
    "securityDefinitions".split()
)
"""The top-level keys of a document, as defined by the specification."""


def fields_of(document: JsonObject) -> frozenset[str]:
    """The keys of the document that describe the API itself."""
    return DISCOVERY_FIELDS if is_discovery(document) else FIELDS


SCHEMAS: Mapping[str, walking.Mark] = {"inputSchema": "readOnly", "outputSchema": "writeOnly"}
"""The schemas of a tool, and the mark on properties that are not sent in that direction."""


def is_openapi(value: object) -> bool:
    """Whether a document is OpenAPI or Swagger with paths or webhooks, or a Google discovery
    document.
    """
    if is_discovery(value):
        return True
    if not isinstance(value, dict) or not ("openapi" in value or "swagger" in value):
        return False
    if isinstance(value.get("paths"), dict):
        return True
    return bool({"paths", "webhooks"} & value.keys() and re.match(r"[23]\.", _version(value)))


def read_openapi(document: JsonObject, budget: ExpansionBudget) -> JsonObject | Flaw:
    """``{"server", "description", "paths"}`` with an MCP tool for each operation, in order.

    An operation that cannot be read becomes a ``Flaw``. The whole document becomes a ``Flaw`` in
    any version other than 2.0 and 3.
    """
    document = discovered_api(document) if is_discovery(document) else document
    version = _version(document)
    if not version.startswith(("2.", "3.")):
        return Flaw(f"is OpenAPI (Swagger) {version[:20]}; convert it to OpenAPI 3 first")
    document = as_openapi_3(document) if version.startswith("2.") else document
    document = with_children(document, budget)
    about = walking.object_at(document, "info")
    texts = {"server": about.get("title"), "description": about.get("description")}
    tools = _named_apart(_on_their_own(read_operations(document, budget), document, budget))
    return {**{key: text for key, text in texts.items() if isinstance(text, str)}, "paths": tools}


def _on_their_own(
    tools: Sequence[JsonObject | Flaw], document: JsonObject, budget: ExpansionBudget
) -> Iterator[JsonObject | Flaw]:
    """The tools, each with the definitions to which its schemas refer."""
    places = [
        (row, key)
        for row, tool in enumerate(tools)
        if isinstance(tool, dict)
        for key in SCHEMAS
        if key in tool
    ]
    schemas = [tool[key] for row, key in places if isinstance(tool := tools[row], dict)]
    by_place = dict(zip(places, Definitions(document, budget).carry(schemas), strict=True))
    for row, tool in enumerate(tools):
        own = {key: by_place[row, key] for key in SCHEMAS if (row, key) in by_place}
        outside = next((schema for schema in own.values() if isinstance(schema, ValueError)), None)
        if isinstance(tool, Flaw):
            yield tool
        elif outside is None:
            yield {**tool, **{key: _as_json_schema(own[key], SCHEMAS[key]) for key in own}}
        else:
            meta = tool["_meta"][OPENAPI_META]
            yield Flaw(f"({meta['method']} {meta['path']}) {outside}")


def _as_json_schema(schema: Any, unused: walking.Mark) -> JsonObject:
    """The schema as JSON Schema, without properties that are only sent in the other direction
    (read-only or write-only).
    """
    plain = modern = walking.without_marked(schema, unused)
    with suppress(RecordError):  # the reader of the schema reports this
        modern = modernised(plain)
    return plain if canonical_json(modern) == canonical_json(plain) else modern


def _named_apart(tools: Iterable[JsonObject | Flaw]) -> list[JsonObject | Flaw]:
    counts: Counter[str] = Counter()
    result: list[JsonObject | Flaw] = []
    for tool in tools:
        if isinstance(tool, dict):
            counts[tool["name"]] += 1
            suffix = f"_{counts[tool['name']]}" if counts[tool["name"]] > 1 else ""
            result.append({**tool, "name": f"{tool['name']}{suffix}"})
        else:
            result.append(tool)
    return result


def find_inferred(tool: Tool) -> tuple[Finding, ...]:
    """*info* findings for differences between an operation and its tool.

    They report hints that were inferred from the method, parameters that OpenAPI ignores,
    deprecation, and names that were cut.
    """
    http = operation_of(tool) or {}
    return tuple(
        Finding(tool.id, "info", code, field, message, shown)
        for code, field, message, shown in _notes(http)
    )


def _notes(http: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """The code, field, sentence and excerpt of each note on an operation."""
    if hints := _texts(http.get("inferred")):
        names = ", ".join(hints)
        message = f"{names} is guessed from the method {http.get('method')!s}; check it."
        yield "inferred-hint", "annotations", message, ""
    if ignored := _texts(http.get("ignored")):
        names = ", ".join(ignored)
        message = (
            f"The header {names} is not made an argument: OpenAPI ignores it as a parameter, and "
            "the HTTP client sends it."
        )
        yield "ignored-parameter", "schema", message, names
    if http.get("deprecated") is True:
        yield "deprecated-operation", "description", "The API marks this as deprecated.", ""
    source = name_source(http) if http.get("operationId") else ""
    if len(source) > NAME_LENGTH:
        message = f"The name is cut at {NAME_LENGTH} characters; _meta has the full operationId."
        yield "cut-name", "name", message, source


def _texts(value: Any) -> list[str]:
    return list(map(str, value)) if isinstance(value, list) else []


def _version(document: JsonObject) -> str:
    return str(document.get("openapi") or document.get("swagger"))
