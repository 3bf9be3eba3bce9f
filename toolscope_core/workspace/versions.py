"""Versions of a catalog on the screen: what changed, and which decisions that puts in doubt."""

from __future__ import annotations

from collections.abc import Iterable

from toolscope_core.catalog import visible
from toolscope_core.datamodel import Catalog, Decision
from toolscope_core.decision_log import active, suspended_decisions
from toolscope_core.decisions import id_list
from toolscope_core.errors import JobError
from toolscope_core.store import CatalogRecord, Store, list_catalogs
from toolscope_core.versions.diff import CatalogDiff, diff
from toolscope_core.views.version_changes import Changes, Doubt, Reworded, counted, table
from toolscope_core.workspace.catalogs import Catalogs
from toolscope_core.workspace.memo import Memo
from toolscope_core.workspace.review import Review


class Versions:
    """Compares stored versions with each other and with a file; changes nothing."""

    def __init__(self, store: Store, catalogs: Catalogs, review: Review) -> None:
        self._store = store
        self._catalogs = catalogs
        self._review = review
        self._diffs: Memo[CatalogDiff] = Memo(most=1)

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
        doubtful = suspended_decisions(new, log)
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
        doubtful = suspended_decisions(catalog, log) - suspended_decisions(
            self._catalogs.open(newest.id), log
        )
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
        changes = self._diff(earlier.id, old, new)
        return Changes(
            number=earlier.number,
            same=old == new,
            summary=counted(changes),
            breaking=changes.breaking,
            rows=table(changes),
            reworded=_reworded(changes),
            doubts=tuple(doubts),
        )

    def _diff(self, old_id: int, old: Catalog, new: Catalog) -> CatalogDiff:
        """The last answer is kept: a page asks the same again with every click."""
        return self._diffs.get(old_id, (new,), lambda: diff(old, new))


def _said(decision: Decision) -> str:
    return f"{decision.action} by {decision.reviewer}: {id_list(decision.ids)}"


def _reworded(changes: CatalogDiff) -> tuple[Reworded, ...]:
    return tuple(
        Reworded(row.tool_id, row.change.field, visible(row.change.old), visible(row.change.new))
        for row in changes.rows
        if row.change.kind == "changed"
        and row.change.field.split("/")[-1] == "description"
        and isinstance(row.change.old, str)
        and isinstance(row.change.new, str)
    )
