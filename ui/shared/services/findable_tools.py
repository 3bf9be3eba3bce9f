"""Which tools the searches of clients find, as the catalog is and after what people decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.decisions.constraints import namespace_descriptions
from toolscope_core.evaluation.findability import (
    COMPARED,
    Findability,
    OwnRequests,
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
from ui.shared.services.loaded_queries import LoadedQueries
from ui.shared.services.page_service import JobService, Uses
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.reviewed_variants import Variants
from ui.shared.services.workspace import Workspace

NAMESPACES: ClientName = "openai-namespaces"
_NAMED = 3

AS_THEY_ARE, VARIANTS, DESCRIBED, MERGED = "found", "with variants", "described apart", "merged"
"""The tools as they came in; with the document variants that people accepted, which ToolScope's
search alone reads; with the new descriptions of tools that stay single; and as the merge leaves
them, with all of that.
"""
Sides = dict[str, tuple[tuple[object, ...], object]]
"""By side what it is made of: objects, and values."""
SUGGESTED = "under suggested namespaces"
"""What is measured beside the sides: as the merge leaves the tools, by namespace alone."""
_KEPT = 16 * len(COMPARED)


@dataclass(frozen=True, slots=True)
class SearchRow:
    """What one search finds on each side: the mean share of a tool's own requests, and how many
    tools it never finds. A side on which nothing is decided is left out.
    """

    search: str
    approximate: bool
    shares: Mapping[str, float]
    never: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ToolShare:
    """A tool that a search does not always find, and what stands before it."""

    tool_id: str
    name: str
    server: str
    share: str
    requests: str
    before: str


class FindableTools(JobService):
    """Findability of analysed catalogs, worked out once for what each side is made of. The requests
    are the same on all sides but the last, whose tools are others.
    """

    kind = "findability"
    _queries = Uses(LoadedQueries)
    _variants = Uses(Variants)

    def __init__(self, work: Workspace) -> None:
        super().__init__(work)
        self._measured: ResultCache[Sequence[Findability] | None] = ResultCache(_KEPT)

    def rows(self, catalog_id: int) -> tuple[SearchRow, ...] | None:
        """A row for each search; ``None`` where it is not worked out: ``start`` it."""
        sides, rows = self._sides(catalog_id), []
        for name in COMPARED:
            measured = {side: self._of(catalog_id, side, name, sides) for side in sides}
            by_side = {side: rows for side, rows in measured.items() if rows is not None}
            if len(by_side) < len(sides):
                return None
            shares = {side: mean_share(one) for side, one in by_side.items()}
            never = {side: sum(not row.hits for row in one) for side, one in by_side.items()}
            rows.append(SearchRow(title_of(name), _is_approximate(name), shares, never))
        return tuple(rows)

    def tools(self, catalog_id: int, search: str) -> tuple[ToolShare, ...]:
        """The tools, as they are, that a search does not find for all their requests."""
        before = self._of(catalog_id, AS_THEY_ARE, search) or ()
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
        rows = self._of(catalog_id, AS_THEY_ARE, search)
        return None if rows is None else {row.tool_id: row.share for row in rows}

    def shares_after(self, catalog_id: int, search: str) -> Mapping[str, float] | None:
        """The same of the tools that the merge leaves, by their ids."""
        rows = self._of(catalog_id, MERGED, search)
        return None if rows is None else {row.tool_id: row.share for row in rows}

    def shares_under(self, catalog_id: int, texts: Mapping[str, str]) -> Mapping[str, float] | None:
        """The same by namespace, under other descriptions of them, by server."""
        sources, state = self._sides(catalog_id)[MERGED]
        key = (catalog_id, SUGGESTED, NAMESPACES)
        rows = self._measured.get(key, sources, lambda: None, state=(state, texts))
        return None if rows is None else {row.tool_id: row.share for row in rows}

    def run(
        self,
        catalog_id: int,
        search: str = "",
        texts: Mapping[str, str] | None = None,
        progress: Progress = silent,
    ) -> None:
        """Work out here and now what is not yet, for one ``search`` the tools as they are, and
        beside it ``shares_under`` the texts.
        """
        sides = self._sides(catalog_id)
        for side in (AS_THEY_ARE,) if search else sides:
            catalog, requests = self._side(catalog_id, side)
            for name in (search,) if search else COMPARED:
                if self._of(catalog_id, side, name, sides) is None:
                    described = side == MERGED and name == NAMESPACES
                    written = self._written(catalog_id) if described else None
                    rows = self._rows(name, catalog, requests, progress, written)
                    sources, state = sides[side]
                    self._measured.put((catalog_id, side, name), sources, rows, state=state)
        if texts and self.shares_under(catalog_id, texts) is None:
            sources, state = sides[MERGED]
            rows = self._rows(NAMESPACES, *self._side(catalog_id, MERGED), progress, texts)
            key = (catalog_id, SUGGESTED, NAMESPACES)
            self._measured.put(key, sources, rows, state=(state, texts))

    def _rows(
        self,
        name: str,
        catalog: Catalog,
        requests: Mapping[str, OwnRequests],
        progress: Progress,
        written: Mapping[str, str] | None,
    ) -> tuple[Findability, ...]:
        """Under what servers say of themselves, or namespaces with what is ``written`` of them."""
        servers = catalog.servers
        if written is not None:
            servers = described_servers(servers, catalog.tools, written)
        setup = SearchSetup(
            self._work.embedder, self._work.vectors, compared_search(name), servers=servers
        )
        return findability(setup.open(catalog.tools, progress), requests, progress=progress)

    def _of(
        self, catalog_id: int, side: str, search: str, sides: Sides | None = None
    ) -> Sequence[Findability] | None:
        sources, state = (sides or self._sides(catalog_id))[side]
        return self._measured.get((catalog_id, side, search), sources, lambda: None, state=state)

    def _sides(self, catalog_id: int) -> Sides:
        sources, plan = self._sources(catalog_id), self._review.plan(catalog_id)
        sides: Sides = {AS_THEY_ARE: ((), sources)}
        if sources[1]:
            sides[VARIANTS] = ((), sources)
        if described := self._described(catalog_id):
            sides[DESCRIBED] = ((), (sources, described))
        return {**sides, MERGED: ((plan,), sources)}

    def _side(self, catalog_id: int, side: str) -> tuple[Catalog, Mapping[str, OwnRequests]]:
        """The tools that are searched on a side, and the requests for each. A search does not read
        the questions that are asked.
        """
        (queries, written), plan = self._sources(catalog_id), self._review.plan(catalog_id)
        came = self._analyses.required(catalog_id).catalog
        unasked = {one: replace(text, questions=()) for one, text in written.items()}
        if side == MERGED:
            left = [item.tool for item in plan.tools]
            with_questions = with_variants(left, written, plan.phi)
            searched = with_variants(left, unasked, plan.phi)
            return replace(came, tools=searched), own_requests(
                with_questions, relabelled(queries, plan.phi)
            )
        tools = came.tools
        if side == VARIANTS:
            tools = with_variants(tools, unasked)
        elif side == DESCRIBED:
            texts = self._described(catalog_id)
            tools = tuple(replace(t, description=texts.get(t.id, t.description)) for t in tools)
        requests = own_requests(with_variants(came.tools, written), queries)
        return replace(came, tools=tools), requests

    def _written(self, catalog_id: int) -> dict[str, str]:
        """By server what people wrote of its namespace."""
        catalog = self._analyses.required(catalog_id).catalog
        return namespace_descriptions(catalog, self._review.log(catalog_id))

    def _described(self, catalog_id: int) -> dict[str, str]:
        """By tool id the descriptions that people gave to tools that stay single."""
        own = self._analyses.required(catalog_id).catalog.by_id
        single = (one.tool for one in self._review.plan(catalog_id).tools if len(one.members) == 1)
        texts = {one.id: one.description for one in single if one.id in own}
        return {one: text for one, text in texts.items() if text != own[one].description}

    def _sources(self, catalog_id: int) -> tuple[tuple[Query, ...], dict[str, Augmentation]]:
        """The queries of all sets, and the document variants that people accepted."""
        return self._queries.queries(catalog_id), dict(self._variants.accepted(catalog_id))


def title_of(search: str) -> str:
    """The name of a search as a person knows it."""
    return next((one.title for name, one in CLIENT_SEARCHES.items() if name == search), "ToolScope")


def _is_approximate(search: str) -> bool:
    return any(one.approximate for name, one in CLIENT_SEARCHES.items() if name == search)
