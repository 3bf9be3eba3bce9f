"""Converts Google discovery documents and Swagger 2.0 to OpenAPI 3.0, as far as tools need it."""

from collections.abc import Iterable, Iterator
from typing import Any

from toolscope_core.catalog.flaws import MAX_DEPTH
from toolscope_core.catalog.schema.walking import map_objects, object_at, properties_of, resolve
from toolscope_core.model.tool import JsonObject

DISCOVERY_FIELDS = frozenset(
    "kind etag discoveryVersion id name canonicalName version revision title description icons "
    "labels documentationLink protocol rootUrl mtlsRootUrl servicePath baseUrl basePath batchPath "
    "endpoints ownerName ownerDomain packagePath version_module auth features parameters schemas "
    "resources methods fullyEncodeReservedExpansion exponentialBackoffDefault".split()
)
"""The top-level keys of a discovery document."""
_KIND = "discovery#restDescription"
_OF_PARAMETER = ("location", "required", "repeated", "description", "enumDescriptions", "id")


def is_discovery(value: object) -> bool:
    """Whether a value is the discovery document of a single API."""
    return isinstance(value, dict) and value.get("kind") == _KIND


def discovered_api(document: JsonObject) -> JsonObject:
    """An OpenAPI document with an operation for each method, and the schemas as components."""
    paths: dict[str, dict[str, Any]] = {}
    for method in _methods(document, 0):
        verb, path = str(method.get("httpMethod", "GET")).lower(), str(method.get("path", ""))
        item = paths.setdefault(f"/{path.lstrip('/')}", {})
        key = verb if verb not in item else f"{verb} {method.get('id')}"
        item[key] = _operation(method)
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
    """The path item with a second operation for a method moved to where OpenAPI allows more
    operations.
    """
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


def _parameter(name: str, parameter: JsonObject) -> JsonObject:
    item = _schema({key: part for key, part in parameter.items() if key not in _OF_PARAMETER})
    schema = {"type": "array", "items": item} if parameter.get("repeated") is True else item
    return {
        "name": name,
        "in": parameter.get("location", "query"),
        "required": parameter.get("required") is True,
        "description": parameter.get("description"),
        "schema": schema,
    }


def _schema(node: dict[str, Any]) -> JsonObject:
    """A schema with pointers instead of schema names, and numbers instead of texts that spell
    numbers.
    """
    reference = node.get("$ref")
    if isinstance(reference, str) and "/" not in reference:
        node["$ref"] = f"#/components/schemas/{reference}"
    for key in ("minimum", "maximum"):
        text = node.get(key)
        if isinstance(text, str) and text.lstrip("-").isdecimal() and len(text) < 20:
            node[key] = int(text)
    is_schema = bool(properties_of(node)) or isinstance(node.get("type"), str) or "$ref" in node
    unused = ("id", "enumDescriptions", "annotations") if is_schema else ()
    return {key: part for key, part in node.items() if key not in unused or isinstance(part, dict)}


BODY, _FORM = "body", "formData"
_SWAGGER_PARAMETER = (
    "name",
    "in",
    "required",
    "description",
    "collectionFormat",
    "allowEmptyValue",
)
_FILE = {"type": "string", "format": "binary"}


def as_openapi_3(document: JsonObject) -> JsonObject:
    """The document with parameters, bodies and answers where OpenAPI 3.0 expects them.

    Schemas keep their places, so references to them stay valid. References to parameters or answers
    are resolved; a reference that leads nowhere stays.
    """
    modern = map_objects(document, _with_nullable)
    items = _with_target(object_at(modern, "paths"), modern).items()
    return {
        **modern,
        "openapi": "3.0.3",
        "paths": {path: _path_item(item, modern) for path, item in items} or modern.get("paths"),
    }


def _with_nullable(schema: dict[str, Any]) -> JsonObject:
    nullable = schema.pop("x-nullable", None)
    return {**schema, "nullable": True} if nullable is True else schema


def _path_item(item: Any, document: JsonObject) -> Any:
    if not isinstance(item, dict):
        return item
    item = _with_target(item, document)
    common = _parameters(item, document)
    converted = {
        key: _swagger_operation(part, common, document) if isinstance(part, dict) else part
        for key, part in item.items()
    }
    return {**converted, "parameters": _outside_the_body(common)}


def _swagger_operation(
    operation: JsonObject, common: list[Any], document: JsonObject
) -> JsonObject:
    operation = _with_target(operation, document)
    own = _parameters(operation, document)
    answers = object_at(operation, "responses").items()
    body = _body([*common, *own])
    return {
        **operation,
        "parameters": _outside_the_body(own),
        **({"requestBody": body} if body else {}),
        "responses": {code: _answer(answer, document) for code, answer in answers},
    }


def _with_target(value: JsonObject, document: JsonObject) -> JsonObject:
    """An object together with the parts of the object to which it refers, if that object exists."""
    target = _followed(value, document)
    if target is value or not isinstance(target, dict):
        return value
    return {**target, **{key: part for key, part in value.items() if key != "$ref"}}


def _parameters(holder: JsonObject, document: JsonObject) -> list[Any]:
    entries = _followed(holder.get("parameters"), document)
    if isinstance(entries, dict) and "$ref" in entries:
        return [entries]  # the reference leads nowhere, and is reported as such
    return [_followed(one, document) for one in entries] if isinstance(entries, list) else []


def _followed(value: Any, document: JsonObject) -> Any:
    target = resolve(document, value.get("$ref")) if isinstance(value, dict) else None
    return value if target is None else target


def _is_in(parameter: Any, *places: str) -> bool:
    return isinstance(parameter, dict) and parameter.get("in") in places


def _outside_the_body(parameters: Iterable[Any]) -> list[Any]:
    return [
        {**one, "schema": _swagger_schema(one)} if isinstance(one, dict) and "name" in one else one
        for one in parameters
        if not _is_in(one, BODY, _FORM)
    ]


def _swagger_schema(parameter: JsonObject) -> JsonObject:
    """Those keywords of a parameter that restrict its values."""
    if parameter.get("type") == "file":
        return _FILE
    return {key: part for key, part in parameter.items() if key not in _SWAGGER_PARAMETER}


def _body(parameters: Iterable[Any]) -> JsonObject | None:
    """The request body, made from the last body parameter or from the form fields."""
    bodies = [one for one in parameters if _is_in(one, BODY)]
    if bodies:
        content = {"application/json": {"schema": bodies[-1].get("schema", {})}}
        return {"content": content, "required": bodies[-1].get("required") is True}
    fields = {
        one["name"]: one
        for one in parameters
        if _is_in(one, _FORM) and isinstance(one.get("name"), str)
    }
    if not fields:
        return None
    required = [name for name, one in fields.items() if one.get("required") is True]
    texts = {
        name: {"description": one["description"]}
        for name, one in fields.items()
        if isinstance(one.get("description"), str)
    }
    properties = {
        name: {**_swagger_schema(one), **texts.get(name, {})} for name, one in fields.items()
    }
    schema = {"type": "object", "properties": properties, "required": required}
    return {"content": {"multipart/form-data": {"schema": schema}}, "required": bool(required)}


def _answer(answer: Any, document: JsonObject) -> Any:
    answer = _followed(answer, document)
    if not isinstance(answer, dict) or "schema" not in answer:
        return answer
    return {**answer, "content": {"application/json": {"schema": answer["schema"]}}}
