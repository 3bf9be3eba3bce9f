"""Finds the places in an object that contain tools, and tools in unexpected places."""

from collections.abc import Iterator
from typing import Any

from toolscope_core.catalog.clients.configurations import SERVER_MAPS, configured_servers
from toolscope_core.catalog.flaws import Flaw, writable
from toolscope_core.catalog.formats.foreign_formats import DECLARATIONS
from toolscope_core.catalog.formats.neutral import GENERIC
from toolscope_core.catalog.formats.openapi import is_openapi
from toolscope_core.catalog.formats.record_format import home_of
from toolscope_core.catalog.schema.declarations import is_of_zod
from toolscope_core.catalog.schema.walking import map_objects, object_at, objects_in
from toolscope_core.catalog.tools_in_texts import values_of_text
from toolscope_core.model.catalog import Server
from toolscope_core.model.tool import JsonObject

API_LIST = "api_list"
"""The key for the tools of an API in ToolBench, which calls the API a tool."""
TOOL_LISTS = ("tools", "functions", API_LIST, *DECLARATIONS)
OTHER_LISTS = ("servers", "mcp_servers", "apis", "items", "data", "records", "registry", "results")
WRAPPERS = ("result", "mcp", "toolConfig")  # of JSON-RPC, an editor's settings, Bedrock
OTHERS = frozenset((*OTHER_LISTS, *SERVER_MAPS, *WRAPPERS))
FUNCTIONS = "function"
"""The key under which each line of BFCL lists its tools; an object there is in OpenAI's format."""
LEADING = (*TOOL_LISTS, *SERVER_MAPS, *WRAPPERS, "apis")
AMBIGUOUS = (("schema",), ("args",))  # response formats and calls have them too
CERTAIN = (("inputSchema",), ("input_schema",))  # only tools have them, even if they are empty
SCHEMA_KEYS = ("type", "properties", "$ref", "oneOf", "anyOf", "allOf")
API_EXAMPLES = ("schemas", "schema", "example", "examples", "default", "value", "content")

_OF_TOOLS = ("annotations", "_meta")
_LISTED = frozenset(key.lower() for key in TOOL_LISTS)
Places = dict[str, list[Any]]


def tool_places(value: JsonObject) -> Places:
    """The entries of each place where an object contains tools, or servers with tools, in order.

    A list of tools is a place, whatever it contains. Any other value is a place if its entries look
    like tools or lead to tools. Each value is visited once. If an object has neither a place nor a
    name, these are tried in order: it contains records in its result, it is a map of tools or
    servers by name (the place is then empty), it has tools at any depth, or it contains records in
    its first list.
    """
    places = {key: entries for key in value if (entries := _entries(value, key)) is not None}
    if places:
        return places
    if GENERIC.find(value, "name"):
        return _around_lists(value)
    if isinstance(value.get("result"), dict):
        return {"result": [value["result"]]}
    lists = {key: value[key] for key in OTHER_LISTS if isinstance(value.get(key), list)}
    named_lists = {key: rows for key, rows in lists.items() if any(map(has_name, _objects(rows)))}
    by_name = [] if lists else list(_by_name(value).values())
    if by_name and all(isinstance(one, dict) and _declares(one) for one in by_name):
        return {"": by_name}
    if len(value) > 1 and all(isinstance(one, list) and holds_tools(one) for one in value.values()):
        return {"": by_name}
    inner = {key: entries for key, part in value.items() if (entries := _with_tools(part))}
    return named_lists or inner or dict([*lists.items()][:1])


def _around_lists(value: JsonObject) -> Places:
    """The parts of an object with a name that contain lists of tools at some depth, such as an
    agent.

    Parts that contain any tools count if the object has only a name. Empty if the object declares
    parameters itself.
    """
    if GENERIC.find(value, "schema"):
        return {}
    parts = {key: part for key, part in value.items() if key not in _OF_TOOLS}
    lists = (key for key, part in parts.items() if names_a_list(value) or _has_list_below(part))
    return {key: entries for key in lists if (entries := _with_tools(parts[key]))}


def _has_list_below(part: Any) -> bool:
    return any(not _LISTED.isdisjoint(key.lower() for key in one) for one in objects_in(part))


def _with_tools(part: Any) -> list[Any]:
    """The entries in a part of an object that are tools or contain tools."""
    return [one for one in (part if isinstance(part, list) else [part]) if holds_tools(one)]


def is_tool(value: Any) -> bool:
    """Whether an object declares parameters, or has a name in a form that only tools have (not
    servers).
    """
    if not isinstance(value, dict) or not has_name(value) or API_LIST in value:
        return False
    if value.get("type") == "function" or "name" not in value:
        return True
    return any(_objects(GENERIC.get(value, "schema")))


def has_name(value: JsonObject) -> bool:
    name = GENERIC.get(value, "name")
    return isinstance(name, str) and bool(name.strip())


def is_server_map(value: Any) -> bool:
    """Whether a value has the form ``{server: {"tools": […]}}`` or ``{server: […]}``."""
    if not isinstance(value, dict) or not value:
        return False
    return all(_is_filled(item, name) for name, item in value.items())


def names_servers(key: str, value: Any) -> bool:
    """Whether the value at a key is a map of servers by name."""
    return is_server_map(value) or (key in SERVER_MAPS and _is_map(value) and not is_tool(value))


def server_of(holder: JsonObject) -> Server:
    """The server that an object with a list names; the server's name is empty if there is none."""
    keys = ("server", "server_name", "server_label", "serverInfo", "name")
    spellings = [holder.get(key) for key in keys]
    spellings += [holder.get("tool_name")] if API_LIST in holder else []
    names = [name.get("name") if isinstance(name, dict) else name for name in spellings]
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    source, about = object_at(holder, "source"), object_at(holder, "serverInfo")
    start = [source.get("command"), source.get("url")]
    words = [holder.get(key) for key in ("description", "instructions")]
    words += [info.get("instructions") for info in (about, object_at(holder, "server"))]
    description = "\n".join(dict.fromkeys(one for one in words if isinstance(one, str) and one))
    titles = [about.get("title"), source.get("server"), holder.get("title")]
    versions = [about.get("version"), source.get("version")]
    texts = [
        next((writable(one) for one in candidates if isinstance(one, str) and one), "")
        for candidates in ([description], start, titles, versions)
    ]
    title = "" if texts[2] == name else texts[2]
    return Server(writable(name), texts[0], started=texts[1], title=title, version=texts[3])


def cursor_of(page: JsonObject) -> JsonObject:
    """The ``nextCursor`` of a page, under that key; empty for the last page."""
    cursor = page.get("nextCursor")
    return {"nextCursor": cursor} if cursor and isinstance(cursor, str) else {}


def holds_tools(value: Any) -> bool:
    """Whether anything inside a value is certainly a tool."""
    return any(isinstance(item, dict) for item in tools_inside(value))


def tools_inside(value: Any, key: str = "") -> Iterator[JsonObject | Flaw]:
    """All certain tools at any depth, and what cannot be read, in order.

    These are certain: objects with a name and a JSON Schema of parameters, objects with a name in a
    list of tools, and OpenAPI documents, also inside a JSON text. Inside a tool, only lists of
    tools are searched.
    """
    stack = [(value, key)]
    while stack:
        item, key = stack.pop()
        if isinstance(item, Flaw):
            yield item
        elif isinstance(item, str):
            stack += [(inner, key) for inner in values_of_text(item)]
        elif isinstance(item, list):
            stack += [(entry, key) for entry in reversed(item)]
        elif isinstance(item, dict) and is_openapi(item):
            yield item
        elif isinstance(item, dict):
            in_tool_list = key.lower() in _LISTED
            is_certain = _declares(item) or (in_tool_list and has_name(item))
            if is_certain:
                yield item
            elif in_tool_list:
                objects = {key: row for key, row in item.items() if isinstance(row, dict)}
                item = {**item, **_by_name(objects)}
            inner = [name for name in item if name.lower() in _LISTED or not is_certain]
            stack += [(item[name], name) for name in reversed(inner)]


def tools_beside_operations(
    document: JsonObject, fields: frozenset[str]
) -> Iterator[tuple[str, JsonObject | Flaw]]:
    """The tools in ``fields`` of an OpenAPI document, except tools in schemas and examples."""
    for key, value in document.items():
        if key in fields and key not in API_EXAMPLES:
            yield from ((key, item) for item in tools_inside(_without_examples(value), key))


def _without_examples(value: Any) -> Any:
    def keep(part: JsonObject) -> JsonObject:
        return {key: sub for key, sub in part.items() if key not in API_EXAMPLES}

    return map_objects(value, keep)


def unexpected_tools(value: JsonObject, places: Places) -> Iterator[tuple[str, JsonObject | Flaw]]:
    """Tools in those parts of an object that are not places, each with the key of the part."""
    for key, part in value.items():
        if key not in places:
            yield from ((key, item) for item in tools_inside(part, key))


def _entries(value: JsonObject, key: str) -> list[Any] | None:
    """The entries under the key; ``None`` if the key is not a place for tools."""
    content = value[key]
    if any(one in value for one in DECLARATIONS) and home_of({key: content}):
        return [{key: content}]
    if key in TOOL_LISTS or (key == FUNCTIONS and isinstance(content, list)):
        entries = _entries_in(_without_texts(content))
        texts = not any(isinstance(entry, (dict, list)) for entry in entries or ())
        return None if texts and is_tool(value) else entries
    if key not in OTHERS or not _looks_filled(value, key):
        return None
    if key in WRAPPERS:
        return [{**cursor_of(value), **content} if isinstance(content, dict) else content]
    return list(_by_name(content).values()) if names_servers(key, content) else _entries_in(content)


def _without_texts(content: Any) -> Any:
    """A list of tools after parsing JSON text, in which some data sets store it."""
    if isinstance(content, str):
        inside = _parsed(content)
        return inside[0] if len(inside) == 1 else inside or content
    if isinstance(content, list):
        return [one for entry in content for one in (_parsed(entry) or [entry])]
    return content


def _looks_filled(value: JsonObject, key: str) -> bool:
    """Whether the value under a key in ``OTHERS`` is a tool, leads to tools, or resembles tools.

    A value with a name and a description resembles a tool. This does not count inside an object
    with its own name, whose parts they may describe, nor in a list of servers.
    """
    entry = value[key]
    if key in (*SERVER_MAPS, "mcp") and configured_servers({key: entry}):
        return True
    rows = list(_objects([*entry.values()] if names_servers(key, entry) else entry))
    if any(_declares(row) or _leads_on(row) for row in rows):
        return True
    if key != "apis" and GENERIC.find(value, "name") and not (names_a_list(value) and rows):
        return False
    if key in SERVER_MAPS:
        inner = [row for row in entry if isinstance(row, list)] if isinstance(entry, list) else []
        rows = list(_objects(inner))
    return any(has_name(row) and isinstance(row.get("description"), str) for row in rows)


def names_a_list(value: JsonObject) -> bool:
    """Whether an object has a name, but nothing else that a tool would have."""
    return not any(GENERIC.find(value, part) for part in ("description", "schema", "returns"))


def _parsed(text: Any) -> list[Any]:
    return values_of_text(text) if isinstance(text, str) else []


def _leads_on(row: JsonObject) -> bool:
    """Whether an object has a place that can only contain tools, or servers with tools."""
    return is_openapi(row) or any(isinstance(row.get(key), (dict, list)) for key in LEADING)


def _objects(value: Any) -> Iterator[JsonObject]:
    """The objects in a list and its inner lists; a single object is returned alone."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack += item
        elif isinstance(item, dict):
            yield item


def _entries_in(value: Any) -> list[Any] | None:
    """The entries of a list or of a map by name; a tool, or an object with a list, counts as one
    entry.
    """
    if isinstance(value, list):
        return value
    if isinstance(value, Flaw):
        return [value]
    if not _is_map(value):
        return None
    if has_name(value) or (not is_server_map(value) and any(key in value for key in TOOL_LISTS)):
        return [value]
    return list(_by_name(value).values()) if any(map(_is_entry, value.values())) else None


def _is_map(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


def _is_filled(item: Any, name: str) -> bool:
    """Whether an entry of a map by name is a server with a list of tools."""
    if isinstance(item, dict):
        return isinstance(item.get("tools"), list)
    return name not in TOOL_LISTS and isinstance(item, list) and any(_objects(item))


def _is_entry(item: Any) -> bool:
    """Whether an entry of a map by name is a tool or contains tools."""
    if isinstance(item, list):
        return any(_objects(item))
    if not isinstance(item, dict):
        return False
    has_description = isinstance(item.get("description"), str)
    has_parts = has_description or isinstance(GENERIC.get(item, "schema"), dict)
    return has_parts or _is_holder(item) or _wrapped(item) is not None


def _is_holder(item: JsonObject) -> bool:
    return any(isinstance(item.get(key), (dict, list)) for key in TOOL_LISTS)


def _by_name(entries: JsonObject) -> JsonObject:
    """A map by name in which each object also contains its name, as a server or else as a tool."""
    return {name: _named(name, item) for name, item in entries.items()}


def _named(name: str, item: Any) -> Any:
    if isinstance(item, list):
        return {"server": name, "tools": item}
    if not isinstance(item, dict):
        return item
    if _is_holder(item):
        return item if server_of(item).name else {"server": name, **item}
    if inner := _wrapped(item):
        return inner
    return item if GENERIC.find(item, "name") else {**item, "name": name}


def _wrapped(item: JsonObject) -> JsonObject | None:
    """The only tool among the values of an object that is not a tool itself, such as
    ``metadata``.
    """
    if GENERIC.find(item, "schema"):
        return None
    tools = [
        one for one in _objects([*item.values()]) if has_name(one) and GENERIC.find(one, "schema")
    ]
    return tools[0] if len(tools) == 1 else None


def _declares(item: JsonObject) -> bool:
    """Whether an object has a name and clearly declares its parameters.

    A function with a description may declare that it has none; a call has no description.
    """
    if not has_name(item):
        return False
    function = item.get("type") == "function" or "name" not in item
    if function and isinstance(GENERIC.get(item, "description"), str):
        return True
    return any(_is_declaration(path, schema) for path, schema in GENERIC.find_all(item, "schema"))


def _is_declaration(path: tuple[str, ...], schema: Any) -> bool:
    """Whether a value has the form of a JSON Schema, or of flat parameters with types."""
    if isinstance(schema, list):
        return path != ("schema",) and bool(schema) and all(map(_is_typed, schema))
    if not isinstance(schema, dict):
        return False
    if is_of_zod(schema):
        return True
    if path in CERTAIN and not schema:
        return True
    if path not in AMBIGUOUS and not schema.keys().isdisjoint(SCHEMA_KEYS):
        return True
    return path != ("schema",) and bool(schema) and all(map(_is_typed, schema.values()))


def _is_typed(parameter: Any) -> bool:
    if not isinstance(parameter, dict):
        return False
    return isinstance(parameter.get("type"), str) or isinstance(parameter.get("schema"), dict)
