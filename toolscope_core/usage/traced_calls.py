"""What is read from logs and traces: calls of tools, the requests that led to them, and times."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class TracedCall:
    """One call: ``tool`` by the name that was called; ``original`` the id of the tool that a
    gateway passed it to, else empty. ``malformed``: no tool got it, as its name or its arguments
    were refused or are no JSON; such a call is not ``failed``. ``at`` is ISO 8601 in UTC, empty
    where the trace does not say.
    """

    tool: str
    original: str = ""
    failed: bool = False
    at: str = ""
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class TracedRequest:
    """What a person asked, and the names of the tools that were called for it, in order."""

    text: str
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallTrace:
    """A log or a trace; ``unread`` counts the records that are neither calls nor messages."""

    calls: tuple[TracedCall, ...] = ()
    requests: tuple[TracedRequest, ...] = ()
    unread: int = 0


def utc_time(value: Any) -> str:
    """A time as ISO 8601 in UTC to the second: of a text, or of seconds or nanoseconds since 1970;
    empty for anything else.
    """
    try:
        if isinstance(value, str) and not value.isdigit():
            read = datetime.fromisoformat(value)
            read = read if read.tzinfo else read.replace(tzinfo=UTC)
        elif isinstance(value, (int, float, str)) and not isinstance(value, bool):
            number = float(value)
            seconds = number / 1e9 if number > 1e17 else number / 1e3 if number > 1e11 else number
            read = datetime.fromtimestamp(seconds, UTC)
        else:
            return ""
        return read.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""
