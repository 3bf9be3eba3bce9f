"""One call of an original over its open connection: its result as it came."""

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.client.session import ClientRequestContext
from mcp_types import SERVER_INFO_META_KEY
from pydantic import TypeAdapter

from toolscope_core.mcp.gateway.callers import Context, asked_by
from toolscope_core.mcp.servers.sessions import OpenServer

Result = dict[str, Any]
"""A result of MCP as JSON, with all that its server sent."""
AS_IT_CAME: Any = TypeAdapter(Result)
"""Takes a result as it is; the SDK's own types drop what they do not know."""
MOST_ROUNDS = 10
"""So often a server may ask for something before it gives its result."""
ENVELOPE = frozenset(
    {
        "progressToken",
        "progress_token",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/clientCapabilities",
    }
)
"""What a request says of its own connection; all else of its ``_meta`` is passed on."""
FRESH = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""What MCP asks of results since 2026-07-28; the SDK leaves it out for earlier clients."""


async def call_original(
    server: OpenServer,
    name: str,
    arguments: dict[str, Any],
    context: Context,
    params: types.CallToolRequestParams,
) -> Result:
    """The result as the original sent it. Its progress goes to the agent's client; where the
    agent's call is cancelled, so is this one.

    Raises what the SDK raises.
    """
    meta = {key: value for key, value in (context.meta or {}).items() if key not in ENVELOPE}
    progress = context.session.report_progress if _wants_progress(context) else None
    given: dict[str, Any] = {
        "_meta": meta or None,
        "input_responses": params.input_responses,
        "request_state": params.request_state,
    }
    for _ in range(MOST_ROUNDS):
        request = types.CallToolRequest(
            params=types.CallToolRequestParams(name=name, arguments=arguments, **given)
        )
        result: dict[str, Any] = await server.client.session.send_request(
            request, AS_IT_CAME, progress_callback=progress
        )
        if result.get("resultType") != "input_required" or not context.session.can_send_request:
            return _unsigned(result)
        with asked_by(context):
            given |= await _answers(server, result)
    raise RuntimeError(f"{server.name} asked more than {MOST_ROUNDS} times; update the server")


def _unsigned(result: Result) -> Result:
    """The result without what a server of the latest version says of itself in each: to the agent
    the gateway is the server.
    """
    meta = result.get("_meta")
    if not isinstance(meta, dict) or SERVER_INFO_META_KEY not in meta:
        return result
    kept = {key: value for key, value in meta.items() if key != SERVER_INFO_META_KEY}
    rest = {key: value for key, value in result.items() if key != "_meta"}
    return {**rest, "_meta": kept} if kept else rest


async def _answers(server: OpenServer, result: Mapping[str, Any]) -> dict[str, Any]:
    """What a client of an earlier version answers where the server asks in its result."""
    asked = types.InputRequiredResult.model_validate(result, by_name=False)
    answers: dict[str, Any] = {}
    session = server.client.session
    for key, request in (asked.input_requests or {}).items():
        answer = await session.dispatch_input_request(
            ClientRequestContext(session=session, request_id=key), request
        )
        if isinstance(answer, types.ErrorData):
            raise MCPError.from_error_data(answer)
        answers[key] = answer
    return {"input_responses": answers or None, "request_state": asked.request_state}


def _wants_progress(context: Context) -> bool:
    meta = context.meta or {}
    return meta.get("progress_token") is not None or meta.get("progressToken") is not None
