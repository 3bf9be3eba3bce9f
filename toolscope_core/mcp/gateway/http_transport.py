"""Serves the gateway over streamable HTTP at one address, to clients that have the token."""

import asyncio
import hmac
import ipaddress
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import h11
import uvicorn
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from toolscope_core.mcp.gateway.gateway_server import with_single_ids
from toolscope_core.model.errors import ConfigError

ASKING_SECONDS = 10.0
"""A connection is closed if it brings no token within this time, or if a later request takes longer
than this to arrive.
"""
MOST_STRANGERS, BACKLOG = 300, 100
"""At most ``MOST_STRANGERS`` open connections have shown no token; if more do, the oldest is
closed. At most ``BACKLOG`` connections are taken in at once, so a client that sends its request
right away has shown its token before three such groups have come in.
"""
MOST_CONNECTIONS = 500
"""The most connections that have shown a token; requests on others are refused (503)."""
ADMIT = "admit"


@dataclass(slots=True)
class Door:
    """The open connections.

    ``strangers`` have shown no token and never displace ``guests``, which have. ``notice`` is
    called once for each reason for closing a connection.
    """

    notice: Callable[[str], None]
    strangers: dict[H11Protocol, None] = field(default_factory=dict)
    guests: set[H11Protocol] = field(default_factory=set)
    _reasons: set[str] = field(default_factory=set)

    def enter(self, connection: H11Protocol) -> None:
        """Register a new connection. If more than ``MOST_STRANGERS`` connections have shown no
        token, the oldest of them is closed.
        """
        self.strangers[connection] = None
        if len(self.strangers) > MOST_STRANGERS:
            why = f"was the oldest of more than {MOST_STRANGERS} without a token"
            self.close(next(iter(self.strangers)), why)

    def admit(self, connection: H11Protocol) -> bool:
        """Admit a connection that has shown a token; returns whether there is room for it."""
        if connection in self.strangers and len(self.guests) < MOST_CONNECTIONS:
            del self.strangers[connection]
            self.guests.add(connection)
        return connection in self.guests

    def leave(self, connection: H11Protocol) -> None:
        """Remove an ended connection."""
        self.strangers.pop(connection, None)
        self.guests.discard(connection)

    def close(self, connection: H11Protocol, why: str) -> None:
        """Close a connection, whether or not its client reads what was sent."""
        self.leave(connection)
        connection.transport.abort()
        if why not in self._reasons:
            self._reasons.add(why)
            self.notice(f"closed a connection that {why}; further cases are not reported")


def is_admitted(scope: Scope) -> bool:
    """Whether there is room for the connection on which a request with the right token came."""
    admit = scope.get("state", {}).get(ADMIT)
    return admit is None or bool(admit())


class GuardedProtocol(H11Protocol):
    """Uvicorn's protocol for a connection, with a time limit. The ``door`` admits
    the connection.
    """

    def __init__(self, door: Door, **options: Any) -> None:
        super().__init__(**options)
        self._door = door
        self._limit: asyncio.TimerHandle | None = None
        self.app_state = {**self.app_state, ADMIT: self._admit}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection."""
        super().connection_made(transport)
        # asyncio sets this only for sockets that name their protocol; accepted sockets here do not
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._door.enter(self)
        self._limit_time()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove this connection from the open connections."""
        super().connection_lost(exc)
        self._door.leave(self)
        self._limit_time()

    def data_received(self, data: bytes) -> None:
        """Read more of a request."""
        super().data_received(data)
        self._limit_time()

    def on_response_complete(self) -> None:
        """Continue with data received in the meantime."""
        super().on_response_complete()
        self._limit_time()

    def _admit(self) -> bool:
        is_admitted = self._door.admit(self)
        self._limit_time()
        return is_admitted

    def _limit_time(self) -> None:
        """Start the time limit while a token, or the end of a request, is awaited; stop it
        otherwise.
        """
        is_guest = self in self._door.guests
        is_awaited = self in self._door.strangers or (is_guest and self._is_asking)
        if is_awaited and self._limit is None:
            self._limit = self.loop.call_later(ASKING_SECONDS, self._close_late)
        elif not is_awaited and self._limit is not None:
            self._limit.cancel()
            self._limit = None

    @property
    def _is_asking(self) -> bool:
        """Whether a request has started to arrive and is incomplete."""
        if self.conn.their_state is h11.IDLE:
            return bool(self.conn.trailing_data[0])
        return self.conn.their_state is h11.SEND_BODY

    def _close_late(self) -> None:
        why = f"did not finish a request with a token within {ASKING_SECONDS:g} s"
        self._door.close(self, why)


PATH = "/mcp"
SHORTEST_TOKEN = 16
TOKEN_VARIABLE = "TOOLSCOPE_GATEWAY_TOKEN"
PROFILE_TOKENS = "TOOLSCOPE_PROFILE_TOKENS"
NO_TOKENS: Mapping[str, str] = {}
REFUSALS = {
    401: ((b"www-authenticate", b"Bearer"), b"a bearer token is needed\n"),
    503: ((b"connection", b"close"), b"too many connections are open; close one\n"),
}
"""For each status, a header of the reply and the text of the reply."""
IDLE_SECONDS = 1_800.0
"""A session is ended after this many seconds without a request; its client opens a new one."""
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class HttpPlace:
    """The place where the gateway listens.

    ``names`` are the host names by which clients may call the gateway (the Host header), without
    ports. Clients must send ``token``, except at the path of a profile with a token of its own in
    ``profile_tokens``.
    """

    host: str
    port: int
    names: tuple[str, ...]
    token: str = field(repr=False)
    is_new_token: bool = False
    profile_tokens: Mapping[str, str] = field(default_factory=dict, repr=False)

    def token_at(self, path: str) -> str:
        """The token required at a path."""
        tokens = {profile_path(name): token for name, token in self.profile_tokens.items()}
        return tokens.get(path, self.token)


def profile_path(name: str) -> str:
    """The path of a profile; without a name, the path of the whole toolset."""
    return f"/profiles/{name}{PATH}" if name else PATH


def tokens_of_profiles(text: str, profiles: Collection[str]) -> dict[str, str]:
    """The token of each profile, from ``NAME=TOKEN`` pairs that are separated by blanks.

    Raises ``ConfigError`` if the text is malformed, a token is weak, a profile has two tokens, or a
    profile is not in ``profiles``.
    """
    pairs = [one.partition("=")[::2] for one in text.split()]
    names = [name for name, _ in pairs]
    for name, token in pairs:
        if not name or not token:
            raise ConfigError(f"{PROFILE_TOKENS} lacks a name or token; use NAME=TOKEN NAME=TOKEN")
        if name not in profiles:
            raise ConfigError(
                f"{PROFILE_TOKENS} has a token for the profile {name}, which is not served; the "
                f"served profiles are {', '.join(sorted(profiles)) or 'none'}"
            )
        if names.count(name) > 1:
            raise ConfigError(
                f"{PROFILE_TOKENS} has more than one token for the profile {name}; keep one"
            )
        _check_token(f"the token of {name} in {PROFILE_TOKENS}", token)
    return dict(pairs)


def http_place(
    text: str, token: str, names: Sequence[str] = (), profile_tokens: Mapping[str, str] = NO_TOKENS
) -> HttpPlace:
    """The place in ``HOST:PORT``; a port alone means this machine. If no token is given, a new one
    is generated.

    Raises ``ConfigError`` if the text is malformed, if the token is weak, or if others can reach
    the address and ``names`` is empty.
    """
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdecimal() or not 0 <= int(port) <= 65_535:
        raise ConfigError(f"--http was given {text!r}; use HOST:PORT, for example 127.0.0.1:8765")
    if token:
        _check_token(TOKEN_VARIABLE, token)
    if not _is_loopback(host) and not names:
        raise ConfigError(
            f"other machines can reach {host}; use --allow-host to give the host names by "
            "which they reach it, or listen on 127.0.0.1"
        )
    allowed_hosts = tuple(names) if names else LOOPBACK_NAMES
    own_token = token or secrets.token_urlsafe(32)
    return HttpPlace(host, int(port), allowed_hosts, own_token, not token, profile_tokens)


def _check_token(what: str, token: str) -> None:
    if len(token) < SHORTEST_TOKEN:
        raise ConfigError(
            f"{what} has {len(token)} characters; use at least {SHORTEST_TOKEN} random characters"
        )


def listening_socket(place: HttpPlace) -> socket.socket:
    """A socket that listens at the place. Raises ``ConfigError`` if listening
    there is impossible.
    """
    is_ipv6 = ":" in place.host
    try:
        return socket.create_server(
            (place.host, place.port),
            family=socket.AF_INET6 if is_ipv6 else socket.AF_INET,
            backlog=BACKLOG,
            dualstack_ipv6=is_ipv6 and socket.has_dualstack_ipv6(),
        )
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
        raise ConfigError(
            f"cannot listen on {place.host}:{place.port}: {why}; use another port"
        ) from error


def http_server(
    servers: Mapping[str, Server[Any]], place: HttpPlace, notice: Callable[[str], None]
) -> uvicorn.Server:
    """The HTTP server with each MCP server at its path.

    The caller handles signals, and stops the server with ``should_exit``.
    """
    config = uvicorn.Config(
        http_app(servers, place),
        http=partial(GuardedProtocol, Door(notice)),  # type: ignore[arg-type]
        ws="none",
        backlog=BACKLOG,
        log_level="critical",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
    uvicorn_server = uvicorn.Server(config)
    uvicorn_server.capture_signals = nullcontext  # type: ignore[method-assign, assignment]
    return uvicorn_server


def http_app(servers: Mapping[str, Server[Any]], place: HttpPlace) -> ASGIApp:
    """The HTTP app. It checks the token for the path, then the Host and Origin headers.

    At any other path, it answers *not found* to clients with the whole toolset's token.
    """
    hosts = [form for name in place.names for form in (name, f"{name}:*")]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins
    )
    apps = {
        path: server.streamable_http_app(
            streamable_http_path=path,
            session_idle_timeout=IDLE_SECONDS,
            transport_security=security,
        )
        for path, server in servers.items()
    }

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for one in apps.values():
                await stack.enter_async_context(one.router.lifespan_context(one))
            yield

    guarded = {
        path: _with_token(with_single_ids(one), place.token_at(path)) for path, one in apps.items()
    }
    elsewhere = _with_token(Starlette(lifespan=lifespan), place.token)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await guarded.get(scope.get("path", ""), elsewhere)(scope, receive, send)

    return app


def _with_token(inner: ASGIApp, token: str) -> ASGIApp:
    expected = f"Bearer {token}".encode()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            authorization = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(authorization, expected):
                await _refuse(send, 401)
                return
            if not is_admitted(scope):
                await _refuse(send, 503)
                return
        await inner(scope, receive, send)

    return app


async def _refuse(send: Send, status: int) -> None:
    header, words = REFUSALS[status]
    headers = [(b"content-type", b"text/plain"), header]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": words})


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
