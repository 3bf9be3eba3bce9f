"""One call of an original over its open connection, and its unchanged result."""

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.client.session import ClientRequestContext
from mcp_types import SERVER_INFO_META_KEY
from pydantic import BaseModel, TypeAdapter

from toolscope_core.mcp.gateway.callers import Context, Sender, asked_by
from toolscope_core.mcp.servers.offers import without_secrets
from toolscope_core.mcp.servers.sessions import OpenServer
from toolscope_core.model.tool import JsonObject

McpResult = dict[str, Any]
"""An MCP result as JSON, with everything that the server sent."""
AS_IT_CAME: Any = TypeAdapter(McpResult)
"""Accepts a result unchanged; the SDK's own types drop unknown fields."""
ANY_REQUEST = types.Request[McpResult, str]
MOST_ROUNDS = 10
"""How often a server may ask for something in one call before it gives the result."""
ENVELOPE = frozenset(
    {
        "progressToken",
        "progress_token",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/clientCapabilities",
    }
)
"""The keys in a request's ``_meta`` that are about its own connection; the other keys are passed
on.
"""
FRESH = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""Fields that every result must have since MCP 2026-07-28; the SDK leaves them out for earlier
clients.
"""


async def ask_original(
    server: OpenServer, method: str, params: JsonObject, context: Context, sender: Sender
) -> McpResult:
    """The original's result, as ``sender`` passes it on.

    Progress goes to the agent's client; if the client's request is cancelled, the request to the
    original is cancelled too. Raises the exceptions of the SDK, and ``RuntimeError`` if the server
    asks for input ``MOST_ROUNDS`` times.
    """
    meta = {key: value for key, value in (context.meta or {}).items() if key not in ENVELOPE}
    own_params = {**params, "_meta": meta} if meta else {**params}

    async def tell_progress(progress: float, total: float | None, message: str | None) -> None:
        words = sender.fixed.cut(message) if message else message
        await context.session.report_progress(progress, total, words)

    progress = tell_progress if _wants_progress(context) else None
    for _ in range(MOST_ROUNDS):
        request = ANY_REQUEST(method=method, params=own_params)
        result: dict[str, Any] = await server.client.session.send_request(
            request, AS_IT_CAME, progress_callback=progress
        )
        if result.get("resultType") != "input_required" or not context.session.can_send_request:
            own = sender.result(_unsigned(result))
            return without_secrets(own, server.launch.keys) if server.launch.masks_results else own
        with asked_by(context):
            own_params |= await _answers(server, result)
    raise RuntimeError(
        f"{server.name} asked for input over {MOST_ROUNDS} times in one call; update the server"
    )


def plain_params(params: BaseModel) -> McpResult:
    """The parameters of a request as they were sent, without ``_meta``."""
    return params.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"meta"})


def _unsigned(result: McpResult) -> McpResult:
    """The result without the identification that a server with the latest MCP version adds to each
    result.

    For the agent, the gateway is the server.
    """
    meta = result.get("_meta")
    if not isinstance(meta, dict) or SERVER_INFO_META_KEY not in meta:
        return result
    own_meta = {key: value for key, value in meta.items() if key != SERVER_INFO_META_KEY}
    rest = {key: value for key, value in result.items() if key != "_meta"}
    return {**rest, "_meta": own_meta} if own_meta else rest


async def _answers(server: OpenServer, result: Mapping[str, Any]) -> dict[str, Any]:
    """The answers of a client with an earlier MCP version to the requests in a server's result."""
    question = types.InputRequiredResult.model_validate(result, by_name=False)
    answers: dict[str, Any] = {}
    session = server.client.session
    for key, request in (question.input_requests or {}).items():
        answer = await session.dispatch_input_request(
            ClientRequestContext(session=session, request_id=key), request
        )
        if isinstance(answer, types.ErrorData):
            raise MCPError.from_error_data(answer)
        answers[key] = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    state = {"requestState": question.request_state} if question.request_state is not None else {}
    return {"inputResponses": answers, **state}


def _wants_progress(context: Context) -> bool:
    meta = context.meta or {}
    return meta.get("progress_token") is not None or meta.get("progressToken") is not None
