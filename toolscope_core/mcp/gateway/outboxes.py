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

Lane = tuple[str, str]
"""A client, and the server whose messages these are; empty where they are of none."""
Message = Callable[["ServerSession"], Awaitable[None]]


@dataclass(slots=True)
class _Outbox:
    """What waits for one client from one sender, the oldest first, by what it is about."""

    session: ServerSession
    waiting: dict[Hashable, Message] = field(default_factory=dict)


class Outboxes:
    """Sends in ``group``, to each client what comes of one sender in order, and nobody's messages
    wait for those of another; ``gone`` hears of a client that took nothing.
    """

    def __init__(self, group: TaskGroup, gone: Callable[[str], None]) -> None:
        self._group, self._gone = group, gone
        self._outboxes: dict[Lane, _Outbox] = {}

    def post(
        self, lane: Lane, session: ServerSession, message: Message, about: Hashable = None
    ) -> None:
        """Send a message as soon as the client takes it; it replaces one that still waits and is
        ``about`` the same.
        """
        outbox = self._outboxes.get(lane)
        if outbox is None:
            outbox = self._outboxes[lane] = _Outbox(session)
            self._group.start_soon(self._send, lane, outbox)
        outbox.session = session
        outbox.waiting[object() if about is None else about] = message
        if len(outbox.waiting) > MOST_WAITING:
            del outbox.waiting[next(iter(outbox.waiting))]

    async def sent(self, lane: Lane) -> None:
        """Wait until the client has taken what waits for it now, but no longer than for a message;
        what is posted meanwhile is not waited for.
        """
        outbox, taken = self._outboxes.get(lane), anyio.Event()

        async def mark(session: ServerSession) -> None:
            taken.set()

        if outbox is not None:
            self.post(lane, outbox.session, mark)
            with anyio.move_on_after(TAKING_SECONDS):
                await taken.wait()

    async def _send(self, lane: Lane, outbox: _Outbox) -> None:
        try:
            while outbox.waiting:
                message = outbox.waiting.pop(next(iter(outbox.waiting)))
                with anyio.move_on_after(TAKING_SECONDS) as limit, suppress(Exception):
                    await message(outbox.session)
                    continue
                if limit.cancelled_caught:
                    self._gone(lane[0])
                    return
        finally:
            del self._outboxes[lane]
