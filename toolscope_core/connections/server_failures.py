"""What went wrong with a server, in words: what, the value, and what to do.

Kinds: ``command`` (cannot be started), ``exit`` (ended by itself), ``silent`` (no answer in time),
``garbage`` (writes what is no message), ``refused`` (401, 403), ``missing`` (404 and other
statuses), ``unreachable`` (no connection), ``tls``, ``protocol``.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import suppress

from toolscope_core.connections.launches import Launch
from toolscope_core.connections.server_addresses import HttpRecord
from toolscope_core.connections.server_processes import MOST_GARBAGE, ProcessRecord
from toolscope_core.errors import ServerConnectionError, ToolScopeError

LINES, CHARACTERS = 3, 400
"""So much of the standard error is shown."""


def failure_of(
    error: BaseException, launch: Launch, record: ProcessRecord | HttpRecord, doing: str
) -> ToolScopeError | None:
    """The error to show for what the SDK raised, ``None`` where it is none of the server's.

    ``doing`` says what was waited for. Groups of exceptions count by what is in them.
    """
    leaves = list(_leaves(error))
    ours = [leaf for leaf in leaves if isinstance(leaf, ToolScopeError)]
    if ours:
        return ours[0]
    if not leaves or not all(map(_is_of_connection, leaves)):
        return None
    if isinstance(record, ProcessRecord):
        return _of_process(leaves, launch, record, doing)
    return _of_address(leaves, launch, record, doing)


def late(launch: Launch, record: ProcessRecord | HttpRecord, seconds: float) -> ToolScopeError:
    """The error of a server that was not ready in time."""
    said = stderr_excerpt(launch, record)
    trouble = _garbage(launch, record)
    if trouble is not None:
        return trouble
    return ServerConnectionError(
        f"{launch.name} did not answer within {seconds:g} s{said}; allow more time, or start it by "
        "hand to see why",
        "silent",
    )


def stderr_excerpt(launch: Launch, record: ProcessRecord | HttpRecord) -> str:
    """The last lines of a server's standard error without secrets, as the end of a sentence."""
    if not isinstance(record, ProcessRecord):
        return ""
    text = one_line(launch, record.stderr.decode("utf-8", "replace"))
    return f"; it says: {text}" if text else ""


def one_line(launch: Launch, text: str) -> str:
    """The last lines of a text, printable, without secrets, short, joined by bars."""
    lines = [
        " ".join("".join(char if char.isprintable() else " " for char in line).split())
        for line in launch.clean(text).splitlines()
    ]
    return " | ".join([line for line in lines if line][-LINES:])[-CHARACTERS:]


def _of_process(
    leaves: list[BaseException], launch: Launch, record: ProcessRecord, doing: str
) -> ToolScopeError:
    trouble = _garbage(launch, record)
    if trouble is not None:
        return trouble
    said = stderr_excerpt(launch, record)
    if any(map(_is_timeout, leaves)):
        return _silent(leaves, launch, doing, said)
    if any(map(_is_closed, leaves)):
        status = record.status
        how = (
            "closed its output"
            if status is None
            else f"was ended by {_signal(-status)}"
            if status < 0
            else f"ended with status {status}"
        )
        return ServerConnectionError(
            f"{launch.name} {how} {doing}{said}; start it by hand to see why", "exit"
        )
    return _protocol(leaves, launch, doing, said)


def _of_address(
    leaves: list[BaseException], launch: Launch, record: HttpRecord, doing: str
) -> ToolScopeError:
    host = launch.definition.host or "its address"
    status = record.status
    if status in (401, 403):
        named = "another value for its headers" if launch.headers else "a header with a token"
        return ServerConnectionError(
            f"{launch.name} refuses access at {host} ({status}); give {named}", "refused"
        )
    if status:
        why = {
            404: "has no MCP server under this path; check the address",
            405: "takes no messages under this path; check the address, or set its type to sse",
            429: "is busy; try again later",
        }.get(status, "answers with an error; try again later, or ask who runs it")
        return ServerConnectionError(f"{launch.name}: {host} {why} ({status})", "missing")
    if any(map(_is_timeout, leaves)):
        return _silent(leaves, launch, doing, "")
    for leaf in leaves:
        if type(leaf).__module__.startswith("httpx2"):
            return _unreachable(leaf, launch, host)
    return _protocol(leaves, launch, doing, "")


def _unreachable(leaf: BaseException, launch: Launch, host: str) -> ToolScopeError:
    text = one_line(launch, str(leaf))
    if any(word in text.lower() for word in ("ssl", "tls", "certificate")):
        return ServerConnectionError(
            f"{launch.name}: the secure connection to {host} fails: {text}; check the certificate, "
            "or whether it speaks http",
            "tls",
        )
    return ServerConnectionError(
        f"{launch.name}: no connection to {host}: {text or type(leaf).__name__}; check the "
        "address, and that the server runs",
        "unreachable",
    )


def _silent(leaves: list[BaseException], launch: Launch, doing: str, said: str) -> ToolScopeError:
    text = next((one_line(launch, str(leaf)) for leaf in leaves if str(leaf)), "")
    return ServerConnectionError(
        f"{launch.name} did not answer in time {doing}{f' ({text})' if text else ''}{said}; allow "
        "more time, or start it by hand to see why",
        "silent",
    )


def _protocol(leaves: list[BaseException], launch: Launch, doing: str, said: str) -> ToolScopeError:
    text = next((one_line(launch, str(leaf)) for leaf in leaves if str(leaf)), "")
    return ServerConnectionError(
        f"{launch.name} answers with an error {doing}: {text or type(leaves[0]).__name__}{said}; "
        "update the server, or ask who maintains it",
        "protocol",
    )


def _garbage(launch: Launch, record: ProcessRecord | HttpRecord) -> ServerConnectionError | None:
    if not isinstance(record, ProcessRecord):
        return None
    if record.too_long:
        return ServerConnectionError(
            f"{launch.name} sent a message without end; update the server", "garbage"
        )
    if not record.garbage_lines:
        return None
    many = " and too many more" * (record.garbage_lines > MOST_GARBAGE)
    return ServerConnectionError(
        f"{launch.name} writes what is no message{many} on its standard output: "
        f"{one_line(launch, record.garbage)!r}; it has to keep that for MCP (does its command need "
        "an option such as --stdio?)",
        "garbage",
    )


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _is_of_connection(leaf: BaseException) -> bool:
    """Whether the SDK or what it stands on raised it: bugs of ours are not."""
    module = type(leaf).__module__.partition(".")[0]
    return module in ("mcp", "mcp_types", "httpx2", "httpcore2", "anyio", "pydantic_core") or (
        isinstance(leaf, (TimeoutError, ConnectionError))
        or (type(leaf) is RuntimeError and "protocol version" in str(leaf))
    )


def _is_timeout(leaf: BaseException) -> bool:
    from mcp_types import REQUEST_TIMEOUT

    return (
        isinstance(leaf, TimeoutError)
        or type(leaf).__name__.endswith("Timeout")
        or getattr(getattr(leaf, "error", None), "code", None) == REQUEST_TIMEOUT
    )


def _is_closed(leaf: BaseException) -> bool:
    from mcp_types import CONNECTION_CLOSED

    return getattr(getattr(leaf, "error", None), "code", None) == CONNECTION_CLOSED or (
        type(leaf).__name__ in ("ClosedResourceError", "BrokenResourceError", "EndOfStream")
    )


def _signal(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
