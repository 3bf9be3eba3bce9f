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
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.pair import Pair
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.store.stored_state import Stamps
from ui.shared.kept import kept, kept_under
from ui.shared.services import loaded_queries, searches
from ui.shared.snapshot import Snapshot

MOST_QUERIES = 2_000
"""Of larger query sets the first so many requests are searched."""

KIND = "effect of a change"


def merge(snapshot: Snapshot, cluster: Cluster) -> ToolsetChange:
    """The merge of a cluster, whoever accepted it."""
    tools = snapshot.analysis.catalog.by_id
    merged = documented(tools[cluster.canonical], cluster.document)
    return ToolsetChange(cluster.members, (merged,))


def rewrite(snapshot: Snapshot, pair: Pair, descriptions: Mapping[str, str]) -> ToolsetChange:
    """Other descriptions of two tools, by their ids."""
    tools = snapshot.analysis.catalog.by_id
    ids = (pair.left, pair.right)
    return ToolsetChange(ids, tuple(replace(tools[a], description=descriptions[a]) for a in ids))


def effect(snapshot: Snapshot, change: ToolsetChange) -> ChangeEffect | None:
    """What a change does; ``None`` where it is not measured yet: ``start`` it."""
    if not _asked(snapshot):
        return ChangeEffect(0, 0, (), ())
    return _effects(snapshot.analysis.catalog, snapshot.state.query_files).get(change.version)


@kept(most=2)
def _effects(catalog: Catalog, query_files: Stamps) -> dict[str, ChangeEffect]:
    """What was measured with these requests, by the version of the change."""
    return {}


def are_measured(snapshot: Snapshot, changes: Sequence[ToolsetChange]) -> bool:
    """Whether the effect of each change is known."""
    return all(effect(snapshot, change) is not None for change in changes)


def start(snapshot: Snapshot, changes: Sequence[ToolsetChange]) -> str:
    """Do what ``run`` does in the background; returns the job's id."""
    return snapshot.start(KIND, lambda progress: run(snapshot, changes, progress))


def run(snapshot: Snapshot, changes: Sequence[ToolsetChange], progress: Progress = silent) -> None:
    """Measure here and now what is not known yet. Requests are searched as for a merge."""
    queries, catalog = _asked(snapshot), snapshot.analysis.catalog

    def search() -> tuple[Searched, ToolsetRanker]:
        ranker = searches.ranker(snapshot.work, RetrievalConfig())
        trial = Trial.of(catalog, queries, request_of("rules"), (PLACES,))
        return Searched.of(trial, ranker, progress), ranker

    files = snapshot.state.query_files
    before, ranker = kept_under(catalog, "searched", files, search, most=2)
    effects = _effects(catalog, files)
    for change in changes:
        if change.version not in effects:
            effects[change.version] = change_effect(before, change, ranker, progress)


@kept()
def _asked(snapshot: Snapshot) -> tuple[Query, ...]:
    """The requests with gold answers of all query sets."""
    judged = (one for one in loaded_queries.queries(snapshot) if one.gold)
    return tuple(islice(judged, MOST_QUERIES))
