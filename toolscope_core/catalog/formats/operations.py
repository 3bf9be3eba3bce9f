"""Converts operations of an OpenAPI document to MCP tools, whose schemas still refer to the
document.

Names follow FastMCP, which people already use. ``_meta`` says where an argument is placed in HTTP,
and which hints were inferred from the method.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from toolscope_core.catalog.flaws import MAX_DEPTH, MAX_EXPANDED, Flaw, value_excerpt
from toolscope_core.catalog.operation_names import (
    NAME_LENGTH,
    OPENAPI_META,
    identifier,
    name_source,
)
from toolscope_core.catalog.schema import walking
from toolscope_core.catalog.schema.pointers import ExpansionBudget, measure
from toolscope_core.catalog.schema.references import merge_parts
from toolscope_core.model.tool import JsonObject, digest

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
MORE_METHODS = "additionalOperations"
OF_A_PATH = (MORE_METHODS, "$ref", "summary", "description", "servers", "parameters")
_HINTS = {
    "get": {"readOnlyHint": True},
    "head": {"readOnlyHint": True},
    "query": {"readOnlyHint": True},
    "delete": {"readOnlyHint": False, "destructiveHint": True},
}
_OPERATION = ("operationId", "summary", "description", "parameters", "requestBody", "responses")
OWN_WORDS = ("operationId", "summary")
IGNORED = ("accept", "content-type", "authorization")
"""Headers that OpenAPI does not allow as parameters, because the HTTP client sends them."""
JSON_BODY = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")

OpenApiOperation = tuple[str, str, JsonObject, JsonObject]
"""A method in lower case, its path, the path item, and the operation object."""


class _UnclearError(ValueError):
    """Raised if an operation cannot be read; the text says why, and what to do."""


def read_operations(document: JsonObject, budget: ExpansionBudget) -> list[JsonObject | Flaw]:
    """A tool for each operation, in order, or a ``Flaw`` if the operation cannot be read."""
    return _Reader(document, budget).tools()


@dataclass(slots=True)
class _Reader:
    """Reads one document; a part that operations share is charged from the second use on."""

    document: JsonObject
    budget: ExpansionBudget
    _sizes: dict[int, int] = field(default_factory=dict)
    _wholes: dict[str, JsonObject] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)
    _cuts: int = 0

    def tools(self) -> list[JsonObject | Flaw]:
        tools: list[JsonObject | Flaw] = []
        for entry in self._operations():
            if isinstance(entry, Flaw):
                tools.append(entry)
                continue
            method, path, item, operation = entry
            try:
                tools.append(self._tool(method, path, item, operation))
            except _UnclearError as error:
                tools.append(Flaw(f"({_place(method, path)}) {error}"))
        return tools

    def _operations(self) -> Iterator[OpenApiOperation | Flaw]:
        """Each operation, or a ``Flaw`` if an entry is not an operation."""
        paths = self.document.get("paths", {})
        if isinstance(paths, dict) and "$ref" in paths:
            try:
                paths = self._with_target(paths)
            except _UnclearError as error:
                yield Flaw(f"(paths) {error}")
                return
        for path, item in paths.items() if isinstance(paths, dict) else ():
            if not path.startswith("x-"):
                yield from self._at_path(path, item)
        if not isinstance(paths, dict):
            yield _no_object("paths", paths)
        webhooks = self.document.get("webhooks")
        if webhooks is not None and not isinstance(webhooks, dict):
            yield _no_object("webhooks", webhooks)
        for name in webhooks if isinstance(webhooks, dict) else ():
            yield Flaw(f"(webhook {name[:80]}) is called by the API, not by an agent; leave it out")

    def _at_path(self, path: str, path_item: Any) -> Iterator[OpenApiOperation | Flaw]:
        """The operations of a path: its own, and those of the path item to which it refers."""
        items = [path_item]
        if isinstance(path_item, dict) and "$ref" in path_item:
            try:
                items.append(self._follow(path_item))
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

    def _tool(
        self, method: str, path: str, item: JsonObject, operation: JsonObject
    ) -> dict[str, Any]:
        self._charge(operation)
        if "$ref" in operation:
            operation = self._with_target(operation)
            if operation.keys().isdisjoint(_OPERATION):
                raise _UnclearError(
                    "refers to something that is not an operation; correct the reference"
                )
        parameters = [*self._parameters(item), *self._parameters(operation)]
        schema, places, ignored = self._arguments(parameters, operation)
        texts = (operation.get("description"), operation.get("summary"))
        description = next((text for text in texts if isinstance(text, str) and text.strip()), "")
        results = self._returned(operation)
        hints = _HINTS.get(method, {})
        own_words = {
            key: operation[key] for key in OWN_WORDS if isinstance(operation.get(key), str)
        }
        own_words |= {"deprecated": True} if operation.get("deprecated") is True else {}
        own_words |= {"ignored": ignored} if ignored else {}
        meta = {"method": method.upper(), "path": path, **own_words}
        return {
            "name": identifier(name_source(meta)) or _unspelled(method, path),
            "description": description or f"Executes {method.upper()} {path}",
            "inputSchema": schema,
            **({"outputSchema": results} if results else {}),
            **({"annotations": dict(hints)} if hints else {}),
            "_meta": {OPENAPI_META: {**meta, "arguments": places, "inferred": [*hints]}},
        }

    def _parameters(self, holder: JsonObject) -> list[Any]:
        entries = self._follow(holder.get("parameters"))
        if isinstance(entries, dict):
            raise _UnclearError("has an object as its parameters; use a list")
        return entries if isinstance(entries, list) else []

    def _arguments(
        self, entries: list[Any], operation: JsonObject
    ) -> tuple[JsonObject, JsonObject, list[str]]:
        """One object schema for all arguments, ``[location, original name]`` for each, and
        invalid headers.
        """
        parameters: dict[tuple[str, str], tuple[Any, bool]] = {}
        ignored = set[str]()
        for entry in entries:
            parameter = self._follow(entry)
            name = parameter.get("name") if isinstance(parameter, dict) else None
            if not isinstance(name, str):
                raise _UnclearError("has a parameter without a name; name each one")
            place = str(parameter.get("in"))
            if place == "header" and name.lower() in IGNORED:
                ignored.add(name)
                continue
            is_needed = parameter.get("required") is True or place == "path"
            self._charge(parameter)
            parameters[place, name] = (self._parameter_schema(parameter), is_needed)
        body = self._body(operation)
        names = Counter([*(name for _, name in parameters), *body["properties"]])
        properties: dict[str, Any] = {}
        places: dict[str, list[str]] = {}
        required = set()
        for (place, name), (schema, is_needed) in parameters.items():
            argument = name if names[name] == 1 else f"{name}__{place}"
            if argument in properties:
                raise _UnclearError(f"has two arguments {argument!r}; rename one")
            properties[argument], places[argument] = schema, [place, name]
            required |= {argument} if is_needed else set()
        for name, schema in body["properties"].items():
            if name in properties:
                raise _UnclearError(f"has two arguments {name!r}; rename one")
            self._charge(schema)
            properties[name], places[name] = schema, ["body", name]
        required |= {*body["required"]}
        combined = {"type": "object", "properties": properties, "required": sorted(required)}
        return combined, places, sorted(ignored)

    def _body(self, operation: JsonObject) -> dict[str, Any]:
        """Properties and required names of the request body, without properties only for responses.

        A body that is not an object becomes the property ``body``. Names that the object requires
        are required even if the body is optional, because a call with any of its arguments has a
        body.
        """
        body = self._follow(operation.get("requestBody"))
        schema = self._content_schema(body)
        if schema is None:
            return {"properties": {}, "required": []}
        merged = self._whole(schema)
        properties = walking.properties_of(merged)
        if not properties:
            required = ["body"] if body.get("required") is True else []
            return {"properties": {"body": schema}, "required": required}
        inputs = {
            name: sub
            for name, sub in properties.items()
            if not walking.is_marked(sub, self.document, "readOnly")
        }
        unsent = properties.keys() - inputs.keys()
        names = [name for name in walking.required_of(merged) if name not in unsent]
        return {"properties": inputs, "required": names}

    def _returned(self, operation: JsonObject) -> JsonObject | None:
        """The schema of the first successful answer that has a schema."""
        responses = self._follow(operation.get("responses"))
        for code in sorted(responses) if isinstance(responses, dict) else ():
            if code.startswith("2"):
                schema = self._content_schema(self._follow(responses[code]))
                if isinstance(schema, dict):
                    self._charge(schema)
                    return schema
        return None

    def _parameter_schema(self, parameter: JsonObject) -> Any:
        by_content = isinstance(parameter.get("content"), dict)
        schema = self._content_schema(parameter) if by_content else parameter.get("schema")
        schema = schema if isinstance(schema, (dict, bool)) else {}
        text = parameter.get("description")
        if isinstance(text, str) and isinstance(schema, dict) and "$ref" not in schema:
            return {**schema, "description": text}
        return schema

    def _content_schema(self, holder: Any) -> Any:
        content = self._follow(walking.object_at(holder).get("content"))
        if not isinstance(content, dict):
            return None
        kinds = [kind for kind in JSON_BODY if kind in content] or sorted(content)
        return walking.object_at(self._follow(content[kinds[0]])).get("schema") if kinds else None

    def _with_target(self, value: JsonObject) -> JsonObject:
        """An object together with the parts of the object to which it refers."""
        if "$ref" not in value:
            return value
        target = self._follow(value)
        if not isinstance(target, dict):
            raise _UnclearError(
                f"refers to {value_excerpt(target)[:60]}, which is not an object; correct it"
            )
        self._charge(target)
        return {**target, **{key: part for key, part in value.items() if key != "$ref"}}

    def _follow(self, value: Any) -> Any:
        """The target of a reference inside the document; any other value is returned unchanged."""
        for _ in range(MAX_DEPTH):
            if not isinstance(value, dict) or "$ref" not in value:
                return value
            reference = value["$ref"]
            value = walking.resolve(self.document, reference)
            if value is None:
                is_own = str(reference).startswith("#")
                place = "" if is_own else ", nor below its folder as it was given"
                raise _UnclearError(
                    f"refers to {str(reference)[:80]!r}, which is not in this file{place}; "
                    "bundle the files first"
                )
        raise _UnclearError("refers to itself in a circle; write out what it refers to")

    def _whole(self, schema: Any, depth: int = 0) -> JsonObject:
        """A schema with its reference resolved and ``allOf`` merged, so that its properties can be
        found.

        A schema that refers to itself adds nothing to itself. Other references are resolved once
        per document.
        """
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            return self._merged(schema, depth)
        if reference in self._wholes:
            return self._wholes[reference]
        if reference in self._open or depth > MAX_DEPTH:
            self._cuts += 1
            return {}
        cuts = self._cuts
        self._open.add(reference)
        try:
            merged = self._merged(schema, depth)
        finally:
            self._open.discard(reference)
        if cuts == self._cuts:
            self._wholes[reference] = merged
        return merged

    def _merged(self, schema: Any, depth: int) -> JsonObject:
        followed = self._follow(schema)
        if not isinstance(followed, dict):
            return {}
        self._charge(followed)
        parts = followed.get("allOf")
        if not isinstance(parts, list):
            return followed
        own = {key: sub for key, sub in followed.items() if key != "allOf"}
        merged = merge_parts([own, *(self._whole(part, depth + 1) for part in parts)])
        return {} if merged is None else merged

    def _charge(self, value: Any) -> None:
        """Charges the size of a part that is used again, which is at least 1."""
        is_repeated = id(value) in self._sizes
        if not is_repeated:
            self._sizes[id(value)] = measure(value).values
        elif not self.budget.take(self._sizes[id(value)]):
            raise _UnclearError(
                f"expands the document to more than {MAX_EXPANDED:,} values; split the file"
            )


def _unspelled(method: str, path: str) -> str:
    """A name for an operation that has no usable letters."""
    plain_path = path.strip("/")
    return f"{method.upper()}_{digest(path)[:8]}"[:NAME_LENGTH] if plain_path else method.upper()


def _place(method: str, path: str) -> str:
    return f"{method.upper()[:80]} {path[:80]}"


def _no_object(place: str, value: Any) -> Flaw:
    return Flaw(f"({place}) is {value_excerpt(value)[:60]}, not an object; correct or remove it")


def _methods(item: JsonObject) -> Iterator[tuple[str, Any]]:
    """The operation for each method of a path item, in any spelling, OpenAPI's own methods
    first.
    """
    by_rule = [key for key in item if key.lower() in _METHODS]
    by_rule.sort(key=lambda key: _METHODS.index(key.lower()))
    yield from ((key.lower(), item[key]) for key in by_rule)
    more = item.get(MORE_METHODS, {})
    yield from more.items() if isinstance(more, dict) else [(MORE_METHODS, more)]
    for key, part in item.items():
        is_unknown = key not in (*by_rule, *OF_A_PATH) and not key.startswith("x-")
        if is_unknown and isinstance(part, (dict, list)):
            yield key, Flaw(f"has a method that OpenAPI does not know; put it under {MORE_METHODS}")
