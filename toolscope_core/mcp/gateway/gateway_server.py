"""The MCP server for agents: the merged tools, and the originals' other features.

The id of a request must be unique until the request is answered. Until then, a second request with
the same id is refused, because the two answers could not be told apart.
"""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.server import NotificationOptions, Server
from mcp.server.context import CallNext, HandlerResult
from mcp_types import INVALID_REQUEST
from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolscope_core.mcp.gateway.callers import (
    NO_SESSION,
    SESSION_HEADER,
    Context,
    apps_of,
    session_of,
)
from toolscope_core.mcp.gateway.original_calls import FRESH, McpResult
from toolscope_core.mcp.gateway.server_features import ServerFeatures
from toolscope_core.mcp.gateway.tool_calls import ToolCalls
from toolscope_core.mcp.servers.sessions import APPS
from toolscope_core.model.errors import ToolScopeError
from toolscope_core.model.tool import JsonObject

NAME = "toolscope"
PAGE, LONGEST_CURSOR = 500, 12
"""The most tools on one page of a list, and the length at which a cursor is no longer read."""
_RAW: ContextVar[dict[str, Any] | None] = ContextVar("result of an original", default=None)


class ToolFinder(Protocol):
    """Gives agents a search for tools instead of the whole list."""

    @property
    def records(self) -> list[JsonObject]: ...

    async def call(self, context: Context, params: types.CallToolRequestParams) -> McpResult: ...


@dataclass(frozen=True, slots=True)
class Gateway:
    """The parts of an open gateway.

    ``finder`` is set if agents find tools by search and not in a list. Unless ``is_live``, the list
    of tools does not change within a session, because a changed list would change the beginning of
    every prompt.
    """

    calls: ToolCalls
    content: ServerFeatures
    instructions: str = ""
    finder: ToolFinder | None = None
    is_live: bool = False
    _lists: dict[str, list[JsonObject]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.calls.callers.when_gone.append(self._forget)

    def listed(self, context: Context) -> list[JsonObject]:
        """The tools for the client that sent a request; within a session, the tools of the
        session's first list.
        """
        session = session_of(context)
        if self.is_live or session.startswith(NO_SESSION):
            return self._now(context)
        if session not in self._lists:
            now, others = self._now(context), self._lists.values()
            self._lists[session] = next((one for one in reversed(others) if one == now), now)
        return self._lists[session]

    def _now(self, context: Context) -> list[JsonObject]:
        records = (self.finder or self.calls).records
        return self.calls.for_apps(records) if apps_of(context) is not None else records

    def _forget(self, session: str) -> None:
        self._lists.pop(session, None)

    async def open_all(self, servers: Sequence[str]) -> dict[str, ToolScopeError]:
        """Open these servers; returns the failures, keyed by server."""
        failures: dict[str, ToolScopeError] = {}

        async def look(name: str) -> None:
            try:
                await self.calls.servers.ready(name, self.calls.callers.requests(name, None))
            except ToolScopeError as error:
                failures[name] = error

        async with anyio.create_task_group() as group:
            for name in servers:
                group.start_soon(look, name)
        return failures


def gateway_server(gateway: Gateway, version: str) -> Server[Any]:
    """The MCP server of a gateway; the caller runs the transports."""
    callers, tools = gateway.calls.callers, gateway.finder or gateway.calls
    routes = gateway.calls.table.routes

    async def list_tools(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> McpResult:
        callers.heard(context)
        return _page_of(gateway.listed(context), params.cursor if params else None)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> McpResult:
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
        server.create_initialization_options, NotificationOptions(True, True, gateway.is_live)
    )
    if gateway.calls.table.apps.servers:
        server.extensions[APPS] = {}
    gateway.content.add_to(server)
    server.middleware += [RequestsUnderWay(), _as_it_came]
    return server


def _page_of(records: list[JsonObject], cursor: str | None) -> McpResult:
    """A page of the tools, beginning at the number ``cursor``; for an unknown cursor, the first
    page.
    """
    start = int(cursor) if cursor and cursor.isdecimal() and len(cursor) < LONGEST_CURSOR else 0
    page: dict[str, Any] = {"tools": records[start : start + PAGE], **FRESH}
    if start + PAGE < len(records):
        page["nextCursor"] = str(start + PAGE)
    return page


async def _as_it_came(ctx: Context, call_next: CallNext) -> HandlerResult:
    """A tool's result with everything that the original sent. The SDK would send only the fields
    that it knows.
    """
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
    """A client that is connected to the gateway; ``mode`` and ``callbacks`` are those of the SDK's
    ``Client``.
    """
    server = gateway_server(gateway, version)
    async with Client(server, mode=mode, cache=None, **callbacks) as client:
        yield client


async def result_in_words(client: Client, name: str, arguments: JsonObject) -> tuple[str, bool]:
    """A tool's answer as text, and whether it is an error."""
    try:
        result = await client.call_tool(name, dict(arguments))
    except MCPError as error:
        return error.message, True
    except (RuntimeError, ValidationError) as error:  # the result does not match its schema
        return f"{name} returned a result that cannot be read: {error}", True
    parts = [
        part.text if part.type == "text" else f"[{part.type}, not shown]" for part in result.content
    ]
    return "\n".join(parts) or "done", bool(result.is_error)


REFUSAL = "the id {} belongs to a request without an answer so far; use a new id for each request"


@dataclass(frozen=True, slots=True)
class RequestsUnderWay:
    """Server middleware that refuses a second concurrent request with the
    same id in one session.
    """

    ids: set[tuple[str, str]] = field(default_factory=set)

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None:
            return await call_next(ctx)
        key = session_of(ctx), str(ctx.request_id)
        if key in self.ids:
            raise MCPError(INVALID_REQUEST, REFUSAL.format(ascii(ctx.request_id)))
        self.ids.add(key)
        try:
            return await call_next(ctx)
        finally:
            self.ids.discard(key)


def with_single_ids(inner: ASGIApp) -> ASGIApp:
    """Refuses a second concurrent request with the same id over HTTP, before the SDK gives it the
    stream of the first request.
    """
    under_way: set[tuple[str, str]] = set()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        session = dict(scope.get("headers", ())).get(SESSION_HEADER.encode(), b"").decode("latin-1")
        if scope["type"] != "http" or scope["method"] != "POST" or not session:
            await inner(scope, receive, send)
            return
        messages = await _whole(receive)
        number = _id_of(b"".join(message.get("body", b"") for message in messages))
        key = session, str(number)
        if number is not None and key in under_way:
            await _refuse(send, number)
            return

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        if number is not None:
            under_way.add(key)
        try:
            await inner(scope, again, send)
        finally:
            if number is not None:
                under_way.discard(key)

    return app


async def _whole(receive: Receive) -> list[Message]:
    """The messages of a request up to the end of its body."""
    messages: list[Message] = []
    while not messages or (
        messages[-1]["type"] == "http.request" and messages[-1].get("more_body")
    ):
        messages.append(await receive())
    return messages


def _id_of(body: bytes) -> Any:
    """The id of the request in a body; ``None`` if the body is anything else, which the SDK
    answers.
    """
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    is_request = isinstance(message, dict) and "method" in message
    return message.get("id") if is_request else None


async def _refuse(send: Send, number: Any) -> None:
    error = {"code": INVALID_REQUEST, "message": REFUSAL.format(ascii(number)[:100])}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})
