"""The HTTP client. Only this module has an endpoint's key, and only this module sends anything to
the endpoint.

The transport compares the address of a request with the key's origin and then adds the key; the SDK
never sees the key. Nothing else from the environment is sent.
"""

import asyncio
import logging
import os
import socket
import ssl
import threading
import time
import weakref
from collections.abc import AsyncIterable, Awaitable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

import httpcore2
import httpx2
import openai

from toolscope_core.llm.http_replies import MOST_REPLY_BYTES, TOO_LARGE, HttpReply
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.environment import ApiKey, origin_of
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.masking import masked

SENT = ("accept", "content-type", "content-length", "host")
_LONGEST_FAILURE = 250


class EndpointClient:
    """An endpoint; safe to share between threads.

    Each method makes one request. The request is never repeated, and it is cancelled at the
    deadline even if bytes keep arriving. Redirects, proxies, cookies and compressed replies are
    switched off. Raises ``ConfigError`` if the key belongs to another origin, or contains
    characters that a header cannot have.
    """

    def __init__(self, endpoint: Endpoint, key: ApiKey) -> None:
        if key.origin != endpoint.origin:
            raise ConfigError(
                f"the key belongs to {key.origin}, not to {endpoint.origin}; put the key for "
                f"{endpoint.origin} in TOOLSCOPE_API_KEY, and set TOOLSCOPE_API_ORIGIN too"
            )
        if not (key.secret.isascii() and key.secret.isprintable()):
            raise ConfigError(
                f"the key for {key.origin} contains a character that cannot be sent; enter it as "
                "issued, in ASCII and on one line"
            )
        logging.getLogger("httpcore2").setLevel(logging.INFO)  # below, it logs reply headers
        self._deadline = endpoint.deadline
        # httpx closes the socket of a handshake that runs out of time, but not of one that is
        # cancelled, so its time ends long before the call is cancelled, also on a busy machine
        timeout = httpx2.Timeout(endpoint.deadline, connect=0.5 * endpoint.deadline)
        self._secret = key.secret
        web = httpx2.AsyncClient(
            transport=_Transport(endpoint.origin, key.secret),
            timeout=timeout,
            follow_redirects=False,
            trust_env=False,
        )
        self._client = openai.AsyncOpenAI(
            api_key="kept by the transport",
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=timeout,
            http_client=web,
        )
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=_run, args=(self._loop,), name="endpoint", daemon=True).start()
        weakref.finalize(self, _close, self._loop, web)

    def chat(self, body: Mapping[str, Any]) -> HttpReply:
        return self._page(
            self._client.chat.completions.with_raw_response.create(**cast(Any, dict(body)))
        )

    def embeddings(self, body: Mapping[str, Any]) -> HttpReply:
        return self._page(self._client.embeddings.with_raw_response.create(**cast(Any, dict(body))))

    def _page(self, call: Awaitable[Any]) -> HttpReply:
        started = time.monotonic()
        response, failure = httpx2.Response(0), ""
        try:
            in_time = asyncio.wait_for(call, self._deadline)
            response = asyncio.run_coroutine_threadsafe(in_time, self._loop).result().http_response
        except _UnreadableError as error:
            failure = str(error)
        except openai.APIStatusError as error:
            response = error.response
        except (TimeoutError, openai.APITimeoutError):
            failure = "late"
        except openai.APIConnectionError as error:
            failure = f"no connection ({_cause(error)})"
        headers, body = response.headers, response.content.decode("utf-8", "surrogateescape")
        return HttpReply(
            status=response.status_code,
            body=self._masked(body).encode("utf-8", "surrogateescape"),
            kind=self._masked(headers.get("content-type", "")).partition(";")[0],
            wait=retry_after(headers),
            failure=self._masked(failure)[:_LONGEST_FAILURE],
            location=self._masked(headers.get("location", "")),
            seconds=time.monotonic() - started,
        )

    def _masked(self, text: str) -> str:
        return masked(text, self._secret)


def retry_after(headers: Mapping[str, str]) -> float:
    """How many seconds an endpoint asks to wait; 0 if it does not say."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(headers.get("retry-after-ms", "")) / 1000.0
    except ValueError:
        try:
            seconds = float(value)
        except ValueError:
            seconds = _until(value)
    return max(0.0, seconds) if seconds == seconds else 0.0  # noqa: PLR0124


def _until(date: str) -> float:
    try:
        return parsedate_to_datetime(date).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _cause(error: openai.APIConnectionError) -> str:
    """The message of the innermost cause of a network error."""
    cause: BaseException = error
    while inner := cause.__cause__ or cause.__context__:
        cause = inner.exceptions[0] if isinstance(inner, BaseExceptionGroup) else inner
    if isinstance(cause, socket.gaierror):
        return f"the host {error.request.url.host} could not be found"
    if isinstance(cause, OSError) and cause.errno and not isinstance(cause, ssl.SSLError):
        return os.strerror(cause.errno)
    return str(cause) or type(cause).__name__


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _close(loop: asyncio.AbstractEventLoop, web: httpx2.AsyncClient) -> None:
    async def close() -> None:
        await web.aclose()
        loop.stop()

    asyncio.run_coroutine_threadsafe(close(), loop)


class _UnreadableError(openai.OpenAIError):
    """A reply that was not read to its end."""


class _Transport(httpx2.AsyncHTTPTransport):
    """Sends only to one origin, with its key, and limits how much it reads."""

    def __init__(self, origin: str, secret: str) -> None:
        super().__init__(
            verify=httpcore2.default_ssl_context(),
            trust_env=False,
            limits=httpx2.Limits(max_connections=None),
        )
        self._origin, self._secret = origin, secret

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if origin_of(str(request.url)) != self._origin:
            raise _UnreadableError(
                f"a request was for {request.url.host}, but the endpoint is {self._origin}; "
                "nothing was sent"
            )
        headers = {name: request.headers[name] for name in SENT if name in request.headers}
        headers |= {"accept-encoding": "identity", "user-agent": "toolscope"}
        if self._secret:
            headers["authorization"] = f"Bearer {self._secret}"
        plain_request = httpx2.Request(
            request.method,
            request.url,
            headers=headers,
            stream=request.stream,
            extensions=request.extensions,
        )
        response = await super().handle_async_request(plain_request)
        try:
            return httpx2.Response(
                response.status_code, headers=response.headers, content=await _body(response)
            )
        finally:
            await response.aclose()


async def _body(response: httpx2.Response) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise _UnreadableError("the reply is compressed, which was not requested")
    body = bytearray()
    async for part in cast(AsyncIterable[bytes], response.stream):
        body += part
        if len(body) > MOST_REPLY_BYTES:
            raise _UnreadableError(TOO_LARGE)
    return bytes(body)
