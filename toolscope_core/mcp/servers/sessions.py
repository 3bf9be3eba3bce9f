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
"""The calling client's capabilities, which each request declares since MCP 2026-07-28."""
Seen = ProcessRecord | HttpRecord
"""The observations of a server, by transport."""
_WAYS: Mapping[Transport, tuple[SessionKind, ...]] = {
    "stdio": ("stdio",),
    "http": ("http",),
    "sse": ("sse",),
    "http or sse": ("http", "sse"),
}


APPS = "io.modelcontextprotocol/ui"
"""The extension by which a server shows pages with the results of its tools (MCP Apps)."""
ANY_APP: JsonObject = {"mimeTypes": ["text/html;profile=mcp-app"]}


@dataclass(frozen=True, slots=True)
class ServerRequests:
    """Handlers for a server's requests to its client; ``None`` refuses them.

    ``client`` is any value that identifies the client. ``apps`` is its declaration of apps,
    ``None`` if it shows none. Listings declare support for apps, since some servers have no pages
    for others.
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
    """A connected server; ``client`` is the SDK's."""

    launch: Launch
    client: Client
    record: Seen = field(repr=False)

    @property
    def name(self) -> str:
        return self.launch.name

    async def tools_page(self, cursor: str | None) -> JsonObject:
        """A page of its tools as sent.

        The SDK would drop unknown fields, and refuse a page for one bad record; the catalog reader
        decides on both. Raises what the SDK raises.
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
                with suppress(Exception):  # such a tool is held back
                    headers = x_mcp_header_map(tool["inputSchema"])
                    session._x_mcp_header_maps[tool["name"]] = headers
        return page

    @property
    def stderr(self) -> str:
        """The last lines of its standard error without secrets; empty over HTTP."""
        return stderr_excerpt(self.launch, self.record)

    @property
    def has_ended(self) -> bool:
        """Whether its process is gone, or no longer writes."""
        record = self.record
        return isinstance(record, ProcessRecord) and (
            record.closed or record.too_long or record.status is not None
        )

    @property
    def leftovers(self) -> tuple[str, ...]:
        """A sentence on processes that could not be stopped with it, if any; known once it has
        ended.
        """
        group = self.record.group if isinstance(self.record, ProcessRecord) else 0
        what = "that could not be stopped; stop it by hand"
        return (f"{self.name} left the process group {group} {what}",) if group else ()

    def used_by(self, client: Hashable) -> None:
        """Record the client that uses it now; text for one client is not shown to another."""
        if isinstance(self.record, ProcessRecord):
            self.record.used_by(client)

    @contextmanager
    def request(self, can: ClientCapabilities | None = None) -> Iterator[Seen]:
        """While this is open, requests belong to one call, for a client with the capabilities
        ``can``.

        ``failure`` takes the value given here, to describe that call only.
        """
        reply = HttpRecord(IN_A_CALL)
        tokens = REPLY.set(reply), _CAN.set(can)
        try:
            yield replace(self.record) if isinstance(self.record, ProcessRecord) else reply
        finally:
            REPLY.reset(tokens[0])
            _CAN.reset(tokens[1])

    def has_forgotten(self, error: Exception, request: Seen) -> bool:
        """Whether it no longer knows the session; servers at an address answer 404."""
        return isinstance(request, HttpRecord) and is_forgotten(error, request.status)

    async def failure(
        self, error: BaseException, doing: str, request: Seen
    ) -> ToolScopeError | None:
        """The error to show for an exception of a ``request``, ``None`` if it is not the server's.

        ``doing`` completes the sentence: *while it ran delete_file*. The status of an ended process
        is waited for.
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
    """An open connection; everything it started is stopped on leaving in any way.

    Raises ``ServerConnectionError`` if the server cannot be started or reached, is not ready within
    ``limits.start_seconds``, or ends; also in place of the SDK's exceptions that leave the body. An
    old server that only speaks SSE is tried again with it, unless the definition fixes the
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
    """Add the calling client's capabilities to a request that declares capabilities."""
    from mcp_types import CLIENT_CAPABILITIES_META_KEY

    stamp(data, options)
    can, meta = _CAN.get(), (data.get("params") or {}).get("_meta") or {}
    if can is not None and CLIENT_CAPABILITIES_META_KEY in meta:
        capabilities = can.model_dump(mode="json", by_alias=True, exclude_none=True)
        meta[CLIENT_CAPABILITIES_META_KEY] = capabilities


def load_sdk() -> None:
    """Import the SDK, which takes a second that no server should be charged for.

    Its logs are kept out of ours, because they contain whole messages and addresses, including
    keys.
    """
    import mcp.client.sse
    import mcp.client.stdio
    import mcp.client.streamable_http  # noqa: F401

    for name in ("mcp", "client", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
