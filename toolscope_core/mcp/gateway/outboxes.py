"""Messages on their way to clients: one that does not take them holds up nobody else."""

from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup
from mcp.server.session import ServerSession

MOST_WAITING = 1_000
"""So many messages wait for a client; further ones take the place of the oldest."""
TAKING_SECONDS = 5.0
"""A client that does not take a message in this time is told nothing more."""

Message = Callable[["ServerSession"], Awaitable[None]]


@dataclass(slots=True)
class _Outbox:
    """What waits for one client, the oldest first, by what it is about; ``empty`` is set when
    nothing does any more.
    """

    session: ServerSession
    empty: anyio.Event
    waiting: dict[Hashable, Message] = field(default_factory=dict)


class Outboxes:
    """Sends in ``group``, to each client in order; ``gone`` hears of a client that took nothing."""

    def __init__(self, group: TaskGroup, gone: Callable[[str], None]) -> None:
        self._group, self._gone = group, gone
        self._outboxes: dict[str, _Outbox] = {}

    def post(
        self, client: str, session: ServerSession, message: Message, about: Hashable = None
    ) -> None:
        """Send a message to a client as soon as it takes it; it replaces one that still waits and
        is ``about`` the same.
        """
        outbox = self._outboxes.get(client)
        if outbox is None:
            outbox = self._outboxes[client] = _Outbox(session, anyio.Event())
            self._group.start_soon(self._send, client, outbox)
        outbox.session = session
        outbox.waiting[object() if about is None else about] = message
        if len(outbox.waiting) > MOST_WAITING:
            del outbox.waiting[next(iter(outbox.waiting))]

    async def sent(self, client: str) -> None:
        """Wait until the client has taken what waits for it, but no longer than for a message."""
        if client in self._outboxes:
            with anyio.move_on_after(TAKING_SECONDS):
                await self._outboxes[client].empty.wait()

    async def _send(self, client: str, outbox: _Outbox) -> None:
        try:
            while outbox.waiting:
                message = outbox.waiting.pop(next(iter(outbox.waiting)))
                with anyio.move_on_after(TAKING_SECONDS) as limit, suppress(Exception):
                    await message(outbox.session)
                    continue
                if limit.cancelled_caught:
                    self._gone(client)
                    return
        finally:
            del self._outboxes[client]
            outbox.empty.set()
