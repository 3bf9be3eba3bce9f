"""How often each tool of a catalog was called, how often it failed, and when it was called last."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool
from toolscope_core.model.unicode_forms import letters_and_digits, plain_name
from toolscope_core.usage.traced_calls import CallTrace, TracedCall, TracedRequest

CLIENT_PREFIX = re.compile(r"^mcp__(.+?)__(.+)$")
"""The name under which Claude Code calls a server's tool."""
_DATE = len("2026-01-01")
_MARKS = re.compile(r"__|::|[._/:-]")
_NameKey = TypeVar("_NameKey", str, tuple[str, str])


@dataclass(frozen=True, slots=True)
class ToolCallCounts:
    """How often one tool was called, how many calls failed or were malformed, and when the last
    call was.

    Times are in ISO 8601, empty if no trace has them. ``days`` gives the number of calls on each
    day (UTC), and how many of them failed or were malformed; it is empty if no trace has times.
    """

    calls: int = 0
    errors: int = 0
    malformed: int = 0
    last: str = ""
    days: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CatalogCallCounts:
    """The counts of the tools that were called, by tool id.

    ``unknown`` counts the calls whose name is not in the catalog, or is there more than once.
    ``first`` and ``last`` are the times of the first and the last call, empty if they are unknown.
    """

    by_id: Mapping[str, ToolCallCounts] = field(default_factory=dict)
    unknown: Mapping[str, ToolCallCounts] = field(default_factory=dict)
    first: str = ""
    last: str = ""

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.by_id.values())

    @property
    def days(self) -> float:
        """The number of days between the first and the last call."""
        if not self.first:
            return 0.0
        between = datetime.fromisoformat(self.last) - datetime.fromisoformat(self.first)
        return between / timedelta(days=1)

    def of(self, tool_id: str) -> ToolCallCounts:
        return self.by_id.get(tool_id, ToolCallCounts())

    def unused(self, tools: Iterable[Tool], days: float) -> tuple[str, ...]:
        """The ids (sorted) of the tools that were not called in the ``days`` before the last call.

        Empty if the calls do not cover that time. A tool whose calls have no dates counts as used.
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
    """The counts from one trace for the tools of a catalog."""
    names = CatalogNames(tools)
    calls, strange = list[tuple[str, ToolCallCounts]](), list[tuple[str, ToolCallCounts]]()
    for call in trace.calls:
        tool_ids, counts = names.of(call), _counts_of(call)
        calls += [(one, counts) for one in tool_ids]
        strange += [] if tool_ids else [(call.tool, counts)]
    times = [call.at for call in trace.calls if call.at] or [""]
    return CatalogCallCounts(_added_by_name(calls), _added_by_name(strange), min(times), max(times))


def add_counts(figures: Iterable[CatalogCallCounts]) -> CatalogCallCounts:
    """The counts from several logs, added up."""
    figures = list(figures)
    times = [time for one in figures for time in (one.first, one.last) if time] or [""]
    by_id = _added_by_name(row for one in figures for row in one.by_id.items())
    unknown = _added_by_name(row for one in figures for row in one.unknown.items())
    return CatalogCallCounts(by_id, unknown, min(times), max(times))


def query_rows(requests: Iterable[TracedRequest], tools: Sequence[Tool]) -> list[dict[str, object]]:
    """The requests as rows of a query set: each text once, with the tools called for it as gold.

    Requests that led to no call of a catalog tool are left out.
    """
    ids, gold = CatalogNames(tools), dict[str, dict[str, None]]()
    for request in requests:
        answers = dict.fromkeys(one for call in request.calls for one in ids.of(call))
        if answers:
            gold.setdefault(request.text.strip(), {}).update(answers)
    return [
        {"id": f"t{number}", "query": text, "gold": list(ids)}
        for number, (text, ids) in enumerate(gold.items(), 1)
    ]


class CatalogNames:
    """Finds the tools that a call means: the tool with the call's name, or the tools to which the
    call is passed on.

    A name can be an id, a name that only one tool has, or a name with its server as clients write
    it, where some characters may be replaced by ``_``. Exact names have priority.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = {tool.id for tool in tools}
        self._by_name = _of_one_tool((tool.name, tool.id) for tool in tools)
        self._by_plain_name = _of_one_tool((plain_name(tool.name), tool.id) for tool in tools)
        servers = [(letters_and_digits(tool.server), tool) for tool in tools if tool.server]
        self._by_server = _of_one_tool(((own, one.name), one.id) for own, one in servers)
        self._by_plain_server = _of_one_tool(
            ((own, plain_name(one.name)), one.id) for own, one in servers
        )

    def of(self, call: TracedCall) -> list[str]:
        named = self._named(call.original if call.original in self._ids else call.tool)
        names = [named] if named else map(self._named, call.wrapped)
        return [tool_id for tool_id in names if tool_id is not None]

    def _named(self, name: str) -> str | None:
        if name in self._ids:
            return name
        own = self._by_name.get(name, self._with_server(name))
        return own or self._by_plain_name.get(name)

    def _with_server(self, name: str) -> str | None:
        """The tool whose name follows its server's name, or a unique name that follows an unknown
        server's.
        """
        match = CLIENT_PREFIX.fullmatch(name)
        for mark in _MARKS.finditer(name.removeprefix("mcp__")):
            front, tool = mark.string[: mark.start()], mark.string[mark.end() :]
            key = (letters_and_digits(front), tool)
            if tool_id := self._by_server.get(key, self._by_plain_server.get(key)):
                return tool_id
        if match is None:
            return None
        return self._by_name.get(match[2], self._by_plain_name.get(match[2]))


def _of_one_tool(pairs: Iterable[tuple[_NameKey, str]]) -> dict[_NameKey, str]:
    """The id for each key, without the keys that several tools share."""
    ids: defaultdict[_NameKey, set[str]] = defaultdict(set)
    for key, tool_id in pairs:
        ids[key].add(tool_id)
    return {key: next(iter(own)) for key, own in ids.items() if len(own) == 1}


def add_tool_counts(counts: Iterable[ToolCallCounts]) -> ToolCallCounts:
    """Several counts, added up."""
    counts = list(counts)
    calls, bad = Counter[str](), Counter[str]()
    for one in counts:
        for day, (number, bad_number) in one.days.items():
            calls[day] += number
            bad[day] += bad_number
    return ToolCallCounts(
        sum(one.calls for one in counts),
        sum(one.errors for one in counts),
        sum(one.malformed for one in counts),
        max((one.last for one in counts), default=""),
        {day: (calls[day], bad[day]) for day in sorted(calls)},
    )


def _counts_of(call: TracedCall) -> ToolCallCounts:
    is_bad = int(call.has_failed or call.is_malformed)
    days = {call.at[:_DATE]: (1, is_bad)}
    return ToolCallCounts(1, int(call.has_failed), int(call.is_malformed), call.at, days)


def _added_by_name(rows: Iterable[tuple[str, ToolCallCounts]]) -> dict[str, ToolCallCounts]:
    counts: defaultdict[str, list[ToolCallCounts]] = defaultdict(list)
    for name, one in rows:
        counts[name].append(one)
    return {name: add_tool_counts(own) for name, own in sorted(counts.items())}


def tool_count_line(usage: ToolCallCounts) -> str:
    """*Called 12 times, 1 failed, last on 2026-01-31*, or *Never called* if no
    log names the tool.
    """
    if not usage.calls:
        return "Never called in the logs"
    failed = f", {usage.errors:,} failed" if usage.errors else ""
    failed += f", {usage.malformed:,} malformed" if usage.malformed else ""
    last = f", last on {usage.last[:_DATE]}" if usage.last else ""
    return f"Called {quantity(usage.calls, 'time')}{failed}{last}"


def unread_line(unread: int) -> str:
    """A warning that some log records may contain calls that are not counted."""
    were = "was" if unread == 1 else "were"
    return f"{quantity(unread, 'record')} {were} not understood; calls in them are not counted"


def catalog_count_line(figures: CatalogCallCounts) -> str:
    """A summary of the logs for all tools together."""
    tools = quantity(len(figures.by_id), "tool")
    when = f", {figures.first[:_DATE]} to {figures.last[:_DATE]}" if figures.first else ""
    strange = sum(one.calls for one in figures.unknown.values())
    more = (
        (
            f"; {quantity(strange, 'call')} of tools that are not in this catalog, or whose name "
            "is not unique"
        )
        if strange
        else ""
    )
    return f"{quantity(figures.calls, 'call')} of {tools}{when}{more}"
