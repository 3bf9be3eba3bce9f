"""Versions of a catalog on the screen: what changed, and which decisions that puts in doubt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolscope_core.check.version_changes import Changes, Doubt, Reworded, counted, table
from toolscope_core.check.versions.diff import CatalogDiff, diff
from toolscope_core.decisions.decision_lines import under_new_ids
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import JobError
from toolscope_core.model.tool import Tool
from toolscope_core.store import CatalogRecord, Store, list_catalogs
from ui.shared.cards.standing_decisions import (
    StandingDecisions,
    ToolSince,
    changed_members,
    new_proposals,
    of_cluster,
    reworded,
    standing_decisions,
    tool_since,
)
from ui.shared.services.catalogs import Catalogs
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.review import Review


class Versions:
    """Compares stored versions with each other and with a file; changes nothing."""

    def __init__(self, store: Store, catalogs: Catalogs, review: Review) -> None:
        self._store = store
        self._catalogs = catalogs
        self._review = review
        self._diffs: ResultCache[CatalogDiff] = ResultCache(most=1)
        self._by_print: ResultCache[dict[str, Tool]] = ResultCache(most=4)

    def earlier(self, record: CatalogRecord) -> tuple[CatalogRecord, ...]:
        """The versions before this one, the newest first."""
        return tuple(
            other
            for other in list_catalogs(self._store)
            if other.name == record.name and other.number < record.number
        )

    def since(self, record: CatalogRecord, earlier: CatalogRecord) -> Changes:
        """What ``record`` changes against an earlier version, and the decisions in doubt now."""
        waiting = self.standing(record).wait
        doubts = (Doubt(one, self._waiting(record.id, one)) for one in waiting)
        return self._changes(earlier, self._catalogs.open(record.id), doubts)

    def ahead(self, name: str, catalog: Catalog) -> Changes | None:
        """What storing ``catalog`` under ``name`` would change; ``None`` for a new name.

        The decisions are those that it would put in doubt and that stand today.
        """
        newest = self._newest(name)
        if newest is None:
            return None
        before = {one.seq for one in self.standing(newest).wait}
        waiting = self._standing_then(newest, catalog).wait
        doubts = (Doubt(one) for one in waiting if one.seq not in before)
        return self._changes(newest, catalog, doubts)

    def standing(self, record: CatalogRecord) -> StandingDecisions:
        """What becomes of the decisions in force on this version."""
        return standing_decisions(self._catalogs.open(record.id), self._review.log(record.id))

    def standing_ahead(self, name: str, catalog: Catalog) -> StandingDecisions | None:
        """What would become of them if ``catalog`` were stored; ``None`` for a new name."""
        newest = self._newest(name)
        return None if newest is None else self._standing_then(newest, catalog)

    def _standing_then(self, newest: CatalogRecord, catalog: Catalog) -> StandingDecisions:
        """What would become of the decisions if ``catalog`` came after ``newest``."""
        renamed = self._diff(newest.id, self._catalogs.open(newest.id), catalog).new_ids
        log = [under_new_ids(one, renamed) for one in self._review.log(newest.id)]
        return standing_decisions(catalog, log)

    def since_decision(self, record: CatalogRecord, decision: Decision) -> tuple[ToolSince, ...]:
        """The tools of a decision that are others now, and what changed since it was made."""
        catalog = self._catalogs.open(record.id)
        return tuple(
            tool_since(self._as_it_was(record, member), catalog.by_id[tool_id])
            for tool_id, member in changed_members(catalog, decision)
        )

    def waiting_on(self, record: CatalogRecord, cluster: Cluster) -> tuple[Decision, ...]:
        """The suspended decisions on which a stale cluster rests."""
        return of_cluster(self.standing(record).wait, cluster.members)

    def again(self, record: CatalogRecord) -> tuple[Cluster, ...]:
        """The clusters on which somebody decided and in which a tool has changed since. Raises
        ``JobError`` before the analysis is finished.
        """
        return tuple(one for one in self._review.queue(record.id) if one.state == "stale")

    def new_proposals(self, record: CatalogRecord) -> tuple[Cluster, ...]:
        """The proposals that wait and that the version before this one could not have; none for a
        first version. Raises ``JobError`` before the analysis is finished.
        """
        earlier = self.earlier(record)
        if not earlier:
            return ()
        before, now = (self._catalogs.open(one.id) for one in (earlier[0], record))
        return new_proposals(self._review.queue(record.id), now, before)

    def _as_it_was(self, record: CatalogRecord, fingerprint: str) -> Tool | None:
        """The tool of an earlier version that has this fingerprint, if one is stored."""
        for version in self.earlier(record):
            if tool := self._prints(version.id).get(fingerprint):
                return tool
        return None

    def _prints(self, catalog_id: int) -> dict[str, Tool]:
        """The tools of a version by fingerprint."""
        catalog = self._catalogs.open(catalog_id)
        return self._by_print.get(
            catalog_id, (catalog,), lambda: {tool.fingerprint: tool for tool in catalog.tools}
        )

    def _newest(self, name: str) -> CatalogRecord | None:
        return {record.name: record for record in self._catalogs.newest()}.get(name.strip())

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
            reworded=tuple(_reworded(changes)),
            doubts=tuple(doubts),
        )

    def _diff(self, old_id: int, old: Catalog, new: Catalog) -> CatalogDiff:
        """The last answer is kept: a page asks the same again with every click."""
        return self._diffs.get(old_id, (new,), lambda: diff(old, new))


def _reworded(changes: CatalogDiff) -> Iterator[Reworded]:
    for change in changes.changed:
        yield from reworded(change.new.id, change.fields)
