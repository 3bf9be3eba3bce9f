"""A discovery document of Google's APIs as OpenAPI 3.0 has it, as far as tools are read from it."""

from collections.abc import Iterator
from typing import Any

from toolscope_core.catalog.limits import MAX_DEPTH
from toolscope_core.catalog.schema.walking import map_objects, object_at, properties_of
from toolscope_core.model.tool import JsonObject

DISCOVERY_FIELDS = frozenset(
    "kind etag discoveryVersion id name canonicalName version revision title description icons "
    "labels documentationLink protocol rootUrl mtlsRootUrl servicePath baseUrl basePath batchPath "
    "endpoints ownerName ownerDomain packagePath version_module auth features parameters schemas "
    "resources methods fullyEncodeReservedExpansion exponentialBackoffDefault".split()
)
"""The keys that such a document has at its top."""
_KIND = "discovery#restDescription"
_OF_PARAMETER = ("location", "required", "repeated", "description", "enumDescriptions", "id")


def is_discovery(value: object) -> bool:
    """Whether a value says that it is a discovery document of one API."""
    return isinstance(value, dict) and value.get("kind") == _KIND


def discovered_api(document: JsonObject) -> JsonObject:
    """The document with an operation for each method, and its schemas as components."""
    paths: dict[str, dict[str, Any]] = {}
    for method in _methods(document, 0):
        verb, path = str(method.get("httpMethod", "GET")).lower(), str(method.get("path", ""))
        item = paths.setdefault(f"/{path.lstrip('/')}", {})
        again = verb if verb not in item else f"{verb} {method.get('id')}"
        item[again] = _operation(method)
    title = document.get("title") or document.get("name")
    schemas = map_objects(document.get("schemas") or {}, _schema)
    return {
        "openapi": "3.0.3",
        "info": {"title": title, "description": document.get("description")},
        "paths": {path: _with_more(item) for path, item in paths.items()},
        "components": {"schemas": schemas},
    }


def _methods(holder: Any, depth: int) -> Iterator[JsonObject]:
    yield from (one for one in object_at(holder, "methods").values() if isinstance(one, dict))
    for resource in object_at(holder, "resources").values() if depth < MAX_DEPTH else ():
        yield from _methods(resource, depth + 1)


def _with_more(item: JsonObject) -> JsonObject:
    """The path item with a second operation of one method where OpenAPI has place for others."""
    more = {key: operation for key, operation in item.items() if " " in key}
    own = {key: operation for key, operation in item.items() if key not in more}
    return {**own, **({"additionalOperations": more} if more else {})}


def _operation(method: JsonObject) -> JsonObject:
    rows = object_at(method, "parameters").items()
    answer, body = method.get("response"), method.get("request")
    return {
        "operationId": method.get("id"),
        "description": method.get("description"),
        "deprecated": method.get("deprecated"),
        "parameters": [_parameter(name, one) for name, one in rows if isinstance(one, dict)],
        **({"requestBody": {"required": True, **_content(body)}} if body else {}),
        **({"responses": {"200": _content(answer)}} if answer else {}),
    }


def _content(schema: Any) -> JsonObject:
    inner = map_objects(schema, _schema)
    return {"content": {"application/json": {"schema": inner}}}


def _parameter(name: str, given: JsonObject) -> JsonObject:
    one = _schema({key: part for key, part in given.items() if key not in _OF_PARAMETER})
    schema = {"type": "array", "items": one} if given.get("repeated") is True else one
    return {
        "name": name,
        "in": given.get("location", "query"),
        "required": given.get("required") is True,
        "description": given.get("description"),
        "schema": schema,
    }


def _schema(node: dict[str, Any]) -> JsonObject:
    """A schema with pointers for the names of others, and numbers where they are texts."""
    reference = node.get("$ref")
    if isinstance(reference, str) and "/" not in reference:
        node["$ref"] = f"#/components/schemas/{reference}"
    for key in ("minimum", "maximum"):
        text = node.get(key)
        if isinstance(text, str) and text.lstrip("-").isdecimal() and len(text) < 20:
            node[key] = int(text)
    is_schema = bool(properties_of(node)) or isinstance(node.get("type"), str) or "$ref" in node
    dropped = ("id", "enumDescriptions", "annotations") if is_schema else ()
    return {key: part for key, part in node.items() if key not in dropped or isinstance(part, dict)}
