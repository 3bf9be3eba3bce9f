"""The requests won and lost by one change, and how certain this effect is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

import streamlit as st

from toolscope_core.evaluation.change_effects import (
    ChangeEffect,
    SearchedQueries,
    ToolsetChange,
    change_effect,
)
from toolscope_core.evaluation.comparison import PLACES, Trial, request_of
from toolscope_core.evaluation.intervals import effect_text, rate_text
from toolscope_core.evaluation.measured_toolsets import ToolsetRanker
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.merging.clusters import documented
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.errors import JobError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import SubstituteTool
from toolscope_core.store.stored_state import Stamps
from ui.shared import data_tables, safe_text
from ui.shared.data_tables import Column
from ui.shared.kept import kept, kept_under
from ui.shared.services import loaded_queries, searches
from ui.shared.snapshot import Snapshot

AHEAD = 4
"""How many proposals are measured at once: the one on the card, and the ones after it."""
_LOOK_AGAIN = "2s"
_ABOUT = (
    "A request counts as found if no unneeded tool ranks above a needed one. The requests of all "
    "query sets are searched in the catalog as it is, and again with this change alone. "
    "*p* is exact (McNemar). When many changes are tried, some seem to help by chance; Holm's "
    "correction accounts for all of them."
)


def merge_effect(snapshot: Snapshot, clusters: Sequence[Cluster]) -> None:
    """Draw the effect of the first cluster's merge, as one of many merges in the plan.

    The other clusters are measured afterwards, because they will be shown next.
    """
    merges = len(snapshot.plan.clusters)
    _effect_fragment(snapshot, [merge(snapshot, one) for one in clusters[:AHEAD]], merges)


def rewrite_effect(
    snapshot: Snapshot, pair: Pair, descriptions: Mapping[str, str], pairs: int
) -> None:
    """Draw the effect of new descriptions for two tools, when ``pairs`` pairs are tried in all."""
    change = rewrite(snapshot, pair, descriptions)
    _effect_fragment(snapshot, [change], pairs)


def _effect_fragment(snapshot: Snapshot, toolsets: Sequence[ToolsetChange], count: int) -> None:
    """Draw the first change.

    Until its effect is measured, only this fragment is drawn again, because the keys pause while
    the whole page is drawn.
    """
    is_measured = effect(snapshot, toolsets[0]) is not None
    st.fragment(_effect, run_every=None if is_measured else _LOOK_AGAIN)(snapshot, toolsets, count)


def _effect(snapshot: Snapshot, toolsets: Sequence[ToolsetChange], changes: int) -> None:
    """Draw the effect of the first of the ``toolsets``, when ``changes`` changes are tried in all.

    If the effect is not known, it is measured first.
    """
    diff = effect(snapshot, toolsets[0])
    job = snapshot.job(KIND)
    is_failed = job is not None and not job.live and job.state != "done"
    if diff is None and job is not None and is_failed:
        safe_text.show_error(JobError(job.message))
        if not st.button("Retry", icon=":material/replay:", key="measure_change"):
            return
    if diff is None or not (is_failed or are_measured(snapshot, toolsets)):
        start(snapshot, toolsets)
    if diff is None:
        st.caption(
            ":material/hourglass_empty: Measuring search results before and after this change."
        )
        return
    if not diff.touched:
        st.caption(":material/query_stats: No request of a query set needs these tools.")
        return
    won, lost = len(diff.won), len(diff.lost)
    need = "needs" if diff.joined == 1 else "need"
    both = f"; {quantity(diff.joined, 'request')} {need} two of these tools" if diff.joined else ""
    st.markdown(
        f":material/query_stats: {quantity(diff.touched, 'request')} for these tools, before and "
        f"after: **{won:,} won, {lost:,} lost**; {effect_text(won, lost, changes)}{both}.",
        help=_ABOUT,
    )
    before, after = (rate_text(n, diff.touched) for n in (diff.right, diff.right + diff.gain))
    st.caption(f"Requests that find the right tools: {safe_text.untrusted(f'{before} → {after}')}")
    if won or lost:
        with st.expander("Requests won and lost"):
            data_tables.draw(
                [*(("won", one) for one in diff.won), *(("lost", one) for one in diff.lost)],
                [
                    Column("", lambda row: row[0]),
                    Column("request", lambda row: row[1].text),
                    Column("needs", lambda row: _needs(row[1])),
                ],
                "Requests that this change wins and loses",
            )


def _needs(query: Query) -> str:
    return ", ".join(" or ".join(sorted(need)) for need in query.gold)


_MOST_QUERIES = 2_000
"""Of a larger query set, only the first requests up to this number are searched for."""

KIND = "effect of a change"


def merge(snapshot: Snapshot, cluster: Cluster) -> ToolsetChange:
    """The merge of a cluster as a change, whoever accepted the merge."""
    tools = snapshot.analysis.catalog.by_id
    merged = documented(tools[cluster.canonical], cluster.document)
    members = [tools[one] for one in cluster.members]
    return ToolsetChange(cluster.members, (SubstituteTool.of(merged, members),))


def rewrite(snapshot: Snapshot, pair: Pair, descriptions: Mapping[str, str]) -> ToolsetChange:
    """New descriptions of two tools, by id, as a change."""
    tools = snapshot.analysis.catalog.by_id
    ids = (pair.left, pair.right)
    return ToolsetChange(ids, tuple(replace(tools[a], description=descriptions[a]) for a in ids))


def effect(snapshot: Snapshot, change: ToolsetChange) -> ChangeEffect | None:
    """The effect of a change. ``None`` if it has not been measured yet, which ``start`` does."""
    if not _queries(snapshot):
        return ChangeEffect(0, 0, (), ())
    return _effects(snapshot.analysis.catalog, snapshot.state.query_files).get(change.version)


@kept(limit=2)
def _effects(catalog: Catalog, query_files: Stamps) -> dict[str, ChangeEffect]:
    """The effects measured with these requests, keyed by the version of the change."""
    return {}


def are_measured(snapshot: Snapshot, changes: Sequence[ToolsetChange]) -> bool:
    """Whether the effect of each change is known."""
    return all(effect(snapshot, change) is not None for change in changes)


def start(snapshot: Snapshot, changes: Sequence[ToolsetChange]) -> str:
    """Run ``run`` in the background. Returns the job's id."""
    return snapshot.start(KIND, lambda progress: run(snapshot, changes, progress))


def run(snapshot: Snapshot, changes: Sequence[ToolsetChange], progress: Progress = silent) -> None:
    """Measure the missing effects now. Requests are searched for in the same way as for a merge."""
    queries, catalog = _queries(snapshot), snapshot.analysis.catalog

    def search() -> tuple[SearchedQueries, ToolsetRanker]:
        ranker = searches.bench(snapshot).ranker(RetrievalConfig())
        trial = Trial.of(catalog, queries, request_of("rules"), (PLACES,))
        return SearchedQueries.of(trial, ranker, progress), ranker

    files = snapshot.state.query_files
    before, ranker = kept_under(catalog, "searched", files, search, limit=2)
    effects = _effects(catalog, files)
    for change in changes:
        if change.version not in effects:
            effects[change.version] = change_effect(before, change, ranker, progress)


@kept()
def _queries(snapshot: Snapshot) -> tuple[Query, ...]:
    """The requests in all query sets that have gold answers."""
    with_answers = (one for one in loaded_queries.queries(snapshot) if one.gold)
    return tuple(islice(with_answers, _MOST_QUERIES))
