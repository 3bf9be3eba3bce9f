"""One open connection to a server, from the handshake to its end."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from toolscope_core.files.json_lines import objects_of_list
from toolscope_core.mcp.servers.launches import Launch
from toolscope_core.mcp.servers.server_addresses import (
    REPLY,
    HttpRecord,
    SessionKind,
    server_address,
)
from toolscope_core.mcp.servers.server_definitions import Transport
from toolscope_core.mcp.servers.server_failures import (
    Situation,
    is_forgotten,
    only_leaf,
    stderr_excerpt,
)
from toolscope_core.mcp.servers.server_processes import (
    HANDSHAKE,
    POLL_SECONDS,
    SETTLE_SECONDS,
    ProcessRecord,
    server_process,
)
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.errors import ToolScopeError
from toolscope_core.model.tool import JsonObject

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import session as sdk
    from mcp_types import ClientCapabilities


IN_A_CALL = "in a call"
Stamp = Callable[[dict[str, Any], Any], None]
_CAN: ContextVar[ClientCapabilities | None] = ContextVar("what a client supports", default=None)
"""The capabilities of the calling client, which each request declares since MCP 2026-07-28."""
Seen = ProcessRecord | HttpRecord
"""The observations of a server, which depend on the transport."""
_WAYS: Mapping[Transport, tuple[SessionKind, ...]] = {
    "stdio": ("stdio",),
    "http": ("http",),
    "sse": ("sse",),
    "http or sse": ("http", "sse"),
}


APPS = "io.modelcontextprotocol/ui"
"""The extension with which a server shows pages with the results of its tools (MCP Apps)."""
ANY_APP: JsonObject = {"mimeTypes": ["text/html;profile=mcp-app"]}


@dataclass(frozen=True, slots=True)
class ServerRequests:
    """Handlers for a server's requests to its client. Requests without a handler are refused.

    ``client`` is any value that identifies the client. ``apps`` is the client's declaration of
    apps; it is ``None`` if the client shows no apps. Listings declare support for apps, because
    some servers have no pages for clients without it.
    """

    sampling: sdk.SamplingFnT | None = None
    elicitation: sdk.ElicitationFnT | None = None
    roots: sdk.ListRootsFnT | None = None
    logging: sdk.LoggingFnT | None = None
    messages: sdk.MessageHandlerFnT | None = None
    client: Hashable = ""
    apps: JsonObject | None = field(default_factory=lambda: ANY_APP)


NO_ANSWERS = ServerRequests()


@dataclass(frozen=True, slots=True)
class OpenServer:
    """A connected server; ``client`` is the SDK's client for it."""

    launch: Launch
    client: Client
    record: Seen = field(repr=False)

    @property
    def name(self) -> str:
        return self.launch.name

    async def tools_page(self, cursor: str | None) -> JsonObject:
        """A page of the server's tools, as sent.

        The SDK would drop unknown fields, and would refuse a whole page for one bad record; here
        the catalog reader decides on both. Raises the exceptions of the SDK.
        """
        from mcp.shared.inbound import x_mcp_header_map

        session = self.client.session
        data: dict[str, Any] = {
            "method": "tools/list",
            "params": {"cursor": cursor} if cursor else {},
        }
        options: Any = {"timeout": self.client.read_timeout_seconds}
        session._stamp(data, options)
        page = await session._dispatcher.send_raw_request("tools/list", data["params"], options)
        for tool in objects_of_list(page.get("tools")):
            if isinstance(tool.get("name"), str) and isinstance(tool.get("inputSchema"), dict):
                with suppress(Exception):  # a tool that fails here is held back
                    headers = x_mcp_header_map(tool["inputSchema"])
                    session._x_mcp_header_maps[tool["name"]] = headers
        return page

    @property
    def stderr(self) -> str:
        """The last lines of the server's standard error, without secrets; empty over HTTP."""
        return stderr_excerpt(self.launch, self.record)

    @property
    def has_ended(self) -> bool:
        """Whether the server's process is gone or no longer writes."""
        record = self.record
        return isinstance(record, ProcessRecord) and (
            record.closed or record.too_long or record.status is not None
        )

    @property
    def leftovers(self) -> tuple[str, ...]:
        """A sentence about processes of the server that could not be stopped, if any. They are
        known once the server has ended.
        """
        group = self.record.group if isinstance(self.record, ProcessRecord) else 0
        what = "that could not be stopped; stop it by hand"
        return (f"{self.name} left the process group {group} {what}",) if group else ()

    def used_by(self, client: Hashable) -> None:
        """Record the client that uses the server now, since text for one client is not shown to
        another.
        """
        if isinstance(self.record, ProcessRecord):
            self.record.used_by(client)

    @contextmanager
    def request(self, can: ClientCapabilities | None = None) -> Iterator[Seen]:
        """While this context is open, requests belong to one call, by a client with the
        capabilities ``can``.

        Callers pass the yielded value to ``failure``, which then describes only that call.
        """
        reply = HttpRecord(IN_A_CALL)
        tokens = REPLY.set(reply), _CAN.set(can)
        try:
            yield replace(self.record) if isinstance(self.record, ProcessRecord) else reply
        finally:
            REPLY.reset(tokens[0])
            _CAN.reset(tokens[1])

    def has_forgotten(self, error: Exception, request: Seen) -> bool:
        """Whether the server no longer knows the session; a server at an address
        then answers 404.
        """
        return isinstance(request, HttpRecord) and is_forgotten(error, request.status)

    async def failure(
        self, error: BaseException, doing: str, request: Seen
    ) -> ToolScopeError | None:
        """The error to show for an exception of a ``request``; ``None`` if the exception is not
        about the server.

        ``doing`` completes the sentence: *while it ran delete_file*. If the process has ended, its
        exit status is waited for.
        """
        with anyio.move_on_after(SETTLE_SECONDS):
            while isinstance(self.record, ProcessRecord) and self.record.status is None:
                await anyio.sleep(POLL_SECONDS)
        seconds = self.client.read_timeout_seconds or 0.0
        if isinstance(request, ProcessRecord) and isinstance(self.record, ProcessRecord):
            request = self.record.since(request)
        return Situation(self.launch, request, doing, seconds).failure(error)


@asynccontextmanager
async def connected(
    launch: Launch, limits: ConnectionLimits, requests: ServerRequests = NO_ANSWERS
) -> AsyncIterator[OpenServer]:
    """An open connection. When the context is left in any way, everything that it started is
    stopped.

    Raises ``ServerConnectionError`` if the server cannot be started or reached, is not ready within
    ``limits.start_seconds``, or ends. It also replaces the SDK's exceptions that leave the body. An
    old server that supports only SSE is tried again with SSE, unless the definition fixes the
    transport.
    """
    load_sdk()
    first: ToolScopeError | None = None
    ways = _WAYS[launch.definition.transport]
    for way in ways:
        record = ProcessRecord() if way == "stdio" else HttpRecord()
        failure: ToolScopeError | None = None
        with anyio.CancelScope(deadline=anyio.current_time() + limits.start_seconds) as scope:
            try:
                async with _open(launch, way, limits, record, requests) as server:
                    scope.deadline, record.doing = float("inf"), IN_A_CALL
                    yield server
                return
            except (Exception, BaseExceptionGroup) as error:
                seconds = limits.answer_seconds
                failure = Situation(launch, record, record.doing, seconds).failure(error)
                if failure is None and (alone := only_leaf(error)) is not error:
                    raise alone from None
                if failure is None:
                    raise
        situation = Situation(launch, record, record.doing, limits.start_seconds)
        failure = failure or situation.late()
        first = first or failure
        if record.doing != HANDSHAKE or way == ways[-1] or not situation.looks_older:
            is_refused = getattr(failure, "kind", "") == "refused"  # a header is missing or wrong
            raise (failure if is_refused else first) from None


@asynccontextmanager
async def _open(
    launch: Launch,
    way: SessionKind,
    limits: ConnectionLimits,
    record: Seen,
    requests: ServerRequests,
) -> AsyncIterator[OpenServer]:
    from mcp import Client
    from mcp.client.extension import advertise
    from mcp_types import Implementation

    if isinstance(record, ProcessRecord):
        transport = server_process(launch, limits, record)
    else:
        transport = server_address(launch, way, limits, record)
    async with (
        transport as (incoming, outgoing),
        Client(
            nullcontext((incoming, outgoing)),
            read_timeout_seconds=limits.answer_seconds,
            sampling_callback=requests.sampling,
            elicitation_callback=requests.elicitation,
            list_roots_callback=requests.roots,
            logging_callback=requests.logging,
            message_handler=requests.messages,
            client_info=Implementation(name="toolscope", version="1"),
            cache=None,
            log_level="info",
            extensions=[advertise(APPS, dict(requests.apps))] if requests.apps is not None else [],
        ) as client,
    ):
        client.session._stamp = partial(_stamp_call, client.session._stamp)
        yield OpenServer(launch, client, record)


def _stamp_call(stamp: Stamp, data: dict[str, Any], options: Any) -> None:
    """Add the capabilities of the calling client to a request that declares capabilities."""
    from mcp_types import CLIENT_CAPABILITIES_META_KEY

    stamp(data, options)
    can, meta = _CAN.get(), (data.get("params") or {}).get("_meta") or {}
    if can is not None and CLIENT_CAPABILITIES_META_KEY in meta:
        capabilities = can.model_dump(mode="json", by_alias=True, exclude_none=True)
        meta[CLIENT_CAPABILITIES_META_KEY] = capabilities


def load_sdk() -> None:
    """Import the SDK. The import takes a second, which should not count as time that a server
    takes.

    The SDK's logs are kept out of ours, because they contain whole messages and addresses,
    including keys.
    """
    import mcp.client.sse
    import mcp.client.stdio
    import mcp.client.streamable_http  # noqa: F401

    for name in ("mcp", "client", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
