"""Passes requests and messages of original servers to the agent's client.

They go to the client of the current call. A request is refused in words if there is no such client,
or if the client does not support the request.
"""

import warnings
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.message import ServerMessageMetadata
from mcp_types import INVALID_PARAMS, URL_ELICITATION_REQUIRED

from toolscope_core.catalog.scan.hidden import for_agent, for_terminal
from toolscope_core.files.json_lines import objects_of_list
from toolscope_core.mcp.gateway.call_mapping import NOTHING_FIXED, FixedValues
from toolscope_core.mcp.servers.sessions import ANY_APP, APPS, ServerRequests
from toolscope_core.model.tool import JsonObject, with_texts

ELICITATION, SAMPLING = "elicitation/create", "sampling/createMessage"
ASKER = "toolscope/server"
"""The ``_meta`` key under which a request names the server that asks."""


@dataclass(frozen=True, slots=True)
class Sender:
    """A server that sends messages: its name in the catalog, and the values that its messages must
    not show.
    """

    name: str
    fixed: FixedValues = NOTHING_FIXED

    def request(self, method: str, params: JsonObject) -> JsonObject:
        """The parameters of the server's request, with the server's name added for the person.

        The name is in the message of an elicitation, or before the system prompt of a sampling
        request. Raises ``MCPError`` if an address is not a web address, has a user name, or
        contains a fixed value.
        """
        if method == SAMPLING:
            params = self._cleaned(params)
            own = params.get("systemPrompt")
            prompt = own if isinstance(own, str) else ""
            who = f"The server {for_terminal(self.name)} asks this, not the user.\n\n"
            params = {**params, "systemPrompt": f"{who}{prompt}".rstrip()}
        elif method == ELICITATION:
            if "url" in params or params.get("mode") == "url":
                self._check(params.get("url"))
            params = self._cleaned(params)
            # one paragraph, because text after a line break could pass for another server's
            message = " ".join(str(params.get("message") or "").split())
            params = {**params, "message": f"{for_terminal(self.name)} asks: {message}"}
        else:
            return params
        meta = params.get("_meta")
        return {**params, "_meta": {**(meta if isinstance(meta, dict) else {}), ASKER: self.name}}

    def result(self, result: JsonObject) -> dict[str, Any]:
        """A result in the form in which it is passed on.

        Errors are passed on without fixed values. Requests in a result are changed by ``request``.
        Everything else is unchanged.
        """
        if result.get("isError"):
            return {**self.fixed.cut_all(result), "isError": True}
        inputs = result.get("inputRequests")
        if result.get("resultType") != "input_required" or not isinstance(inputs, dict):
            return dict(result)
        return {**result, "inputRequests": {key: self._request(one) for key, one in inputs.items()}}

    def error(self, error: Exception) -> Exception:
        """The server's error, as far as it may be shown."""
        error = self.fixed.cut_error(error)
        if not isinstance(error, MCPError) or error.error.code != URL_ELICITATION_REQUIRED:
            return error
        data = error.error.data if isinstance(error.error.data, dict) else {}
        try:
            questions = [
                self.request(ELICITATION, {"mode": "url", **one})
                for one in objects_of_list(data.get("elicitations"))
            ]
        except MCPError as refused:
            return refused
        return MCPError(error.error.code, error.error.message, {**data, "elicitations": questions})

    def _cleaned(self, params: JsonObject) -> JsonObject:
        """The parameters, with fixed values and hidden characters removed from each text."""
        cleaned: JsonObject = with_texts(self.fixed.cut_all(params), for_agent)
        return cleaned

    def _request(self, request: Any) -> Any:
        if not isinstance(request, dict) or not isinstance(request.get("params"), dict):
            return request
        return {**request, "params": self.request(str(request.get("method")), request["params"])}

    def _check(self, url: Any) -> None:
        try:
            parts = urlsplit(url) if isinstance(url, str) and url.isprintable() else urlsplit("")
            is_of_web = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_of_web = False
        if isinstance(url, str) and self.fixed.cut(url) != url:
            raise MCPError(
                INVALID_PARAMS,
                f"{for_terminal(self.name)} asks the user to open an address that contains a "
                "value fixed by a profile; the request is not passed on",
            )
        if not is_of_web or parts.username is not None or set(url) & set(" \\"):
            raise MCPError(
                INVALID_PARAMS,
                f"{for_terminal(self.name)} asks the user to open {ascii(url)[:200]}; only http "
                "and https addresses without a user name in them are passed on",
            )


MOST_WAITING = 1_000
"""The most messages from one sender that wait for a client; a further message replaces the oldest
one.
"""
TAKING_SECONDS = 5.0
"""A client that does not accept a message within this many seconds gets no more messages."""

Lane = tuple[str, str]
"""A client, and the server that sends the messages; empty if no server sends them."""
_Message = Callable[["ServerSession"], Awaitable[None]]


@dataclass(slots=True)
class _Outbox:
    """The messages from one sender that wait for one client, oldest first, keyed by subject."""

    session: ServerSession
    messages: dict[Hashable, _Message] = field(default_factory=dict)


class Outboxes:
    """Sends messages in ``group``. Each client gets the messages from one sender in order, without
    waiting for other senders.

    ``on_gone`` is called for a client that did not accept a message in time.
    """

    def __init__(self, group: TaskGroup, on_gone: Callable[[str], None]) -> None:
        self._group, self._on_gone = group, on_gone
        self._outboxes: dict[Lane, _Outbox] = {}

    def post(
        self, lane: Lane, session: ServerSession, message: _Message, about: Hashable = None
    ) -> None:
        """Send a message as soon as the client accepts it.

        The message replaces a waiting message with the same ``about``.
        """
        outbox = self._outboxes.get(lane)
        if outbox is None:
            outbox = self._outboxes[lane] = _Outbox(session)
            self._group.start_soon(self._send, lane, outbox)
        outbox.session = session
        outbox.messages[object() if about is None else about] = message
        if len(outbox.messages) > MOST_WAITING:
            del outbox.messages[next(iter(outbox.messages))]

    async def flush(self, lane: Lane) -> None:
        """Wait until the client has accepted the messages that are waiting now, but no longer than
        ``TAKING_SECONDS``.

        Messages that are posted meanwhile are not waited for.
        """
        outbox, delivery = self._outboxes.get(lane), anyio.Event()

        async def mark(session: ServerSession) -> None:
            delivery.set()

        if outbox is not None:
            self.post(lane, outbox.session, mark)
            with anyio.move_on_after(TAKING_SECONDS):
                await delivery.wait()

    async def _send(self, lane: Lane, outbox: _Outbox) -> None:
        try:
            while outbox.messages:
                message = outbox.messages.pop(next(iter(outbox.messages)))
                with anyio.move_on_after(TAKING_SECONDS) as limit, suppress(Exception):
                    await message(outbox.session)
                    continue
                if limit.cancelled_caught:
                    self._on_gone(lane[0])
                    return
        finally:
            del self._outboxes[lane]


Context = ServerRequestContext[Any, Any]

MOST_CLIENTS, _LONGEST_NAME = 1_000, 80
SESSION_HEADER = "mcp-session-id"
NO_SESSION = "request "
"""The beginning of the key for a request without a session."""
OFFERS = {
    "sampling": "answer prompts (sampling)",
    "elicitation": "ask its user (elicitation)",
    "roots": "name its folders (roots)",
}


_ASKER: ContextVar[Context | None] = ContextVar("asker", default=None)


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """A call in progress; ``over`` is set when it has ended."""

    context: Context
    over: anyio.Event

    @property
    def client(self) -> str:
        return session_of(self.context)


class Callers:
    """The known clients, keyed by session, and the calls in progress on each original server.

    Messages are sent in ``group``, without the values that are ``fixed`` for the server.
    """

    def __init__(
        self, group: TaskGroup, fixed: Mapping[str, FixedValues] = MappingProxyType({})
    ) -> None:
        self._fixed = fixed
        self._sessions: dict[str, ServerSession] = {}
        self._calls: dict[str, list[_Call]] = {}
        self._outboxes = Outboxes(group, self._forget)
        self.when_gone: list[Callable[[str], None]] = []
        """These are called for a client that gets no more messages."""

    def sender(self, server: str) -> Sender:
        """The server as the sender of its messages."""
        return Sender(server, self._fixed.get(server, NOTHING_FIXED))

    def heard(self, context: Context) -> None:
        """Register the client for notifications, if it has a session for them."""
        key = session_of(context)
        if not key.startswith(NO_SESSION):
            if self._sessions.pop(key, None) is None:
                context.session._connection.exit_stack.callback(self._forget, key)
            self._sessions[key] = context.session
            if len(self._sessions) > MOST_CLIENTS:
                self._forget(next(iter(self._sessions)))

    def tell(
        self, message: _Message, about: Hashable, among: Collection[Hashable] | None = None
    ) -> None:
        """Send a message to every client, or only to the clients in ``among``. It replaces waiting
        messages with the same ``about``.
        """
        for key, session in self._sessions.items():
            if among is None or key in among:
                self._outboxes.post((key, ""), session, message, about)

    async def wait_for_delivery(self, server: str, context: Context) -> None:
        """Wait until the client of a call has accepted the messages that the server sent during the
        call.
        """
        await self._outboxes.flush((session_of(context), server))

    @contextmanager
    def calling(self, server: str, context: Context) -> Iterator[None]:
        """While this context is open, the server's requests belong to this call."""
        calls, call = self._calls.setdefault(server, []), _Call(context, anyio.Event())
        calls.append(call)
        try:
            yield
        finally:
            calls.remove(call)
            call.over.set()

    def requests(self, server: str, context: Context | None) -> ServerRequests:
        """The handlers for the server's own requests, as far as the client of ``context`` supports
        them.

        Over HTTP, several clients share the connection. All handlers are offered then, and ``_ask``
        refuses a request that the client in question does not support.
        """
        offers = context.session.client_capabilities if context is not None else None
        is_shared = context is not None and _headers_of(context) is not None

        async def sampling(context: Any, params: types.CreateMessageRequestParams) -> Any:
            wants_tools = params.tools is not None or params.tool_choice is not None
            result = (
                types.CreateMessageResultWithTools if wants_tools else types.CreateMessageResult
            )
            request = types.CreateMessageRequest(params=params)
            return await self._ask(server, "sampling", request, result)

        async def elicitation(context: Any, params: types.ElicitRequestParams) -> Any:
            request = types.ElicitRequest(params=params)
            return await self._ask(server, "elicitation", request, types.ElicitResult)

        async def roots(context: Any) -> Any:
            request = types.ListRootsRequest()
            return await self._ask(server, "roots", request, types.ListRootsResult)

        def can(what: str) -> bool:
            return is_shared or (offers is not None and getattr(offers, what) is not None)

        return ServerRequests(
            sampling=sampling if can("sampling") else None,
            elicitation=elicitation if can("elicitation") else None,
            roots=roots if can("roots") else None,
            logging=partial(self._log, server),
            client=_client_of(context),
            apps=ANY_APP if is_shared or context is None else apps_of(context),
        )

    async def _ask(self, server: str, capability: str, request: Any, result: Any) -> Any:
        """The client's own answer, or an error that says why there is no answer."""
        try:
            request = self._in_server_name(server, request)
        except MCPError as refused:
            return refused.error
        session, call, why = self._asked_client(server)
        if session is None:
            return types.ErrorData(code=types.INVALID_REQUEST, message=why)
        capabilities = session.client_capabilities
        if capabilities is None or getattr(capabilities, capability) is None:
            message = f"the agent's client does not {OFFERS[capability]}, which {server} requests"
            return types.ErrorData(code=types.INVALID_REQUEST, message=message)
        context = call.context if call else _ASKER.get()
        related = ServerMessageMetadata(related_request_id=context.request_id) if context else None
        answer: Any = types.ErrorData(
            code=types.INVALID_REQUEST, message=f"the call in which {server} asked was cancelled"
        )
        async with anyio.create_task_group() as group:
            if call is not None:
                group.start_soon(_cancel_after, call.over, group.cancel_scope)
            try:
                answer = await session.send_request(request, result, metadata=related)
            except MCPError as error:
                answer = error.error
            group.cancel_scope.cancel()
        return answer

    def _in_server_name(self, server: str, request: Any) -> Any:
        """The server's request, with the server's name added. Raises ``MCPError`` if the request is
        not passed on.
        """
        if request.params is None:
            return request
        fields = request.params.model_dump(mode="json", by_alias=True, exclude_none=True)
        params = self.sender(server).request(request.method, fields)
        kind = type(request.params)
        return type(request)(params=kind.model_validate(params, by_name=False))

    def _asked_client(self, server: str) -> tuple[ServerSession | None, _Call | None, str]:
        """The client to which a server's request goes, and the call to which the request belongs;
        or else the reason why there is no client.
        """
        if (asker := _ASKER.get()) is not None:
            return asker.session, None, ""
        calls = self._calls.get(server) or []
        if len({call.client for call in calls}) > 1:
            return (None, None, f"{server} asks, but it cannot say which of several clients")
        if calls:
            session = calls[-1].context.session
            if not session.can_send_request:
                why = f"{server} sends a request during a call, which the agent's client rejects"
                return None, None, why
            return session, calls[-1], ""
        if len(self._sessions) == 1:
            return next(iter(self._sessions.values())), None, ""
        return None, None, f"{server} asks while it is not being called"

    async def _log(self, server: str, params: types.LoggingMessageNotificationParams) -> None:
        """Pass a log message to the client of the current call; if there is no call, pass it to all
        clients.

        If several clients are calling the server, nobody gets the message, because it may be about
        another client's call.
        """
        source = params.logger if params.logger and params.logger != server else ""
        logger = f"{server}: {source}" if source else server
        calls = self._calls.get(server) or []
        data = self.sender(server).fixed.cut_all(params.data)

        async def say(session: ServerSession, request: Any = None) -> None:
            with warnings.catch_warnings():
                # the SDK warns about logs, which the latest version leaves out and earlier clients
                # use
                warnings.simplefilter("ignore")
                await session.send_log_message(params.level, data, logger, request)

        if not calls:
            self.tell(say, object())
        elif len({call.client for call in calls}) == 1:
            context = calls[-1].context
            lane = calls[-1].client, server
            self._outboxes.post(lane, context.session, partial(say, request=context.request_id))

    def _forget(self, client: str) -> None:
        self._sessions.pop(client, None)
        for hear in self.when_gone:
            hear(client)


@contextmanager
def asked_by(context: Context) -> Iterator[None]:
    """While this context is open, requests in this task go to the client of ``context``."""
    token = _ASKER.set(context)
    try:
        yield
    finally:
        _ASKER.reset(token)


async def _cancel_after(over: anyio.Event, scope: anyio.CancelScope) -> None:
    await over.wait()
    scope.cancel()


def session_of(context: Context) -> str:
    """The key of a client's session.

    The key is empty if the gateway has only one client. HTTP clients with MCP 2026-07-28 have no
    session, so each of their requests has a key of its own.
    """
    headers = _headers_of(context)
    if headers is None:
        return ""
    return str(headers.get(SESSION_HEADER) or f"{NO_SESSION}{id(context.session)}")


def apps_of(context: Context) -> JsonObject | None:
    """The client's declaration of the apps that it shows (MCP Apps); ``None`` if it shows none."""
    capabilities = context.session.client_capabilities
    extensions = (capabilities.extensions or {}) if capabilities is not None else {}
    return extensions.get(APPS)


def client_name(context: Context) -> str:
    """The client's own name, on one short line; empty if the client gives none."""
    client = context.session.client_params
    name = client.client_info.name if client is not None else ""
    return "".join(char for char in name if char.isprintable())[:_LONGEST_NAME]


def _client_of(context: Context | None) -> Hashable:
    """A value that identifies the client and is never reused. Keys without a session are not used
    here, because they may repeat.
    """
    key = session_of(context) if context is not None else ""
    return context.session if context is not None and key.startswith(NO_SESSION) else key


def _headers_of(context: Context) -> Any:
    """The headers of the request; ``None`` if the request did not come over HTTP."""
    return getattr(context.request, "headers", None)
