"""How often a tool was called, in words."""

from __future__ import annotations

from toolscope_core.model.numbers import quantity
from toolscope_core.usage.call_counts import CatalogCallCounts, ToolCallCounts

DATE = len("2026-01-01")


def tool_count_line(usage: ToolCallCounts) -> str:
    """*Called 12 times, 1 failed, last on 2026-01-31*; *Never called* of one that no log names."""
    if not usage.calls:
        return "Never called in the logs"
    failed = f", {usage.errors:,} failed" if usage.errors else ""
    last = f", last on {usage.last[:DATE]}" if usage.last else ""
    return f"Called {quantity(usage.calls, 'time')}{failed}{last}"


def catalog_count_line(figures: CatalogCallCounts) -> str:
    """What logs say of all tools together."""
    tools = quantity(len(figures.by_id), "tool")
    when = f", {figures.first[:DATE]} to {figures.last[:DATE]}" if figures.first else ""
    strange = sum(figures.unknown.values())
    more = f"; {quantity(strange, 'call')} of tools that are not in this catalog" if strange else ""
    return f"{quantity(figures.calls, 'call')} of {tools}{when}{more}"
