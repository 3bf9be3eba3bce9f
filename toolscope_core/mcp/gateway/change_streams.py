"""The streams in which a server of MCP 2026-07-28 says what changes; before, it said so unasked."""

from collections.abc import Sequence
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

from toolscope_core.mcp.servers.sessions import OpenServer

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds until a stream that was lost is opened again; twice as long after each loss in a row."""


def is_needed(server: OpenServer) -> bool:
    """Whether the server says what changes in streams only."""
    return server.client.protocol_version in MODERN_PROTOCOL_VERSIONS


class ChangeStreams:
    """The streams of one connection; they live in ``group``. ``say`` gets what comes as the
    notifications that servers of earlier versions send.
    """

    def __init__(self, group: TaskGroup, server: OpenServer, say: MessageHandlerFnT) -> None:
        self._group, self._server, self._say = group, server, say
        self._followed: dict[str, anyio.CancelScope] = {}

    async def hear_lists(self) -> None:
        """From now on hear of changes of the lists that the server declares may change."""
        declared = self._server.client.server_capabilities
        kinds = (
            (declared.tools, sdk.ToolsListChanged()),
            (declared.resources, sdk.ResourcesListChanged()),
            (declared.prompts, sdk.PromptsListChanged()),
        )
        changing = [event for kind, event in kinds if kind is not None and kind.list_changed]
        if changing:
            await self._group.start(self._hear, changing)

    async def follow(self, uri: str) -> None:
        """From now on hear of changes of a resource."""
        if uri not in self._followed:
            scope = self._followed[uri] = anyio.CancelScope()
            try:
                await self._group.start(self._hear, [ResourceUpdated(uri)], scope)
            except BaseException:  # given up before the server took it
                self.unfollow(uri)
                raise

    def unfollow(self, uri: str) -> None:
        """The end of that."""
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
        """Pass on these events until ``scope`` is cancelled. A stream that is lost is opened again;
        what happened meanwhile is not known then, so all of them count as having happened.
        """
        wait, is_awaited = FIRST_WAIT, True
        with scope or anyio.CancelScope():
            while True:
                try:
                    async with self._server.client.listen(**_filter(events)) as stream:
                        if is_awaited:
                            task_status.started()
                        else:
                            await self._say_each(events)
                        wait, is_awaited = FIRST_WAIT, False
                        async for _ in stream:
                            pass  # the SDK gives each event to the handler of messages, too
                except Exception as error:  # noqa: BLE001 - calls say what is wrong with a server
                    if _is_unknown(error):
                        break
                if is_awaited:
                    task_status.started()
                    is_awaited = False
                await anyio.sleep(wait)
                wait = min(LONGEST_WAIT, 2 * wait)
        if is_awaited:
            task_status.started()

    async def _say_each(self, events: Sequence[ServerEvent]) -> None:
        for event in events:
            await self._say(event_to_notification(event, {}))


def _filter(events: Sequence[ServerEvent]) -> dict[str, Any]:
    """What to listen for, as the SDK's client takes it."""
    addresses = [event.uri for event in events if isinstance(event, sdk.ResourceUpdated)]
    return {
        "tools_list_changed": sdk.ToolsListChanged() in events,
        "resources_list_changed": sdk.ResourcesListChanged() in events,
        "prompts_list_changed": sdk.PromptsListChanged() in events,
        "resource_subscriptions": addresses,
    }


def _is_unknown(error: Exception) -> bool:
    """Whether the server has no such streams."""
    return isinstance(error, MCPError) and error.error.code == METHOD_NOT_FOUND
