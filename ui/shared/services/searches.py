"""Searching on the screen: a request on the original and on the merged toolset."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.evaluation import search_results
from toolscope_core.evaluation.bench import Bench
from toolscope_core.evaluation.metrics import Gold
from toolscope_core.evaluation.query_sets import Query, golds_of_both
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, Step, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import SearchableTools
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.retrieval.retriever import (
    RankedServer,
    RankedTool,
    Retriever,
    ServerRetriever,
    ranked_by_words,
)
from ui.shared.kept import kept, kept_under
from ui.shared.services import learned_searches, loaded_queries, reviewed_variants
from ui.shared.snapshot import Snapshot

AT_ONCE = 200
"""The maximum number of texts that are embedded while a page waits."""

AnyRetriever = SearchableTools | ServerRetriever
AnySearch_co = TypeVar("AnySearch_co", covariant=True)

RANKED = 50
"""How many places are searched to see where a tool has moved."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """A request as it was made on a page.

    ``split`` says whether the request is split into sub-queries: into the steps that its query set
    gives, or else by rule. ``variants`` says whether accepted document variants are read in
    addition to the tools' own text. ``ranking`` says what ranks the tools. A learned ranking
    ``is_alone`` if it replaces the text, as in Tool2Vec, which splits nothing.
    """

    text: str
    k: int = 10
    split: bool = True
    servers: bool = False
    config: RetrievalConfig = field(default_factory=RetrievalConfig)
    merges: PlanConfig = field(default_factory=lambda: PlanConfig(accept="auto"))
    variants: bool = True
    ranking: learned_searches.Ranking = "text"
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class SearchView:
    """The results of a request before and after the merge, the sub-queries, and near ties that may
    be confused.

    ``by_rule`` is false if the sub-queries came from a query set. ``from_tools`` is the share of
    results before the merge that were found through a tool; it can be below 1 only for servers.
    ``none_fits`` says that no tool does what is asked; it is empty if one may.
    """

    before: search_results.SearchSide
    after: search_results.SearchSide
    subqueries: tuple[str, ...]
    by_rule: bool
    confusions: tuple[search_results.Confusion, ...]
    from_tools: float
    none_fits: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class OpenToolset(Generic[AnySearch_co]):
    """A toolset that is ready to be searched, and the needs of the request as ids
    in this toolset.
    """

    catalog: Catalog
    retriever: AnySearch_co
    answers: Gold


class LongWaitError(Exception):
    """Raised if more than ``AT_ONCE`` texts have to be embedded."""


KIND = "index"


def look(snapshot: Snapshot, lookup: Lookup) -> SearchView | None:
    """The results of a request; ``None`` if ``start`` has to embed texts first.

    Raises ``JobError`` before the analysis is done.
    """
    ready = _ready(snapshot, lookup)
    if ready is None:
        return None
    request, *toolsets = ready
    members = {item.tool.id: item.members for item in _plan(snapshot, lookup).tools}
    stand_for: tuple[dict[str, tuple[str, ...]], ...] = ({}, {} if lookup.servers else members)
    before, after = (
        _searched(one, request, lookup.k, own) for one, own in zip(toolsets, stand_for, strict=True)
    )
    tokens = snapshot.work.catalogs.definition_tokens
    _encode_rest(snapshot, lookup, [one.retriever for one in toolsets])
    came = search_results.side(before, after.ranks_as_it_is, lookup.k, tokens)
    after_side = search_results.side(after, before.ranks_as_it_is, lookup.k, tokens)
    by_tool = [lookup.servers and not place.led_by for place in came.places].count(False)
    return SearchView(
        before=came,
        after=after_side,
        subqueries=request.texts[1:],
        by_rule=request.by_rule,
        confusions=()
        if lookup.servers
        else search_results.confusions(snapshot.analysis, came.places),
        from_tools=by_tool / max(1, len(came.places)),
        none_fits=before.fit.sentence if before.fit else "",
    )


def by_words(snapshot: Snapshot, lookup: Lookup) -> list[tuple[Tool, RankedTool]]:
    """The results by words alone in the original catalog. They are shown while the indexes are
    built.

    Raises ``JobError`` before the analysis is done.
    """
    catalog, _ = _catalogs(snapshot, lookup.merges, lookup.variants)
    places = ranked_by_words(catalog.tools, lookup.text, lookup.k)
    return [(catalog.by_id[place.tool_id], place) for place in places]


def open_toolsets(
    snapshot: Snapshot, lookup: Lookup
) -> tuple[ToolRequest, tuple[OpenToolset[SearchableTools], ...]] | None:
    """The split request, and the original and the merged tools; ``None`` if ``look`` would return
    ``None``.

    Raises ``JobError`` before the analysis is done.
    """
    ready = _ready(snapshot, lookup)
    if ready is None:
        return None
    request, *toolsets = ready
    return request, tuple(
        OpenToolset(one.catalog, one.retriever, one.answers)
        for one in toolsets
        if not isinstance(one.retriever, ServerRetriever)
    )


def _ready(
    snapshot: Snapshot, lookup: Lookup
) -> tuple[ToolRequest, OpenToolset[AnyRetriever], OpenToolset[AnyRetriever]] | None:
    """The request and the searches before and after the merge; ``None`` if ``look`` would return
    ``None``.
    """
    try:
        before, after = _retrievers(snapshot, lookup, impatient)
    except LongWaitError:
        return None
    # the first text loads the model, which must not count as search time
    snapshot.work.embedder.encode([lookup.text])
    query = loaded_queries.of_text(snapshot, lookup.text) or Query("", lookup.text)
    old, new = _catalogs(snapshot, lookup.merges, lookup.variants)
    phi = _plan(snapshot, lookup).phi
    (gold,), (new_gold,) = golds_of_both([query], old.tools, new.tools, phi, lookup.servers)
    toolsets = OpenToolset(old, before, gold), OpenToolset(new, after, new_gold)
    return _request(lookup, query), *toolsets


def start(snapshot: Snapshot, lookup: Lookup) -> str:
    """Run ``run`` in the background. Returns the job's id."""
    return snapshot.start(KIND, lambda progress: run(snapshot, lookup, progress))


def _encode_rest(snapshot: Snapshot, lookup: Lookup, retrievers: Sequence[AnyRetriever]) -> None:
    """Let a job encode, once, what this search did not need."""
    own = [one for one in retrievers if isinstance(one, Retriever)]
    if snapshot.job(KIND) is None and not all(one.is_encoded for one in own):
        start(snapshot, lookup)


def bench(snapshot: Snapshot, catalog: Catalog | None = None) -> Bench:
    """The bench for a catalog. By default, this is the catalog of the snapshot."""
    work = snapshot.work
    catalog = catalog or snapshot.analysis.catalog
    return Bench(catalog, work.embedder, work.vectors, work.catalogs.definition_tokens)


def _plan(snapshot: Snapshot, lookup: Lookup) -> MergePlan:
    return snapshot.plan_under(lookup.merges)


@kept()
def _catalogs(
    snapshot: Snapshot, config: PlanConfig, with_written: bool
) -> tuple[Catalog, Catalog]:
    """The original catalog and the merged one, both with variants if these are read."""
    plan, before = snapshot.plan_under(config), snapshot.analysis.catalog
    after = replace(plan.catalog, tools=tuple(item.tool for item in plan.tools))
    variants = reviewed_variants.accepted_variants(snapshot) if with_written else {}
    if not variants:
        return before, after
    with_own = kept_under(
        before,
        "with variants",
        tuple(variants.items()),
        lambda: replace(before, tools=with_variants(before.tools, variants)),
    )
    return with_own, replace(after, tools=with_variants(after.tools, variants, plan.phi))


def run(snapshot: Snapshot, lookup: Lookup, progress: Progress = silent) -> None:
    """Build what ``look`` needs, and encode all texts of the tools, now."""
    for retriever in _retrievers(snapshot, lookup, progress):
        if isinstance(retriever, Retriever):
            retriever.encode_documents(progress)


def _retrievers(
    snapshot: Snapshot, lookup: Lookup, progress: Progress
) -> tuple[AnyRetriever, AnyRetriever]:
    """The retrievers for the original and for the merged catalog. Raises what
    ``progress`` raises.
    """
    before, after = _catalogs(snapshot, lookup.merges, lookup.variants)
    return (
        _retriever(snapshot, lookup, before, "before", progress),
        _retriever(snapshot, lookup, after, "after", progress),
    )


def _retriever(
    snapshot: Snapshot, lookup: Lookup, catalog: Catalog, side_name: str, progress: Progress
) -> AnyRetriever:
    def make() -> AnyRetriever:
        own = bench(snapshot, catalog)
        if lookup.servers:
            return own.server_search(lookup.config, progress)
        return own.search(lookup.config).open(catalog.tools, progress)

    retriever = kept_under(catalog, "retriever", (lookup.config, lookup.servers), make)
    if not isinstance(retriever, Retriever):
        return retriever
    model = learned_searches.model(snapshot, lookup.ranking, side_name)
    return retriever.with_learned(model.alone() if model and lookup.is_alone else model)


def _searched(
    toolset: OpenToolset[AnyRetriever],
    request: ToolRequest,
    k: int,
    stands_for: Mapping[str, Collection[str]],
) -> search_results.SearchedToolset:
    start, retriever = time.perf_counter(), toolset.retriever
    ranking: Sequence[RankedTool | RankedServer]
    fit = None
    if isinstance(retriever, ServerRetriever):
        ranking = retriever.search(request, max(k, RANKED))
    else:
        (answer,) = retriever.answers([request], max(k, RANKED))
        ranking, fit = answer.places, answer.fit
    profiles = retriever.profiles if isinstance(retriever, ServerRetriever) else ()
    return search_results.SearchedToolset(
        catalog=toolset.catalog,
        ranking=ranking,
        seconds=time.perf_counter() - start,
        profiles={one.name: one for one in profiles},
        stands_for=stands_for,
        answers=toolset.answers,
        fit=fit,
    )


def impatient(step: Step) -> None:
    """A progress callback that raises ``LongWaitError`` if a page would have to wait for texts."""
    if step.total - step.done > AT_ONCE:
        raise LongWaitError


def _request(lookup: Lookup, query: Query) -> ToolRequest:
    if not lookup.split or lookup.is_alone:
        return ToolRequest(lookup.text)
    if query.steps:
        return ToolRequest(lookup.text, query.steps, by_rule=False)
    return ToolRequest(lookup.text, decompose(lookup.text))
