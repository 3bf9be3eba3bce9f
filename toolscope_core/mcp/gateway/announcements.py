"""Passes the original servers' notifications of changes to clients.

Clients with earlier MCP versions get the notifications in their session, and other clients get them
in the streams that they opened (``subscriptions/listen``).
"""

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field

import mcp_types as types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import (
    ResourceUpdated,
    ServerEvent,
    event_from_wire,
    event_to_notification,
)

from toolscope_core.mcp.gateway.callers import Callers, Context


@dataclass(slots=True)
class Announcements:
    """Records which client follows which resource of a server, and which notifications each client
    gets.

    A client is stored as any value that identifies it. For clients with earlier MCP versions, this
    is the key of the session.
    """

    callers: Callers
    _followers: dict[tuple[str, str], set[Hashable]] = field(default_factory=dict)
    _bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)
    _handler: ListenHandler = field(init=False)

    def __post_init__(self) -> None:
        self._handler = ListenHandler(self._bus)
        self.callers.when_gone.append(self._forget)

    async def list_changed(self, method: str) -> None:
        """Tell every client that a list has changed; ``method`` is the method of
        the notification.
        """
        event = event_from_wire(method, None)
        if event is not None:
            await self._tell(event, None)

    async def updated(self, server: str, uri: str, name: str) -> None:
        """Tell the followers of a server's resource that the resource changed. They know the
        resource by ``name``.
        """
        await self._tell(ResourceUpdated(name), self._followers.get((server, uri), set()))

    async def _tell(self, event: ServerEvent, among: Collection[Hashable] | None) -> None:
        """Tell clients about an event. Of the clients that are known by session, only those in
        ``among`` are told, or all if it is ``None``.
        """

        async def say(session: ServerSession) -> None:
            await session.send_notification(event_to_notification(event, {}))

        self.callers.tell(say, event, among)
        await self._bus.publish(event)

    def follow(self, client: Hashable, server: str, uri: str) -> None:
        """Notify the client whenever the resource ``uri`` of the server changes."""
        self._followers.setdefault((server, uri), set()).add(client)

    def unfollow(self, client: Hashable, server: str, uri: str) -> bool:
        """Stop notifying the client; returns whether another client still follows the resource."""
        followers = self._followers.get((server, uri), set())
        followers.discard(client)
        if not followers:
            self._followers.pop((server, uri), None)
        return bool(followers)

    def followed(self, server: str) -> tuple[str, ...]:
        """The server's resources that clients follow."""
        return tuple(uri for name, uri in self._followers if name == server)

    def _forget(self, client: Hashable) -> None:
        for server, uri in tuple(self._followers):
            self.unfollow(client, server, uri)

    async def stream(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Write the requested notifications to a client's stream until the client leaves."""
        return await self._handler(context, params)
