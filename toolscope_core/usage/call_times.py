"""Times of logs and traces in one form."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


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
