"""Which exceptions the ``mcp`` SDK and what it stands on raise for a server's sake."""

from __future__ import annotations

from collections.abc import Iterator

_MODULES = ("mcp", "mcp_types", "httpx2", "httpcore2", "anyio", "pydantic_core")
_CLOSED = ("ClosedResourceError", "BrokenResourceError", "EndOfStream")


def leaves_of(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, of whatever depth; an exception itself where it is none."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves_of(inner)
    else:
        yield error


def is_of_connection(error: BaseException) -> bool:
    """Whether it is about a connection; a bug of ours is not."""
    return (
        type(error).__module__.partition(".")[0] in _MODULES
        or isinstance(error, (TimeoutError, ConnectionError))
        or (type(error) is RuntimeError and "protocol version" in str(error))
    )


def is_timeout(error: BaseException) -> bool:
    """Whether an answer did not come in time."""
    from mcp_types import REQUEST_TIMEOUT

    late = isinstance(error, TimeoutError) or type(error).__name__.endswith("Timeout")
    return late or _code(error) == REQUEST_TIMEOUT


def is_closed(error: BaseException) -> bool:
    """Whether the connection ended while an answer was waited for."""
    from mcp_types import CONNECTION_CLOSED

    return _code(error) == CONNECTION_CLOSED or type(error).__name__ in _CLOSED


def is_of_http(error: BaseException) -> bool:
    """Whether there was no HTTP reply at all."""
    return type(error).__module__.partition(".")[0] in ("httpx2", "httpcore2")


def _code(error: BaseException) -> object:
    return getattr(getattr(error, "error", None), "code", None)
