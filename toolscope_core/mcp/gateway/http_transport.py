"""The gateway over streamable HTTP: on one address, for whoever has the token."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings

from toolscope_core.model.errors import ConfigError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
SHORTEST_TOKEN = 16
TOKEN_VARIABLE = "TOOLSCOPE_GATEWAY_TOKEN"
ASKING_SECONDS = 10.0
"""A connection whose first request does not come in this time is closed."""
MOST_CONNECTIONS = 500
"""At this number of connections further requests are refused (503)."""
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class HttpPlace:
    """Where the gateway listens. ``names`` are the hosts under which it may be called (the Host
    header), without ports; ``token`` is what a client has to send.
    """

    host: str
    port: int
    names: tuple[str, ...]
    token: str = field(repr=False)
    is_new_token: bool = False


def http_place(text: str, token: str, names: Sequence[str] = ()) -> HttpPlace:
    """The place that ``HOST:PORT`` says, a port alone being one of this machine. Without a token
    one is drawn.

    Raises ``ConfigError`` for no such text, a token that could be guessed, and an address that
    others reach without ``names`` by which they are to call it.
    """
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdecimal() or not 0 <= int(port) <= 65_535:
        raise ConfigError(f"--http was given {text!r}; give HOST:PORT, such as 127.0.0.1:8765")
    if token and len(token) < SHORTEST_TOKEN:
        raise ConfigError(
            f"{TOKEN_VARIABLE} has {len(token)} characters; give at least {SHORTEST_TOKEN}, drawn "
            "at random"
        )
    if not _is_loopback(host) and not names:
        raise ConfigError(
            f"{host} can be reached by others; say under which names they call it with "
            "--allow-host, or listen on 127.0.0.1"
        )
    called = tuple(names) if names else LOOPBACK_NAMES
    return HttpPlace(host, int(port), called, token or secrets.token_urlsafe(32), not token)


def listening_socket(place: HttpPlace) -> socket.socket:
    """A socket that listens there. Raises ``ConfigError`` where it cannot."""
    is_ipv6 = ":" in place.host
    try:
        return socket.create_server(
            (place.host, place.port),
            family=socket.AF_INET6 if is_ipv6 else socket.AF_INET,
            backlog=128,
            dualstack_ipv6=is_ipv6 and socket.has_dualstack_ipv6(),
        )
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
        raise ConfigError(
            f"{place.host}:{place.port} cannot be listened on: {why}; give another port"
        ) from error


def http_server(
    server: Server[Any], place: HttpPlace, notice: Callable[[str], None]
) -> uvicorn.Server:
    """What serves HTTP; whoever runs it takes care of signals, and ends it by ``should_exit``."""
    import uvicorn

    config = uvicorn.Config(
        http_app(server, place),
        http=_impatient(notice),
        limit_concurrency=MOST_CONNECTIONS,
        log_level="critical",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
    uvicorn_server = uvicorn.Server(config)
    uvicorn_server.capture_signals = nullcontext  # type: ignore[method-assign, assignment]
    return uvicorn_server


def http_app(server: Server[Any], place: HttpPlace) -> ASGIApp:
    """What answers HTTP requests: the Host and Origin headers are checked, then the token."""
    hosts = [form for name in place.names for form in (name, f"{name}:*")]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins
        ),
    )
    return _with_token(inner, place.token)


def _impatient(notice: Callable[[str], None]) -> type[asyncio.Protocol]:
    """Uvicorn's protocol, which closes a connection that does not ask for anything in time; the
    first one of a row is said.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class ImpatientProtocol(H11Protocol):
        is_said = False

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.loop.call_later(ASKING_SECONDS, self._close_where_silent)

        def _close_where_silent(self) -> None:
            if self.cycle is None and not self.transport.is_closing():
                self.transport.close()
                if not ImpatientProtocol.is_said:
                    ImpatientProtocol.is_said = True
                    notice(
                        f"a connection that asked for nothing within {ASKING_SECONDS:g} s was "
                        "closed; further ones are closed without a word"
                    )

    return ImpatientProtocol


def _with_token(inner: ASGIApp, token: str) -> ASGIApp:
    expected = f"Bearer {token}".encode()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, expected):
                await _refuse(send)
                return
        await inner(scope, receive, send)

    return app


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": b"a bearer token is needed\n"})


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
