"""What originals say of changes, on its way to the clients: in the session of those that speak an
earlier version of MCP, else in the streams that they opened for it (``subscriptions/listen``).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from toolscope_core.mcp.gateway.callers import Callers

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession
    from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

ListKind = Literal["tools", "resources", "prompts"]


def _new_bus() -> InMemorySubscriptionBus:
    from mcp.server.subscriptions import InMemorySubscriptionBus

    return InMemorySubscriptionBus()


@dataclass(slots=True)
class Announcements:
    """Who follows which resource of which server, and who is told what; a client is any value that
    stands for it, for the earlier versions the key of its session.
    """

    callers: Callers
    _bus: InMemorySubscriptionBus = field(default_factory=_new_bus)
    _followers: dict[tuple[str, str], set[Hashable]] = field(default_factory=dict)
    _handler: ListenHandler | None = None

    def __post_init__(self) -> None:
        self.callers.when_gone.append(self._forget)

    async def list_changed(self, kind: ListKind) -> None:
        """Tell every client that a list has changed."""
        from mcp.server import subscriptions as events

        async def say(session: ServerSession) -> None:
            if kind == "tools":
                await session.send_tool_list_changed()
            elif kind == "resources":
                await session.send_resource_list_changed()
            else:
                await session.send_prompt_list_changed()

        self.callers.tell(say, kind)
        by_kind: dict[ListKind, events.ServerEvent] = {
            "tools": events.ToolsListChanged(),
            "resources": events.ResourcesListChanged(),
            "prompts": events.PromptsListChanged(),
        }
        await self._bus.publish(by_kind[kind])

    async def updated(self, server: str, uri: str, name: str) -> None:
        """Tell those who follow a server's resource that it changed, by the ``name`` they know."""
        from mcp.server.subscriptions import ResourceUpdated

        async def say(session: ServerSession) -> None:
            await session.send_resource_updated(name)

        followers = self._followers.get((server, uri), set())
        self.callers.tell(say, ("updated", name), followers)
        await self._bus.publish(ResourceUpdated(uri=name))

    def follow(self, client: Hashable, server: str, uri: str) -> None:
        """The client is told when that resource of the server changes."""
        self._followers.setdefault((server, uri), set()).add(client)

    def unfollow(self, client: Hashable, server: str, uri: str) -> bool:
        """The client is not told any more; whether another still is."""
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
        self,
        context: ServerRequestContext[Any, Any],
        params: types.SubscriptionsListenRequestParams,
    ) -> types.SubscriptionsListenResult:
        """Write to a client's stream what it asked to be told, until it leaves."""
        from mcp.server.subscriptions import ListenHandler

        self._handler = self._handler or ListenHandler(self._bus)
        return await self._handler(context, params)
