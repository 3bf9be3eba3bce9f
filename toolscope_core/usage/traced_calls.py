"""What logs and traces contain: calls of tools, the requests that led to them, and times."""

import re
from collections import deque
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from toolscope_core.model.tool import digest
from toolscope_core.model.unicode_forms import letters_and_digits

_UNIQUE = re.compile(r"(?:srv)?tool(?:u|use)_.+|.{16,}", re.DOTALL)
"""Call ids that are never reused: those from Anthropic, and long ones."""
_MARK = re.compile(r"__|[./:]")
"""The characters that clients write between the names of a server and its tool."""
_LONGEST_CALL = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class TracedCall:
    """One call; ``tool`` is the name that was called.

    ``original`` is the id of the tool to which a gateway passed the call, or empty.
    ``is_malformed`` says that no tool received the call, because its name or arguments were refused
    or are not JSON; ``has_failed`` is then false. ``at`` is ISO 8601 in UTC, empty if unknown.
    Calls with the same ``key`` are one call, wherever they are recorded; an empty key equals no
    other. ``logged_name`` is the name in a gateway's log, which may be a former name. ``wrapped``
    are the names in the arguments; these are the called tools if ``tool`` only passes calls on, as
    ``call_tool`` does. ``arguments`` and ``result`` are as in an agent's messages.
    """

    tool: str
    original: str = ""
    has_failed: bool = False
    at: str = ""
    is_malformed: bool = False
    key: str = field(default="", compare=False)
    logged_name: str = field(default="", compare=False)
    wrapped: tuple[str, ...] = field(default=(), compare=False)
    arguments: Any = field(default=None, compare=False, repr=False)
    result: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TracedRequest:
    """A person's request, and the calls that it led to, in order."""

    text: str
    calls: tuple[TracedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class CallTrace:
    """The contents of logs or traces, with each call once.

    ``unread`` counts the records that were not understood: they are neither calls nor messages, or
    contain calls in another form.
    """

    calls: tuple[TracedCall, ...] = ()
    requests: tuple[TracedRequest, ...] = ()
    unread: int = 0


def call_key(number: Any, tool: str, *scope: object) -> str:
    """The key of a call, made from its id in the trace.

    A unique id is used alone; any other id is combined with the ``scope``. Empty if there is no id.
    """
    text = str(number or "")
    if not text:
        return ""
    is_unique = _UNIQUE.fullmatch(text) and tool not in text
    return text if is_unique else digest(text, tool, *scope)


def distinct_calls(calls: Iterable[TracedCall]) -> tuple[TracedCall, ...]:
    """Each call once, at the place where it appears first; it failed if any of its records says so.

    The longest of its names is kept, since clients may add the server in front.
    """
    distinct: dict[object, TracedCall] = {}
    for place, call in enumerate(calls):
        first = distinct.setdefault(call.key or place, call)
        if first is not call:
            distinct[call.key] = replace(
                first,
                tool=max(first.tool, call.tool, key=len),
                original=first.original or call.original,
                has_failed=first.has_failed or call.has_failed,
                at=first.at or call.at,
                arguments=call.arguments if first.arguments is None else first.arguments,
                result=call.result if first.result is None else first.result,
            )
    return tuple(distinct.values())


def without_logged(
    calls: Iterable[TracedCall], log: Iterable[TracedCall]
) -> tuple[TracedCall, ...]:
    """The agents' calls, without those that are also in a gateway's log; each line is one call.

    The two have no common id. So a line matches a call with the same name that began at most ten
    minutes before, unless that call went to a server outside the gateway. Calls without a time
    stay.
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
    """Whether a line matches the call; that line is then removed. Calls come in order of time."""
    began = datetime.fromisoformat(call.at)
    names = (call.tool, *call.wrapped)
    starts = ((one, *mark.span()) for one in names for mark in _MARK.finditer(one))
    for name, start, end in [*((one, 0, 0) for one in names), *starts]:
        times = lines.get(name[end:])
        front = letters_and_digits(name[:start].removeprefix("mcp__"))
        if times is None or front in servers:
            continue
        while times and times[0] < began:
            times.popleft()
        if times and times[0] - began <= _LONGEST_CALL:
            times.popleft()
            return True
    return False


def utc_time(value: Any) -> str:
    """A time as ISO 8601 in UTC to the second, from a text or from a number counted since 1970.

    Empty for anything else.
    """
    try:
        if isinstance(value, str) and not value.isdigit():
            time = datetime.fromisoformat(value)
            time = time if time.tzinfo else time.replace(tzinfo=UTC)
        elif isinstance(value, (int, float, str)) and not isinstance(value, bool):
            number = float(value)
            units = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
            seconds = number / next((unit for least, unit in units if number > least), 1)
            time = datetime.fromtimestamp(seconds, UTC)
        else:
            return ""
        return time.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""
