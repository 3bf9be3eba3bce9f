"""Texts that name a tool which is gone since the baseline, or which its merges took away."""

from collections.abc import Iterator
from dataclasses import replace

from toolscope_core.check.baseline import Baseline
from toolscope_core.check.matched import Matched
from toolscope_core.merging.clusters import find_dangling
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.plan import Dangling, MergedTool, Relabel


def new_danglings(catalog: Catalog, tools: Matched, baseline: Baseline) -> tuple[Dangling, ...]:
    """References to gone tools that the baseline did not have, in tool order."""
    phi = {row.old_id: row for row in baseline.relabels}
    kept = []
    for tool in catalog.tools:
        row = phi.get(tools.before.get(tool.id, ""))
        if row is None or row.new_id == row.old_id:
            name = tool.name if row is None or row.status == "kept" else row.new_name
            kept.append(MergedTool(replace(tool, name=name or tool.name), (tool.id,)))
    return tuple(
        item
        for item in find_dangling(kept, gone_tools(tools, baseline))
        if (tools.before.get(item.tool_id, item.tool_id), item.cites) not in baseline.dangling
    )


def gone_tools(tools: Matched, baseline: Baseline) -> tuple[Relabel, ...]:
    """What became of each tool that is gone or renamed since the baseline, or by its merges."""
    merged = (row for row in baseline.relabels if row.status != "kept")
    return (*_gone(tools), *merged)


def _gone(tools: Matched) -> Iterator[Relabel]:
    """The tools that the catalog has no longer, or under another name."""
    for tool in tools.changes.removed:
        yield Relabel(tool.id, None, tool.server, tool.name, None, "removed")
    for change in tools.changes.changed:
        old, new = change.old, change.new
        if old.name != new.name:
            yield Relabel(old.id, new.id, old.server, old.name, new.name, "renamed")
