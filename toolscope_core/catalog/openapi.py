"""An OpenAPI 3.0 / 3.1 document as an MCP ``tools/list`` page: one operation, one tool.

Names follow FastMCP, so that tools are called what people already call them. What a tool's
arguments are in HTTP, and which hints were inferred from the method, stands under ``_meta``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolscope_core.catalog.budget import Budget, measure
from toolscope_core.catalog.definitions import Definitions
from toolscope_core.catalog.flaws import Flaw
from toolscope_core.catalog.limits import MAX_DEPTH, MAX_EXPANDED
from toolscope_core.catalog.references import merge_parts, resolve
from toolscope_core.datamodel import Finding, JsonObject, Tool

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
HINTS = {
    "get": {"readOnlyHint": True},
    "head": {"readOnlyHint": True},
    "delete": {"readOnlyHint": False, "destructiveHint": True},
}
NAME_LENGTH = 56
META = "toolscope/openapi"
SCHEMAS = ("inputSchema", "outputSchema")
JSON_BODY = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")


class _UnclearError(ValueError):
    """An operation cannot be read; the text says why and what to do."""


def is_openapi(value: object) -> bool:
    """Whether a document says that it is OpenAPI or Swagger and has paths."""
    return (
        isinstance(value, dict)
        and ("openapi" in value or "swagger" in value)
        and isinstance(value.get("paths"), dict)
    )


def read_openapi(document: JsonObject, budget: Budget) -> JsonObject | Flaw:
    """``{"server", "description", "tools"}`` with an MCP tool for each operation, in order.

    An operation that cannot be read is a ``Flaw`` in its place; the whole is one for anything but
    OpenAPI 3.
    """
    version = str(document.get("openapi") or document.get("swagger"))
    if not version.startswith("3."):
        return Flaw(f"is OpenAPI (Swagger) {version[:20]}; convert it to OpenAPI 3 first")
    info = document.get("info")
    about = info if isinstance(info, dict) else {}
    texts = {"server": about.get("title"), "description": about.get("description")}
    tools = _named_apart(_on_their_own(_Reader(document, budget).tools(), document, budget))
    return {**{key: text for key, text in texts.items() if isinstance(text, str)}, "tools": tools}


def _on_their_own(
    tools: Sequence[JsonObject | Flaw], document: JsonObject, budget: Budget
) -> Iterator[JsonObject | Flaw]:
    """The tools with what their schemas refer to in the document beside these."""
    placed = [
        (row, key)
        for row, tool in enumerate(tools)
        if isinstance(tool, dict)
        for key in SCHEMAS
        if key in tool
    ]
    schemas = [tool[key] for row, key in placed if isinstance(tool := tools[row], dict)]
    carried = dict(zip(placed, Definitions(document, budget).carry(schemas), strict=True))
    for row, tool in enumerate(tools):
        own = {key: carried[row, key] for key in SCHEMAS if (row, key) in carried}
        outside = next((schema for schema in own.values() if isinstance(schema, ValueError)), None)
        if isinstance(tool, Flaw) or outside is None:
            yield tool if isinstance(tool, Flaw) else {**tool, **own}
        else:
            meta = tool["_meta"][META]
            yield Flaw(f"({meta['method']} {meta['path']}) {outside}")


def _named_apart(tools: Iterable[JsonObject | Flaw]) -> list[JsonObject | Flaw]:
    used: Counter[str] = Counter()
    apart: list[JsonObject | Flaw] = []
    for tool in tools:
        if isinstance(tool, dict):
            used[tool["name"]] += 1
            again = f"_{used[tool['name']]}" if used[tool["name"]] > 1 else ""
            apart.append({**tool, "name": f"{tool['name']}{again}"})
        else:
            apart.append(tool)
    return apart


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


@dataclass(slots=True)
class _Reader:
    """The operations of one document as tools, whose schemas still refer to the document.

    What several operations share is charged to the budget from the second time on.
    """

    document: JsonObject
    budget: Budget
    _sizes: dict[int, int] = field(default_factory=dict)

    def tools(self) -> list[JsonObject | Flaw]:
        tools: list[JsonObject | Flaw] = []
        for found in self._operations():
            if isinstance(found, Flaw):
                tools.append(found)
                continue
            method, path, item, operation = found
            try:
                tools.append(self._tool(method, path, item, operation))
            except _UnclearError as error:
                tools.append(Flaw(f"({method.upper()} {path}) {error}"))
        return tools

    def _operations(self) -> Iterator[tuple[str, str, JsonObject, JsonObject] | Flaw]:
        for path, given in self.document["paths"].items():
            try:
                item = self._follow(given)
            except _UnclearError as error:
                yield Flaw(f"({path}) {error}")
                continue
            if isinstance(item, dict):
                for method in METHODS:
                    operation = item.get(method)
                    if isinstance(operation, dict):
                        yield method, path, item, operation

    def _tool(
        self, method: str, path: str, item: JsonObject, operation: JsonObject
    ) -> dict[str, Any]:
        self._charge(operation)
        schema, places = self._arguments([*_listed(item), *_listed(operation)], operation)
        texts = (operation.get("description"), operation.get("summary"))
        told = next((text for text in texts if isinstance(text, str) and text.strip()), "")
        returned = self._returned(operation)
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

    def _arguments(self, listed: list[Any], operation: JsonObject) -> tuple[JsonObject, JsonObject]:
        """One object schema of all arguments, and for each its ``[location, original name]``."""
        found: dict[tuple[str, str], tuple[Any, bool]] = {}
        for given in listed:
            parameter = self._follow(given)
            name = parameter.get("name") if isinstance(parameter, dict) else None
            if not isinstance(name, str):
                raise _UnclearError("has a parameter without a name; name each")
            place = str(parameter.get("in"))
            needed = parameter.get("required") is True or place == "path"
            self._charge(parameter)
            found[place, name] = (_parameter_schema(parameter), needed)
        body, body_needed = self._body(operation)
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
            self._charge(schema)
            properties[name], places[name] = schema, ["body", name]
        required |= set(body["required"]) if body_needed else set()
        whole = {"type": "object", "properties": properties, "required": sorted(required)}
        return whole, places

    def _body(self, operation: JsonObject) -> tuple[dict[str, Any], bool]:
        """Properties and required names of the request body; one that is no object is ``body``."""
        body = self._follow(operation.get("requestBody"))
        schema = _content_schema(body)
        if schema is None:
            return {"properties": {}, "required": []}, False
        needed = body.get("required") is True
        whole = self._whole(schema)
        properties = whole.get("properties")
        if not isinstance(properties, dict) or not properties:
            return {"properties": {"body": schema}, "required": ["body"]}, needed
        required = whole.get("required")
        listed = required if isinstance(required, list) else []
        names = [name for name in listed if isinstance(name, str) and name in properties]
        return {"properties": properties, "required": names}, needed

    def _returned(self, operation: JsonObject) -> JsonObject | None:
        """The schema of the first answer that is a success and has one."""
        responses = operation.get("responses")
        if not isinstance(responses, dict):
            return None
        for code in sorted(responses):
            if code.startswith("2"):
                schema = _content_schema(self._follow(responses[code]))
                if isinstance(schema, dict):
                    self._charge(schema)
                    return schema
        return None

    def _follow(self, value: Any) -> Any:
        """What a reference inside the document names; any other value is itself."""
        for _ in range(MAX_DEPTH):
            if not isinstance(value, dict) or "$ref" not in value:
                return value
            reference = value["$ref"]
            value = resolve(self.document, reference)
            if value is None:
                raise _UnclearError(
                    f"refers to {str(reference)[:80]!r}, which is not in this file; bundle it first"
                )
        raise _UnclearError("refers to itself in a circle; write it out")

    def _whole(
        self,
        schema: Any,
        by_reference: dict[str, JsonObject] | None = None,
        depth: int = 0,
    ) -> JsonObject:
        """A schema with its own reference followed and ``allOf`` merged, for its properties' sake.

        ``by_reference`` are those done before, each worked out once however often it is named; one
        that names itself adds nothing to itself.
        """
        by_reference = {} if by_reference is None else by_reference
        named = schema.get("$ref") if isinstance(schema, dict) else None
        if isinstance(named, str):
            if named not in by_reference:
                by_reference[named] = {}
                by_reference[named] = self._merged(schema, by_reference, depth)
            return by_reference[named]
        return self._merged(schema, by_reference, depth)

    def _merged(self, schema: Any, by_reference: dict[str, JsonObject], depth: int) -> JsonObject:
        followed = self._follow(schema)
        if not isinstance(followed, dict) or depth > MAX_DEPTH:
            return {}
        self._charge(followed)
        parts = followed.get("allOf")
        if not isinstance(parts, list):
            return followed
        own = {key: sub for key, sub in followed.items() if key != "allOf"}
        merged = merge_parts([own, *(self._whole(part, by_reference, depth + 1) for part in parts)])
        return {} if merged is None else merged

    def _charge(self, value: Any) -> None:
        """A part of the document that is used again costs its size, and something at least."""
        again = id(value) in self._sizes
        if not again:
            self._sizes[id(value)] = measure(value).values
        elif not self.budget.take(self._sizes[id(value)]):
            raise _UnclearError(
                f"brings what is written out to more than {MAX_EXPANDED:,} values; split the file"
            )


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


def _parameter_schema(parameter: JsonObject) -> Any:
    content = parameter.get("content")
    media = (
        parameter if not isinstance(content, dict) else content[min(content)] if content else None
    )
    schema = media.get("schema") if isinstance(media, dict) else None
    schema = schema if isinstance(schema, (dict, bool)) else {}
    text = parameter.get("description")
    if isinstance(text, str) and isinstance(schema, dict) and "$ref" not in schema:
        return {**schema, "description": text}
    return schema


def _content_schema(holder: Any) -> Any:
    content = holder.get("content") if isinstance(holder, dict) else None
    if not isinstance(content, dict) or not content:
        return None
    kinds = [kind for kind in JSON_BODY if kind in content] or sorted(content)
    media = content[kinds[0]]
    return media.get("schema") if isinstance(media, dict) else None
