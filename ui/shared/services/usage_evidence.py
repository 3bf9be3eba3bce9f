"""How the tools of a catalog are used, by the logs and traces that were added to it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from toolscope_core.evaluation.calls_after_merges import (
    CallsAfterMerge,
    DatedMerge,
    calls_after_merges,
)
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.tool import JsonObject
from toolscope_core.store.named_rows import (
    UsageLog,
    delete_usage_log,
    list_usage_logs,
    usage_log_keys,
)
from toolscope_core.usage.call_counts import CatalogCallCounts, ToolCallCounts, add_counts
from toolscope_core.usage.traced_calls import TracedCall, utc_time
from ui.shared.services.page_service import PageService

UNUSED_DAYS = 30
_KEY = 16


class UsageEvidence(PageService):
    """The logs of catalogs; of each only counts and times are kept."""

    def logs(self, catalog_id: int) -> tuple[UsageLog, ...]:
        """The logs of a catalog, in the order in which they were added."""
        return list_usage_logs(self._store, catalog_id)

    def delete(self, catalog_id: int, key: str) -> None:
        """Forget a log."""
        delete_usage_log(self._store, catalog_id, key)

    def figures(self, catalog_id: int) -> CatalogCallCounts:
        """All logs of a catalog together; empty where it has none."""
        return self._cached(
            ("figures", catalog_id),
            (),
            lambda: add_counts(of_json(log.value) for log in self.logs(catalog_id)),
            state=usage_log_keys(self._store, catalog_id),
            most=16,
        )

    def after_merges(self, catalog_id: int) -> Mapping[str, CallsAfterMerge]:
        """Calls before and after each accepted merge that a decision stands for, by cluster id;
        none without logs. Raises ``JobError`` before the analysis is finished.
        """
        figures = self.figures(catalog_id)
        if not figures.by_id and not figures.unknown:
            return {}

        def made() -> Mapping[str, CallsAfterMerge]:
            merges = {
                one.cluster.id: DatedMerge(
                    one.cluster.members, one.cluster.document.name, one.decision.at
                )
                for one in self._work.settled.clusters(catalog_id, "accepted")
                if one.decision is not None
            }
            return calls_after_merges(figures, self._catalogs.open(catalog_id).tools, merges)

        return self._cached(
            ("after", catalog_id), (figures, self._review.plan(catalog_id)), made, most=16
        )

    def went_bad(self, catalog_id: int) -> tuple[Cluster, ...]:
        """The accepted merges after which more calls fail or are malformed, the surest first."""
        bad = {key: one for key, one in self.after_merges(catalog_id).items() if one.went_bad}
        accepted = self._work.settled.clusters(catalog_id, "accepted") if bad else ()
        clusters = (one.cluster for one in accepted if one.cluster.id in bad)
        return tuple(sorted(clusters, key=lambda one: bad[one.id].corrected_p))

    def unused(self, catalog_id: int, days: int = UNUSED_DAYS) -> tuple[str, ...]:
        """The ids of tools that nobody called in so many days, sorted; none where the logs do not
        cover that time.
        """
        return self.figures(catalog_id).unused(self._catalogs.open(catalog_id).tools, days)


def short_key(call: TracedCall) -> str:
    """The key of a call as it is kept; empty for one that is like no other."""
    return call.key[:_KEY]


def call_keys(value: JsonObject) -> frozenset[str]:
    """The keys of calls in what ``as_json`` gave."""
    keys = value.get("keys")
    return frozenset(map(str, keys)) if isinstance(keys, list) else frozenset()


def as_json(figures: CatalogCallCounts, keys: Iterable[str] = ()) -> JsonObject:
    """Plain values, for the store; ``keys`` are those of its calls, so that a log with the same
    calls does not count them again.
    """
    return {
        "keys": sorted(keys),
        "tools": {one: asdict(counts) for one, counts in figures.by_id.items()},
        "unknown": {one: asdict(counts) for one, counts in figures.unknown.items()},
        "first": figures.first,
        "last": figures.last,
    }


def of_json(value: JsonObject) -> CatalogCallCounts:
    """What ``as_json`` gave; empty for anything else, such as a damaged row."""
    try:
        tools, unknown = _counts(value["tools"]), _counts(value["unknown"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return CatalogCallCounts()
    first, last = utc_time(value.get("first")), utc_time(value.get("last"))
    return (
        CatalogCallCounts(tools, unknown, first, last)
        if first and last
        else CatalogCallCounts(tools, unknown)
    )


def _counts(value: JsonObject) -> dict[str, ToolCallCounts]:
    return {
        str(name): ToolCallCounts(
            int(own["calls"]),
            int(own["errors"]),
            int(own["malformed"]),
            utc_time(own["last"]),
            {
                utc_time(day)[:10]: (int(calls), int(bad))
                for day, (calls, bad) in own["days"].items()
            },
        )
        for name, own in value.items()
    }
