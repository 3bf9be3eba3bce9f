"""A request's id is its own until it is answered: one that is used twice at once is refused, since
the answers of both could not be told apart.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult
from mcp_types import INVALID_REQUEST

from toolscope_core.mcp.gateway.callers import SESSION_HEADER, Context, session_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

REFUSAL = "the id {} is that of a request that is not answered yet; give each an id of its own"


@dataclass(frozen=True, slots=True)
class RequestsUnderWay:
    """Middleware of the server: refuses the second request of an id in one session."""

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
    """The same over HTTP, before the SDK gives the second request the stream of the first."""
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
    """The messages of a request up to the last of its body."""
    messages: list[Message] = []
    while not messages or (
        messages[-1]["type"] == "http.request" and messages[-1].get("more_body")
    ):
        messages.append(await receive())
    return messages


def _id_of(body: bytes) -> Any:
    """The id of the request in a body; ``None`` for anything else, which the SDK answers."""
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
