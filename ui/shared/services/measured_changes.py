"""Changes of a toolset on the screen: what each does to the requests there are, as a job."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from toolscope_core.evaluation.change_effects import (
    PLACES,
    ChangeEffect,
    Searched,
    ToolsetChange,
    change_effect,
)
from toolscope_core.evaluation.comparison import Trial, request_of
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.ranking import ToolsetRanker
from toolscope_core.merging.clusters import documented
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.pair import Pair
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from ui.shared.services.loaded_queries import LoadedQueries
from ui.shared.services.page_service import JobService, Uses
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.searches import Searches
from ui.shared.services.workspace import Workspace

MOST_QUERIES = 2_000
"""Of larger query sets the first so many requests are searched."""


class MeasuredChanges(JobService):
    """What single changes do to the requests of all query sets of a catalog."""

    kind = "effect of a change"
    _queries = Uses(LoadedQueries)
    _searches = Uses(Searches)

    def __init__(self, work: Workspace) -> None:
        super().__init__(work)
        self._effects: ResultCache[ChangeEffect | None] = ResultCache(most=500)

    def merge(self, catalog_id: int, cluster: Cluster) -> ToolsetChange:
        """The merge of a cluster, whoever accepted it."""
        tools = self._analyses.required(catalog_id).catalog.by_id
        merged = documented(tools[cluster.canonical], cluster.document)
        return ToolsetChange(cluster.members, (merged,))

    def rewrite(
        self, catalog_id: int, pair: Pair, descriptions: Mapping[str, str]
    ) -> ToolsetChange:
        """Other descriptions of two tools, by their ids."""
        tools = self._analyses.required(catalog_id).catalog.by_id
        ids = (pair.left, pair.right)
        return ToolsetChange(
            ids, tuple(replace(tools[a], description=descriptions[a]) for a in ids)
        )

    def effect(self, catalog_id: int, change: ToolsetChange) -> ChangeEffect | None:
        """What a change does; ``None`` where it is not measured yet: ``start`` it."""
        queries = self._asked(catalog_id)
        if not queries:
            return ChangeEffect(0, 0, (), ())
        key, catalog = (catalog_id, change.version), self._analyses.required(catalog_id).catalog
        return self._effects.get(key, (catalog,), lambda: None, state=queries)

    def are_measured(self, catalog_id: int, changes: Sequence[ToolsetChange]) -> bool:
        """Whether the effect of each change is known."""
        return all(self.effect(catalog_id, change) is not None for change in changes)

    def run(
        self, catalog_id: int, changes: Sequence[ToolsetChange], progress: Progress = silent
    ) -> None:
        """Measure here and now what is not known yet. Requests are searched as for a merge."""
        queries, catalog = self._asked(catalog_id), self._analyses.required(catalog_id).catalog

        def search() -> tuple[Searched, ToolsetRanker]:
            ranker = self._searches.ranker(RetrievalConfig())
            trial = Trial.of(catalog, queries, request_of("rules"), (PLACES,))
            return Searched.of(trial, ranker, progress), ranker

        before, ranker = self._cached(
            ("before", catalog_id), (catalog,), search, state=queries, most=2
        )
        for change in changes:
            if self.effect(catalog_id, change) is None:
                effect = change_effect(before, change, ranker, progress)
                key = (catalog_id, change.version)
                self._effects.put(key, (catalog,), effect, state=queries)

    def _asked(self, catalog_id: int) -> tuple[Query, ...]:
        """The requests with gold answers of all query sets."""
        judged = (one for one in self._queries.queries(catalog_id) if one.gold)
        return tuple(islice(judged, MOST_QUERIES))
