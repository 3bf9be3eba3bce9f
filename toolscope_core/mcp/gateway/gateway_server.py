"""The MCP server that agents connect to: the merged tools, and what originals offer beside."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.server import NotificationOptions, Server
from mcp.server.context import CallNext, HandlerResult
from pydantic import ValidationError

from toolscope_core.mcp.gateway.callers import Context
from toolscope_core.mcp.gateway.original_calls import FRESH, Result
from toolscope_core.mcp.gateway.passed_content import PassedContent
from toolscope_core.mcp.gateway.request_ids import RequestsUnderWay
from toolscope_core.mcp.gateway.tool_calls import ToolCalls
from toolscope_core.model.errors import ToolScopeError
from toolscope_core.model.tool import JsonObject

NAME = "toolscope"
PAGE, LONGEST_CURSOR = 500, 12
"""So many tools are in one page of a list."""
_RAW: ContextVar[dict[str, Any] | None] = ContextVar("result of an original", default=None)


class ToolFinder(Protocol):
    """Shows agents a way to find tools in place of all of them."""

    @property
    def records(self) -> list[JsonObject]: ...

    async def call(self, context: Context, params: types.CallToolRequestParams) -> Result: ...


@dataclass(frozen=True, slots=True)
class Gateway:
    """What answers in a gateway that is open; ``finder`` where tools are found by search instead of
    listed.
    """

    calls: ToolCalls
    content: PassedContent
    instructions: str = ""
    finder: ToolFinder | None = None

    async def open_all(self) -> dict[str, str]:
        """Open every server; the failures, in words, by server."""
        failures: dict[str, str] = {}

        async def look(name: str) -> None:
            try:
                await self.calls.servers.ready(name, self.calls.callers.requests(name, None))
            except ToolScopeError as error:
                failures[name] = str(error)

        async with anyio.create_task_group() as group:
            for name in self.calls.table.servers:
                group.start_soon(look, name)
        return failures


def gateway_server(gateway: Gateway, version: str) -> Server[Any]:
    """The server; its transports are for the caller to run."""
    callers, tools = gateway.calls.callers, gateway.finder or gateway.calls
    routes = gateway.calls.table.routes

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> Result:
        callers.heard(context)
        return page_of("tools", tools.records, params.cursor if params else None)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> Result:
        callers.heard(context)
        result = await tools.call(context, params)
        box = _RAW.get()
        if box is not None:
            box["result"] = result
        return {**FRESH, **result}

    server: Server[Any] = Server(
        NAME,
        version=version,
        instructions=gateway.instructions or None,
        on_list_tools=list_tools,  # type: ignore[arg-type]
        on_call_tool=call_tool,  # type: ignore[arg-type]
        get_tool_input_schema=lambda name: routes[name].schema if name in routes else None,
    )
    server.create_initialization_options = partial(  # type: ignore[method-assign]
        server.create_initialization_options, NotificationOptions(True, True, True)
    )
    gateway.content.add_to(server)
    server.middleware += [RequestsUnderWay(), _as_it_came]
    return server


def page_of(what: str, records: list[JsonObject], cursor: str | None) -> Result:
    """A page of a list, which begins at the number ``cursor``; an unknown one begins it anew."""
    start = int(cursor) if cursor and cursor.isdecimal() and len(cursor) < LONGEST_CURSOR else 0
    page: dict[str, Any] = {what: records[start : start + PAGE], **FRESH}
    if start + PAGE < len(records):
        page["nextCursor"] = str(start + PAGE)
    return page


async def _as_it_came(ctx: Context, call_next: CallNext) -> HandlerResult:
    """A tool's result with all that its original sent, where the SDK sends what it knows."""
    if ctx.method != "tools/call":
        return await call_next(ctx)
    box: dict[str, Any] = {}
    token = _RAW.set(box)
    try:
        shaped = await call_next(ctx)
    finally:
        _RAW.reset(token)
    raw = box.get("result")
    if not isinstance(shaped, dict) or raw is None:
        return shaped
    own = {key: shaped[key] for key in ("resultType", "_meta") if key in shaped}
    if isinstance(raw.get("_meta"), dict):
        own["_meta"] = {**raw["_meta"], **own.get("_meta", {})}
    return {**{key: value for key, value in raw.items() if key != "resultType"}, **own}


@asynccontextmanager
async def own_client(
    gateway: Gateway, version: str, mode: str = "legacy", **callbacks: Any
) -> AsyncIterator[Client]:
    """A client that is connected; ``mode`` and ``callbacks`` as the SDK's ``Client`` takes them."""
    server = gateway_server(gateway, version)
    async with Client(server, mode=mode, cache=None, **callbacks) as client:
        yield client


async def result_in_words(client: Client, name: str, arguments: JsonObject) -> tuple[str, bool]:
    """What a tool answers, as a text, and whether that is an error."""
    try:
        result = await client.call_tool(name, dict(arguments))
    except MCPError as error:
        return error.message, True
    except (RuntimeError, ValidationError) as error:  # the result is not what its schema says
        return f"{name} gave a result that cannot be read: {error}", True
    parts = [
        part.text if part.type == "text" else f"[{part.type} that is not shown]"
        for part in result.content
    ]
    return "\n".join(parts) or "done", bool(result.is_error)
