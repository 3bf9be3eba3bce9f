"""The tools that the searches of clients find, before and after people's decisions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.decisions.constraints import namespace_descriptions
from toolscope_core.evaluation.findability import (
    COMPARED,
    Findability,
    OwnRequests,
    findability,
    mean_share,
    own_requests,
)
from toolscope_core.evaluation.query_sets import Query, relabelled
from toolscope_core.export.namespaces import described_servers
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.search_configuration import ClientName, named_search
from toolscope_core.model.tool import Augmentation
from toolscope_core.retrieval.client_search import CLIENT_SEARCHES
from ui.shared.kept import kept
from ui.shared.services import loaded_queries, reviewed_variants, searches
from ui.shared.snapshot import Snapshot

NAMESPACES: ClientName = "openai-namespaces"
_NAMED = 3

AS_THEY_ARE, VARIANTS, DESCRIBED, MERGED = "found", "with variants", "described apart", "merged"
"""The four sides.

The first has the tools as they came in. The second has the document variants that people accepted,
which only ToolScope's search reads. The third has the new descriptions of tools that are not
merged. The fourth has the toolset after the merge, with all of these.
"""
Sides = dict[str, tuple[object, ...]]
"""Everything that affects what is found, for each side."""
_SUGGESTED = "under suggested namespaces"
"""What is measured in addition to the sides: the toolset after the merge, searched by namespace
only.
"""


@dataclass(frozen=True, slots=True)
class SearchRow:
    """The results of one search on each side.

    ``shares`` is the mean share of a tool's own requests that find it, and ``never`` the number of
    tools that are never found. A side without decisions is left out.
    """

    search: str
    approximate: bool
    shares: Mapping[str, float]
    never: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ToolShare:
    """A tool that a search does not always find, and the tools that rank above it."""

    tool_id: str
    name: str
    server: str
    share: str
    requests: str
    before: str


KIND = "findability"


@kept()
def _results(catalog: Catalog) -> dict[tuple[str, str], tuple[object, Sequence[Findability]]]:
    """The last results for each side and search, with the inputs that affected them."""
    return {}


def rows(snapshot: Snapshot) -> tuple[SearchRow, ...] | None:
    """A row for each search; ``None`` if the results are not computed yet, which ``start`` does."""
    sides, rows = _sides(snapshot), []
    for name in COMPARED:
        results = {side: _of(snapshot, side, name, sides) for side in sides}
        by_side = {side: rows for side, rows in results.items() if rows is not None}
        if len(by_side) < len(sides):
            return None
        shares = {side: mean_share(one) for side, one in by_side.items()}
        never = {side: sum(not row.hits for row in one) for side, one in by_side.items()}
        rows.append(SearchRow(title_of(name), _is_approximate(name), shares, never))
    return tuple(rows)


def tools(snapshot: Snapshot, search: str) -> tuple[ToolShare, ...]:
    """The original tools that a search does not find for all of their own requests."""
    before = _of(snapshot, AS_THEY_ARE, search) or ()
    by_id = snapshot.analysis.catalog.by_id
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


def shares(snapshot: Snapshot, search: str, side: str = AS_THEY_ARE) -> Mapping[str, float] | None:
    """For each tool id, the share of the tool's own requests that find it on a side.

    ``None`` if the shares are not computed yet, which ``start`` does.
    """
    rows = _of(snapshot, side, search)
    return None if rows is None else {row.tool_id: row.share for row in rows}


def shares_under(snapshot: Snapshot, texts: Mapping[str, str]) -> Mapping[str, float] | None:
    """Like ``shares``, for the merged tools searched by namespace, if servers have these
    descriptions.
    """
    rows = _findability(snapshot, _SUGGESTED, NAMESPACES, (*_sides(snapshot)[MERGED], dict(texts)))
    return None if rows is None else {row.tool_id: row.share for row in rows}


def start(snapshot: Snapshot, search: str = "", texts: Mapping[str, str] | None = None) -> str:
    """Run ``run`` in the background. Returns the job's id."""
    return snapshot.start(KIND, lambda progress: run(snapshot, search, texts, progress))


def run(
    snapshot: Snapshot,
    search: str = "",
    texts: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> None:
    """Compute the missing results now.

    If a ``search`` is given, only its results on the original tools are computed. If there are
    ``texts``, ``shares_under`` them is computed too.
    """
    sides, results = _sides(snapshot), _results(snapshot.catalog)
    for side in (AS_THEY_ARE,) if search else sides:
        catalog, requests = _side(snapshot, side)
        for name in (search,) if search else COMPARED:
            if _of(snapshot, side, name, sides) is None:
                described = side == MERGED and name == NAMESPACES
                descriptions = _descriptions(snapshot) if described else None
                rows = _rows(snapshot, name, catalog, requests, progress, descriptions)
                results[side, name] = sides[side], rows
    if texts and shares_under(snapshot, texts) is None:
        rows = _rows(snapshot, NAMESPACES, *_side(snapshot, MERGED), progress, texts)
        results[_SUGGESTED, NAMESPACES] = (*sides[MERGED], dict(texts)), rows


def _rows(
    snapshot: Snapshot,
    name: str,
    catalog: Catalog,
    requests: Mapping[str, OwnRequests],
    progress: Progress,
    descriptions: Mapping[str, str] | None,
) -> tuple[Findability, ...]:
    """The findability of each tool with the servers' own texts, or with these namespace
    ``descriptions``.
    """
    if descriptions is not None:
        described = described_servers(catalog.servers, catalog.tools, descriptions)
        catalog = replace(catalog, servers=described)
    search = searches.bench(snapshot, catalog).search(named_search(name))
    return findability(search.open(catalog.tools, progress), requests, progress=progress)


def _of(
    snapshot: Snapshot, side: str, search: str, sides: Sides | None = None
) -> Sequence[Findability] | None:
    return _findability(snapshot, side, search, (sides or _sides(snapshot))[side])


def _findability(
    snapshot: Snapshot, side: str, search: str, decided_by: tuple[object, ...]
) -> Sequence[Findability] | None:
    known_for, rows = _results(snapshot.catalog).get((side, search), (None, None))
    return rows if known_for == decided_by else None


def _sides(snapshot: Snapshot) -> Sides:
    queries, variants = _sources(snapshot)
    sides: Sides = {AS_THEY_ARE: (queries, variants)}
    if variants:
        sides[VARIANTS] = (queries, variants)
    if described := _described(snapshot):
        sides[DESCRIBED] = (queries, variants, described)
    return {**sides, MERGED: (queries, variants, snapshot.plan, _descriptions(snapshot))}


def _side(snapshot: Snapshot, side: str) -> tuple[Catalog, Mapping[str, OwnRequests]]:
    """The tools that are searched on a side, and the requests for each of them.

    The search does not read the questions that serve as requests.
    """
    (queries, descriptions), plan = _sources(snapshot), snapshot.plan
    came = snapshot.analysis.catalog
    unasked = {one: replace(text, questions=()) for one, text in descriptions.items()}
    if side == MERGED:
        remaining = [item.tool for item in plan.tools]
        with_questions = with_variants(remaining, descriptions, plan.phi)
        searched = with_variants(remaining, unasked, plan.phi)
        return replace(came, tools=searched), own_requests(
            with_questions, relabelled(queries, plan.phi)
        )
    tools = came.tools
    if side == VARIANTS:
        tools = with_variants(tools, unasked)
    elif side == DESCRIBED:
        texts = _described(snapshot)
        tools = tuple(replace(t, description=texts.get(t.id, t.description)) for t in tools)
    requests = own_requests(with_variants(came.tools, descriptions), queries)
    return replace(came, tools=tools), requests


def _descriptions(snapshot: Snapshot) -> dict[str, str]:
    """The namespace descriptions that people wrote, by server."""
    catalog = snapshot.analysis.catalog
    return namespace_descriptions(catalog, snapshot.log)


def _described(snapshot: Snapshot) -> dict[str, str]:
    """The descriptions that people wrote for tools that are not merged, by tool id."""
    own = snapshot.analysis.catalog.by_id
    single = (one.tool for one in snapshot.plan.tools if len(one.members) == 1)
    texts = {one.id: one.description for one in single if one.id in own}
    return {one: text for one, text in texts.items() if text != own[one].description}


def _sources(snapshot: Snapshot) -> tuple[tuple[Query, ...], dict[str, Augmentation]]:
    """The queries of all sets, and the accepted document variants."""
    return loaded_queries.queries(snapshot), dict(reviewed_variants.accepted_variants(snapshot))


def title_of(search: str) -> str:
    """The name of a search, for people."""
    return next((one.title for name, one in CLIENT_SEARCHES.items() if name == search), "ToolScope")


def _is_approximate(search: str) -> bool:
    return any(one.approximate for name, one in CLIENT_SEARCHES.items() if name == search)
