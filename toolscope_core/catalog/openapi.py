"""An OpenAPI 3.0 / 3.1 document as an MCP ``tools/list`` page: one operation, one tool.

Names follow FastMCP, so that tools are called what people already call them. What a tool's
arguments are in HTTP, and which hints were inferred from the method, stands under ``_meta``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from toolscope_core.catalog.flaws import Flaw, excerpt
from toolscope_core.catalog.limits import MAX_DEPTH
from toolscope_core.catalog.references import merge_parts, resolve
from toolscope_core.datamodel import Finding, JsonObject, Tool

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
MORE_METHODS = "additionalOperations"
FIELDS = frozenset(
    "openapi swagger $self info servers paths webhooks components security tags externalDocs "
    "jsonSchemaDialect host basePath schemes consumes produces definitions parameters responses "
    "securityDefinitions".split()
)
"""What stands in a document by its rules."""
HINTS = {
    "get": {"readOnlyHint": True},
    "head": {"readOnlyHint": True},
    "query": {"readOnlyHint": True},
    "delete": {"readOnlyHint": False, "destructiveHint": True},
}
NAME_LENGTH = 56
META = "toolscope/openapi"
JSON_BODY = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")


Operation = tuple[str, str, JsonObject, JsonObject]
"""A method in small letters, its path, the path's item and what is said of the method."""


class _UnclearError(ValueError):
    """An operation cannot be read; the text says why and what to do."""


def is_openapi(value: object) -> bool:
    """Whether a document says that it is OpenAPI or Swagger, and has paths or webhooks."""
    if not isinstance(value, dict) or not ("openapi" in value or "swagger" in value):
        return False
    if isinstance(value.get("paths"), dict):
        return True
    return bool({"paths", "webhooks"} & value.keys() and re.match(r"[23]\.", _version(value)))


def read_openapi(document: JsonObject) -> JsonObject | Flaw:
    """``{"server", "description", "paths"}`` with an MCP tool for each operation, in order.

    An operation that cannot be read is a ``Flaw`` in its place; the whole is one for anything but
    OpenAPI 3.
    """
    version = _version(document)
    if not version.startswith("3."):
        return Flaw(f"is OpenAPI (Swagger) {version[:20]}; convert it to OpenAPI 3 first")
    used: Counter[str] = Counter()
    tools: list[Any] = []
    for found in _operations(document):
        if isinstance(found, Flaw):
            tools.append(found)
            continue
        method, path, item, operation = found
        try:
            tool = _tool(document, method, path, (item, operation))
        except _UnclearError as error:
            tools.append(Flaw(f"({_place(method, path)}) {error}"))
            continue
        used[tool["name"]] += 1
        again = f"_{used[tool['name']]}" if used[tool["name"]] > 1 else ""
        tools.append({**tool, "name": f"{tool['name']}{again}"})
    info = document.get("info")
    about = info if isinstance(info, dict) else {}
    texts = {"server": about.get("title"), "description": about.get("description")}
    return {**{key: text for key, text in texts.items() if isinstance(text, str)}, "paths": tools}


def find_inferred(tool: Tool) -> tuple[Finding, ...]:
    """An *info* finding that names the hints which only the HTTP method speaks for."""
    meta = tool.raw.get("_meta")
    told = meta.get(META) if isinstance(meta, dict) else None
    if not isinstance(told, dict):
        return ()
    hints = told.get("inferred")
    if not isinstance(hints, list) or not hints:
        return ()
    names = ", ".join(str(hint) for hint in hints)
    message = f"{names} is inferred from the method {told.get('method')!s}; check it."
    return (Finding(tool.id, "info", "inferred-hint", "annotations", message),)


def _version(document: JsonObject) -> str:
    return str(document.get("openapi") or document.get("swagger"))


def _operations(document: JsonObject) -> Iterator[Operation | Flaw]:
    """Each operation; a ``Flaw`` for what stands in the place of one and is none."""
    paths = document.get("paths", {})
    for path, given in paths.items() if isinstance(paths, dict) else ():
        if not path.startswith("x-"):
            yield from _at_path(document, path, given)
    if not isinstance(paths, dict):
        yield _no_object("paths", paths)
    webhooks = document.get("webhooks")
    for name in webhooks if isinstance(webhooks, dict) else ():
        yield Flaw(f"(webhook {name[:80]}) is called by the API and by no agent; leave it out")


def _at_path(document: JsonObject, path: str, given: Any) -> Iterator[Operation | Flaw]:
    """The operations of a path: its own, and those of the path item that it refers to."""
    items = [given]
    if isinstance(given, dict) and "$ref" in given:
        try:
            items.append(_follow(document, given))
        except _UnclearError as error:
            yield Flaw(f"({path[:80]}) {error}")
    holders = [item for item in items if isinstance(item, dict)]
    yield from (_no_object(path[:80], item) for item in items if not isinstance(item, dict))
    around = {key: part for item in reversed(holders) for key, part in item.items()}
    for method, operation in (row for item in holders for row in _methods(item)):
        if isinstance(operation, dict):
            yield method, path, around, operation
        elif isinstance(operation, Flaw):
            yield Flaw(f"({_place(method, path)}) {operation.reason}")
        else:
            yield _no_object(_place(method, path), operation)


def _place(method: str, path: str) -> str:
    return f"{method.upper()[:80]} {path[:80]}"


def _no_object(place: str, value: Any) -> Flaw:
    return Flaw(f"({place}) is {excerpt(value)[:60]}, not an object; write it out or take it out")


def _methods(item: JsonObject) -> Iterator[tuple[str, Any]]:
    """What a path item holds for each method, however that is spelled; OpenAPI's methods first."""
    by_rule = [key for key in item if key.lower() in METHODS]
    yield from ((key.lower(), item[key]) for key in sorted(by_rule, key=_rank))
    more = item.get(MORE_METHODS, {})
    yield from more.items() if isinstance(more, dict) else [(MORE_METHODS, more)]
    for key, held in item.items():
        left = key not in (*by_rule, MORE_METHODS) and not key.startswith("x-")
        if left and isinstance(held, dict):
            yield key, Flaw(f"has a method that OpenAPI does not know; put it under {MORE_METHODS}")


def _rank(method: str) -> int:
    return METHODS.index(method.lower())


def _tool(
    document: JsonObject, method: str, path: str, around: tuple[JsonObject, JsonObject]
) -> dict[str, Any]:
    item, operation = around
    schema, places = _arguments(document, [*_listed(item), *_listed(operation)], operation)
    texts = (operation.get("description"), operation.get("summary"))
    told = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    returned = _returned(document, operation)
    hints = HINTS.get(method, {})
    meta = {"method": method.upper(), "path": path, "arguments": places, "inferred": [*hints]}
    return {
        "name": _name(method, path, operation),
        "description": told or f"Executes {method.upper()} {path}",
        "inputSchema": schema,
        **({"outputSchema": returned} if returned else {}),
        **({"annotations": dict(hints)} if hints else {}),
        "_meta": {META: meta},
    }


def _name(method: str, path: str, operation: JsonObject) -> str:
    own, summary = operation.get("operationId"), operation.get("summary")
    texts = (
        own.split("__")[0] if isinstance(own, str) else "",
        summary if isinstance(summary, str) else "",
        f"{method.upper()}_{path}",
    )
    slugs = (_slug(text) for text in texts)
    return next((slug for slug in slugs if slug), method.upper())[:NAME_LENGTH]


def _slug(text: str) -> str:
    joined = re.sub(r"[\s\-.]+", "_", text)
    return re.sub(r"_+", "_", re.sub(r"[^a-zA-Z0-9_]", "", joined)).strip("_")


def _listed(holder: JsonObject) -> list[Any]:
    listed = holder.get("parameters")
    return listed if isinstance(listed, list) else []


def _arguments(
    document: JsonObject, listed: list[Any], operation: JsonObject
) -> tuple[JsonObject, JsonObject]:
    """One object schema of all arguments, and for each its ``[location, original name]``."""
    found: dict[tuple[str, str], tuple[Any, bool]] = {}
    for given in listed:
        parameter = _follow(document, given)
        name = parameter.get("name") if isinstance(parameter, dict) else None
        if not isinstance(name, str):
            raise _UnclearError("has a parameter without a name; name each")
        place = str(parameter.get("in"))
        needed = parameter.get("required") is True or place == "path"
        found[place, name] = (_parameter_schema(parameter), needed)
    body, body_needed = _body(document, operation)
    names = Counter([*(name for _, name in found), *body["properties"]])
    properties: dict[str, Any] = {}
    places: dict[str, list[str]] = {}
    required = set()
    for (place, name), (schema, needed) in found.items():
        flat = name if names[name] == 1 else f"{name}__{place}"
        if flat in properties:
            raise _UnclearError(f"has two arguments {flat!r}; rename one")
        properties[flat], places[flat] = schema, [place, name]
        required |= {flat} if needed else set()
    for name, schema in body["properties"].items():
        if name in properties:
            raise _UnclearError(f"has two arguments {name!r}; rename one")
        properties[name], places[name] = schema, ["body", name]
    required |= set(body["required"]) if body_needed else set()
    whole = {"type": "object", "properties": properties, "required": sorted(required)}
    return _local(document, whole), places


def _parameter_schema(parameter: JsonObject) -> Any:
    content = parameter.get("content")
    media = next(iter(content.values()), None) if isinstance(content, dict) else parameter
    schema = media.get("schema") if isinstance(media, dict) else None
    schema = schema if isinstance(schema, (dict, bool)) else {}
    text = parameter.get("description")
    if isinstance(text, str) and isinstance(schema, dict) and "$ref" not in schema:
        return {**schema, "description": text}
    return schema


def _body(document: JsonObject, operation: JsonObject) -> tuple[dict[str, Any], bool]:
    """Properties and required names of the request body; one that is no object is ``body``."""
    body = _follow(document, operation.get("requestBody"))
    schema = _content_schema(body)
    if schema is None:
        return {"properties": {}, "required": []}, False
    needed = body.get("required") is True
    whole = _whole(document, schema)
    properties = whole.get("properties")
    if not isinstance(properties, dict) or not properties:
        return {"properties": {"body": schema}, "required": ["body"]}, needed
    required = whole.get("required")
    listed = required if isinstance(required, list) else []
    names = [name for name in listed if isinstance(name, str) and name in properties]
    return {"properties": properties, "required": names}, needed


def _content_schema(holder: Any) -> Any:
    content = holder.get("content") if isinstance(holder, dict) else None
    if not isinstance(content, dict) or not content:
        return None
    kinds = [kind for kind in JSON_BODY if kind in content] or list(content)
    media = content[kinds[0]]
    return media.get("schema") if isinstance(media, dict) else None


def _returned(document: JsonObject, operation: JsonObject) -> JsonObject | None:
    """The schema of the first answer that is a success and has one."""
    responses = operation.get("responses")
    if not isinstance(responses, dict):
        return None
    for code in sorted(responses):
        if code.startswith("2"):
            schema = _content_schema(_follow(document, responses[code]))
            if isinstance(schema, dict):
                return _local(document, schema)
    return None


def _follow(document: JsonObject, value: Any) -> Any:
    """What a reference inside the document names; any other value is itself."""
    for _ in range(MAX_DEPTH):
        if not isinstance(value, dict) or "$ref" not in value:
            return value
        reference = value["$ref"]
        value = resolve(document, reference)
        if value is None:
            raise _UnclearError(
                f"refers to {str(reference)[:80]!r}, which is not in this file; bundle it first"
            )
    raise _UnclearError("refers to itself in a circle; write it out")


def _whole(
    document: JsonObject,
    schema: Any,
    by_reference: dict[str, JsonObject] | None = None,
    depth: int = 0,
) -> JsonObject:
    """A schema with its own reference followed and ``allOf`` merged, for its properties' sake.

    ``by_reference`` are those done before, each worked out once however often it is named; one that
    names itself adds nothing to itself.
    """
    by_reference = {} if by_reference is None else by_reference
    named = schema.get("$ref") if isinstance(schema, dict) else None
    if isinstance(named, str):
        if named not in by_reference:
            by_reference[named] = {}
            by_reference[named] = _merged(document, schema, by_reference, depth)
        return by_reference[named]
    return _merged(document, schema, by_reference, depth)


def _merged(
    document: JsonObject, schema: Any, by_reference: dict[str, JsonObject], depth: int
) -> JsonObject:
    followed = _follow(document, schema)
    if not isinstance(followed, dict) or depth > MAX_DEPTH:
        return {}
    parts = followed.get("allOf")
    if not isinstance(parts, list):
        return followed
    own = {key: sub for key, sub in followed.items() if key != "allOf"}
    merged = merge_parts(
        [own, *(_whole(document, part, by_reference, depth + 1) for part in parts)]
    )
    return {} if merged is None else merged


def _local(document: JsonObject, schema: JsonObject) -> JsonObject:
    """The schema on its own: what it refers to in the document comes along under ``$defs``."""
    names: dict[str, str] = {}
    waiting: list[str] = []

    def name(reference: str) -> str:
        if reference not in names:
            stem = re.sub(r"[^A-Za-z0-9_.-]", "_", reference.rpartition("/")[2]) or "root"
            taken = set(names.values())
            spelled = (stem, *(f"{stem}_{row}" for row in range(2, len(taken) + 3)))
            names[reference] = next(word for word in spelled if word not in taken)
            waiting.append(reference)
        return f"#/$defs/{names[reference]}"

    def rewrite(value: Any) -> Any:
        if isinstance(value, list):
            return [rewrite(item) for item in value]
        if not isinstance(value, dict):
            return value
        changed = {key: rewrite(sub) for key, sub in value.items()}
        reference = value.get("$ref")
        if isinstance(reference, str):
            known = isinstance(resolve(document, reference), (dict, bool))
            if not known:
                raise _UnclearError(f"refers to {reference[:80]!r}; only local references are read")
            changed["$ref"] = name(reference)
        return changed

    result = rewrite(schema)
    defs: dict[str, Any] = {}
    while waiting:
        reference = waiting.pop()
        defs[names[reference]] = rewrite(resolve(document, reference))
    return {**result, "$defs": defs} if defs else result
