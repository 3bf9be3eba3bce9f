"""Two tools in place of all: one finds tools by what they are for, the other calls them."""

import json
from dataclasses import dataclass

import anyio
import mcp_types as types

from toolscope_core.mcp.gateway.callers import Context
from toolscope_core.mcp.gateway.original_calls import Result
from toolscope_core.mcp.gateway.routing import Search
from toolscope_core.mcp.gateway.tool_calls import ToolCalls, tool_error
from toolscope_core.model.tool import JsonObject

SEARCH, CALL = "search_tools", "call_tool"
MOST, FEW = 20, 5

_SEARCH_RECORD: JsonObject = {
    "name": SEARCH,
    "description": "Find tools by what they are needed for. Gives the name, description and input "
    f"schema of each; call one with {CALL}.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What is to be done, in words."},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "default": FEW},
        },
        "required": ["query"],
    },
    "annotations": {"readOnlyHint": True},
}
_CALL_RECORD: JsonObject = {
    "name": CALL,
    "description": f"Call a tool that {SEARCH} found.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The name of the tool."},
            "arguments": {"type": "object", "description": "As its input schema says."},
        },
        "required": ["name"],
    },
}


@dataclass(frozen=True, slots=True)
class ToolSearch:
    """The two tools over ``calls``; ``search`` runs in a thread of its own."""

    calls: ToolCalls
    search: Search

    @property
    def records(self) -> list[JsonObject]:
        return [_SEARCH_RECORD, _CALL_RECORD]

    async def call(self, context: Context, params: types.CallToolRequestParams) -> Result:
        """What the search finds, or the result of the tool that is called; a tool that was found
        may be called by its own name too.
        """
        given = params.arguments or {}
        if params.name == SEARCH:
            return await self._found(given)
        if params.name != CALL:
            return await self.calls.call(context, params)
        name, arguments = given.get("name"), given.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return tool_error(f"{CALL} needs `name`, a text, and `arguments`, an object")
        inner = params.model_copy(update={"name": name, "arguments": arguments})
        return await self.calls.call(context, inner)

    async def _found(self, given: JsonObject) -> Result:
        query, limit = given.get("query"), given.get("limit", FEW)
        if not isinstance(query, str) or not query.strip():
            return tool_error(f"{SEARCH} needs `query`: say in words what is to be done")
        if not isinstance(limit, int) or not 1 <= limit <= MOST:
            return tool_error(f"`limit` is {limit!r}; give a number from 1 to {MOST}")
        ids = await anyio.to_thread.run_sync(self.search, query, limit)
        by_id = {route.tool_id: route for route in self.calls.table.offered}
        routes = [by_id[one] for one in ids if one in by_id]
        routes = self.calls.held_tools.callable_routes(routes)
        texts = (json.dumps(dict(route.record), ensure_ascii=False) for route in routes)
        return {"content": [{"type": "text", "text": text} for text in texts], "isError": False}
