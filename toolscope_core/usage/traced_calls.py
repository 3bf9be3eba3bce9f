"""What is read from logs and traces: calls of tools, and the requests that led to them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TracedCall:
    """One call: ``tool`` by the name that was called; ``original`` the id of the tool that a
    gateway passed it to, else empty. ``at`` is ISO 8601 in UTC, empty where the trace does not say.
    """

    tool: str
    original: str = ""
    failed: bool = False
    at: str = ""


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
