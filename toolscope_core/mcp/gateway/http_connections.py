"""The connections to the gateway's address: how long each may take to ask, how many there are."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import h11
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

ASKING_SECONDS = 10.0
"""A connection is closed where its first request does not bring a token in this time, or a request
does not end in it.
"""
MOST_STRANGERS, BACKLOG = 300, 100
"""So many connections have shown no token yet, the oldest of more is closed; so many are taken in
at once. A client that asks at once has shown its token before three such rows have come in.
"""
MOST_CONNECTIONS = 500
"""So many connections have shown a token; requests on further ones are refused (503)."""
ADMIT = "admit"


@dataclass(slots=True)
class Door:
    """The connections that are open: nothing that ``strangers``, who have shown no token, do takes
    the place of ``guests``. ``notice`` hears once of each reason for which one was closed.
    """

    notice: Callable[[str], None]
    strangers: dict[H11Protocol, None] = field(default_factory=dict)
    guests: set[H11Protocol] = field(default_factory=set)
    _reasons: set[str] = field(default_factory=set)

    def enter(self, connection: H11Protocol) -> None:
        """A connection was made; whoever has been a stranger for longest makes room for it."""
        self.strangers[connection] = None
        if len(self.strangers) > MOST_STRANGERS:
            why = f"was the oldest of more than {MOST_STRANGERS} without a token"
            self.close(next(iter(self.strangers)), why)

    def admit(self, connection: H11Protocol) -> bool:
        """Whether there is room for a connection that has shown a token."""
        if connection in self.strangers and len(self.guests) < MOST_CONNECTIONS:
            del self.strangers[connection]
            self.guests.add(connection)
        return connection in self.guests

    def leave(self, connection: H11Protocol) -> None:
        """The connection has ended."""
        self.strangers.pop(connection, None)
        self.guests.discard(connection)

    def close(self, connection: H11Protocol, why: str) -> None:
        """Close a connection, whether or not its client takes what was sent."""
        self.leave(connection)
        connection.transport.abort()
        if why not in self._reasons:
            self._reasons.add(why)
            self.notice(f"a connection that {why} was closed; further ones without a word")


def is_admitted(scope: Scope) -> bool:
    """Whether there is room for the connection of a request with the right token."""
    admit = scope.get("state", {}).get(ADMIT)
    return admit is None or bool(admit())


class GuardedProtocol(H11Protocol):
    """Uvicorn's protocol for a connection that came in by the door, with a limit of time."""

    def __init__(self, door: Door, **options: Any) -> None:
        super().__init__(**options)
        self._door = door
        self._limit: asyncio.TimerHandle | None = None
        self.app_state = {**self.app_state, ADMIT: self._admit}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection in."""
        super().connection_made(transport)
        # asyncio does it only for sockets that name their protocol, which accepted ones here do not
        accepted = transport.get_extra_info("socket")
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._door.enter(self)
        self._limit_time()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let it go."""
        super().connection_lost(exc)
        self._door.leave(self)
        self._limit_time()

    def data_received(self, data: bytes) -> None:
        """Read on in a request."""
        super().data_received(data)
        self._limit_time()

    def on_response_complete(self) -> None:
        """Go on with what has come in meanwhile."""
        super().on_response_complete()
        self._limit_time()

    def _admit(self) -> bool:
        is_admitted = self._door.admit(self)
        self._limit_time()
        return is_admitted

    def _limit_time(self) -> None:
        """Let the time run while a token, or the end of a request, is awaited."""
        is_guest = self in self._door.guests
        is_awaited = self in self._door.strangers or (is_guest and self._is_asking)
        if is_awaited and self._limit is None:
            self._limit = self.loop.call_later(ASKING_SECONDS, self._close_late)
        elif not is_awaited and self._limit is not None:
            self._limit.cancel()
            self._limit = None

    @property
    def _is_asking(self) -> bool:
        """Whether a request has begun to come in and not ended."""
        if self.conn.their_state is h11.IDLE:
            return bool(self.conn.trailing_data[0])
        return self.conn.their_state is h11.SEND_BODY

    def _close_late(self) -> None:
        why = f"did not finish a request with a token within {ASKING_SECONDS:g} s"
        self._door.close(self, why)
