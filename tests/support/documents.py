"""Documents of every kind that is read, made by a grammar, with tools whose names tell them apart.

``planted`` lists the tools of a value, also of one in which something was changed, by a rule of its
own; ``vanished`` are those that a reading left out without a word.
"""

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Literal

import yaml

from toolscope_core.catalog.flaws import Flaw, value_excerpt
from toolscope_core.catalog.formats.openapi import FIELDS, is_openapi
from toolscope_core.catalog.places import GENERIC, is_tool
from toolscope_core.catalog.sources import Source
from toolscope_core.catalog.values import Record, read_values
from toolscope_core.model.catalog import Catalog

Syntax = Literal["json", "jsonl", "yaml", "csv", "tsv"]
MARKER = re.compile(r"zq\d+z")
TOOL_KEYS = ("tools", "functions", "functionDeclarations", "function_declarations")
NAME_KEYS = ("name", "api_name", "tool_name", "function_name")
SCHEMA_KEYS = (
    "parameters",
    "inputSchema",
    "input_schema",
    "parametersJsonSchema",
    "parameters_json_schema",
)
KEYS = (*TOOL_KEYS, "servers", "mcpServers", "apis", "items", "data", "records", "result", "mcp")
METHODS = "get put post delete options head patch trace query GET Post pUt".split()
AGAIN = "\ue000"
"""Ends a key that is written without it, so that an object has the key twice."""

Value = Any


@dataclass(frozen=True, slots=True)
class Document:
    """A value with the syntax it is written in; ``value`` is a list of lines or rows in those that
    have such.
    """

    syntax: Syntax
    value: Value

    @property
    def label(self) -> str:
        return f"x.{self.syntax}"

    @property
    def source(self) -> Source:
        text = WRITERS[self.syntax](self.value).replace(json.dumps(AGAIN)[1:-1], "")
        return Source(self.label, text.encode("utf-8", "surrogatepass"))


@dataclass(slots=True)
class Grammar:
    """Documents by chance, which ``rng`` decides; no two tools of one grammar share their name."""

    rng: Random
    count: Iterator[int] = field(default_factory=itertools.count)

    def document(self) -> Document:
        return self.rng.choice(KINDS)(self)

    def marker(self) -> str:
        return f"zq{next(self.count)}z"

    def tool(self, spelling: str | None = None) -> Value:
        return SPELLINGS[spelling or self.rng.choice(ANYWHERE)](self.marker(), self.schema())

    def tools(self, spelling: str | None = None, most: int = 3) -> list[Value]:
        spelling = spelling or self.rng.choice(ANYWHERE)
        return [self.tool(spelling) for _ in range(self.rng.randint(1, most))]

    def schema(self) -> Value:
        names = self.rng.sample(("city", "from", "größe", "a/b", "x~y", "limit"), 2)
        properties = {name: self.rng.choice(PROPERTIES) for name in names}
        more = self.rng.choice(({}, {}, CIRCLE, DIAMOND))
        return {"type": "object", "properties": properties, **more}

    def holder(self, depth: int = 0) -> Value:
        """An object or list with tools somewhere in it, in one place or several."""
        places = self.rng.sample(PLACES, 1 if depth > 3 or self.rng.random() < 0.6 else 2)
        held = {key: value for place in places for key, value in place(self, depth).items()}
        named = {self.rng.choice(("name", "server")): f"s{self.rng.randrange(9)}"}
        named |= {"description": "Serves."} if self.rng.random() < 0.3 else {}
        return {**(named if self.rng.random() < 0.3 else {}), **held}

    def inner(self, depth: int) -> list[Value]:
        """The entries of a list of tools: tools, or what holds some."""
        if depth > 3 or self.rng.random() < 0.6:
            return self.tools()
        mixed = (self.holder, lambda depth: self.tools(), lambda depth: self.tool())
        return [self.rng.choice(mixed)(depth + 1) for _ in range(self.rng.randint(1, 3))]

    def openapi(self) -> Value:
        paths = {f"/p{row}": self.path_item() for row in range(self.rng.randint(1, 3))}
        more = {"tools": self.tools("mcp")} if self.rng.random() < 0.2 else {}
        shared = {"/shared": self.path_item()} if self.rng.random() < 0.2 else {}
        if shared:
            paths["/shared"] = {"$ref": "#/components/pathItems/~1shared", **self.path_item()}
        hooks = {"webhooks": {self.marker(): {"post": {}}}} if self.rng.random() < 0.2 else {}
        return {
            "openapi": self.rng.choice(("3.0.3", "3.1.0", "3.2.0")),
            "info": {"title": "Mill", "version": "1"},
            "paths": paths,
            "components": {"schemas": COMPONENTS, "pathItems": shared},
            **hooks,
            **more,
        }

    def path_item(self) -> Value:
        methods = self.rng.sample(METHODS, self.rng.randint(1, 3))
        item = {method: self.operation() for method in methods}
        more = {"additionalOperations": {"COPY": self.operation()}}
        return {**item, **(more if self.rng.random() < 0.2 else {})}

    def operation(self) -> Value:
        schema = self.rng.choice((self.schema(), *REFERENCES))
        body = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
        listed = {"parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}]}
        chosen = self.rng.choice(({}, body, listed, {**body, **listed}))
        return {"operationId": self.marker(), "summary": "Grinds.", **chosen}


PROPERTIES: tuple[Value, ...] = (
    {"type": "string", "description": "A city.", "enum": ["a", "b"]},
    {"type": "integer", "minimum": 1, "default": 5},
    {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
)
CIRCLE = {"$defs": {"A": {"properties": {"a": {"$ref": "#/$defs/A"}}}}, "$ref": "#/$defs/A"}


def _diamonds(place: str) -> Value:
    """Schemas of which each asks twice for the next one, by name; ``place`` is where they stand."""
    links = {f"D{row}": {"allOf": [{"$ref": f"{place}D{row + 1}"}] * 2} for row in range(6)}
    return {**links, "D6": {"type": "object", "properties": {"deep": {"type": "string"}}}}


DIAMOND = {"$defs": _diamonds("#/$defs/"), "allOf": [{"$ref": "#/$defs/D0"}]}
COMPONENTS: Value = {
    "Loop": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Loop"}}},
    "Ring": {"allOf": [{"$ref": "#/components/schemas/Ring"}, {"type": "object"}]},
    **_diamonds("#/components/schemas/"),
}
REFERENCES = tuple({"$ref": f"#/components/schemas/{name}"} for name in ("Loop", "Ring", "D0"))
SPELLINGS: dict[str, Callable[[str, Value], Value]] = {
    "mcp": lambda name, schema: {"name": name, "description": "Does.", "inputSchema": schema},
    "neutral": lambda name, schema: {
        **{"id": name, "server": "s", "name": name, "description": "Does.", "parameters": schema},
        **{"returns": None, "annotations": {}, "members": [name]},
    },
    "openai-chat": lambda name, schema: {
        "type": "function",
        "function": {"name": name, "description": "Does.", "parameters": schema},
    },
    "openai-responses": lambda name, schema: {
        "type": "function",
        "name": name,
        "parameters": schema,
    },
    "anthropic": lambda name, schema: {"name": name, "input_schema": schema},
    "gemini": lambda name, schema: {"name": name, "parametersJsonSchema": schema},
    "seal-tools": lambda name, schema: {"api_name": name, "parameters": schema, "required": []},
    "ultratool": lambda name, schema: {"name": name, "arguments": schema, "results": {}},
    "bfcl": lambda name, schema: {"name": name, "parameters": {**schema, "type": "dict"}},
    "generic": lambda name, schema: {"tool_name": name, "desc": "Does.", "parameters": schema},
    "bare": lambda name, schema: {"name": name, "description": "Does."},
}

ANYWHERE = [spelling for spelling in SPELLINGS if spelling != "neutral"]  # which says its version


def _server(grammar: Grammar, depth: int) -> Value:
    return {"name": f"s{grammar.rng.randrange(9)}", "tools": grammar.inner(depth + 1)}


def _client(grammar: Grammar, depth: int) -> Value:
    tools = {"tools": grammar.tools("mcp")} if grammar.rng.random() < 0.5 else {}
    return {"mcpServers": {f"s{row}": {"command": "serve", **tools} for row in range(2)}}


def _by_name(grammar: Grammar, depth: int) -> Value:
    return {"tools": {tool["name"]: tool for tool in grammar.tools("mcp")}}


PLACES: tuple[Callable[[Grammar, int], Value], ...] = (
    lambda grammar, depth: {"tools": grammar.inner(depth)},
    lambda grammar, depth: {"tools": grammar.inner(depth), "nextCursor": ""},
    lambda grammar, depth: {"functions": grammar.inner(depth)},
    lambda grammar, depth: {"functionDeclarations": grammar.tools("gemini")},
    lambda grammar, depth: {"function_declarations": grammar.tools("gemini")},
    lambda grammar, depth: {"servers": [_server(grammar, depth)]},
    lambda grammar, depth: {"servers": [grammar.tools()]},
    lambda grammar, depth: {"servers": {"s": _server(grammar, depth)}},
    lambda grammar, depth: {"tools": {"s": _server(grammar, depth), "t": _server(grammar, depth)}},
    lambda grammar, depth: {"tools": {"s": grammar.tools("mcp"), "t": grammar.tools("mcp")}},
    lambda grammar, depth: {"tools": grammar.tool("mcp")},
    lambda grammar, depth: {"apis": grammar.tools("generic")},
    lambda grammar, depth: {"result": {"tools": grammar.inner(depth)}, "jsonrpc": "2.0", "id": 1},
    lambda grammar, depth: {"tools": [{**grammar.tool("mcp"), "tools": grammar.inner(depth)}]},
    lambda grammar, depth: {"payload": grammar.tool("mcp")},
    lambda grammar, depth: {"tool": grammar.tool("anthropic")},
    lambda grammar, depth: {"extra": {"list": grammar.tools("mcp")}},
    _by_name,
    _client,
)
KINDS: tuple[Callable[[Grammar], Document], ...] = (
    lambda grammar: Document("json", grammar.tools()),
    lambda grammar: Document("json", grammar.holder()),
    lambda grammar: Document("json", grammar.holder()),
    lambda grammar: Document("json", [grammar.holder() for _ in range(2)]),
    lambda grammar: Document("jsonl", grammar.tools("bfcl", 5)),
    lambda grammar: Document("jsonl", [grammar.holder(2), grammar.holder(2), grammar.tool("mcp")]),
    lambda grammar: Document("json", grammar.openapi()),
    lambda grammar: Document("json", [grammar.openapi(), grammar.tool("mcp")]),
    lambda grammar: Document("yaml", grammar.openapi()),
    lambda grammar: Document("yaml", grammar.tools()),
    lambda grammar: Document("yaml", grammar.holder()),
    lambda grammar: Document("json", {"tools": [_namespace(grammar), *grammar.tools()]}),
    lambda grammar: Document("csv", _rows(grammar)),
    lambda grammar: Document("tsv", _rows(grammar)),
    lambda grammar: Document("json", {**_client(grammar, 0), **grammar.holder()}),
    lambda grammar: Document(
        "json",
        {"version": 1, "servers": [{"name": "s", "description": ""}],
         "tools": grammar.tools("neutral")},
    ),
)  # fmt: skip


def _namespace(grammar: Grammar) -> Value:
    tools = grammar.tools("openai-responses")
    return {"type": "namespace", "name": "bells", "description": "Bells.", "tools": tools}


def _rows(grammar: Grammar) -> list[dict[str, str]]:
    return [
        {"name": grammar.marker(), "description": "Does, \"it\".\nTwice.", "parameters": schema}
        for schema in ("", json.dumps(grammar.schema()), "{", "text")
    ]  # fmt: skip


def _as_table(rows: Value, delimiter: str) -> str:
    text = io.StringIO()
    keys = dict.fromkeys(key for row in rows for key in row)
    writer = csv.DictWriter(text, list(keys), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


WRITERS: dict[Syntax, Callable[[Value], str]] = {
    "json": json.dumps,
    "jsonl": lambda lines: "\n".join(map(json.dumps, lines)),
    "yaml": lambda value: yaml.safe_dump(value, sort_keys=False),
    "csv": partial(_as_table, delimiter=","),
    "tsv": partial(_as_table, delimiter="\t"),
}


def vanished(source: Source, catalog: Catalog) -> list[str]:
    """The tools of a source that a catalog of it has neither as tools nor in any problem."""
    names = {tool.name for tool in catalog.tools} | {server.name for server in catalog.servers}
    told = "\n".join(f"{item.position} {item.reason} {item.raw}" for item in catalog.problems)
    shown = {item.raw for item in catalog.problems}
    items, _ = read_values(source)
    return [
        tool.name
        for item in items
        if isinstance(item, Record)
        for tool in planted(item.value)
        if tool.name not in names
        if not any(word in told for word in (tool.name, *tool.places))
        if not any(value_excerpt(holder) in shown for holder in tool.around)
    ]


@dataclass(frozen=True, slots=True)
class Planted:
    """A tool in a value: its name, or why it cannot be read; the words for its place, and what it
    stands in, from the whole value to itself.
    """

    name: str
    around: tuple[Value, ...]
    places: tuple[str, ...] = ()


def planted(value: Value, around: tuple[Value, ...] = (), key: str = "") -> Iterator[Planted]:
    """What looks like a tool: a name with a schema, or a place in a list of tools unless it has
    one itself, as servers do; also what could be one and cannot be read. What stands in a tool is
    its own, but for lists of tools.
    """
    around = (*around, value)
    if isinstance(value, Flaw):
        yield Planted(value.reason, around)
    elif isinstance(value, list):
        for entry in value:
            yield from planted(entry, around, key)
    elif is_openapi(value):
        yield from _operations(value, around)
    elif isinstance(value, dict):
        if name := _tool_name(value, key):
            yield Planted(name, around)
        by_name = key in TOOL_KEYS and not GENERIC.find(value, "name")
        for inner, part in value.items():
            nameless = isinstance(part, dict) and not GENERIC.find(part, "name")
            entry = {**part, "name": inner} if by_name and nameless else part
            if inner in TOOL_KEYS or not (is_tool(value) or inner == "function"):
                yield from planted(entry, around, inner)


def _tool_name(value: Value, key: str) -> str:
    spelled = {**value, **value["function"]} if isinstance(value.get("function"), dict) else value
    name = next((spelled[key] for key in NAME_KEYS if key in spelled), None)
    schemas = [spelled[key] for key in SCHEMA_KEYS if isinstance(spelled.get(key), dict)]
    declared = any({"type", "properties"} & schema.keys() for schema in schemas)
    named = isinstance(name, str) and MARKER.fullmatch(name)
    alone = key in ("", *TOOL_KEYS) and not any(key in value for key in KEYS)
    return str(name) if named and (declared or alone) else ""


def _operations(document: Value, around: tuple[Value, ...]) -> Iterator[Planted]:
    paths = document.get("paths")
    for path, item in paths.items() if isinstance(paths, dict) else ():
        held = item if isinstance(item, dict) and not path.startswith("x-") else {}
        more = held.get("additionalOperations")
        held = {**held, **(more if isinstance(more, dict) else {})}
        for method, operation in held.items():
            own = operation.get("operationId") if isinstance(operation, dict) else None
            if isinstance(own, str) and MARKER.fullmatch(own) and not method.startswith("x-"):
                yield Planted(
                    own, around, (f"({method.upper()[:80]} {path[:80]})", f"({path[:80]})")
                )
    for key, part in document.items():
        if key not in FIELDS:
            yield from planted(part, around, key)
