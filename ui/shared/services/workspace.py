"""Everything that the screen can do, over one store."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from toolscope_core.embedding.vector_cache import ArrayCache, VectorCache
from toolscope_core.model.environment import Settings
from toolscope_core.model.protocols import Embedder, Progress, silent
from toolscope_core.store.catalog_rows import CatalogRecord, newest_of
from toolscope_core.store.engine import Store
from toolscope_core.store.runs import StoredLedger
from toolscope_core.store.stored_state import Choose, read_state
from ui.shared.services.analyses import JOB_KIND, KEPT, Analyses
from ui.shared.services.catalogs import Catalogs
from ui.shared.snapshot import Snapshot

if TYPE_CHECKING:
    from toolscope_core.catalog.sources import Source
    from toolscope_core.llm.endpoints import Endpoints


class Workspace:
    """Everything that the screen can do. Create one workspace per process, and
    close it at the end.
    """

    def __init__(self, settings: Settings, embedder: Embedder | None = None) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self.store = Store(settings.store_url)
        self.ledger = StoredLedger(self.store)
        self.catalogs = Catalogs(self.store, settings.cache_dir)
        self.vectors = VectorCache(settings.cache_dir)
        self.arrays = ArrayCache(settings.cache_dir)
        self.embedder = embedder or _embedder_of(settings)
        self.analyses = Analyses(
            self.store,
            self.catalogs,
            self.embedder,
            self.vectors,
            # a job whose vectors came from another model of the endpoint does not count as done
            f"{JOB_KIND} by {self.embedder.name}" if settings.embeddings_model else JOB_KIND,
        )
        self._snapshots: OrderedDict[int, Snapshot] = OrderedDict()

    @cached_property
    def endpoints(self) -> Endpoints:
        """The endpoint to ask, if a model is set up."""
        from toolscope_core.llm.endpoints import Endpoints

        return Endpoints(self.settings, self.store)

    def snapshot(self, catalog_id: int) -> Snapshot:
        """The current state of a version of a catalog. Raises ``StoreError`` if
        the id is unknown.
        """
        return self._snapshot(
            lambda records: next((one for one in records if one.id == catalog_id), None)
        )

    def newest(self, *names: str) -> Snapshot:
        """The current state of the newest version of a catalog.

        The catalog is the first of these ``names`` that exists, or else the first of all catalogs.
        """

        def chosen(records: tuple[CatalogRecord, ...]) -> CatalogRecord | None:
            newest = newest_of(records)
            return next((newest[name] for name in names if name in newest), records[0])

        return self._snapshot(chosen)

    def _snapshot(self, choose: Choose) -> Snapshot:
        state = read_state(self.store, choose)
        catalog_id = state.record.id
        offline = self.analyses.offline(catalog_id)
        catalog = self.catalogs.open(catalog_id)
        with self._lock:
            current, dropped = Snapshot(self, state, catalog, offline), list[Snapshot]()
            if last := self._snapshots.pop(catalog_id, None):
                is_same = last.offline is offline and last.state == state
                current, dropped = (last, dropped) if is_same else (current, [last])
            self._snapshots[catalog_id] = current
            while len(self._snapshots) > KEPT:
                dropped.append(self._snapshots.popitem(last=False)[1])
        for one in dropped:
            one.forget()
        return current

    def add(self, name: str, sources: Sequence[Source]) -> CatalogRecord:
        """Store the catalog made from these files, and start the analysis of it."""
        record = self.catalogs.add(name, self.catalogs.preview(sources))
        if self.analyses.offline(record.id) is None:
            self.analyses.start(record.id)
        return record

    def add_example(self) -> CatalogRecord:
        """Store the bundled example with its query set and profiles, unless it exists already."""
        from toolscope_core.catalog.sources import load_paths
        from toolscope_core.decisions.decision_lines import read_decisions
        from toolscope_core.evaluation.query_sets import (
            EXAMPLE_NAME,
            example_path,
            example_profiles,
            example_queries,
        )
        from ui.shared.services import loaded_queries, review

        is_new = EXAMPLE_NAME not in (record.name for record in self.catalogs.newest())
        example = self.catalogs.preview(load_paths([example_path()]))
        record = self.catalogs.add(EXAMPLE_NAME, example)
        if is_new:
            queries = example_queries()
            snapshot = self.snapshot(record.id)
            loaded_queries.add(snapshot, queries.read_bytes(), queries.name)
            for one in read_decisions(snapshot.catalog, example_profiles()):
                review.record(snapshot, replace(one, seq=0))
        return record

    def prepare(self, progress: Progress = silent) -> CatalogRecord:
        """Add and analyse the bundled example, unless this has been done already."""
        record = self.add_example()
        if self.analyses.offline(record.id) is None:
            self.analyses.wait(self.analyses.start(record.id), progress)
        return record

    def close(self) -> None:
        """Stop the background threads and disconnect from the database."""
        self.analyses.close()
        self.store.close()


def _embedder_of(settings: Settings) -> Embedder:
    # only once per process, and not if an embedder is given
    from toolscope_core.llm.embedding import embedder_of

    return embedder_of(settings)
