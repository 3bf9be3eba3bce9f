"""What the scan finds in a catalog and had not found in the baseline."""

from toolscope_core.check.matched import Matched
from toolscope_core.model.catalog import Catalog, Finding


def new_findings(old: Catalog, new: Catalog, tools: Matched) -> tuple[Finding, ...]:
    """The *block* and *warn* findings that were not there, the worst first, then in tool order.

    A finding on a tool that is as it was counts as there whatever its place, which may depend on
    the order of fields.
    """
    there = {_key(item, item.tool_id) for item in old.findings}
    kinds = {(item.tool_id, item.severity, item.code) for item in old.findings}
    fresh = []
    for item in new.findings:
        before = tools.before.get(item.tool_id, "")
        is_as_it_was = bool(item.tool_id) and item.tool_id not in tools.new
        was_there = is_as_it_was and (before, item.severity, item.code) in kinds
        if item.severity != "info" and not was_there and _key(item, before) not in there:
            fresh.append(item)
    return tuple(sorted(fresh, key=lambda item: (item.severity != "block", item.tool_id)))


def _key(item: Finding, tool_id: str) -> tuple[str, ...]:
    of = (tool_id, item.server, item.severity, item.code)
    return (*of, item.field, item.message, item.excerpt)
