"""A server over HTTP: streamable HTTP, or SSE for older servers."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from toolscope_core.mcp.servers.launches import Launch
from toolscope_core.mcp.servers.server_processes import HANDSHAKE
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.errors import ServerConnectionError

if TYPE_CHECKING:
    import httpx2
    from mcp.client._transport import TransportStreams

SessionKind = Literal["stdio", "http", "sse"]
CONNECT_SECONDS = 10.0
MEDIA = ("application/json", "text/event-stream", "")
LONGEST_SILENCE = 24 * 3_600.0
"""The longest silence in a stream of events, in seconds. Answers have a shorter
limit of their own.
"""


@dataclass(slots=True)
class HttpRecord:
    """Observations of a server's replies.

    ``status`` is the last status (0 if it was no error), ``location`` is the target of a redirect,
    and ``media`` is the media type if it is not one of MCP's. ``doing`` describes the current
    request. ``bytes_in`` counts the bytes of all replies. ``refusal`` says why the last reply was
    not read.
    """

    doing: str = HANDSHAKE
    status: int = 0
    location: str = ""
    media: str = ""
    bytes_in: int = 0
    refusal: str = ""


REPLY: ContextVar[HttpRecord | None] = ContextVar("reply to a request", default=None)
"""The place where a request keeps its own reply, because several requests may run at once. The SDK
sends each message in the context of the caller that gave the message to it.
"""


@asynccontextmanager
async def server_address(
    launch: Launch, way: SessionKind, limits: ConnectionLimits, record: HttpRecord
) -> AsyncIterator[TransportStreams]:
    """The message streams of a server at an address. Its replies are noted in ``record``.

    Redirects are followed only on the same origin, so headers are sent nowhere else.
    """
    if way == "sse":
        from mcp.client.sse import sse_client

        async with sse_client(
            launch.url,
            headers=dict(launch.headers),
            timeout=CONNECT_SECONDS,
            sse_read_timeout=LONGEST_SILENCE,
            httpx_client_factory=_factory(launch.name, limits, record, ("GET", "POST")),
        ) as streams:
            yield streams
    else:
        from mcp.client.streamable_http import streamable_http_client

        async with (
            _factory(launch.name, limits, record, ("POST",))(
                headers=dict(launch.headers)
            ) as client,
            streamable_http_client(
                launch.url, http_client=client, max_sse_event_size=limits.message_bytes
            ) as streams,
        ):
            yield streams


def _factory(
    name: str, limits: ConnectionLimits, record: HttpRecord, noted: tuple[str, ...]
) -> Callable[..., httpx2.AsyncClient]:
    """A factory of HTTP clients that limit the length of replies, and that record the replies to
    the methods in ``noted``.

    Compressed replies are refused, because a small reply may expand to any size.
    """
    import httpx2

    async def note(response: httpx2.Response) -> None:
        noting = REPLY.get() or record
        noting.refusal = ""
        media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.headers.get("content-encoding", "identity") != "identity":
            raise _refused(name, "a compressed reply, although none was requested", noting)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            most = math.inf if media == "text/event-stream" else limits.message_bytes
            response.stream = _counting_stream(response.stream, name, most, noting, record)
        if response.request.method in noted:
            noting.status = response.status_code if response.status_code >= 300 else 0
            noting.location = response.headers.get("location", "")
            noting.media = "" if media in MEDIA or response.status_code != 200 else media

    def make(
        headers: dict[str, str] | None = None, timeout: Any = None, auth: Any = None
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={"Accept-Encoding": "identity", **(headers or {})},
            auth=auth,
            timeout=timeout or httpx2.Timeout(CONNECT_SECONDS, read=LONGEST_SILENCE),
            event_hooks={"response": [note]},
            follow_redirects=False,
        )

    return make


def _counting_stream(
    inner: httpx2.AsyncByteStream, name: str, most: float, noting: HttpRecord, record: HttpRecord
) -> httpx2.AsyncByteStream:
    """The bytes of a stream, which are counted in ``record``. Raises ``ServerConnectionError`` if a
    reply has more than ``most`` bytes.
    """
    import httpx2

    class Counted(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in inner:
                size += len(part)
                record.bytes_in += len(part)
                if size > most:
                    raise _refused(name, f"a reply of more than {most:,} bytes", noting)
                yield part

        async def aclose(self) -> None:
            await inner.aclose()

    return Counted()


def _refused(name: str, what: str, record: HttpRecord) -> ServerConnectionError:
    record.refusal = f"{name} sent {what}; update the server"
    return ServerConnectionError(record.refusal, "garbage")
