"""Which tools the searches of clients find, as the catalog is and as the merge leaves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.decisions.constraints import namespace_descriptions
from toolscope_core.evaluation.findability import (
    COMPARED,
    Findability,
    compared_search,
    findability,
    mean_share,
    own_requests,
)
from toolscope_core.evaluation.query_sets import Query, relabelled
from toolscope_core.export.namespaces import described_servers
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.search_configuration import ClientName
from toolscope_core.model.tool import Augmentation
from toolscope_core.retrieval.client_search import CLIENT_SEARCHES, SearchSetup
from toolscope_core.store import Job
from ui.shared.services.loaded_queries import LoadedQueries
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.reviewed_variants import Variants
from ui.shared.services.workspace import Workspace

JOB_KIND = "findability"
NAMESPACES: ClientName = "openai-namespaces"
_NAMED = 3

BySearch = dict[str, tuple[Sequence[Findability], Sequence[Findability]]]
"""By search the findability of the tools as they are, and as the merge leaves them."""
_KEPT = 4 * len(COMPARED)


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
    """Findability of analysed catalogs; worked out once for its queries, of the tools as they are,
    and for a plan, of those that it leaves.
    """

    def __init__(self, work: Workspace) -> None:
        self._analyses, self._review = work.analyses, work.review
        self._queries, self._variants = work.service(LoadedQueries), work.service(Variants)
        self._embedder, self._cache = work.embedder, work.vectors
        self._before: ResultCache[Sequence[Findability] | None] = ResultCache(_KEPT)
        self._after: ResultCache[Sequence[Findability] | None] = ResultCache(_KEPT)

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
        before = self._as_it_is(catalog_id, search) or ()
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

    def shares(self, catalog_id: int, search: str) -> Mapping[str, float] | None:
        """By the id of a tool as it is the share of its own requests for which a search finds it;
        ``None`` where it is not worked out: ``start`` it.
        """
        rows = self._as_it_is(catalog_id, search)
        return None if rows is None else {row.tool_id: row.share for row in rows}

    def shares_after(self, catalog_id: int, search: str) -> Mapping[str, float] | None:
        """The same of the tools that the merge leaves, by their ids."""
        rows = self._as_merged(catalog_id, search)
        return None if rows is None else {row.tool_id: row.share for row in rows}

    def start(self, catalog_id: int, search: str = "") -> str:
        """Work it out in the background, for one ``search`` the tools as they are; returns the
        job's id (that of a running one, if any).
        """
        return self._analyses.background(
            catalog_id, JOB_KIND, lambda progress: self.run(catalog_id, progress, search)
        )

    def job(self, catalog_id: int) -> Job | None:
        """The latest such work."""
        return self._analyses.job(catalog_id, JOB_KIND)

    def run(self, catalog_id: int, progress: Progress = silent, search: str = "") -> None:
        """Work out here and now what is not yet."""
        state = self._sources(catalog_id)
        queries, written = state
        came = self._analyses.required(catalog_id).catalog
        came = replace(came, tools=with_variants(came.tools, written))
        for name in (search,) if search else COMPARED:
            if self._as_it_is(catalog_id, name) is None:
                before = self._found(name, came, queries, progress)
                self._before.put((catalog_id, name), (), before, state=state)
        if search:
            return
        plan = self._review.plan(catalog_id)
        tools = with_variants((item.tool for item in plan.tools), written, plan.phi)
        texts = namespace_descriptions(came, self._review.log(catalog_id))
        left = replace(came, tools=tools)
        spaces = replace(left, servers=described_servers(came.servers, tools, texts))
        for name in COMPARED:
            catalog, own = spaces if name == NAMESPACES else left, relabelled(queries, plan.phi)
            after = self._found(name, catalog, own, progress)
            self._after.put((catalog_id, name), (plan,), after, state=state)

    def _found(
        self, name: str, catalog: Catalog, queries: Sequence[Query], progress: Progress
    ) -> tuple[Findability, ...]:
        config, tools = compared_search(name), catalog.tools
        setup = SearchSetup(self._embedder, self._cache, config, servers=catalog.servers)
        search, own = setup.open(tools, progress), own_requests(tools, queries)
        return findability(search, own, progress=progress)

    def _as_it_is(self, catalog_id: int, search: str) -> Sequence[Findability] | None:
        state = self._sources(catalog_id)
        return self._before.get((catalog_id, search), (), lambda: None, state=state)

    def _as_merged(self, catalog_id: int, search: str) -> Sequence[Findability] | None:
        plan, state = self._review.plan(catalog_id), self._sources(catalog_id)
        return self._after.get((catalog_id, search), (plan,), lambda: None, state=state)

    def _known(self, catalog_id: int) -> BySearch | None:
        known: BySearch = {}
        for name in COMPARED:
            before, after = self._as_it_is(catalog_id, name), self._as_merged(catalog_id, name)
            if before is None or after is None:
                return None
            known[name] = (before, after)
        return known

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
