"""Everything the screen can do, over one store."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar, cast

from toolscope_core.embedding.vector_cache import ArrayCache, VectorCache
from toolscope_core.evaluation.example import EXAMPLE_NAME, example_queries
from toolscope_core.llm.embedders import embedder_of
from toolscope_core.llm.endpoints import Endpoints
from toolscope_core.model.environment import Settings
from toolscope_core.model.protocols import Embedder, Progress, silent
from toolscope_core.store import CatalogRecord, Store
from ui.shared.services.analyses import Analyses
from ui.shared.services.catalogs import Catalogs
from ui.shared.services.chosen_judge import ChosenJudge
from ui.shared.services.explore import Explore
from ui.shared.services.implied_owners import ImpliedOwners
from ui.shared.services.judging import Judging
from ui.shared.services.loaded_queries import LoadedQueries
from ui.shared.services.logs import Logs
from ui.shared.services.pairs import Pairs
from ui.shared.services.reshapes import Reshapes
from ui.shared.services.review import Review
from ui.shared.services.selections import Selections
from ui.shared.services.settled import Settled
from ui.shared.services.tools import Tools
from ui.shared.services.toolsets import ToolSets
from ui.shared.services.versions import Versions

S = TypeVar("S")


class Workspace:
    """Everything the screen can do. Have one for each process; close it at the end."""

    def __init__(self, settings: Settings, embedder: Embedder | None = None) -> None:
        self.settings = settings
        self._services: dict[Callable[[Workspace], object], object] = {}
        self._lock = threading.RLock()  # a service may ask for another
        self.store = Store(settings.store_url)
        self.catalogs = Catalogs(settings, self.store)
        self.vectors = VectorCache(settings.cache_dir)
        self.arrays = ArrayCache(settings.cache_dir)
        self.embedder = embedder or embedder_of(settings)
        self.chosen_judge = ChosenJudge(self.store)
        logs = Logs(self.store)
        self.implied_owners = ImpliedOwners(self.store, self.catalogs, logs)
        self.analyses = Analyses(
            self.store,
            self.catalogs,
            self.embedder,
            self.vectors,
            self.chosen_judge,
            self.implied_owners,
        )
        self.endpoints = Endpoints(settings, self.store)
        self.judging = Judging(
            self.store, self.catalogs, self.analyses, self.chosen_judge, self.endpoints
        )
        self.review = Review(self.store, self.catalogs, self.analyses, logs)
        self.explore = Explore(self.catalogs, self.analyses, self.review)
        self.pairs = Pairs(self.catalogs, self.analyses, self.review)
        self.toolsets = ToolSets(self.catalogs, self.analyses, self.review)
        self.settled = Settled(self.catalogs, self.analyses, self.review)
        self.reshapes = Reshapes(self.analyses, self.review)
        self.queries = LoadedQueries(self.store, self.catalogs)
        self.selections = Selections(self.store, self.catalogs)
        self.tools = Tools(self.catalogs, self.analyses, self.review)
        self.versions = Versions(self.store, self.catalogs, self.review)

    def service(self, kind: Callable[[Workspace], S]) -> S:
        """The service of one page, made when it is first asked for: ``service(Heatmaps)``."""
        with self._lock:
            if kind not in self._services:
                self._services[kind] = kind(self)
        return cast(S, self._services[kind])

    def add_example(self) -> CatalogRecord:
        """Store the bundled example, unless it is there, with its query set."""
        is_new = EXAMPLE_NAME not in (record.name for record in self.catalogs.newest())
        record = self.catalogs.add_example()
        if is_new:
            queries = example_queries()
            self.queries.add(record.id, queries.read_bytes(), queries.name)
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
