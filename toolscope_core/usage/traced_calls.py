"""What is read from logs and traces: calls of tools, the requests that led to them, and times."""

import re
from collections import deque
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from toolscope_core.model.tool import digest
from toolscope_core.model.unicode_forms import letters_and_digits

_UNIQUE = re.compile(r"(?:srv)?tool(?:u|use)_.+|.{16,}", re.DOTALL)
"""Ids of calls that nobody gives twice: those of Anthropic, and long ones."""
_MARK = re.compile(r"__|[./:]")
"""What clients write between a server and its tool."""
_LONGEST_CALL = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class TracedCall:
    """One call: ``tool`` by the name that was called; ``original`` the id of the tool that a
    gateway passed it to, else empty. ``is_malformed``: no tool got it, as its name or its arguments
    were refused or are no JSON; such a call is not ``has_failed``. ``at`` is ISO 8601 in UTC, empty
    where the trace does not say. What has the same ``key`` is one call, wherever it is written down
    again; an empty one is like no other. ``logged_name`` is the name that a gateway's log has,
    which may be one of before.
    """

    tool: str
    original: str = ""
    has_failed: bool = False
    at: str = ""
    is_malformed: bool = False
    key: str = field(default="", compare=False)
    logged_name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class TracedRequest:
    """What a person asked, and the names of the tools that were called for it, in order."""

    text: str
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallTrace:
    """What logs or traces hold, each call once; ``unread`` counts the records that were not
    understood: they are neither calls nor messages, or hold a call in another form.
    """

    calls: tuple[TracedCall, ...] = ()
    requests: tuple[TracedRequest, ...] = ()
    unread: int = 0


def call_key(number: Any, tool: str, *scope: object) -> str:
    """The key of a call by the id that its trace gives it: on its own where such ids are unique,
    else within the ``scope``; empty without an id.
    """
    text = str(number or "")
    if not text:
        return ""
    is_unique = _UNIQUE.fullmatch(text) and tool not in text
    return digest(text) if is_unique else digest(text, tool, *scope)


def distinct_calls(calls: Iterable[TracedCall]) -> tuple[TracedCall, ...]:
    """Each call once, at its first place; it failed where one of its records says so. Its longest
    name counts, which a client has written with the server in front.
    """
    distinct: dict[object, TracedCall] = {}
    for place, call in enumerate(calls):
        first = distinct.setdefault(call.key or place, call)
        distinct[call.key or place] = replace(
            first,
            tool=max(first.tool, call.tool, key=len),
            original=first.original or call.original,
            has_failed=first.has_failed or call.has_failed,
            at=first.at or call.at,
        )
    return tuple(distinct.values())


def without_logged(
    calls: Iterable[TracedCall], log: Iterable[TracedCall]
) -> tuple[TracedCall, ...]:
    """The calls that agents tell of, without those that stand in a gateway's log too, each line
    being one. No id says which: it is one of the name, not of a server behind the gateway, that
    began at most ten minutes before the line. A call without a time stays.
    """
    lines: dict[str, deque[datetime]] = {}
    servers = set[str]()
    for line in sorted(log, key=lambda one: one.at):
        servers.add(letters_and_digits(line.original.rpartition("/")[0]))
        if line.at:
            times = lines.setdefault(line.logged_name or line.tool, deque())
            times.append(datetime.fromisoformat(line.at))
    own = list(calls)
    places = []
    for place, call in sorted(enumerate(own), key=lambda one: one[1].at):
        if not (call.at and _take(lines, servers - {""}, call)):
            places.append(place)
    return tuple(own[place] for place in sorted(places))


def _take(lines: Mapping[str, deque[datetime]], servers: Set[str], call: TracedCall) -> bool:
    """Whether there is a line of the call, which is then taken away; calls come in their order."""
    began = datetime.fromisoformat(call.at)
    for start, end in [(0, 0), *(mark.span() for mark in _MARK.finditer(call.tool))]:
        times = lines.get(call.tool[end:])
        front = letters_and_digits(call.tool[:start].removeprefix("mcp__"))
        if times is None or front in servers:
            continue
        while times and times[0] < began:
            times.popleft()
        if times and times[0] - began <= _LONGEST_CALL:
            times.popleft()
            return True
    return False


def utc_time(value: Any) -> str:
    """A time as ISO 8601 in UTC to the second: of a text, or of seconds or nanoseconds since 1970;
    empty for anything else.
    """
    try:
        if isinstance(value, str) and not value.isdigit():
            time = datetime.fromisoformat(value)
            time = time if time.tzinfo else time.replace(tzinfo=UTC)
        elif isinstance(value, (int, float, str)) and not isinstance(value, bool):
            number = float(value)
            seconds = number / 1e9 if number > 1e17 else number / 1e3 if number > 1e11 else number
            time = datetime.fromtimestamp(seconds, UTC)
        else:
            return ""
        return time.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""
