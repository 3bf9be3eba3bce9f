"""A few tools in place of all: they list the others, search, show and call them.

This is the catalog, inspect, execute pattern of the specification's client practices.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

import anyio
import mcp_types as types

from toolscope_core.mcp.gateway.callers import Context
from toolscope_core.mcp.gateway.original_calls import McpResult
from toolscope_core.mcp.gateway.routing import Route, Search
from toolscope_core.mcp.gateway.tool_calls import ToolCalls, tool_error
from toolscope_core.model.cluster import grouped
from toolscope_core.model.tool import JsonObject

_LIST, SEARCH, INSPECT, CALL = "list_tools", "search_tools", "inspect_tool", "call_tool"
_MOST, _FEW = 20, 5


def _record(
    name: str, description: str, properties: JsonObject, *required: str, only_reads: bool = True
) -> JsonObject:
    schema: dict[str, object] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    record = {"name": name, "description": description, "inputSchema": schema}
    return {**record, "annotations": {"readOnlyHint": True}} if only_reads else record


def _text(description: str) -> JsonObject:
    return {"type": "string", "description": description}


_OWN_RECORDS = (
    _record(
        _LIST,
        "List the tools by server, each with the first sentence of its description. "
        f"{SEARCH} finds those for a need; {INSPECT} shows what one takes.",
        {"server": _text("Only the tools of this server.")},
    ),
    _record(
        SEARCH,
        "Find tools by what they are needed for. Gives the name, description and input "
        f"schema of each; call one with {CALL}.",
        {
            "query": _text("What is to be done, in words."),
            "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": _FEW},
        },
        "query",
    ),
    _record(
        INSPECT,
        f"Show one tool in full: its description and input schema. Call it with {CALL}.",
        {"name": _text("The name of the tool.")},
        "name",
    ),
    _record(
        CALL,
        f"Call a tool that {SEARCH} found or {_LIST} lists.",
        {
            "name": _text("The name of the tool."),
            "arguments": {"type": "object", "description": "As its input schema says."},
        },
        "name",
        only_reads=False,
    ),
)


@dataclass(frozen=True, slots=True)
class ToolSearch:
    """These tools over ``calls``, after the tools that are in every prompt.

    ``search`` runs in its own thread.
    """

    calls: ToolCalls
    search: Search

    @property
    def records(self) -> list[JsonObject]:
        own = (_LIST, SEARCH, INSPECT, CALL)  # a tool of such a name is called by call_tool
        eager = [one for one in self.calls.eager_records if one["name"] not in own]
        return [*eager, *_OWN_RECORDS]

    async def call(self, context: Context, params: types.CallToolRequestParams) -> McpResult:
        """The list, the search result, the definition, or the result of the called tool.

        A tool may also be called by its own name.
        """
        own_arguments = params.arguments or {}
        if params.name == SEARCH:
            return await self._find(own_arguments)
        if params.name == _LIST:
            return self._list(own_arguments.get("server"))
        if params.name == INSPECT:
            return self._show(own_arguments.get("name"))
        if params.name != CALL:
            return await self.calls.call(context, params)
        name, arguments = own_arguments.get("name"), own_arguments.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return tool_error(f"{CALL} needs `name`, a text, and `arguments`, an object")
        inner = params.model_copy(update={"name": name, "arguments": arguments})
        return await self.calls.call(context, inner)

    async def _find(self, arguments: JsonObject) -> McpResult:
        query, limit = arguments.get("query"), arguments.get("limit", _FEW)
        if not isinstance(query, str) or not query.strip():
            return tool_error(f"{SEARCH} needs `query`: say in words what is to be done")
        if not isinstance(limit, int) or not 1 <= limit <= _MOST:
            return tool_error(f"`limit` is {limit!r}; give a number from 1 to {_MOST}")
        ids = await anyio.to_thread.run_sync(self.search, query, limit)
        by_id = {route.tool_id: route for route in self._routes}
        return _answer(by_id[one].listing for one in ids if one in by_id)

    def _list(self, server: object) -> McpResult:
        by_server = grouped(self._routes, lambda one: one.server)
        names = sorted(by_server)
        if server is not None and server not in names:
            server_names = ", ".join(map(repr, names))
            return tool_error(f"there is no server {server!r}; give one of {server_names}, or none")
        return _answer(
            {
                "server": name,
                "tools": [{"name": one.name, "description": _begins(one)} for one in routes],
            }
            for name, routes in sorted(by_server.items())
            if server in (None, name)
        )

    def _show(self, name: object) -> McpResult:
        by_name = {route.name: route for route in self._routes}
        if isinstance(name, str) and name in by_name:
            return _answer([by_name[name].listing])
        close = get_close_matches(str(name), by_name, n=3)
        meant = f"did you mean {', '.join(close)}?" if close else f"{_LIST} says which there are"
        return tool_error(f"there is no tool {name!r} that can be called; {meant}")

    @property
    def _routes(self) -> list[Route]:
        return self.calls.withheld_tools.callable_routes(self.calls.table.listed_routes)


def _answer(values: Iterable[JsonObject]) -> McpResult:
    texts = (json.dumps(dict(value), ensure_ascii=False) for value in values)
    return {"content": [{"type": "text", "text": text} for text in texts], "isError": False}


def _begins(route: Route) -> str:
    """The first sentence of its description."""
    text = str(route.record.get("description") or "").strip()
    return re.split(r"(?<=[.!?])\s|\n", text, maxsplit=1)[0].strip()
