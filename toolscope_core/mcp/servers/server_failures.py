"""Describes the failures of a server: what went wrong, with the value, and how to fix it.

The kinds are ``command`` (cannot be started), ``exit`` (ended by itself), ``silent`` (gave no
answer in time), ``garbage`` (writes something that is not a message), ``refused`` (401, 403),
``busy`` (429, 5xx), ``missing`` (404 and other statuses), ``unreachable`` (no connection), ``tls``
and ``protocol``.
"""

import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from toolscope_core.mcp.servers.launches import Launch
from toolscope_core.mcp.servers.masked_words import shown_url
from toolscope_core.mcp.servers.server_addresses import HttpRecord
from toolscope_core.mcp.servers.server_processes import HANDSHAKE, MOST_GARBAGE, ProcessRecord
from toolscope_core.model.errors import ServerConnectionError, ToolScopeError

_MODULES = ("mcp", "mcp_types", "httpx2", "httpcore2", "anyio", "pydantic_core")
_STAND_INS = (
    "Session terminated",
    "Server returned an error response",
    "Unexpected content type",
    "Redirect to",
    "Failed to parse",
    "SSE stream",
    "server answered a request with 202",
)
"""The beginnings of the errors that the SDK makes from HTTP replies."""
_CLOSED = ("ClosedResourceError", "BrokenResourceError", "EndOfStream")


def leaves_of(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, at any depth; for a single exception, the exception itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves_of(inner)
    else:
        yield error


def only_leaf(error: BaseException) -> BaseException:
    """The only exception in nested groups. If they contain several exceptions, the error itself."""
    leaves = list(leaves_of(error))
    return leaves[0] if len(leaves) == 1 else error


def is_of_connection(error: BaseException) -> bool:
    """Whether the error is about a connection, and not our own bug."""
    return (
        type(error).__module__.partition(".")[0] in _MODULES
        or isinstance(error, (TimeoutError, ConnectionError))
        or (type(error) is RuntimeError and "protocol version" in str(error))
    )


def is_timeout(error: BaseException) -> bool:
    """Whether an answer did not arrive in time."""
    from mcp_types import REQUEST_TIMEOUT

    late = isinstance(error, TimeoutError) or type(error).__name__.endswith("Timeout")
    return late or _is_of_sdk(error, REQUEST_TIMEOUT, "timed out")


def is_closed(error: BaseException) -> bool:
    """Whether the connection ended while an answer was awaited."""
    from mcp_types import CONNECTION_CLOSED

    closed = _is_of_sdk(error, CONNECTION_CLOSED, "Connection closed")
    return closed or type(error).__name__ in _CLOSED


def is_forgotten(error: BaseException, status: int) -> bool:
    """Whether a server at an address no longer knows the session.

    ``status`` is the status of the server's reply. A 404 may also mean that the server does not
    know the method, so the error is checked too.
    """
    from mcp import MCPError
    from mcp_types import METHOD_NOT_FOUND

    return status == 404 and isinstance(error, MCPError) and error.code != METHOD_NOT_FOUND


def is_answer(error: BaseException) -> bool:
    """Whether this error came from the server itself, and not from the SDK because of an invalid
    reply.
    """
    from mcp import MCPError

    if not isinstance(error, MCPError) or is_timeout(error) or is_closed(error):
        return False
    return not error.error.message.startswith(_STAND_INS)


def is_of_http(error: BaseException) -> bool:
    """Whether the error is one of the HTTP library, because there was no HTTP reply at all."""
    return type(error).__module__.partition(".")[0] in ("httpx2", "httpcore2")


def _is_of_sdk(error: BaseException, code: int, words: str) -> bool:
    """Whether the SDK itself made the error with this code and text.

    The text is checked because servers use the same codes for their own errors.
    """
    own = getattr(error, "error", None)
    return getattr(own, "code", None) == code and str(getattr(own, "message", "")).endswith(words)


_LINES, CHARACTERS = 3, 400
"""The most lines and characters of the standard error that are shown."""
_ERROR = re.compile(r"^[^\S\n]*(?:uncaught )?(?:\w*(?:error|exception)|fatal|panic)\b", re.I | re.M)
"""Matches the beginning of the line that says what went wrong. A stack or the version of a runtime
may follow that line.
"""
TRY_SSE = frozenset({400, 404, 405, 406, 415})
"""The statuses with which a server that supports only SSE answers a message (MCP, 2025-03-26)."""
STATUSES = {
    404: "has no MCP server at this path; check the address",
    405: "accepts no messages at this path; check the address",
    429: "is busy; try again later",
}
Leaves = Sequence[BaseException]
"""The exceptions that the SDK raised, without the groups around them."""
OTHER_STATUS = "answers with an error; try again later, or ask its operator"


@dataclass(frozen=True, slots=True)
class Situation:
    """A server, the observations of it, the current request (*while it listed its tools*), and the
    time limit for the request in seconds.
    """

    launch: Launch
    record: ProcessRecord | HttpRecord
    doing: str
    seconds: float

    @property
    def looks_older(self) -> bool:
        """Whether the server rejected a message in the way of a server that supports only SSE."""
        return isinstance(self.record, HttpRecord) and self.record.status in TRY_SSE

    def failure(self, error: BaseException) -> ToolScopeError | None:
        """The error to show for an exception from the SDK; ``None`` if the exception is not about
        the server.

        For a group of exceptions, the exceptions in it are judged.
        """
        leaves = list(leaves_of(error))
        ours = [leaf for leaf in leaves if isinstance(leaf, ToolScopeError)]
        if ours:
            return ours[0]
        if not leaves or not all(map(is_of_connection, leaves)):
            return None
        if isinstance(self.record, ProcessRecord):
            return self._of_process(leaves, self.record)
        return self._of_connection(leaves, self.record) or self._of_address(leaves, self.record)

    def late(self) -> ServerConnectionError:
        """The error for a server that did not answer in time."""
        by_hand = isinstance(self.record, ProcessRecord)
        check = "start it by hand to see why" if by_hand else "check that it is running"
        return self._garbage() or ServerConnectionError(
            f"{self.launch.name} did not answer within {self.seconds:g} s {self.doing}"
            f"{self._says()}; allow more time, or {check}",
            "silent",
        )

    def _of_process(self, leaves: Leaves, record: ProcessRecord) -> ServerConnectionError:
        if garbage := self._garbage():
            return garbage
        if any(map(is_timeout, leaves)):
            return self.late()
        if any(map(is_closed, leaves)):
            what = f"{self.launch.name} {_end_of(record.status)} {self.doing}{self._says()}"
            return ServerConnectionError(f"{what}; start it by hand to see why", "exit")
        return self._protocol(leaves)

    def _of_connection(self, leaves: Leaves, record: HttpRecord) -> ServerConnectionError | None:
        if record.refusal:
            return ServerConnectionError(record.refusal, "garbage")
        if self.doing == HANDSHAKE or not any(is_forgotten(leaf, record.status) for leaf in leaves):
            return None
        what = f"{self.launch.name} has lost its session, for example by a restart"
        return ServerConnectionError(f"{what}; call again", "exit")

    def _of_address(self, leaves: Leaves, record: HttpRecord) -> ServerConnectionError:
        name, host, status = self.launch.name, self.launch.definition.host, record.status
        if status in (401, 403):
            remedy = (
                "a different value for its headers" if self.launch.headers else "a header for it"
            )
            return ServerConnectionError(
                f"{name} refuses access at {host} ({status}); provide {remedy}", "refused"
            )
        if 300 <= status < 400:
            place = _one_line(self.launch, shown_url(record.location))
            return ServerConnectionError(
                f"{name}: {host} redirects to {place!r} ({status}), where its headers are not "
                "sent; use that address if it is the server you mean",
                "missing",
            )
        if status:
            why = f"{STATUSES.get(status, OTHER_STATUS)} ({status})"
            kind = "busy" if status == 429 or status >= 500 else "missing"
            return ServerConnectionError(f"{name}: {host} {why}", kind)
        if record.media:
            media = _one_line(self.launch, record.media)
            return ServerConnectionError(
                f"{name}: {host} answers with {media!r}, not with MCP; check the address", "missing"
            )
        if any(map(is_timeout, leaves)):
            return self.late()
        http_error = next(filter(is_of_http, leaves), None)
        return self._unreachable(http_error, host) if http_error else self._protocol(leaves)

    def _unreachable(self, error: BaseException, host: str) -> ServerConnectionError:
        text = _one_line(self.launch, str(error)) or type(error).__name__
        if any(word in text.lower() for word in ("ssl", "tls", "certificate")):
            return ServerConnectionError(
                f"{self.launch.name}: the secure connection to {host} fails: {text}; check the "
                "certificate, or whether it speaks http",
                "tls",
            )
        return ServerConnectionError(
            f"{self.launch.name}: no connection to {host}: {text}; check the address, and "
            "that the server is running",
            "unreachable",
        )

    def _protocol(self, leaves: Leaves) -> ServerConnectionError:
        text = next((_one_line(self.launch, str(leaf)) for leaf in leaves if str(leaf)), "")
        return ServerConnectionError(
            f"{self.launch.name} answers with an error {self.doing}: "
            f"{text or type(leaves[0]).__name__}{self._says()}; update the server, or ask who "
            "maintains it",
            "protocol",
        )

    def _garbage(self) -> ServerConnectionError | None:
        record, name = self.record, self.launch.name
        if not isinstance(record, ProcessRecord):
            return None
        if record.too_long:
            return ServerConnectionError(
                f"{name} sent a message that never ends; update the server", "garbage"
            )
        if not record.garbage_lines:
            return None
        many = " and too many more" * (record.garbage_lines > MOST_GARBAGE)
        line = f": {_one_line(self.launch, record.garbage)!r}" if record.garbage else ""
        return ServerConnectionError(
            f"{name} writes lines that are not MCP messages{many} to its standard "
            f"output{line}; it must use that for MCP only (does its command need an option "
            "such as --stdio?)",
            "garbage",
        )

    def _says(self) -> str:
        text = stderr_excerpt(self.launch, self.record)
        return f"; it says: {text}" if text else ""


def stderr_excerpt(launch: Launch, record: ProcessRecord | HttpRecord) -> str:
    """A part of a server's standard error, without secrets, on one line. The part begins where the
    server last names an error; if it names none, it is the last lines.
    """
    if not isinstance(record, ProcessRecord):
        return ""
    text = record.stderr.decode("utf-8", "replace")
    if errors := [match.start() for match in _ERROR.finditer(text)]:
        text = "\n".join(text[errors[-1] :].splitlines()[:_LINES])
    return _one_line(launch, text)


def _one_line(launch: Launch, text: str) -> str:
    """The last lines of a text, shortened and joined by bars. Secrets and unprintable characters
    are removed.
    """
    lines = [
        " ".join("".join(char if char.isprintable() else " " for char in line).split())
        for line in launch.clean(text).splitlines()
    ]
    return " | ".join([line for line in lines if line][-_LINES:])[-CHARACTERS:]


def _end_of(status: int | None) -> str:
    if status is None:
        return "closed its output"
    if status >= 0:
        return f"ended with status {status}"
    name = f"signal {-status}"
    with suppress(ValueError):
        name = signal.Signals(-status).name
    return f"was stopped by {name}"
