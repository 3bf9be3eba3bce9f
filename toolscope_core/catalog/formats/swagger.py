"""A Swagger 2.0 document as OpenAPI 3.0 has it, as far as tools are read from it."""

from collections.abc import Iterable
from typing import Any

from toolscope_core.catalog.schema.walking import map_objects, object_at, resolve
from toolscope_core.model.tool import JsonObject

BODY, FORM = "body", "formData"
_OF_PARAMETER = ("name", "in", "required", "description", "collectionFormat", "allowEmptyValue")
_FILE = {"type": "string", "format": "binary"}


def as_openapi_3(document: JsonObject) -> JsonObject:
    """The document with parameters, bodies and answers where OpenAPI 3.0 has them.

    Schemas stay at their places, so that references to them still lead there; a reference to a
    parameter or an answer is followed, and stays where it leads nowhere.
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
    shared = _parameters(item, document)
    converted = {
        key: _operation(part, shared, document) if isinstance(part, dict) else part
        for key, part in item.items()
    }
    return {**converted, "parameters": _outside_the_body(shared)}


def _operation(operation: JsonObject, shared: list[Any], document: JsonObject) -> JsonObject:
    operation = _with_target(operation, document)
    own = _parameters(operation, document)
    answers = object_at(operation, "responses").items()
    body = _body([*shared, *own])
    return {
        **operation,
        "parameters": _outside_the_body(own),
        **({"requestBody": body} if body else {}),
        "responses": {code: _answer(answer, document) for code, answer in answers},
    }


def _with_target(value: JsonObject, document: JsonObject) -> JsonObject:
    """An object with the parts of the one that it refers to, if that is there."""
    target = _followed(value, document)
    if target is value or not isinstance(target, dict):
        return value
    return {**target, **{key: part for key, part in value.items() if key != "$ref"}}


def _parameters(holder: JsonObject, document: JsonObject) -> list[Any]:
    listed = _followed(holder.get("parameters"), document)
    if isinstance(listed, dict) and "$ref" in listed:
        return [listed]  # a reference that leads nowhere, which is reported as one
    return [_followed(one, document) for one in listed] if isinstance(listed, list) else []


def _followed(value: Any, document: JsonObject) -> Any:
    target = resolve(document, value.get("$ref")) if isinstance(value, dict) else None
    return value if target is None else target


def _is_in(parameter: Any, *places: str) -> bool:
    return isinstance(parameter, dict) and parameter.get("in") in places


def _outside_the_body(parameters: Iterable[Any]) -> list[Any]:
    return [
        {**one, "schema": _schema(one)} if isinstance(one, dict) and "name" in one else one
        for one in parameters
        if not _is_in(one, BODY, FORM)
    ]


def _schema(parameter: JsonObject) -> JsonObject:
    """The keywords of a parameter that say which values it takes."""
    if parameter.get("type") == "file":
        return _FILE
    return {key: part for key, part in parameter.items() if key not in _OF_PARAMETER}


def _body(parameters: Iterable[Any]) -> JsonObject | None:
    """The request body that the last parameter in it, or the fields of a form, make."""
    placed = [one for one in parameters if _is_in(one, BODY)]
    if placed:
        content = {"application/json": {"schema": placed[-1].get("schema", {})}}
        return {"content": content, "required": placed[-1].get("required") is True}
    fields = {
        one["name"]: one
        for one in parameters
        if _is_in(one, FORM) and isinstance(one.get("name"), str)
    }
    if not fields:
        return None
    required = [name for name, one in fields.items() if one.get("required") is True]
    texts = {
        name: {"description": one["description"]}
        for name, one in fields.items()
        if isinstance(one.get("description"), str)
    }
    properties = {name: {**_schema(one), **texts.get(name, {})} for name, one in fields.items()}
    schema = {"type": "object", "properties": properties, "required": required}
    return {"content": {"multipart/form-data": {"schema": schema}}, "required": bool(required)}


def _answer(answer: Any, document: JsonObject) -> Any:
    answer = _followed(answer, document)
    if not isinstance(answer, dict) or "schema" not in answer:
        return answer
    return {**answer, "content": {"application/json": {"schema": answer["schema"]}}}
