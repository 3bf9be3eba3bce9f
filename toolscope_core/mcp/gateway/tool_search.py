"""Offers a few tools in place of all others. They list, search, show and call the other tools.

This is the catalog, inspect, execute pattern in the specification's client practices.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

import anyio
import mcp_types as types

from toolscope_core.catalog.schema.walking import properties_of
from toolscope_core.catalog.tokens import estimate_tokens
from toolscope_core.mcp.gateway.callers import Context
from toolscope_core.mcp.gateway.original_calls import McpResult
from toolscope_core.mcp.gateway.routing import Route, RoutingTable, Search
from toolscope_core.mcp.gateway.tool_calls import ToolCalls, tool_error
from toolscope_core.model.cluster import grouped
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import JsonObject, canonical_json

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
        f"List the tools by server, each with the first sentence of its description. {SEARCH} "
        f"finds those for a task; {INSPECT} shows the arguments of one.",
        {"server": _text("Only the tools of this server.")},
    ),
    _record(
        SEARCH,
        "Find tools for a task. Returns the name, description and input schema of each; call one "
        f"with {CALL}.",
        {
            "query": _text("The task, in words."),
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
            "arguments": {"type": "object", "description": "As its input schema requires."},
        },
        "name",
        only_reads=False,
    ),
)


@dataclass(frozen=True, slots=True)
class ToolSearch:
    """The tools that list, search, show and call the tools of ``calls``. They come after the tools
    that are in every prompt.

    ``search`` runs in its own thread.
    """

    calls: ToolCalls
    search: Search

    @property
    def records(self) -> list[JsonObject]:
        own = (_LIST, SEARCH, INSPECT, CALL)  # tools with these names are called with call_tool
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
            return tool_error(f"{CALL} needs `name`, a string, and `arguments`, an object")
        inner = params.model_copy(update={"name": name, "arguments": arguments})
        return await self.calls.call(context, inner)

    async def _find(self, arguments: JsonObject) -> McpResult:
        query, limit = arguments.get("query"), arguments.get("limit", _FEW)
        if not isinstance(query, str) or not query.strip():
            return tool_error(f"{SEARCH} needs `query`: describe the task in words")
        if not isinstance(limit, int) or not 1 <= limit <= _MOST:
            return tool_error(f"`limit` is {limit!r}; use a number from 1 to {_MOST}")
        found = await anyio.to_thread.run_sync(self.search, query, limit)
        by_id = {route.tool_id: route for route in self._routes}
        routes = [by_id[one] for one in found.ids if one in by_id]
        if not found.note:
            return _answer(route.listing for route in routes)
        lines = [f"- {route.name}: {_begins(route)}" for route in routes]
        text = "\n".join([found.note, *lines, f"{_LIST} lists the names of all."])
        return {"content": [{"type": "text", "text": text}], "isError": False}

    def _list(self, server: object) -> McpResult:
        by_server = grouped(self._routes, lambda one: one.server)
        names = sorted(by_server)
        if server is not None and server not in names:
            server_names = ", ".join(map(repr, names))
            return tool_error(f"there is no server {server!r}; use one of {server_names}, or none")
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


@dataclass(frozen=True, slots=True)
class SearchCosts:
    """Estimated token counts for a toolset. ``full_list`` is the list of all tools, and
    ``own_list`` is the list that ``--search`` shows in its place. ``answers`` counts an answer with
    ``_FEW`` tools in each form: as *names* with a first sentence, as *signatures*, or as *schemas*,
    the form that the search here uses.
    """

    tools: int
    full_list: int
    own_list: int
    answers: Mapping[str, int]

    @property
    def pays_off_for(self) -> int:
        """The most searches in a session that, together with ``own_list``, cost no more than the
        full list.
        """
        return max(0, self.full_list - self.own_list) // max(1, self.answers["schemas"])

    @property
    def in_words(self) -> str:
        """The costs, and when a search pays off, in one sentence."""
        forms = ", ".join(f"{tokens:,} as {form}" for form, tokens in self.answers.items())
        tokens = f"{self.full_list:,} tokens, with --search {self.own_list:,}"
        times = self.pays_off_for
        worth = f"pays off up to {quantity(times, 'search')} a session"
        if not times:
            worth = "does not pay off: the full list is as short"
        return (
            f"the list of {quantity(self.tools, 'tool')} takes {tokens}, and each answer takes "
            f"{forms}; the search {worth}"
        )


def search_costs(table: RoutingTable) -> SearchCosts:
    """The cost of the full list, and of a search in its place."""
    routes = table.listed_routes
    schemas = [_tokens(_for_model(route.listing)) for route in routes]
    own = sum(map(_tokens, map(_for_model, _OWN_RECORDS)))
    eager = (_tokens(_for_model(one.listing)) for one in routes if one.tool_id in table.eager)
    forms = {
        "names": [estimate_tokens(f"{route.name}: {_begins(route)}\n") for route in routes],
        "signatures": [estimate_tokens(_signature(route)) for route in routes],
        "schemas": schemas,
    }
    few = min(_FEW, len(routes)) / max(1, len(routes))
    answers = {form: round(few * sum(tokens)) for form, tokens in forms.items()}
    return SearchCosts(len(routes), sum(schemas), own + sum(eager), answers)


def _for_model(record: JsonObject) -> JsonObject:
    """The parts of a record that clients show to a model."""
    return {key: record[key] for key in ("name", "description", "inputSchema") if key in record}


def _tokens(record: JsonObject) -> int:
    return estimate_tokens(canonical_json(record))


def _signature(route: Route) -> str:
    """A signature such as ``read_file(path: string, lines?: integer)``, followed by the first
    sentence of the description.
    """
    needed = route.listing["inputSchema"].get("required", ())
    parts = (
        f"{name}{'' if name in needed else '?'}: {part.get('type', 'any')}"
        for name, part in properties_of(route.listing["inputSchema"]).items()
        if isinstance(part, dict)
    )
    return f"{route.name}({', '.join(parts)}): {_begins(route)}\n"


def _answer(values: Iterable[JsonObject]) -> McpResult:
    texts = (json.dumps(dict(value), ensure_ascii=False) for value in values)
    return {"content": [{"type": "text", "text": text} for text in texts], "isError": False}


def _begins(route: Route) -> str:
    """The first sentence of the tool's description."""
    text = str(route.record.get("description") or "").strip()
    return re.split(r"(?<=[.!?])\s|\n", text, maxsplit=1)[0].strip()
