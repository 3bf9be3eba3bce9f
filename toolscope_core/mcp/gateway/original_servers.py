"""The connections to the original servers.

Each connection is opened when it is first needed, and then kept. After a failure it is opened
again, with a longer delay each time.
"""

import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp import MCPError
from mcp.client.session import MessageHandlerFnT
from mcp.server import subscriptions as sdk
from mcp.server.subscriptions import ResourceUpdated
from mcp.shared.subscriptions import ServerEvent, event_to_notification
from mcp_types import METHOD_NOT_FOUND
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolscope_core.mcp.servers.launches import Launch
from toolscope_core.mcp.servers.server_failures import is_answer, is_closed
from toolscope_core.mcp.servers.sessions import OpenServer, Seen, ServerRequests, connected
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.errors import ServerConnectionError, ToolScopeError


class ChangeStreams:
    """The streams of one connection, which run in ``group``.

    ``say`` receives the events in the form of the notifications in earlier MCP versions.
    """

    def __init__(self, group: TaskGroup, server: OpenServer, say: MessageHandlerFnT) -> None:
        self._group, self._server, self._say = group, server, say
        self._followed: dict[str, anyio.CancelScope] = {}

    async def hear_lists(self) -> None:
        """Listen for changes in the lists that the server declares as changeable."""
        capabilities = self._server.client.server_capabilities
        kinds = (
            (capabilities.tools, sdk.ToolsListChanged()),
            (capabilities.resources, sdk.ResourcesListChanged()),
            (capabilities.prompts, sdk.PromptsListChanged()),
        )
        changing = [event for kind, event in kinds if kind is not None and kind.list_changed]
        if changing:
            await self._group.start(self._hear, changing)

    async def follow(self, uri: str) -> None:
        """Listen for changes in a resource."""
        if uri not in self._followed:
            scope = self._followed[uri] = anyio.CancelScope()
            try:
                await self._group.start(self._hear, [ResourceUpdated(uri)], scope)
            except BaseException:  # ended before the server accepted it
                self.unfollow(uri)
                raise

    def unfollow(self, uri: str) -> None:
        """Stop listening for changes in a resource."""
        scope = self._followed.pop(uri, None)
        if scope is not None:
            scope.cancel()

    async def _hear(
        self,
        events: Sequence[ServerEvent],
        scope: anyio.CancelScope | None = None,
        *,
        task_status: TaskStatus[None],
    ) -> None:
        """Pass on these events until ``scope`` is cancelled.

        A lost stream is reopened. Nobody knows what happened meanwhile, so all the events are
        passed on as if they had happened.
        """
        wait, is_awaited = FIRST_WAIT, True
        with scope or anyio.CancelScope():
            while True:
                try:
                    async with self._server.client.listen(**_filter(events)) as stream:
                        if is_awaited:
                            task_status.started()
                        else:
                            for event in events:
                                await self._say(event_to_notification(event, {}))
                        wait, is_awaited = FIRST_WAIT, False
                        async for _ in stream:
                            pass  # the SDK also gives each event to the message handler
                except Exception as error:  # noqa: BLE001 - calls say what is wrong with a server
                    if isinstance(error, MCPError) and error.error.code == METHOD_NOT_FOUND:
                        break  # the server has no such streams
                if is_awaited:
                    task_status.started()
                    is_awaited = False
                await anyio.sleep(wait)
                wait = min(LONGEST_WAIT, 2 * wait)
        if is_awaited:
            task_status.started()


def _filter(events: Sequence[ServerEvent]) -> dict[str, Any]:
    """The events to listen for, in the form that the SDK's client takes."""
    addresses = [event.uri for event in events if isinstance(event, sdk.ResourceUpdated)]
    return {
        "tools_list_changed": sdk.ToolsListChanged() in events,
        "resources_list_changed": sdk.ResourcesListChanged() in events,
        "prompts_list_changed": sdk.PromptsListChanged() in events,
        "resource_subscriptions": addresses,
    }


FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""The shortest and the longest wait, in seconds, before a failed server is tried again. The wait
doubles after each failure.
"""

MOST_LOOKS = 3
"""The most inspections of a server for one call."""
RELIST_SECONDS = 1.0
"""The pause, in seconds, between two inspections of a server that nobody calls."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Callbacks for the events of servers.

    ``look`` inspects a server after it is opened, before the first call, and each time the server
    announces changed tools. ``tell`` gets the server's other unrequested messages, with their
    method. ``notice`` gets sentences for a person. ``error_to_show`` returns the part of a server's
    error that may be shown.
    """

    look: Callable[[str, OpenServer], Awaitable[None]]
    tell: Callable[[str, str, object], Awaitable[None]]
    notice: Callable[[str], None]
    error_to_show: Callable[[str, Exception], Exception] = lambda name, error: error


@dataclass(slots=True)
class _Connection:
    """The state of the connection to one server.

    ``is_stale`` is set when the server is opened or announces changed tools, and cleared when the
    server is inspected. ``error`` says why the server could not be opened for ``client``.
    """

    lock: anyio.Lock
    server: OpenServer | None = None
    leave: anyio.Event | None = None
    streams: ChangeStreams | None = None
    is_stale: bool = False
    is_relisting: bool = False
    failures: int = 0
    again_at: float = 0.0
    error: ToolScopeError | None = field(default=None, repr=False)
    client: Hashable = None


class OriginalServers:
    """The original servers, keyed by their names in the catalog.

    A server's function in ``launches`` reads its values when the server is opened. Connections run
    in ``group`` and end with it.
    """

    def __init__(
        self,
        group: TaskGroup,
        launches: Mapping[str, Callable[[], Launch]],
        limits: ConnectionLimits,
        hooks: Hooks,
    ) -> None:
        self._group, self._launches, self._limits = group, launches, limits
        self._hooks = hooks
        self._connections = {name: _Connection(anyio.Lock()) for name in launches}

    @property
    def open_now(self) -> Mapping[str, OpenServer]:
        """The servers whose connection has not ended."""
        return {
            name: one.server
            for name, one in self._connections.items()
            if one.server is not None and not one.server.has_ended
        }

    def streams_of(self, name: str) -> ChangeStreams | None:
        """The change streams of an open server; ``None`` if the server uses no streams."""
        return self._connections[name].streams

    async def ready(self, name: str, requests: ServerRequests) -> OpenServer:
        """A connected server that was inspected after it last announced changed tools.

        A new connection answers the server's requests with ``requests``. Raises
        ``ServerConnectionError`` or ``ConfigError`` if the server cannot be opened or listed. After
        a recent failure, the error is raised at once.
        """
        try:
            return await self._ready(name, requests)
        except ToolScopeError as error:
            raise self._hooks.error_to_show(name, error) from None

    async def _ready(self, name: str, requests: ServerRequests) -> OpenServer:
        connection = self._connections[name]
        async with connection.lock:
            if connection.server is not None and connection.server.has_ended:
                self._drop(connection)
            if connection.server is not None:
                connection.server.used_by(requests.client)
                await self._look_while_stale(name, connection, connection.server)
                return connection.server
            wait = connection.again_at - time.monotonic()
            if wait > 0 and connection.error is not None:
                is_own = connection.client == requests.client  # errors may quote the client
                raise ServerConnectionError(
                    f"{connection.error if is_own else f'{name} could not be opened'}; the next "
                    f"attempt is in {max(wait, 0.1):.1f} s",
                    getattr(connection.error, "kind", "settings"),
                )
            connection.server = await self._open(name, connection, requests)
            return connection.server

    async def failure(
        self, name: str, server: OpenServer, error: Exception, doing: str, request: Seen
    ) -> Exception:
        """The exception to show for an error of a ``request`` to the server.

        An error that the server itself sent is unchanged; other errors are described in words. A
        connection that has ended is dropped.
        """
        if is_answer(error) and not server.has_forgotten(error, request):
            return self._hooks.error_to_show(name, error)
        failure = await server.failure(error, doing, request)
        if failure is None:
            return error
        if server.has_ended or is_closed(error) or getattr(failure, "kind", "") == "exit":
            self.note_loss(name, server)
        return self._hooks.error_to_show(name, failure)

    def note_loss(self, name: str, server: OpenServer) -> None:
        """Record that the connection broke during a call; the next call opens another one."""
        connection = self._connections[name]
        if connection.server is server:
            self._drop(connection)

    def _drop(self, connection: _Connection) -> None:
        if connection.leave is not None:
            connection.leave.set()
        connection.server = connection.leave = connection.streams = None

    async def _open(
        self, name: str, connection: _Connection, requests: ServerRequests
    ) -> OpenServer:
        connection.leave = anyio.Event()
        try:
            server: OpenServer = await self._group.start(
                self._hold, name, requests, connection.leave
            )
            server.used_by(requests.client)
            connection.is_stale = True
            await self._look_while_stale(name, connection, server)
        except ToolScopeError as error:
            self._drop(connection)
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2**connection.failures)
            connection.failures += 1
            connection.again_at = time.monotonic() + wait
            connection.error, connection.client = error, requests.client
            raise
        except BaseException:
            self._drop(connection)
            raise
        connection.failures, connection.error, connection.client = 0, None, None
        return server

    async def _look_while_stale(
        self, name: str, connection: _Connection, server: OpenServer
    ) -> None:
        """Inspect the server until it announces no more changed tools.

        At most ``MOST_LOOKS`` inspections are made; announcements after those are left to the next
        call. A server that cannot be inspected is dropped.
        """
        seconds = self._limits.start_seconds
        for _ in range(MOST_LOOKS):
            if not connection.is_stale:
                return
            connection.is_stale = False
            try:
                with anyio.fail_after(seconds):
                    await self._hooks.look(name, server)
            except ToolScopeError:
                self._drop(connection)
                raise
            except anyio.get_cancelled_exc_class():  # cancelled before the inspection ended
                connection.is_stale = True
                raise
            except Exception as error:
                self._drop(connection)
                why = "did not list its tools"
                late = isinstance(error, TimeoutError)
                why = f"{why} within {seconds:g} s" if late else f"{why}: {type(error).__name__}"
                raise ServerConnectionError(
                    f"{name} {why}; update the server, or ask who maintains it",
                    "silent" if late else "protocol",
                ) from error

    async def _hold(
        self,
        name: str,
        requests: ServerRequests,
        leave: anyio.Event,
        *,
        task_status: TaskStatus[OpenServer],
    ) -> None:
        """Keep a connection open until ``leave`` is set, all in one task, as the SDK requires."""
        opened, connection = None, self._connections[name]
        requests = replace(requests, messages=(say := self._watching(name)))
        try:
            async with (
                connected(self._launches[name](), self._limits, requests) as server,
                anyio.create_task_group() as group,
            ):
                # servers with earlier versions announce changes without being asked
                if server.client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    connection.streams = ChangeStreams(group, server, say)
                    await connection.streams.hear_lists()
                opened = server
                task_status.started(server)
                await leave.wait()
                group.cancel_scope.cancel()
        except ToolScopeError:
            if opened is None:
                raise
        except (Exception, BaseExceptionGroup) as error:
            if opened is None:
                raise ServerConnectionError(
                    f"{name} cannot be opened: {type(error).__name__}; check its configuration"
                ) from error
        finally:
            for sentence in opened.leftovers if opened else ():
                self._hooks.notice(sentence)

    def _watching(self, name: str) -> MessageHandlerFnT:
        """A message handler. After an announcement of changed tools, it has the server inspected
        again; it passes on all other messages.
        """
        connection = self._connections[name]

        async def messages(message: object) -> None:
            method = str(getattr(message, "method", ""))
            if method != "notifications/tools/list_changed":
                await self._hooks.tell(name, method, message)
                return
            connection.is_stale = True
            if not connection.is_relisting:
                connection.is_relisting = True
                self._group.start_soon(self._relist, name, connection)

        return messages

    async def _relist(self, name: str, connection: _Connection) -> None:
        """Inspect a server that announced changed tools while nobody called it, so that clients are
        notified.

        Repeated announcements are handled with pauses of ``RELIST_SECONDS``.
        """
        try:
            while connection.is_stale:
                async with connection.lock:
                    if connection.server is None:  # opening inspects the server
                        return
                    with suppress(ToolScopeError):  # the next call reports it
                        await self._look_while_stale(name, connection, connection.server)
                await anyio.sleep(RELIST_SECONDS)
        finally:
            connection.is_relisting = False
