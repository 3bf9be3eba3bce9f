"""How the tools of a catalog are used, by the logs and traces that were added to it."""

from __future__ import annotations

from toolscope_core.model.tool import JsonObject
from toolscope_core.store import (
    UsageLog,
    delete_usage_log,
    list_usage_logs,
    usage_log_keys,
)
from toolscope_core.usage.call_counts import (
    CatalogCallCounts,
    ToolCallCounts,
    add_counts,
)
from toolscope_core.usage.traced_calls import utc_time
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace

UNUSED_DAYS = 30


class UsageEvidence:
    """The logs of catalogs; of each only counts and times are kept."""

    def __init__(self, work: Workspace) -> None:
        self._store = work.store
        self._catalogs = work.catalogs
        self._figures: ResultCache[CatalogCallCounts] = ResultCache(most=16)

    def logs(self, catalog_id: int) -> tuple[UsageLog, ...]:
        """The logs of a catalog, in the order in which they were added."""
        return list_usage_logs(self._store, catalog_id)

    def delete(self, catalog_id: int, key: str) -> None:
        """Forget a log."""
        delete_usage_log(self._store, catalog_id, key)

    def figures(self, catalog_id: int) -> CatalogCallCounts:
        """All logs of a catalog together; empty where it has none."""
        return self._figures.get(
            catalog_id,
            (),
            lambda: add_counts(of_json(log.value) for log in self.logs(catalog_id)),
            state=usage_log_keys(self._store, catalog_id),
        )

    def unused(self, catalog_id: int, days: int = UNUSED_DAYS) -> tuple[str, ...]:
        """The ids of tools that nobody called in so many days, sorted; none where the logs do not
        cover that time.
        """
        return self.figures(catalog_id).unused(self._catalogs.open(catalog_id).tools, days)


def as_json(figures: CatalogCallCounts) -> JsonObject:
    """Plain values, for the store."""
    return {
        "tools": {one: [use.calls, use.errors, use.last] for one, use in figures.by_id.items()},
        "unknown": dict(figures.unknown),
        "first": figures.first,
        "last": figures.last,
    }


def of_json(value: JsonObject) -> CatalogCallCounts:
    """What ``as_json`` gave; empty for anything else, such as a damaged row."""
    try:
        tools = {
            str(one): ToolCallCounts(int(calls), int(errors), utc_time(last))
            for one, (calls, errors, last) in value["tools"].items()
        }
        unknown = {str(one): int(count) for one, count in value["unknown"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        return CatalogCallCounts()
    first, last = utc_time(value.get("first")), utc_time(value.get("last"))
    return (
        CatalogCallCounts(tools, unknown, first, last)
        if first and last
        else CatalogCallCounts(tools, unknown)
    )
