"""How the tools of a catalog are used, read from its logs and traces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from toolscope_core.model.cluster import Cluster
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject
from toolscope_core.store.named_rows import UsageLog, delete_usage_log, list_usage_logs
from toolscope_core.usage.call_counts import CatalogCallCounts, add_counts
from toolscope_core.usage.traced_calls import TracedCall
from ui.shared.kept import kept, kept_under
from ui.shared.services import review
from ui.shared.snapshot import Snapshot

if TYPE_CHECKING:
    from toolscope_core.evaluation.calls_after_merges import CallsAfterMerge

UNUSED_DAYS = 30
_KEY = 16


def logs(snapshot: Snapshot) -> tuple[UsageLog, ...]:
    """The logs of a catalog, in the order in which they were added."""
    return list_usage_logs(snapshot.work.store, snapshot.id)


def delete(snapshot: Snapshot, key: str) -> None:
    """Delete a log."""
    delete_usage_log(snapshot.work.store, snapshot.id, key)


def figures(snapshot: Snapshot) -> CatalogCallCounts:
    """The figures from all logs of a catalog. Empty without logs."""
    stamps = snapshot.state.usage_logs
    if not stamps:
        return CatalogCallCounts()
    return kept_under(
        snapshot.catalog,
        "figures",
        stamps,
        lambda: add_counts(of_json(log.value) for log in logs(snapshot)),
    )


@kept()
def after_merges(snapshot: Snapshot) -> Mapping[str, CallsAfterMerge]:
    """The calls before and after each accepted merge that has a decision, by cluster id.

    Empty without logs. Raises ``JobError`` before the analysis is done.
    """
    counts = figures(snapshot)
    if not counts.by_id and not counts.unknown:
        return {}
    from toolscope_core.evaluation.calls_after_merges import DatedMerge, calls_after_merges

    merges = {
        one.cluster.id: DatedMerge(one.cluster.members, one.cluster.document.name, one.decision.at)
        for one in review.accepted(snapshot)
        if one.decision is not None
    }
    return calls_after_merges(counts, snapshot.catalog.tools, merges)


def went_bad(snapshot: Snapshot) -> tuple[Cluster, ...]:
    """The accepted merges after which more calls fail or are malformed, the most certain first."""
    bad = {key: one for key, one in after_merges(snapshot).items() if one.went_bad}
    merges = review.accepted(snapshot) if bad else ()
    clusters = (one.cluster for one in merges if one.cluster.id in bad)
    return tuple(sorted(clusters, key=lambda one: bad[one.id].corrected_p))


def unused(snapshot: Snapshot, days: int = UNUSED_DAYS) -> tuple[str, ...]:
    """The ids of the tools without a call in ``days`` days, sorted. Empty if the logs cover less
    time.
    """
    return figures(snapshot).unused(snapshot.catalog.tools, days)


def short_key(call: TracedCall) -> str:
    """The key under which a call is stored. Empty for a call that cannot equal another."""
    return call.key[:_KEY]


def call_keys(value: JsonObject) -> frozenset[str]:
    """The keys of the calls in the output of ``as_json``."""
    keys = value.get("keys")
    return frozenset(map(str, keys)) if isinstance(keys, list) else frozenset()


def as_json(figures: CatalogCallCounts, keys: Iterable[str] = ()) -> JsonObject:
    """The figures as plain values for the store.

    ``keys`` are the keys of the calls. With them, another log that has the same calls does not
    count them again.
    """
    return {"keys": sorted(keys), **asdict(figures)}


def of_json(value: JsonObject) -> CatalogCallCounts:
    """The counts in the output of ``as_json``. Empty for anything else, such as a damaged row."""
    from toolscope_core.evaluation.results import read_result  # only if there are logs

    try:
        return read_result(CatalogCallCounts, value)
    except ConfigError:
        return CatalogCallCounts()
