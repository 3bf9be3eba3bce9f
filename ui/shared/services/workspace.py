"""Everything the screen can do, over one store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

from toolscope_core.embedding.vector_cache import ArrayCache, VectorCache
from toolscope_core.model.environment import Settings
from toolscope_core.model.protocols import Embedder, Progress, silent
from toolscope_core.store.catalog_rows import CatalogRecord
from toolscope_core.store.engine import Store
from toolscope_core.store.ledger import StoredLedger
from ui.shared.services.analyses import JOB_KIND, Analyses
from ui.shared.services.catalogs import Catalogs
from ui.shared.services.logs import Logs
from ui.shared.services.reshapes import Reshapes
from ui.shared.services.review import Review
from ui.shared.services.settled import Settled
from ui.shared.services.toolsets import ToolSets

if TYPE_CHECKING:
    from toolscope_core.catalog.sources import Source
    from toolscope_core.llm.endpoints import Endpoints

S = TypeVar("S")


class Workspace:
    """Everything the screen can do. Have one for each process; close it at the end."""

    def __init__(self, settings: Settings, embedder: Embedder | None = None) -> None:
        self.settings = settings
        self._services: dict[Callable[[Workspace], object], object] = {}
        self._lock = threading.RLock()  # a service may ask for another
        self.store = Store(settings.store_url)
        self.ledger = StoredLedger(self.store)
        self.catalogs = Catalogs(self.store)
        self.vectors = VectorCache(settings.cache_dir)
        self.arrays = ArrayCache(settings.cache_dir)
        self.embedder = embedder or _embedder_of(settings)
        self.logs = Logs(self.store)
        self.analyses = Analyses(
            self.store,
            self.catalogs,
            self.embedder,
            self.vectors,
            self.logs,
            # what another model of an endpoint embedded is not known as done
            f"{JOB_KIND} by {self.embedder.name}" if settings.embeddings_model else JOB_KIND,
        )
        self.review = Review(self)
        self.toolsets, self.settled, self.reshapes = ToolSets(self), Settled(self), Reshapes(self)

    @cached_property
    def endpoints(self) -> Endpoints:
        """Which endpoint is asked, where a model is."""
        from toolscope_core.llm.endpoints import Endpoints

        return Endpoints(self.settings, self.store)

    def service(self, kind: Callable[[Workspace], S]) -> S:
        """The service of one page, made when it is first asked for: ``service(Heatmaps)``."""
        with self._lock:
            if kind not in self._services:
                self._services[kind] = kind(self)
        return cast(S, self._services[kind])

    def add(self, name: str, sources: Sequence[Source], forced: str | None = None) -> CatalogRecord:
        """Store the catalog that these files make, and start its analysis."""
        record = self.catalogs.add(name, self.catalogs.preview(sources, forced))
        if self.analyses.get(record.id) is None:
            self.analyses.start(record.id)
        return record

    def add_example(self) -> CatalogRecord:
        """Store the bundled example, unless it is there, with its query set and profiles."""
        from toolscope_core.catalog.sources import load_paths
        from toolscope_core.decisions.imported_decisions import read_decisions
        from toolscope_core.evaluation.example import (
            EXAMPLE_NAME,
            example_path,
            example_profiles,
            example_queries,
        )
        from ui.shared.services.loaded_queries import LoadedQueries

        is_new = EXAMPLE_NAME not in (record.name for record in self.catalogs.newest())
        example = self.catalogs.preview(load_paths([example_path()]))
        record = self.catalogs.add(EXAMPLE_NAME, example)
        if is_new:
            queries = example_queries()
            self.service(LoadedQueries).add(record.id, queries.read_bytes(), queries.name)
            catalog = self.catalogs.open(record.id)
            for one in read_decisions(catalog, example_profiles()):
                self.review.record(record.id, replace(one, seq=0))
        return record

    def prepare(self, progress: Progress = silent) -> CatalogRecord:
        """Bring the bundled example and analyse it, unless that is done."""
        record = self.add_example()
        if self.analyses.get(record.id) is None:
            self.analyses.wait(self.analyses.start(record.id), progress)
        return record

    def close(self) -> None:
        """End the background thread and let go of the database."""
        self.analyses.close()
        self.store.close()


def _embedder_of(settings: Settings) -> Embedder:
    # once a process, and never where an embedder is given
    from toolscope_core.llm.embedders import embedder_of

    return embedder_of(settings)
