"""A server that is reached over HTTP: streamable HTTP, or SSE as older servers speak it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from toolscope_core.config import ConnectionLimits
from toolscope_core.connections.launches import Launch
from toolscope_core.connections.server_processes import HANDSHAKE

if TYPE_CHECKING:
    import httpx2
    from mcp.client._transport import TransportStreams

Way = Literal["stdio", "http", "sse"]
CONNECT_SECONDS = 10.0
LONGEST_SILENCE = 24 * 3_600.0
"""A stream of events may be silent for long; answers have a limit of their own."""


@dataclass(slots=True)
class HttpRecord:
    """What is seen of a server's replies: the status of the last one, 0 where it was no
    error. ``doing`` is what it is asked for at the moment, in words.
    """

    doing: str = HANDSHAKE
    status: int = 0


@asynccontextmanager
async def server_address(
    launch: Launch, way: Way, limits: ConnectionLimits, record: HttpRecord
) -> AsyncIterator[TransportStreams]:
    """The message streams of a server at an address; ``record`` is filled.

    Redirects are followed on the same origin only, so headers go nowhere else.
    """
    if way == "sse":
        from mcp.client.sse import sse_client

        async with sse_client(
            launch.url,
            headers=dict(launch.headers),
            timeout=CONNECT_SECONDS,
            sse_read_timeout=LONGEST_SILENCE,
            httpx_client_factory=_factory(record, noted=("GET", "POST")),
        ) as streams:
            yield streams
    else:
        from mcp.client.streamable_http import streamable_http_client

        async with (
            _factory(record, noted=("POST",))(headers=dict(launch.headers)) as client,
            streamable_http_client(
                launch.url, http_client=client, max_sse_event_size=limits.message_bytes
            ) as streams,
        ):
            yield streams


def _factory(record: HttpRecord, noted: tuple[str, ...]) -> Callable[..., httpx2.AsyncClient]:
    """A maker of HTTP clients that note the status of replies to the methods ``noted``."""
    import httpx2

    async def note(response: httpx2.Response) -> None:
        if response.request.method in noted:
            record.status = response.status_code if response.status_code >= 400 else 0

    def make(
        headers: dict[str, str] | None = None, timeout: Any = None, auth: Any = None
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers=headers,
            auth=auth,
            timeout=timeout or httpx2.Timeout(CONNECT_SECONDS, read=LONGEST_SILENCE),
            event_hooks={"response": [note]},
            follow_redirects=False,
        )

    return make
