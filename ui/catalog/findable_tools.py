"""Which tools the searches of clients find, as the catalog is and as the merge leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.evaluation.findability import (
    COMPARED,
    Findability,
    compared_search,
    findability,
    mean_share,
    own_requests,
)
from toolscope_core.evaluation.query_sets import Query, relabelled
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import Augmentation
from toolscope_core.retrieval.client_search import CLIENT_SEARCHES, SearchSetup
from toolscope_core.store import Job
from ui.shared.services.loaded_queries import LoadedQueries
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.reviewed_variants import Variants
from ui.shared.services.workspace import Workspace

JOB_KIND = "findability"
_NAMED = 3

BySearch = dict[str, tuple[Sequence[Findability], Sequence[Findability]]]
"""By search the findability of the tools as they are, and as the merge leaves them."""


@dataclass(frozen=True, slots=True)
class SearchRow:
    """What one search finds: the mean share of a tool's own requests, and how many tools it never
    finds, before and after the merge.
    """

    search: str
    approximate: bool
    share: float
    never: int
    share_after: float
    never_after: int


@dataclass(frozen=True, slots=True)
class ToolShare:
    """A tool that a search does not always find, and what stands before it."""

    tool_id: str
    name: str
    server: str
    share: str
    requests: str
    before: str


class FindableTools:
    """Findability of analysed catalogs; worked out once for a plan and its queries."""

    def __init__(self, work: Workspace) -> None:
        self._analyses, self._review = work.analyses, work.review
        self._queries, self._variants = work.service(LoadedQueries), work.service(Variants)
        self._embedder, self._cache = work.embedder, work.vectors
        self._measured: ResultCache[BySearch | None] = ResultCache(most=4)

    def rows(self, catalog_id: int) -> tuple[SearchRow, ...] | None:
        """A row for each search; ``None`` where it is not worked out: ``start`` it."""
        measured = self._known(catalog_id)
        if measured is None:
            return None
        return tuple(
            SearchRow(
                search=title_of(name),
                approximate=_is_approximate(name),
                share=mean_share(before),
                never=_never(before),
                share_after=mean_share(after),
                never_after=_never(after),
            )
            for name, (before, after) in measured.items()
        )

    def tools(self, catalog_id: int, search: str) -> tuple[ToolShare, ...]:
        """The tools, as they are, that a search does not find for all their requests."""
        before, _ = (self._known(catalog_id) or {}).get(search, ((), ()))
        by_id = self._analyses.required(catalog_id).catalog.by_id
        return tuple(
            ToolShare(
                tool_id=row.tool_id,
                name=by_id[row.tool_id].name,
                server=by_id[row.tool_id].owner,
                share=f"{row.hits} of {row.requests}",
                requests=row.source,
                before=", ".join(by_id[one].name for one, _ in row.before[:_NAMED]),
            )
            for row in before
            if row.share < 1
        )

    def start(self, catalog_id: int) -> str:
        """Work it out in the background; returns the job's id (that of a running one, if any)."""
        return self._analyses.background(
            catalog_id, JOB_KIND, lambda progress: self.run(catalog_id, progress)
        )

    def job(self, catalog_id: int) -> Job | None:
        """The latest such work."""
        return self._analyses.job(catalog_id, JOB_KIND)

    def run(self, catalog_id: int, progress: Progress = silent) -> None:
        """Work it out here and now."""
        plan, (queries, written) = self._review.plan(catalog_id), self._sources(catalog_id)
        came = self._analyses.required(catalog_id).catalog
        left = replace(plan.catalog, tools=tuple(item.tool for item in plan.tools))
        sides = (
            (replace(came, tools=with_variants(came.tools, written)), queries),
            (
                replace(left, tools=with_variants(left.tools, written, plan.phi)),
                relabelled(queries, plan.phi),
            ),
        )
        measured: BySearch = {}
        for name in COMPARED:
            before, after = (
                findability(
                    self._setup(name, catalog).open(catalog.tools, progress),
                    own_requests(catalog.tools, own),
                    progress=progress,
                )
                for catalog, own in sides
            )
            measured[name] = (before, after)
        self._measured.put(catalog_id, (plan,), measured, state=(queries, written))

    def _setup(self, name: str, catalog: Catalog) -> SearchSetup:
        config = compared_search(name)
        return SearchSetup(self._embedder, self._cache, config, servers=catalog.servers)

    def _known(self, catalog_id: int) -> BySearch | None:
        plan, sources = self._review.plan(catalog_id), self._sources(catalog_id)
        return self._measured.get(catalog_id, (plan,), lambda: None, state=sources)

    def _sources(self, catalog_id: int) -> tuple[tuple[Query, ...], dict[str, Augmentation]]:
        """The queries of all sets, and the document variants that people accepted."""
        sets = self._queries.sets(catalog_id)
        queries = tuple(one for view in sets for one in view.content.queries)
        return queries, dict(self._variants.accepted(catalog_id))


def title_of(search: str) -> str:
    """The name of a search as a person knows it."""
    return next((one.title for name, one in CLIENT_SEARCHES.items() if name == search), "ToolScope")


def _is_approximate(search: str) -> bool:
    return any(one.approximate for name, one in CLIENT_SEARCHES.items() if name == search)


def _never(rows: Sequence[Findability]) -> int:
    return sum(not row.hits for row in rows)
