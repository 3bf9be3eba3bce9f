"""What originals ask of the agent's client, and tell it: passed to the client whose call is under
way, and refused in words where there is none or it does not offer that.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolscope_core.connections.sessions import ServerRequests

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

MOST_CLIENTS = 1_000
SESSION_HEADER = "mcp-session-id"
OFFERS = {
    "sampling": "answer prompts (sampling)",
    "elicitation": "ask its user (elicitation)",
    "roots": "name its folders (roots)",
}


@dataclass(slots=True)
class Callers:
    """The clients that have been heard, by session, and the calls under way on each original
    server.
    """

    _sessions: dict[str, ServerSession] = field(default_factory=dict)
    _calls: dict[str, list[ServerRequestContext[Any, Any]]] = field(default_factory=dict)

    @property
    def sessions(self) -> Mapping[str, ServerSession]:
        """The clients that may be told things, as they are now."""
        return dict(self._sessions)

    def heard(self, context: ServerRequestContext[Any, Any]) -> None:
        """The client is one that may be told things."""
        key = session_of(context)
        self._sessions.pop(key, None)
        self._sessions[key] = context.session
        if len(self._sessions) > MOST_CLIENTS:
            self._sessions.pop(next(iter(self._sessions)))

    @contextmanager
    def calling(self, server: str, context: ServerRequestContext[Any, Any]) -> Iterator[None]:
        """While this is open, what the server asks is about this call."""
        calls = self._calls.setdefault(server, [])
        calls.append(context)
        try:
            yield
        finally:
            calls.remove(context)

    def requests(self, server: str, client: ServerSession | None) -> ServerRequests:
        """What answers the server's own requests: offered as far as ``client`` offers it."""
        offered = client.client_capabilities if client is not None else None

        async def sampling(
            context: Any, params: types.CreateMessageRequestParams
        ) -> types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData:
            import mcp_types as types

            wants_tools = params.tools is not None or params.tool_choice is not None
            result = (
                types.CreateMessageResultWithTools if wants_tools else types.CreateMessageResult
            )
            request = types.CreateMessageRequest(params=params)
            return await self._ask(server, "sampling", request, result)  # type: ignore[no-any-return]

        async def elicitation(
            context: Any, params: types.ElicitRequestParams
        ) -> types.ElicitResult | types.ErrorData:
            import mcp_types as types

            request = types.ElicitRequest(params=params)
            return await self._ask(  # type: ignore[no-any-return]
                server, "elicitation", request, types.ElicitResult
            )

        async def roots(context: Any) -> types.ListRootsResult | types.ErrorData:
            import mcp_types as types

            return await self._ask(  # type: ignore[no-any-return]
                server, "roots", types.ListRootsRequest(), types.ListRootsResult
            )

        async def logging(params: types.LoggingMessageNotificationParams) -> None:
            await self._log(server, params)

        return ServerRequests(
            sampling=sampling if offered and offered.sampling is not None else None,
            elicitation=elicitation if offered and offered.elicitation is not None else None,
            roots=roots if offered and offered.roots is not None else None,
            logging=logging,
        )

    async def _ask(self, server: str, what: str, request: Any, result: Any) -> Any:
        """The client's own answer, or why there is none."""
        import mcp_types as types
        from mcp import MCPError
        from mcp.shared.message import ServerMessageMetadata

        session, context, why = self._asked(server)
        if session is None:
            return types.ErrorData(code=types.INVALID_REQUEST, message=why)
        offered = session.client_capabilities
        if offered is None or getattr(offered, what) is None:
            message = f"the agent's client does not {OFFERS[what]}, which {server} asks for"
            return types.ErrorData(code=types.INVALID_REQUEST, message=message)
        related = ServerMessageMetadata(related_request_id=context.request_id) if context else None
        try:
            return await session.send_request(request, result, metadata=related)
        except MCPError as error:
            return error.error

    def _asked(
        self, server: str
    ) -> tuple[ServerSession | None, ServerRequestContext[Any, Any] | None, str]:
        """The client that a request of the server is for, the call it is about, or why none is."""
        calls = self._calls.get(server) or []
        if len({session_of(call) for call in calls}) > 1:
            return None, None, f"{server} asks while several clients use it; it cannot say which"
        if calls:
            call = calls[-1]
            if not call.session.can_send_request:
                why = f"the agent's client takes no requests during a call, which {server} makes"
                return None, None, why
            return call.session, call, ""
        if len(self._sessions) == 1:
            return next(iter(self._sessions.values())), None, ""
        return None, None, f"{server} asks while no call of it is under way"

    async def _log(self, server: str, params: types.LoggingMessageNotificationParams) -> None:
        calls = self._calls.get(server) or []
        named = params.logger if params.logger and params.logger != server else ""
        logger = f"{server}: {named}" if named else server
        callers = {session_of(call): (call.session, call.request_id) for call in calls}
        for session, request in callers.values() or [
            (one, None) for one in self._sessions.values()
        ]:
            with _without_warnings():
                await session.send_log_message(params.level, params.data, logger, request)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """The SDK warns about what the latest version of MCP leaves out, which earlier clients use."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def session_of(context: ServerRequestContext[Any, Any]) -> str:
    """The key of a client's session, empty where the gateway has one client."""
    headers = getattr(context.request, "headers", None)
    return str(headers.get(SESSION_HEADER, "")) if headers is not None else ""
