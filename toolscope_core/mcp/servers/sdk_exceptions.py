"""Which exceptions the ``mcp`` SDK and what it stands on raise for a server's sake."""

from collections.abc import Iterator

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
"""How errors begin that the SDK makes of replies over HTTP."""
_CLOSED = ("ClosedResourceError", "BrokenResourceError", "EndOfStream")


def leaves_of(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, of whatever depth; an exception itself where it is none."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves_of(inner)
    else:
        yield error


def only_leaf(error: BaseException) -> BaseException:
    """The exception in the groups that tasks put around it, where it is the only one."""
    leaves = list(leaves_of(error))
    return leaves[0] if len(leaves) == 1 else error


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
    return late or _is_of_sdk(error, REQUEST_TIMEOUT, "timed out")


def is_closed(error: BaseException) -> bool:
    """Whether the connection ended while an answer was waited for."""
    from mcp_types import CONNECTION_CLOSED

    closed = _is_of_sdk(error, CONNECTION_CLOSED, "Connection closed")
    return closed or type(error).__name__ in _CLOSED


def is_forgotten(error: BaseException, status: int) -> bool:
    """Whether a server at an address does not know the session any more: ``status`` is that of its
    reply, 404 also of one that does not know what it is asked for.
    """
    from mcp import MCPError
    from mcp_types import METHOD_NOT_FOUND

    return status == 404 and isinstance(error, MCPError) and error.code != METHOD_NOT_FOUND


def is_answer(error: BaseException) -> bool:
    """Whether it is an error that the server answered with, and none that the SDK put in its place
    where the reply was no answer.
    """
    from mcp import MCPError

    if not isinstance(error, MCPError) or is_timeout(error) or is_closed(error):
        return False
    return not error.error.message.startswith(_STAND_INS)


def is_of_http(error: BaseException) -> bool:
    """Whether there was no HTTP reply at all."""
    return type(error).__module__.partition(".")[0] in ("httpx2", "httpcore2")


def _is_of_sdk(error: BaseException, code: int, words: str) -> bool:
    """Whether the SDK made an error of this code and these words itself: servers use its codes for
    errors of their own.
    """
    own = getattr(error, "error", None)
    return getattr(own, "code", None) == code and str(getattr(own, "message", "")).endswith(words)
