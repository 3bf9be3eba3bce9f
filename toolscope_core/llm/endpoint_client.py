"""The HTTP client: the only module that sends anything to an endpoint, and that has its key.

The key is put on a request by the transport, after the address was compared with the origin that
the key belongs to; the SDK never holds it. Nothing else of the environment is sent.
"""

import logging
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

import httpcore2
import httpx2
import openai

from toolscope_core.llm.http_replies import MOST_BYTES, TOO_LARGE, HttpReply, masked
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.environment import ApiKey, origin_of
from toolscope_core.model.errors import ConfigError

SENT = ("accept", "content-type", "content-length", "host")
_CHUNK = 65_536
_LONGEST_FAILURE = 250


class EndpointClient:
    """An endpoint; safe to share between threads. Each method is one request, never repeated.

    Redirects, proxies, cookies and compressed replies are off. Raises ``ConfigError`` for a key of
    another origin, or that no header can hold.
    """

    def __init__(self, endpoint: Endpoint, key: ApiKey) -> None:
        if key.origin != endpoint.origin:
            raise ConfigError(
                f"the key belongs to {key.origin} and not to {endpoint.origin}; give the key of "
                f"{endpoint.origin} in TOOLSCOPE_API_KEY, with TOOLSCOPE_API_ORIGIN"
            )
        if not (key.secret.isascii() and key.secret.isprintable()):
            raise ConfigError(
                f"the key of {key.origin} holds a character that no request can carry; give it as "
                "it was issued, in ASCII and on one line"
            )
        logging.getLogger("httpcore2").setLevel(logging.INFO)  # below, it logs replies' headers
        self._deadline = endpoint.deadline
        self._secret = key.secret
        self._clock = _Clock()
        transport = _Transport(endpoint.origin, key.secret, self._clock)
        web = httpx2.Client(
            transport=transport, timeout=endpoint.deadline, follow_redirects=False, trust_env=False
        )
        self._client = openai.OpenAI(
            api_key="kept by the transport",
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=endpoint.deadline,
            http_client=web,
        )
        weakref.finalize(self, web.close)

    def chat(self, body: Mapping[str, Any]) -> HttpReply:
        return self._page(
            lambda: self._client.chat.completions.with_raw_response.create(**cast(Any, dict(body)))
        )

    def embeddings(self, body: Mapping[str, Any]) -> HttpReply:
        return self._page(
            lambda: self._client.embeddings.with_raw_response.create(**cast(Any, dict(body)))
        )

    def _page(self, call: Callable[[], Any]) -> HttpReply:
        started = time.monotonic()
        self._clock.ends = started + self._deadline
        status, headers, body, failure = 0, httpx2.Headers(), b"", ""
        try:
            response = call().http_response
            status, headers, body = response.status_code, response.headers, response.content
        except _UnreadableError as error:
            failure = str(error)
        except openai.APIStatusError as error:
            status, headers, body = (
                error.status_code,
                error.response.headers,
                error.response.content,
            )
        except openai.APITimeoutError:
            failure = "late"
        except openai.APIConnectionError as error:
            failure = f"no connection ({_cause(error)})"
        return HttpReply(
            status=status,
            body=self._masked(body.decode("utf-8", "surrogateescape")).encode(
                "utf-8", "surrogateescape"
            ),
            kind=self._masked(headers.get("content-type", "")).partition(";")[0],
            wait=retry_after(headers),
            failure=self._masked(failure)[:_LONGEST_FAILURE],
            location=self._masked(headers.get("location", "")),
            seconds=time.monotonic() - started,
        )

    def _masked(self, text: str) -> str:
        return masked(text, self._secret)


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that an endpoint asks to wait, 0 where it does not say."""
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


def _cause(error: BaseException) -> str:
    """The message of a network error: that of its innermost cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


class _UnreadableError(openai.OpenAIError):
    """A reply that will not be read to its end."""


class _Clock(threading.local):
    """When the call of this thread has to be over."""

    ends = 0.0

    def left(self, late: type[Exception]) -> float:
        left = self.ends - time.monotonic()
        if left <= 0.0:
            raise late("the deadline is over")
        return left


class _Transport(httpx2.HTTPTransport):
    """Sends to one origin only, with its key, and reads no more than it should."""

    def __init__(self, origin: str, secret: str, clock: _Clock) -> None:
        certificates = httpcore2.default_ssl_context()
        super().__init__(verify=certificates, trust_env=False)
        self._origin, self._secret = origin, secret
        self._pool = httpcore2.ConnectionPool(
            ssl_context=certificates, max_connections=None, network_backend=_Network(clock)
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if origin_of(str(request.url)) != self._origin:
            raise _UnreadableError(f"{request.url.host} is not {self._origin}; nothing was sent")
        headers = {name: request.headers[name] for name in SENT if name in request.headers}
        headers |= {"accept-encoding": "identity", "user-agent": "toolscope"}
        if self._secret:
            headers["authorization"] = f"Bearer {self._secret}"
        sent = httpx2.Request(
            request.method,
            request.url,
            headers=headers,
            stream=request.stream,
            extensions=request.extensions,
        )
        response = super().handle_request(sent)
        try:
            return httpx2.Response(
                response.status_code, headers=response.headers, content=_body(response)
            )
        finally:
            response.close()


def _body(response: httpx2.Response) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise _UnreadableError("the reply is compressed, which was not asked for")
    body = bytearray()
    for part in cast(Iterable[bytes], response.stream):
        body += part
        if len(body) > MOST_BYTES:
            raise _UnreadableError(TOO_LARGE)
    return bytes(body)


class _Network(httpcore2.NetworkBackend):
    """Connections on which every wait ends with the clock, however often a byte arrives."""

    def __init__(self, clock: _Clock) -> None:
        self._clock = clock
        self._inner = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore2.NetworkStream:
        failed: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in _addresses(host, port):
            left = self._clock.left(httpcore2.ConnectTimeout)
            try:
                stream = self._inner.connect_tcp(address, port, left, local_address)
                return _Stream(stream, self._clock)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
        raise failed


def _addresses(host: str, port: int) -> list[str]:
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError(f"{host} is not known") from error
    return [str(address[0]) for *_, address in addresses]


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, clock: _Clock) -> None:
        self._inner, self._clock = inner, clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._clock.left(httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _CHUNK):
            left = self._clock.left(httpcore2.WriteTimeout)
            self._inner.write(buffer[start : start + _CHUNK], left)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = self._clock.left(httpcore2.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left), self._clock)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
