"""A guard that accepts requests only to this machine or to a configured host, and only from the
app's own pages.

A page on another site can make that site's name resolve to 127.0.0.1 (DNS rebinding). The browser
then sends requests to the app with that site's name as their host, and lets the page read the
answers.
"""

from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FIRST_PAGE = "/catalog"
"""The address of the first page by name. Streamlit itself serves this page only at the empty
address.
"""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SECURITY_HEADERS = {
    # Streamlit's page has inline styles and one inline script; Plotly and its charts compile code,
    # and its components are loaded from blobs.
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'self'",
            "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self' data: blob:",
            "worker-src 'self' blob:",
            "frame-src 'self' blob:",
            "frame-ancestors 'none'",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
        )
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
_POLICY_VIOLATION = 1008
"""The code that closes a WebSocket which should not have been opened (RFC 6455, 7.4.1)."""


def refusal(host: str, origin: str | None) -> str:
    """Why a request is refused, with a remedy. Empty if the request is accepted.

    ``host`` and ``origin`` are headers of the request: the host that the browser contacted, and the
    page that sends the request. The host must be loopback, or be listed in Streamlit's
    ``server.allowedHosts``; there, ``*.`` matches any prefix and ``*`` any host. The origin must be
    the host with its port, or be listed in ``server.corsAllowedOrigins``.
    """
    address = _address(f"//{host}")
    if address is None or not _is_allowed(address.hostname or ""):
        return (
            f"ToolScope does not accept requests for the host {host!r}. Open it as "
            "http://localhost with its port, or allow the host: --server.allowedHosts NAME"
        )
    if origin is None or origin in _option("server.corsAllowedOrigins"):
        return ""
    page = _address(origin)
    if page is None or page.netloc.lower() != address.netloc.lower():
        return (
            f"ToolScope does not accept requests from pages of {origin!r}, only from its own. If "
            "that origin is yours, allow it: --server.corsAllowedOrigins ORIGIN"
        )
    return ""


class RequestGuard:
    """ASGI middleware that refuses requests and WebSockets (403), and limits what
    pages may load.
    """

    is_in_front = False
    """Whether this process serves through a guard. If it does not, a page says so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        RequestGuard.is_in_front = True
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        headers = Headers(scope=scope)
        reason = refusal(",".join(headers.getlist("host")), headers.get("origin"))
        if not reason and scope["path"] == FIRST_PAGE and scope["type"] == "http":
            query = scope["query_string"].decode()
            await RedirectResponse(f"./?{query}")(scope, receive, send_with_headers)
        elif not reason:
            await self._app(scope, receive, send_with_headers)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": ""})
        else:
            answer = PlainTextResponse(reason, status_code=403)
            await answer(scope, receive, send_with_headers)


def _address(url: str) -> SplitResult | None:
    """The parts of an address that has a host and nothing after it; otherwise ``None``."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError if the port is not a valid number
    except ValueError:
        return None
    extras = parts.username, parts.password, parts.path, parts.query, parts.fragment
    return parts if parts.hostname and not any(extras) else None


def _is_allowed(hostname: str) -> bool:
    name = hostname.rstrip(".")
    return name in LOOPBACK or any(
        pattern in ("*", name) or (pattern.startswith("*.") and name.endswith(pattern[1:]))
        for pattern in (host.strip().lower() for host in _option("server.allowedHosts"))
    )


def _option(name: str) -> Sequence[str]:
    return st.get_option(name) or ()
