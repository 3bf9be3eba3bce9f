"""Logs and traces that somebody adds to a catalog: read, previewed, and kept as counts."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolscope_core.model.tool import canonical_json
from toolscope_core.store.named_rows import keep_usage_log, list_usage_logs
from toolscope_core.usage.call_counts import CatalogCallCounts, count_calls, query_rows
from toolscope_core.usage.trace_formats import read_trace
from ui.shared.services import loaded_queries
from ui.shared.services.usage_evidence import as_json, call_keys, short_key
from ui.shared.snapshot import Snapshot

MOST_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class UsagePreview:
    """What a log says, before it is kept: ``queries`` are the requests in it that a tool of the
    catalog was called for, as a query set; they are texts that people wrote. ``keys`` tell its
    calls from all others; so many are ``counted`` in another log already, and in no figure here.
    """

    figures: CatalogCallCounts
    queries: tuple[Mapping[str, object], ...]
    unread: int
    keys: frozenset[str] = frozenset()
    counted: int = 0


def preview(snapshot: Snapshot, content: bytes, name: str) -> UsagePreview:
    """What a file says of the catalog's tools. Raises ``ConfigError`` for no log or trace."""
    tools = snapshot.catalog.tools
    trace = read_trace(content, name)
    rows = query_rows(trace.requests, tools)
    own = hashlib.sha256(content).hexdigest()
    logs = list_usage_logs(snapshot.work.store, snapshot.id)
    known = {key for log in logs if log.key != own for key in call_keys(log.value)}
    new = [call for call in trace.calls if short_key(call) not in known]
    return UsagePreview(
        count_calls(replace(trace, calls=tuple(new)), tools),
        tuple(rows),
        trace.unread,
        frozenset(filter(None, map(short_key, new))),
        len(trace.calls) - len(new),
    )


def add(snapshot: Snapshot, content: bytes, name: str, with_queries: bool = False) -> None:
    """Keep what a file says; its requests as a query set only where somebody consented
    (``with_queries``). Raises as ``preview``.
    """
    seen = preview(snapshot, content, name)
    key = hashlib.sha256(content).hexdigest()
    value = as_json(seen.figures, seen.keys)
    keep_usage_log(snapshot.work.store, snapshot.id, key, name, value)
    if with_queries and seen.queries:
        lines = "".join(canonical_json(row) + "\n" for row in seen.queries)
        queries = f"{name.rpartition('.')[0] or name} requests.jsonl"
        loaded_queries.add(snapshot, lines.encode("utf-8", "backslashreplace"), queries)
