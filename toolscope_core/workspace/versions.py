"""Versions of a catalog on the screen: what changed, and which decisions that puts in doubt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toolscope_core.catalog import visible
from toolscope_core.datamodel import Catalog, Decision, canonical_json
from toolscope_core.decision_log import active, suspended
from toolscope_core.decisions import listed
from toolscope_core.errors import JobError
from toolscope_core.store import CatalogRecord, Store, list_catalogs
from toolscope_core.versions.diff import CatalogDiff, diff
from toolscope_core.workspace.catalogs import Catalogs
from toolscope_core.workspace.review import Review

_SHOWN = 160
_ABSENT = "–"


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One change in a table; ``change`` is removed, renamed, changed or added, ``old`` and
    ``new`` are values in one line, ``breaking`` says why callers break or is empty.
    """

    change: str
    tool: str
    field: str
    old: str
    new: str
    breaking: str


@dataclass(frozen=True, slots=True)
class Reworded:
    """A text that reads otherwise now."""

    tool: str
    field: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """A decision that is suspended because a tool it names has changed.

    ``cluster`` is the stale cluster that waits for a second look; ``None`` before the analysis,
    and where the tools no longer look alike.
    """

    seq: int
    said: str
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What a version changes against version ``number``, the worst first.

    ``same`` tells that the two are equal to the last field, so that storing it does nothing.
    ``said`` are the counts in a sentence.
    """

    number: int
    same: bool
    said: str
    breaking: int
    rows: tuple[ChangeRow, ...]
    reworded: tuple[Reworded, ...]
    doubts: tuple[Doubt, ...]


class Versions:
    """Compares stored versions with each other and with a file; changes nothing."""

    def __init__(self, store: Store, catalogs: Catalogs, review: Review) -> None:
        self._store = store
        self._catalogs = catalogs
        self._review = review
        self._known: tuple[int, Catalog, CatalogDiff] | None = None

    def earlier(self, record: CatalogRecord) -> tuple[CatalogRecord, ...]:
        """The versions before this one, the newest first."""
        return tuple(
            other
            for other in list_catalogs(self._store)
            if other.name == record.name and other.number < record.number
        )

    def since(self, record: CatalogRecord, earlier: CatalogRecord) -> Changes:
        """What ``record`` changes against an earlier version, and the decisions in doubt now."""
        new, log = self._catalogs.open(record.id), self._review.log(record.id)
        doubtful = suspended(new, log)
        doubts = (
            Doubt(item.seq, _said(item), self._waiting(record.id, item))
            for item in active(log)
            if item.seq in doubtful
        )
        return self._changes(earlier, new, doubts)

    def ahead(self, name: str, catalog: Catalog) -> Changes | None:
        """What storing ``catalog`` under ``name`` would change; ``None`` for a new name.

        The decisions are those that it would put in doubt and that stand today.
        """
        newest = {record.name: record for record in self._catalogs.newest()}.get(name.strip())
        if newest is None:
            return None
        log = self._review.log(newest.id)
        doubtful = suspended(catalog, log) - suspended(self._catalogs.open(newest.id), log)
        doubts = (Doubt(item.seq, _said(item)) for item in active(log) if item.seq in doubtful)
        return self._changes(newest, catalog, doubts)

    def _waiting(self, catalog_id: int, decision: Decision) -> str | None:
        """Id of the stale cluster with most of the decision's tools."""
        try:
            clusters = self._review.plan(catalog_id).clusters
        except JobError:
            return None
        shared = {
            cluster.id: len(set(decision.ids) & set(cluster.members))
            for cluster in clusters
            if cluster.state == "stale"
        }
        return max((i for i in shared if shared[i]), key=lambda i: (shared[i], i), default=None)

    def _changes(self, earlier: CatalogRecord, new: Catalog, doubts: Iterable[Doubt]) -> Changes:
        old = self._catalogs.open(earlier.id)
        found = self._diff(earlier.id, old, new)
        return Changes(
            number=earlier.number,
            same=old == new,
            said=counted(found),
            breaking=found.breaking,
            rows=table(found),
            reworded=_reworded(found),
            doubts=tuple(doubts),
        )

    def _diff(self, old_id: int, old: Catalog, new: Catalog) -> CatalogDiff:
        """The last answer is kept: a page asks the same again with every click."""
        known = self._known
        if known is None or known[0] != old_id or known[1] is not new:
            known = self._known = (old_id, new, diff(old, new))
        return known[2]


def table(found: CatalogDiff) -> tuple[ChangeRow, ...]:
    """Every change in a line, breaking ones first, else in the order of the diff."""
    rows = [
        ChangeRow(
            row.what,
            one_line(row.tool_id),
            one_line(row.change.field),
            _ABSENT if row.change.kind == "added" else one_line(row.change.old),
            _ABSENT if row.change.kind == "removed" else one_line(row.change.new),
            row.change.breaking,
        )
        for row in found.rows
    ]
    return tuple(sorted(rows, key=lambda row: not row.breaking))


def counted(found: CatalogDiff) -> str:
    """``2 added, 1 changed; 1 breaking``, of tools and of breaking changes."""
    count = Counter(
        {"removed": len(found.removed), "added": len(found.added)}
        | Counter("renamed" if change.renamed else "changed" for change in found.changed)
    )
    told = [f"{count[what]} {what}" for what in ("removed", "renamed", "changed", "added")]
    told = [text for text in told if not text.startswith("0 ")]
    if not told:
        return "nothing that a caller sees has changed"
    return f"{', '.join(told)}; {found.breaking or 'none'} breaking"


def one_line(value: Any) -> str:
    """A JSON value in one short line; hidden characters are written visibly."""
    text = visible(" ".join((value if isinstance(value, str) else canonical_json(value)).split()))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _said(decision: Decision) -> str:
    return f"{decision.action} by {decision.reviewer}: {listed(decision.ids)}"


def _reworded(found: CatalogDiff) -> tuple[Reworded, ...]:
    return tuple(
        Reworded(row.tool_id, row.change.field, visible(row.change.old), visible(row.change.new))
        for row in found.rows
        if row.change.kind == "changed"
        and row.change.field.split("/")[-1] == "description"
        and isinstance(row.change.old, str)
        and isinstance(row.change.new, str)
    )
