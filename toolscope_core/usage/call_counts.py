"""How often each tool of a catalog was called, how often that failed, and when last."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool
from toolscope_core.model.unicode_forms import letters_and_digits
from toolscope_core.usage.traced_calls import CallTrace, TracedCall, TracedRequest

CLIENT_PREFIX = re.compile(r"mcp__(.+?)__(.+)")
"""How Claude Code calls the tool of a server."""
_DATE = len("2026-01-01")


@dataclass(frozen=True, slots=True)
class ToolCallCounts:
    """Calls of one tool, those that failed, and when the last one was (ISO 8601, empty where no
    trace says).
    """

    calls: int = 0
    errors: int = 0
    last: str = ""


@dataclass(frozen=True, slots=True)
class CatalogCallCounts:
    """By tool id, of the tools that were called; ``unknown`` are calls by name of tools that the
    catalog does not have, or has more than once. ``first`` and ``last`` are the times of the first
    and last call, empty where none is known.
    """

    by_id: Mapping[str, ToolCallCounts] = field(default_factory=dict)
    unknown: Mapping[str, int] = field(default_factory=dict)
    first: str = ""
    last: str = ""

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.by_id.values())

    @property
    def days(self) -> float:
        """The days that the calls lie apart."""
        if not self.first:
            return 0.0
        between = datetime.fromisoformat(self.last) - datetime.fromisoformat(self.first)
        return between / timedelta(days=1)

    def of(self, tool_id: str) -> ToolCallCounts:
        return self.by_id.get(tool_id, ToolCallCounts())

    def unused(self, tools: Iterable[Tool], days: float) -> tuple[str, ...]:
        """The ids of tools, sorted, that nobody called in the last ``days`` before the last call;
        none where the calls do not cover that time. A tool of which some calls have no time counts
        as used.
        """
        if not self.last or self.days < days:
            return ()
        since = datetime.fromisoformat(self.last) - timedelta(days=days)
        unused = []
        for tool in tools:
            usage = self.of(tool.id)
            recent = usage.last and datetime.fromisoformat(usage.last) >= since
            if not usage.calls or (usage.last and not recent):
                unused.append(tool.id)
        return tuple(sorted(unused))


def count_calls(trace: CallTrace, tools: Sequence[Tool]) -> CatalogCallCounts:
    """The figures of one trace against a catalog's tools."""
    names = _Names(tools)
    return add_counts(_count_one(call, names.of(call)) for call in trace.calls)


def add_counts(figures: Iterable[CatalogCallCounts]) -> CatalogCallCounts:
    """The figures of several logs as one."""
    by_id: dict[str, ToolCallCounts] = {}
    unknown: Counter[str] = Counter()
    times: list[str] = []
    for one in figures:
        unknown.update(one.unknown)
        times += [one.first, one.last]
        for tool_id, usage in one.by_id.items():
            by_id[tool_id] = _added(by_id.get(tool_id, ToolCallCounts()), usage)
    known_times = [time for time in times if time] or [""]
    return CatalogCallCounts(
        dict(sorted(by_id.items())),
        dict(sorted(unknown.items())),
        min(known_times),
        max(known_times),
    )


def query_rows(requests: Iterable[TracedRequest], tools: Sequence[Tool]) -> list[dict[str, object]]:
    """The requests as rows of a query set: each text once, its gold what was called for it; none
    without a call of a tool of the catalog.
    """
    ids, gold = _Names(tools), dict[str, dict[str, None]]()
    for request in requests:
        called = [ids.of(TracedCall(name)) for name in request.tools]
        answers = dict.fromkeys(one for one in called if one is not None)
        if answers:
            gold.setdefault(request.text.strip(), {}).update(answers)
    return [
        {"id": f"t{number}", "query": text, "gold": list(ids)}
        for number, (text, ids) in enumerate(gold.items(), 1)
    ]


class _Names:
    """Which tool a name means: an id, a name with its server in front as clients write it, or a
    name that one tool has.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = {tool.id for tool in tools}
        uses = Counter(tool.name for tool in tools)
        self._by_name = {tool.name: tool.id for tool in tools if uses[tool.name] == 1}
        for tool in tools:
            if tool.server:
                self._by_name.setdefault(f"{tool.server}_{tool.name}", tool.id)
        self._by_server = {(letters_and_digits(tool.server), tool.name): tool.id for tool in tools}

    def of(self, call: TracedCall) -> str | None:
        if call.original in self._ids:
            return call.original
        if call.tool in self._ids:
            return call.tool
        prefixed = CLIENT_PREFIX.fullmatch(call.tool)
        if prefixed:
            key = (letters_and_digits(prefixed[1]), prefixed[2])
            return self._by_server.get(key, self._by_name.get(prefixed[2]))
        return self._by_name.get(call.tool)


def _count_one(call: TracedCall, tool_id: str | None) -> CatalogCallCounts:
    """The figures of one call, of a tool of the catalog or of no such tool."""
    if tool_id is None:
        return CatalogCallCounts({}, {call.tool: 1}, call.at, call.at)
    return CatalogCallCounts(
        {tool_id: ToolCallCounts(1, int(call.failed), call.at)}, {}, call.at, call.at
    )


def _added(one: ToolCallCounts, other: ToolCallCounts) -> ToolCallCounts:
    return ToolCallCounts(
        one.calls + other.calls, one.errors + other.errors, max(one.last, other.last)
    )


def tool_count_line(usage: ToolCallCounts) -> str:
    """*Called 12 times, 1 failed, last on 2026-01-31*; *Never called* of one that no log names."""
    if not usage.calls:
        return "Never called in the logs"
    failed = f", {usage.errors:,} failed" if usage.errors else ""
    last = f", last on {usage.last[:_DATE]}" if usage.last else ""
    return f"Called {quantity(usage.calls, 'time')}{failed}{last}"


def catalog_count_line(figures: CatalogCallCounts) -> str:
    """What logs say of all tools together."""
    tools = quantity(len(figures.by_id), "tool")
    when = f", {figures.first[:_DATE]} to {figures.last[:_DATE]}" if figures.first else ""
    strange = sum(figures.unknown.values())
    more = f"; {quantity(strange, 'call')} of tools that are not in this catalog" if strange else ""
    return f"{quantity(figures.calls, 'call')} of {tools}{when}{more}"
